"""Models for the engine's tests: the embedded one, and a small random one of the released shape with experts."""

import pytest
import torch
from transformers import AutoTokenizer, DiffusionGemmaConfig, DiffusionGemmaForBlockDiffusion, DiffusionGemmaTextConfig

from playground.engine import models
from playground.engine.models import EMBEDDED_FOLDER, Model
from playground.settings import Settings

VISION = {
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


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    """Small models gain nothing from a second thread, and lose much on a busy machine."""
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def embedded() -> Model:
    return models.load(Settings(device="cpu"))


@pytest.fixture(scope="session")
def random_model() -> Model:
    """Four experts, a window of 24 tokens, canvases of 16: everything happens early."""
    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(EMBEDDED_FOLDER)
    text = DiffusionGemmaTextConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=3,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=16,
        global_head_dim=32,
        num_global_key_value_heads=1,
        max_position_embeddings=1024,
        sliding_window=24,
        layer_types=["sliding_attention", "sliding_attention", "full_attention"],
        num_experts=4,
        top_k_experts=2,
        moe_intermediate_size=16,
        pad_token_id=0,
        eos_token_id=1,
        bos_token_id=2,
        initializer_range=0.3,
    )
    network = DiffusionGemmaForBlockDiffusion(
        DiffusionGemmaConfig(text_config=text, vision_config=VISION, canvas_length=16)
    ).eval()
    with torch.no_grad():
        network.lm_head.weight.mul_(6)
    network.generation_config.eos_token_id = [1, 5]
    network.generation_config.pad_token_id = 0
    return Model(network, tokenizer, "random", "0")
