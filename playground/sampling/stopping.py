"""When a canvas is denoised."""

import torch
from torch import Tensor


def mean_entropy(entropy: Tensor) -> float:
    """Mean over the positions given, those after the end of turn too; 0 where there are none, as when all are pinned.

    entropy: (C,) float32, in nats, summed in float64.
    """
    return float(entropy.to(torch.float64).mean()) if len(entropy) else 0.0


def stable_steps(before: int, previous: Tensor | None, predicted: Tensor) -> int:
    """How many steps in a row, just before this one, predicted the same canvas.

    before: the count at the previous step; previous: what it predicted, none at a canvas's first step.
    """
    return before + 1 if previous is not None and torch.equal(previous, predicted) else 0


def stable_and_confident(
    mean_entropy: float, stable_steps: int, confidence_threshold: float, stability_threshold: int
) -> bool:
    """The report's adaptive stopping: confident (strictly below the threshold) and stable (section 3.3)."""
    return mean_entropy < confidence_threshold and stable_steps >= stability_threshold
