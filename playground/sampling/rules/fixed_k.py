"""Fixed k: accept k positions more in every step, the surest first, however sure they are.

MaskGIT (Chang et al., CVPR 2022, section 3.2) fills masked images by the most probable tokens, on a schedule of how
many are kept after each step. Here that is k after the first, 2k after the second: which ones is decided afresh each
time, since any position may be renoised. (With the same number in every step the same few stay the surest for ever.)
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from playground.sampling.rules.rule import Draws, Step, renoising
from playground.sampling.statistics import Statistics, as_recorded


@dataclass(frozen=True)
class FixedK:
    """`k`: how many positions more a step, at least 1. `number`: of the step, from 1."""

    k: int
    number: int = 1

    def step(self, canvas_ids: Tensor, statistics: Statistics, draws: Draws) -> Step:
        """k · number positions with the highest top probability; of equals, by least entropy, then from the left."""
        surest = as_recorded(statistics.top_probabilities)[:, 0]
        order = statistics.entropy.sort(stable=True).indices
        order = order[surest[order].sort(descending=True, stable=True).indices]
        accepted = torch.zeros(len(order), dtype=torch.bool)
        accepted[order[: self.k * self.number]] = True
        return renoising(accepted, statistics, draws)
