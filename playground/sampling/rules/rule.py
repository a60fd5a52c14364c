"""What every rule takes and gives."""

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from playground.sampling.statistics import Statistics


@dataclass(frozen=True)
class Draws:
    """The randomness of one step, apart from the sampled tokens."""

    random_ids: Tensor
    """(C,) int64: uniform draws over the whole vocabulary, for what is renoised."""
    uniforms: Tensor
    """(C,) float64 in [0, 1): for rules that decide by chance."""

    def at(self, positions: Tensor) -> "Draws":
        """Those of some positions; positions: (C,) bool."""
        return Draws(random_ids=self.random_ids[positions], uniforms=self.uniforms[positions])


@dataclass(frozen=True)
class Step:
    """A rule's decisions in one denoising step."""

    accepted: Tensor
    """(C,) bool: which positions take the sampled token."""
    canvas_ids: Tensor
    """(C,) int64: what the next step is fed."""


class Rule(Protocol):
    """Decides, from one pass over the logits, what the next step is fed."""

    def step(self, canvas_ids: Tensor, statistics: Statistics, draws: Draws) -> Step:
        """One transition from x_t to x_{t−Δt} (report, Equation 2).

        canvas_ids: (C,) int64, x_t; statistics: of the tempered logits.
        """
        ...


def renoising(accepted: Tensor, statistics: Statistics, draws: Draws) -> Step:
    """Accepted positions take the sampled token, all others a fresh uniformly random one. accepted: (C,) bool."""
    return Step(accepted=accepted, canvas_ids=torch.where(accepted, statistics.sampled, draws.random_ids))


def at_least(score: Tensor, threshold: float) -> Tensor:
    """Positions whose score, (C,), is at least the threshold, and the best one (the first of equals) in any case:
    (C,) bool, so that every step gets on."""
    accepted = score >= threshold
    if len(score):
        accepted[score.argmax()] = True
    return accepted
