"""What every acceptance rule takes and gives."""

from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from playground.sampling.statistics import Statistics


@dataclass(frozen=True)
class Step:
    """A rule's decisions in one denoising step."""

    accepted: Tensor
    """(C,) bool: which positions take the sampled token."""
    canvas_ids: Tensor
    """(C,) int64: what the next step is fed."""


class Rule(Protocol):
    """Decides, from one pass over the logits, what the next step is fed."""

    def step(self, canvas_ids: Tensor, statistics: Statistics, t: float, random_ids: Tensor) -> Step:
        """One transition from x_t to x_{t−Δt} (report, Equation 2).

        canvas_ids: (C,) int64, x_t; statistics: of the tempered logits; t: noise level n/N before the step;
        random_ids: (C,) int64, uniform draws over the whole vocabulary for what is renoised.
        """
        ...
