from collections.abc import Iterator

import pytest
import torch
from tokenizers import Tokenizer
from transformers import DiffusionGemmaForBlockDiffusion

from playground.tiny.codec import TextCodec
from playground.tiny.model import ModelSize, new_model
from playground.tiny.tokenizer import train_tokenizer

SMALL = ModelSize(
    vocab_size=512, canvas_length=32, hidden_size=48, mlp_size=64, experts_size=16, layers=3, heads=2, kv_heads=1,
    head_dim=24,
)  # fmt: skip


@pytest.fixture(scope="session")
def small_tokenizer() -> Tokenizer:
    return train_tokenizer(examples=1500, vocab_size=SMALL.vocab_size)


@pytest.fixture(scope="session")
def small_codec(small_tokenizer: Tokenizer) -> TextCodec:
    return TextCodec(small_tokenizer)


@pytest.fixture
def small_size() -> ModelSize:
    return SMALL


@pytest.fixture
def small_model() -> DiffusionGemmaForBlockDiffusion:
    return new_model(SMALL, seed=1).eval()


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> Iterator[None]:
    """Sizes here are too small for threads to help, and on a busy machine they hurt."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
