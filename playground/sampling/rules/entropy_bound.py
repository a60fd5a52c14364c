"""The entropy bound: accept the positions of lowest entropy as long as their joint dependence stays bounded."""

from dataclasses import dataclass

import torch
from torch import Tensor

from playground.sampling.rules.rule import Draws, Step, renoising
from playground.sampling.statistics import Statistics


def accept(entropy: Tensor, bound: float) -> Tensor:
    """Which positions fit the entropy budget: (C,) bool; at least one always does.

    entropy: (C,) float32, in nats; bound: in nats, at least 0.

    1. Order the positions by (entropy, position).
    2. Add up their entropies, in float64.
    3. Accept the k-th while (sum of the first k) − (its own entropy) ≤ bound, that is while the sum of those before it
       fits; taken as that sum, so that rounding cannot let in a later position and leave out an earlier one. Ordered
       this way its own entropy is the largest of the k, so the left side bounds the mutual information of the accepted
       tokens (report, section 3.3, after Ben-Hamu et al., arXiv 2505.24857).
    """
    ordered, order = torch.sort(entropy.to(torch.float64), stable=True)  # 1
    before = ordered.cumsum(dim=-1).roll(1)  # 2
    before[:1] = 0
    fits = before <= bound  # 3
    return torch.zeros_like(fits).scatter(-1, order, fits)


@dataclass(frozen=True)
class EntropyBound:
    """The released sampler's rule; `bound` in nats."""

    bound: float

    def step(self, canvas_ids: Tensor, statistics: Statistics, draws: Draws) -> Step:
        """Positions that fit the budget are accepted."""
        return renoising(accept(statistics.entropy, self.bound), statistics, draws)
