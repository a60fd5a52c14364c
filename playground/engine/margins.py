"""What another machine may decide otherwise: entropies, log-probabilities and draws within a margin in nats.

The same recipe on another device, or with another order of summation, gives logits that differ in their last bits. So
a recorded entropy may be off by the margin, and a recorded decision may differ from ours only where ours stood within
the margin of the other one. Decisions that follow from recorded numbers (the mask, the stop) have no margin at all.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from playground.sampling.truncation import truncate

SMALLEST_PROBABILITY = 1e-12


@dataclass(frozen=True)
class Margins:
    """`nats` 0 demands the same bits."""

    nats: float

    def same(self, recorded: float, derived: float) -> bool:
        """Whether two entropies, log-probabilities or probabilities agree."""
        return abs(recorded - derived) <= self.nats  # false for NaN

    def may_predict(self, logits: Tensor, token: int) -> bool:
        """Whether `token` could be the argmax of logits (V,): none is above it by more than the margin."""
        return float(logits.max() - logits[token]) <= self.nats

    def may_draw(self, logits: Tensor, uniform: float, token: int) -> bool:
        """Whether `token` could be what the inverse CDF of softmax(logits), (V,), gives at `uniform`.

        If no logit moves by more than ε, a cumulative probability F moves by at most 2ε·F(1 − F) in first order.
        """
        probabilities = logits.softmax(dim=-1, dtype=torch.float64)
        return self._reaches(probabilities, uniform, token, 0.0)

    def may_draw_truncated(self, logits: Tensor, top_k: int, top_p: float, uniform: float, token: int) -> bool:
        """The same after top-k and top-p, whose edges may lie elsewhere within the margin too."""
        exact = truncate(logits, top_k, top_p)
        wide = self._truncated(logits, top_k, top_p)
        if not bool(wide[token].isfinite()):
            return False
        narrow = torch.where(wide.isfinite(), exact, -torch.inf)
        ambiguous = 1 - float((narrow.exp().sum() / wide.exp().sum()).clamp(0, 1))
        probabilities = wide.softmax(dim=-1, dtype=torch.float64)
        return self._reaches(probabilities, uniform, token, ambiguous)

    def may_rank(self, logits: Tensor, ids: list[int]) -> bool:
        """Whether `ids` could be the most probable tokens of logits (V,), best first."""
        best = logits.topk(min(len(ids), len(logits))).values
        return len(best) == len(ids) and all(
            abs(float(ours - logits[token])) <= self.nats for ours, token in zip(best, ids, strict=True)
        )

    def _truncated(self, logits: Tensor, top_k: int, top_p: float) -> Tensor:
        """Logits (V,) without what lies outside top-k and top-p by more than the margin."""
        if 0 < top_k < len(logits):
            logits = torch.where(logits < logits.topk(top_k).values[-1] - self.nats, -torch.inf, logits)
        return truncate(logits, 0, min(1.0, top_p + 2 * self.nats))

    def _reaches(self, probabilities: Tensor, uniform: float, token: int, ambiguous: float) -> bool:
        end = float(probabilities[: token + 1].sum())
        start = end - float(probabilities[token])
        slack = ambiguous + SMALLEST_PROBABILITY
        below = start - 2 * self.nats * start * (1 - start) - slack
        above = end + 2 * self.nats * end * (1 - end) + slack
        return self.nats > 0 and float(probabilities[token]) > 0 and below <= uniform <= above
