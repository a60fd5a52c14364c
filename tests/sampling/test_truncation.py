import pytest
import torch
from transformers import TopKLogitsWarper, TopPLogitsWarper

from playground.sampling.truncation import truncate


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(("top_k", "top_p"), [(0, 1.0), (1, 1.0), (7, 1.0), (0, 0.5), (64, 0.95), (10_000, 0.01)])
def test_the_reference_keeps_the_same_tokens(seed: int, top_k: int, top_p: float) -> None:
    logits = torch.randn(200, generator=torch.Generator().manual_seed(seed)) * 2
    theirs = logits[None]
    if top_k:
        theirs = TopKLogitsWarper(min(top_k, 200))(None, theirs)
    theirs = TopPLogitsWarper(top_p)(None, theirs)
    assert torch.equal(truncate(logits, top_k, top_p), theirs[0])


def test_the_nucleus_is_never_empty() -> None:
    assert truncate(torch.tensor([0.0, 0.0]), 0, 1e-9).isfinite().sum() == 1
