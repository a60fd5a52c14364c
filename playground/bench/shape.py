"""Checkpoints with random weights made right on the device: the released shape, and a small one with the same parts."""

from dataclasses import dataclass
from typing import Any

import torch
from accelerate import init_empty_weights
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from torch import nn
from transformers import (
    DiffusionGemmaConfig,
    DiffusionGemmaForBlockDiffusion,
    DiffusionGemmaTextConfig,
    PreTrainedTokenizerFast,
)

from playground.engine.models import Model
from playground.tiny.model import SMALLEST_VISION

END_ID = 1
TEMPLATE = "{% for message in messages %}{{ message['content'] }}{% endfor %}"


@dataclass(frozen=True)
class Shape:
    """What decides how long a step takes. Every sixth layer and the last attend without a window."""

    name: str
    canvas_length: int
    vocab_size: int
    hidden_size: int
    mlp_size: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    global_kv_heads: int
    global_head_dim: int
    window: int
    positions: int
    experts: int
    experts_per_token: int
    experts_size: int


RELEASED = Shape(
    name="released shape (26B-A4B)",
    canvas_length=256,
    vocab_size=262_144,
    hidden_size=2816,
    mlp_size=2112,
    layers=30,
    heads=16,
    kv_heads=8,
    head_dim=256,
    global_kv_heads=2,
    global_head_dim=512,
    window=1024,
    positions=262_144,
    experts=128,
    experts_per_token=8,
    experts_size=704,
)
"""Gemma 4 26B-A4B, whose shape the released checkpoint has; the defaults of transformers' configuration are another,
smaller and without experts."""

SMALL = Shape(
    name="small shape",
    canvas_length=32,
    vocab_size=2048,
    hidden_size=64,
    mlp_size=48,
    layers=6,
    heads=4,
    kv_heads=2,
    head_dim=16,
    global_kv_heads=1,
    global_head_dim=32,
    window=24,
    positions=1024,
    experts=16,
    experts_per_token=2,
    experts_size=16,
)


def configuration(shape: Shape) -> DiffusionGemmaConfig:
    """The transformers configuration of a shape."""
    text = DiffusionGemmaTextConfig(
        vocab_size=shape.vocab_size,
        hidden_size=shape.hidden_size,
        intermediate_size=shape.mlp_size,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.kv_heads,
        head_dim=shape.head_dim,
        num_global_key_value_heads=shape.global_kv_heads,
        global_head_dim=shape.global_head_dim,
        sliding_window=shape.window,
        max_position_embeddings=shape.positions,
        num_experts=shape.experts,
        top_k_experts=shape.experts_per_token,
        moe_intermediate_size=shape.experts_size,
        pad_token_id=0,
        eos_token_id=END_ID,
        bos_token_id=2,
    )
    return DiffusionGemmaConfig(
        text_config=text,
        vision_config=SMALLEST_VISION,
        canvas_length=shape.canvas_length,
        image_token_id=3,
        boi_token_id=4,
        eoi_token_id=5,
    )


def new_model(shape: Shape, device: torch.device, dtype: torch.dtype, seed: int = 0) -> tuple[Model, Any]:
    """A model of that shape with random weights, and its network.

    Nothing is ever held twice, and nothing large outside the device. Matrices are drawn with fan_in^-½, embeddings with
    hidden_size^-½ (the class multiplies them by its inverse), vectors are 1.
    """
    with init_empty_weights(include_buffers=False):
        network = DiffusionGemmaForBlockDiffusion(configuration(shape))
    network.tie_weights()
    generator = torch.Generator(device).manual_seed(seed)
    placed: dict[int, nn.Parameter] = {}
    for module in network.modules():
        for name, weight in module._parameters.items():
            if weight is not None:
                if id(weight) not in placed:
                    placed[id(weight)] = _drawn(weight, generator, dtype)
                module._parameters[name] = placed[id(weight)]
        for name, buffer in module._buffers.items():
            if buffer is not None:
                kept = name not in module._non_persistent_buffers_set and buffer.is_floating_point()
                module._buffers[name] = buffer.to(device, dtype if kept else None)
    settings = network.generation_config
    settings.eos_token_id, settings.pad_token_id, settings.bos_token_id = [END_ID], 0, 2
    network.eval()
    return Model(network, _tokenizer(shape.vocab_size), shape.name, "random"), network


def prompt(shape: Shape, tokens: int, seed: int = 0) -> str:
    """A text that the model's tokenizer makes so many random tokens of."""
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(6, shape.vocab_size, (tokens,), generator=generator).tolist()
    return " ".join(f"w{token}" for token in ids)


def bytes_needed(shape: Shape, dtype: torch.dtype) -> int:
    """What the weights take up, each counted once."""
    with init_empty_weights():
        network = DiffusionGemmaForBlockDiffusion(configuration(shape))
    network.tie_weights()
    weights: int = sum(weight.numel() for weight in network.parameters())
    return weights * dtype.itemsize


def _drawn(weight: nn.Parameter, generator: torch.Generator, dtype: torch.dtype) -> nn.Parameter:
    made = torch.empty(weight.shape, device=generator.device, dtype=dtype)
    if weight.ndim >= 2:
        made.normal_(0, weight.shape[-1] ** -0.5, generator=generator)
    else:
        made.fill_(1.0)
    return nn.Parameter(made, requires_grad=False)


def _tokenizer(vocab_size: int) -> Any:
    """One word for each id: `w17` is token 17."""
    words = Tokenizer(WordLevel({f"w{token}": token for token in range(vocab_size)}, unk_token="w0"))
    words.pre_tokenizer = WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words)
    tokenizer.chat_template = TEMPLATE
    return tokenizer
