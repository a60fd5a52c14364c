"""Attention masks of the encoder where a prompt has pictures: text sees what is before it, a picture all of itself.

Made here: transformers' encoder makes its own without the pictures, and its helper for `generate()` counts a picture's
place from the chunk's beginning instead of the prompt's.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache
from transformers.masking_utils import create_masks_for_generate

from playground.engine.prompts import Picture


def around(shown: Sequence[Picture], cache: DynamicCache, embeddings: Tensor, text_config: Any) -> dict[str, Tensor]:
    """Masks by kind of layer, for tokens behind those in the cache, among them these whole pictures.

    embeddings: (1, T, any), for shape, precision and device only.
    """
    seen, count, device = cache.get_seq_length(), embeddings.shape[1], embeddings.device
    blocks = torch.full((1, seen + count), -1, device=device)  # which picture a position of the prompt belongs to
    if text_config.use_bidirectional_attention == "vision":
        for number, picture in enumerate(shown):
            blocks[0, picture.start : picture.end] = number
    masks: dict[str, Tensor] = create_masks_for_generate(
        config=text_config,
        inputs_embeds=embeddings,
        attention_mask=None,
        cache=cache,
        position_ids=torch.arange(seen, seen + count, device=device)[None],
        block_sequence_ids=blocks,
    )
    return masks
