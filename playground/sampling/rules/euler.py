"""The discrete Euler step of the report's footnote 1 (Gat et al., arXiv 2407.15595): jump by chance, else stay.

P(x_{t−Δt} = v) = δ(v, x_t) − Δt · κ̇_t / (1 − κ_t) · [p(v) − δ(v, x_t)]: with probability r = −Δt · κ̇_t / (1 − κ_t) a
position takes a token drawn from the prediction, else it keeps the one it has. Nothing is renoised and no position
is chosen for being sure. With the linear schedule κ_t = 1 − t, r = Δt / t: at the last step, t = Δt, all jump.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from playground.sampling.rules.rule import Draws, Step
from playground.sampling.statistics import Statistics

Kappa = Literal["linear", "cosine"]

RATES: dict[Kappa, Callable[[float], float]] = {
    "linear": lambda t: 1 / t,  # κ = 1 − t
    "cosine": lambda t: math.pi / math.tan(math.pi * t / 2) if t < 1 else 0.0,  # κ = cos²(πt/2)
}
"""−κ̇_t / (1 − κ_t), for t in (0, 1]."""


def jump_probability(t: float, dt: float, kappa: Kappa) -> float:
    """r = −Δt · κ̇_t / (1 − κ_t), at most 1. t: noise level before the step, in (0, 1]; dt: Δt, in (0, t]."""
    return min(1.0, dt * RATES[kappa](t))


@dataclass(frozen=True)
class Euler:
    """One step from noise level `t` = n/N down by `dt` = 1/N."""

    t: float
    dt: float
    kappa: Kappa = "linear"

    def step(self, canvas_ids: Tensor, statistics: Statistics, draws: Draws) -> Step:
        """Positions that jump are the accepted ones; all others keep their token of `canvas_ids`."""
        jumps = draws.uniforms < jump_probability(self.t, self.dt, self.kappa)
        return Step(accepted=jumps, canvas_ids=torch.where(jumps, statistics.sampled, canvas_ids))
