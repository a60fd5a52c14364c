"""Top probability: accept a position as soon as its most probable token is probable enough.

Fast-dLLM (Wu et al., arXiv 2505.22618, section 3.3) decodes masked models in parallel this way and calls it
confidence; here that word is the stop's. Each position is judged alone, so nothing bounds how far tokens accepted
together depend on each other.
"""

from dataclasses import dataclass

from torch import Tensor

from playground.sampling.rules.rule import Draws, Step, at_least, renoising
from playground.sampling.statistics import Statistics, as_recorded


@dataclass(frozen=True)
class TopProbability:
    """`threshold`: the least probability of the most probable token, in [0, 1]."""

    threshold: float

    def step(self, canvas_ids: Tensor, statistics: Statistics, draws: Draws) -> Step:
        """Positions at or above the threshold are accepted, the most probable one in any case."""
        return renoising(at_least(as_recorded(statistics.top_probabilities)[:, 0], self.threshold), statistics, draws)
