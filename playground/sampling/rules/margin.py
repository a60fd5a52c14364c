"""Margin: accept a position when its most probable token is far ahead of the second.

Kim et al. (arXiv 2502.06768, section 4) order masked positions by this margin: where two tokens compete, the top
probability alone says little about whether the choice is settled.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from playground.sampling.rules.rule import Draws, Step, at_least, renoising
from playground.sampling.statistics import Statistics, as_recorded


def margin(top_probabilities: Tensor) -> Tensor:
    """p₁ − p₂ of each position; (C, k), best first, gives (C,). A vocabulary of one token has p₂ = 0."""
    first = top_probabilities[:, 0]
    return first - (top_probabilities[:, 1] if top_probabilities.shape[1] > 1 else torch.zeros_like(first))


@dataclass(frozen=True)
class Margin:
    """`threshold`: the least margin, in [0, 1]."""

    threshold: float

    def step(self, canvas_ids: Tensor, statistics: Statistics, draws: Draws) -> Step:
        """Positions at or above the threshold are accepted, the one with the largest margin in any case."""
        return renoising(at_least(margin(as_recorded(statistics.top_probabilities)), self.threshold), statistics, draws)
