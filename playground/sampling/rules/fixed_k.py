"""Fixed k: accept the same number of positions in every step, the surest first, however sure they are.

MaskGIT (Chang et al., CVPR 2022, section 3.2) fills masked images by the most probable tokens, on a schedule of how
many. Here the number is the same in each step: there is no mask to run out of, since any position may be renoised.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from playground.sampling.rules.rule import Draws, Step, renoising
from playground.sampling.statistics import Statistics, as_recorded


@dataclass(frozen=True)
class FixedK:
    """`k`: how many positions, at least 1; all of them where there are fewer."""

    k: int

    def step(self, canvas_ids: Tensor, statistics: Statistics, draws: Draws) -> Step:
        """The k positions with the highest top probability; of equals, by least entropy, then from the left."""
        surest = as_recorded(statistics.top_probabilities)[:, 0]
        order = statistics.entropy.sort(stable=True).indices
        order = order[surest[order].sort(descending=True, stable=True).indices]
        accepted = torch.zeros(len(order), dtype=torch.bool)
        accepted[order[: self.k]] = True
        return renoising(accepted, statistics, draws)
