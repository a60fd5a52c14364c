"""What leaves the device in a step leaves it in one copy, every bit of it, and nothing before that waits for it."""

import pytest
import torch
from torch import Tensor

from playground.sampling.draws import uniforms
from playground.sampling.schedule import tempered
from playground.sampling.statistics import packed, summarise, unpacked

NAMES = ("predicted", "sampled", "entropy", "top_ids", "top_probabilities")


def test_packed_statistics_come_back_bit_by_bit() -> None:
    logits = torch.randn(16, 3000, generator=torch.Generator().manual_seed(1))
    logits[3] = torch.nan
    before = summarise(logits, uniforms(0, 0, 1, "sample", 16))
    columns = packed(before)
    assert (columns.shape, columns.dtype) == ((16, 13), torch.int32)
    after = unpacked(columns)
    for name in NAMES:
        ours, theirs = getattr(before, name), getattr(after, name)
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape), name
        bits = [each.contiguous().view(torch.uint8) for each in (ours, theirs)]
        assert torch.equal(*bits), name
    assert before.on_host() is before


def test_nothing_waits_before_the_copy() -> None:
    """On a device that has no values: whatever would read one on the host, or bring one there, raises."""
    logits = torch.empty((256, 5000), device="meta")
    chance = torch.empty((256,), dtype=torch.float64, device="meta")
    columns = packed(summarise(tempered(logits, 0.8), chance))
    assert (columns.device.type, columns.shape, columns.nbytes) == ("meta", (256, 13), 13_312)
    with pytest.raises((NotImplementedError, RuntimeError)):
        columns.cpu()
    with pytest.raises((NotImplementedError, RuntimeError)):
        float(logits.max())


def test_there_is_one_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    logits = torch.randn(16, 3000, generator=torch.Generator().manual_seed(1))
    expected = summarise(logits, uniforms(0, 0, 1, "sample", 16))
    columns = packed(expected)
    there = summarise(logits.to("meta"), torch.empty(16, dtype=torch.float64, device="meta"))
    copies: list[Tensor] = []

    def copy(tensor: Tensor) -> Tensor:
        copies.append(tensor)
        return columns

    monkeypatch.setattr(Tensor, "cpu", copy)
    here = there.on_host()
    assert len(copies) == 1
    assert all(torch.equal(getattr(here, name), getattr(expected, name)) for name in NAMES)
