"""The embedded model: a very small `DiffusionGemmaForBlockDiffusion`, and how it is initialised from nothing."""

from dataclasses import dataclass

import torch
from transformers import (
    DiffusionGemmaConfig,
    DiffusionGemmaForBlockDiffusion,
    DiffusionGemmaGenerationConfig,
    DiffusionGemmaTextConfig,
    EntropyBoundSamplerConfig,
)

from playground.tiny.markers import (
    BOS_ID,
    END_IDS,
    END_OF_IMAGE_ID,
    EOS_ID,
    IMAGE_ID,
    PAD_ID,
    START_OF_IMAGE_ID,
)

# The class has a vision tower whatever one does; `None` would build one of 167 million parameters.
SMALLEST_VISION = {
    "model_type": "gemma4_vision",
    "hidden_size": 16,
    "intermediate_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 1,
    "num_key_value_heads": 1,
    "head_dim": 16,
    "global_head_dim": 16,
    "patch_size": 4,
    "position_embedding_size": 16,
}


@dataclass(frozen=True, slots=True)
class ModelSize:
    """Sizes of the model. `experts_size` is the hidden size of the one expert, which acts as a second MLP."""

    vocab_size: int = 1024
    canvas_length: int = 64
    hidden_size: int = 192
    mlp_size: int = 512
    experts_size: int = 64
    layers: int = 6
    heads: int = 4
    kv_heads: int = 2
    head_dim: int = 48
    window: int = 512
    positions: int = 2048


def configuration(size: ModelSize) -> DiffusionGemmaConfig:
    """The transformers configuration. Every third layer and the last attend without a window."""
    last = size.layers - 1
    kinds = ["full_attention" if i % 3 == 2 or i == last else "sliding_attention" for i in range(size.layers)]
    text = DiffusionGemmaTextConfig(
        vocab_size=size.vocab_size,
        hidden_size=size.hidden_size,
        intermediate_size=size.mlp_size,
        moe_intermediate_size=size.experts_size,
        num_experts=1,
        top_k_experts=1,
        num_hidden_layers=size.layers,
        layer_types=kinds,
        num_attention_heads=size.heads,
        num_key_value_heads=size.kv_heads,
        num_global_key_value_heads=size.kv_heads,
        head_dim=size.head_dim,
        global_head_dim=size.head_dim,
        sliding_window=size.window,
        max_position_embeddings=size.positions,
        pad_token_id=PAD_ID,
        eos_token_id=EOS_ID,
        bos_token_id=BOS_ID,
    )
    return DiffusionGemmaConfig(
        text_config=text,
        vision_config=SMALLEST_VISION,
        canvas_length=size.canvas_length,
        boi_token_id=START_OF_IMAGE_ID,
        eoi_token_id=END_OF_IMAGE_ID,
        image_token_id=IMAGE_ID,
    )


def new_model(size: ModelSize, seed: int = 0) -> DiffusionGemmaForBlockDiffusion:
    """An untrained model.

    Matrices start at fan_in^-½. Attention has no scaling of its own and normed queries and keys, so both norms start
    at head_dim^-¼: their product is then the usual head_dim^-½. Embeddings start at hidden_size^-½, since the class
    multiplies them by its inverse. The self-conditioning block starts near zero.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = DiffusionGemmaForBlockDiffusion(configuration(size))
        decoder = model.model.decoder
        with torch.no_grad():
            model.lm_head.weight.normal_(0, size.hidden_size**-0.5)
            model.lm_head.weight[PAD_ID] = 0
            for name, weight in decoder.named_parameters():
                if weight.ndim >= 2 and "embed_tokens" not in name and "router" not in name:
                    weight.normal_(0, weight.shape[-1] ** -0.5)
                elif "q_norm" in name or "k_norm" in name:
                    weight.fill_(size.head_dim**-0.25)
            decoder.self_conditioning.down_proj.weight.normal_(0, 0.02)
    model.generation_config = generation_defaults()
    return model


def generation_defaults() -> DiffusionGemmaGenerationConfig:
    """What transformers' `generate()` does with the checkpoint if not told otherwise: the released sampler settings."""
    return DiffusionGemmaGenerationConfig(
        max_new_tokens=256,
        sampler_config=EntropyBoundSamplerConfig(entropy_bound=0.1),
        t_min=0.4,
        t_max=0.8,
        max_denoising_steps=48,
        confidence_threshold=0.005,
        stability_threshold=1,
        eos_token_id=list(END_IDS),
        pad_token_id=PAD_ID,
        bos_token_id=BOS_ID,
        return_dict_in_generate=True,
    )
