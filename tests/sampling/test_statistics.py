import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from playground.sampling import statistics
from playground.sampling.draws import uniforms
from playground.sampling.statistics import summarise


def logits(rows: int, vocabulary: int, seed: int, spread: float = 3.0) -> torch.Tensor:
    return torch.randn(rows, vocabulary, generator=torch.Generator().manual_seed(seed)) * spread


def test_three_live_tokens_have_entropy_log_3() -> None:
    row = torch.full((1, 2000), -torch.inf)
    row[0, [3, 700, 1999]] = 1.5
    assert summarise(row, torch.tensor([0.5])).entropy.item() == pytest.approx(math.log(3), abs=1e-6)
    assert summarise(row, torch.tensor([0.5])).entropy.item() == pytest.approx(1.0986, abs=1e-4)


@given(st.integers(0, 2**31), st.integers(1, 40), st.integers(2, 3000), st.floats(0.01, 20))
@settings(max_examples=60, deadline=None)
def test_equals_the_closed_forms_in_float64(seed: int, rows: int, vocabulary: int, spread: float) -> None:
    x = logits(rows, vocabulary, seed, spread)
    found = summarise(x, uniforms(seed, 0, 0, "sample", rows), top=5)
    p = x.double().softmax(-1)
    entropy = -(p * x.double().log_softmax(-1)).sum(-1)
    torch.testing.assert_close(found.entropy.double(), entropy, atol=1e-5, rtol=1e-5)
    assert torch.equal(found.predicted, x.argmax(-1))
    best, _ = p.topk(min(5, vocabulary))
    torch.testing.assert_close(found.top_probabilities.double(), best, atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(p.gather(1, found.top_ids), best, atol=1e-9, rtol=0)


@given(st.integers(0, 2**31), st.integers(2, 3000))
@settings(max_examples=60, deadline=None)
def test_the_sample_is_where_the_cumulative_distribution_passes_the_draw(seed: int, vocabulary: int) -> None:
    x = logits(16, vocabulary, seed)
    u = uniforms(seed, 0, 1, "sample", 16)
    sampled = summarise(x, u).sampled
    cumulative = x.double().softmax(-1).cumsum(-1)
    upper = cumulative.gather(1, sampled[:, None])[:, 0]
    lower = torch.where(sampled > 0, cumulative.gather(1, (sampled[:, None] - 1).clamp(min=0))[:, 0], 0)
    assert ((lower - 1e-6 <= u) & (u <= upper + 1e-6)).all()


def test_samples_follow_the_distribution() -> None:
    p = torch.tensor([0.5, 0.3, 0.15, 0.05])
    count = 40_000
    sampled = summarise(p.log().expand(count, 4), uniforms(1, 0, 0, "sample", count), top=1).sampled
    frequency = torch.bincount(sampled, minlength=4) / count
    torch.testing.assert_close(frequency, p, atol=0.01, rtol=0)


@pytest.mark.parametrize("u", [0.0, 0.5, 1 - 2**-53])
def test_never_samples_an_impossible_token(u: float) -> None:
    x = torch.full((1, 5000), -torch.inf)
    x[0, [10, 2000]] = 0.0
    assert summarise(x, torch.tensor([u], dtype=torch.float64)).sampled.item() in (10, 2000)


def test_chunks_do_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    x, u = logits(37, 700, 4), uniforms(4, 0, 0, "sample", 37)
    whole = summarise(x, u)
    monkeypatch.setattr(statistics, "CHUNK_ELEMENTS", 2100)
    for name, column in vars(summarise(x, u)).items():
        assert torch.equal(column, getattr(whole, name)), name


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_what_is_no_distribution_has_no_entropy(bad: float) -> None:
    x = logits(3, 50, 0)
    x[1, 7] = bad
    assert summarise(x, torch.full((3,), 0.5)).entropy.isfinite().tolist() == [True, False, True]


def test_nothing_but_minus_infinity_has_no_entropy() -> None:
    assert summarise(torch.full((1, 8), -torch.inf), torch.tensor([0.5])).entropy.isnan().all()
