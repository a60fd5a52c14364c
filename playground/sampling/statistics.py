"""One pass over a step's logits: the argmax, a sample, the entropy and the most probable tokens of each position."""

from dataclasses import dataclass

import torch
from torch import Tensor

BLOCK = 512
"""Vocabulary entries summed in float32 before the sums go on in float64."""

CHUNK_ELEMENTS = 1 << 22
"""Logits handled at a time on a CPU, to stay near its caches."""

ALTERNATIVES = 5
"""Most probable tokens kept per position."""

SMALLEST = -1e4
"""Log-weights are cut here: exp(−1e4) is 0 in float32, and 0 · −1e4 is 0 where 0 · −∞ would be NaN."""


@dataclass(frozen=True)
class Statistics:
    """What one pass over logits (C, V) gives, per position."""

    predicted: Tensor
    """(C,) int64: argmax."""
    sampled: Tensor
    """(C,) int64: a draw from softmax(logits)."""
    entropy: Tensor
    """(C,) float32: entropy of softmax(logits), in nats; NaN where the logits are not a distribution."""
    top_ids: Tensor
    """(C, k) int64: the most probable tokens, best first."""
    top_probabilities: Tensor
    """(C, k) float32: their probabilities."""

    def on_host(self) -> "Statistics":
        """The same on the CPU: the few kilobytes that leave the device in a step, in one copy, which is waited for."""
        return self if self.predicted.device.type == "cpu" else unpacked(packed(self).cpu())


def packed(statistics: Statistics) -> Tensor:
    """All of it in one tensor, bit by bit: (C, 3 + 2k) int32; floats as they lie in memory."""
    ids = torch.cat((statistics.predicted[:, None], statistics.sampled[:, None], statistics.top_ids), dim=1)
    floats = torch.cat((statistics.entropy[:, None], statistics.top_probabilities), dim=1)
    return torch.cat((ids.to(torch.int32), floats.view(torch.int32)), dim=1)


def unpacked(columns: Tensor) -> Statistics:
    """What `packed` made."""
    half = (columns.shape[1] + 1) // 2  # 2 + k
    ids, floats = columns[:, :half].to(torch.int64), columns[:, half:].contiguous().view(torch.float32)
    return Statistics(
        predicted=ids[:, 0],
        sampled=ids[:, 1],
        entropy=floats[:, 0],
        top_ids=ids[:, 2:],
        top_probabilities=floats[:, 1:],
    )


def summarise(logits: Tensor, uniforms: Tensor, top: int = ALTERNATIVES) -> Statistics:
    """Statistics of the distributions softmax(logits), one a row.

    logits: (C, V) float32, already divided by the temperature; −inf rules a token out. uniforms: (C,) float64 in
    [0, 1), one a row: the sample is the token at which the cumulative distribution first exceeds it (inverse CDF).
    A row with NaN, +inf or nothing but −inf gets a NaN entropy, which the caller must look for.
    """
    rows = logits.shape[0]
    if logits.device.type == "cpu":
        rows = max(1, CHUNK_ELEMENTS // logits.shape[1])
    parts = [
        _summarise(part, draws, top)
        for part, draws in zip(torch.split(logits, rows), torch.split(uniforms.to(logits.device), rows), strict=True)
    ]
    if len(parts) == 1:
        return parts[0]
    return Statistics(
        predicted=torch.cat([part.predicted for part in parts]),
        sampled=torch.cat([part.sampled for part in parts]),
        entropy=torch.cat([part.entropy for part in parts]),
        top_ids=torch.cat([part.top_ids for part in parts]),
        top_probabilities=torch.cat([part.top_probabilities for part in parts]),
    )


def rounded(probabilities: list[float]) -> list[float]:
    """To five decimals, as events carry the alternatives' probabilities."""
    return [round(probability, 5) for probability in probabilities]


def as_recorded(probabilities: Tensor) -> Tensor:
    """(C, k) probabilities as events carry them, in float64: rules decide on these, so that a trace shows why."""
    return torch.tensor([rounded(row) for row in probabilities.tolist()], dtype=torch.float64).view(probabilities.shape)


def _summarise(logits: Tensor, uniforms: Tensor, top: int) -> Statistics:
    largest, predicted = logits.max(dim=-1)  # (C,)
    x = (logits - largest[:, None]).clamp_(min=SMALLEST)  # (C, V), log-weights
    weights = x.exp()  # (C, V)
    total, blocks = _sums(weights)  # (C,), (C, B)
    # H = −Σ p log p with p = w / Z and log w = x, hence H = log Z − Σ w·x / Z.
    entropy = total.log() - _sums(x.mul_(weights))[0] / total
    top_weights, top_ids = weights.topk(min(top, weights.shape[1]), dim=-1)  # (C, k)
    return Statistics(
        predicted=predicted,
        sampled=_inverse_cdf(weights, blocks, uniforms),
        entropy=entropy.clamp(min=0).to(torch.float32),
        top_ids=top_ids,
        top_probabilities=(top_weights / total[:, None]).to(torch.float32),
    )


def _blocks(values: Tensor) -> Tensor:
    rows, width = values.shape
    if rest := -width % BLOCK:
        values = torch.nn.functional.pad(values, (0, rest))
    return values.view(rows, -1, BLOCK)  # (C, B, BLOCK)


def _sums(values: Tensor) -> tuple[Tensor, Tensor]:
    """Row sums (C,) and block sums (C, B) in float64."""
    blocks = _blocks(values).sum(dim=-1).to(torch.float64)
    return blocks.sum(dim=-1), blocks


def _inverse_cdf(weights: Tensor, blocks: Tensor, uniforms: Tensor) -> Tensor:
    """First the block in which the cumulative weight passes u·Z, then the token in it: (C,) int64."""
    cumulative = blocks.cumsum(dim=-1)  # (C, B)
    target = uniforms[:, None] * cumulative[:, -1:]  # (C, 1)
    block = torch.searchsorted(cumulative, target, right=True)
    block = torch.minimum(block, _last_positive(blocks))  # (C, 1)
    before = cumulative.gather(1, block) - blocks.gather(1, block)
    inside = _blocks(weights).gather(1, block[:, :, None].expand(-1, -1, BLOCK))[:, 0].to(torch.float64)  # (C, BLOCK)
    within = torch.searchsorted(inside.cumsum(dim=-1), target - before, right=True)
    within = torch.minimum(within, _last_positive(inside))
    return (block * BLOCK + within)[:, 0]


def _last_positive(values: Tensor) -> Tensor:
    """Index of the last positive entry of each row, (C, 1): rounding must not lead to an impossible token."""
    places = torch.arange(values.shape[1], device=values.device)
    return torch.where(values > 0, places, 0).amax(dim=-1, keepdim=True)
