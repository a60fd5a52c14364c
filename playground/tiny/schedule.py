"""The learning rate: warm-up, constant, then a decay at the end of the time that a run may take.

It follows the clock, not a number of steps: a run is bounded by minutes, whatever the machine does meanwhile. Training
that goes on later resumes from the constant phase (the trunk), so every run's decay is a branch that ends in a
checkpoint worth using, and the trunk grows on.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Schedule:
    """seconds: the run's time. decay_share: the last part of it in which the rate falls linearly. warmup_steps: steps
    of the whole training, over all runs, in which it rises."""

    seconds: float
    decay_share: float = 0.4
    warmup_steps: int = 60
    floor: float = 0.02

    def decaying(self, elapsed: float) -> bool:
        """Whether the run is in its decay, `elapsed` seconds after its start."""
        return self.decay_share > 0 and elapsed >= self.seconds * (1 - self.decay_share)

    def done(self, elapsed: float) -> bool:
        """Whether the run's time is over."""
        return elapsed >= self.seconds

    def share(self, step: int, elapsed: float) -> float:
        """The share of the full learning rate, in (0, 1], before step number `step` (from 0)."""
        warm = min(1.0, (step + 1) / self.warmup_steps) if self.warmup_steps else 1.0
        if not self.decaying(elapsed):
            return warm
        left = (self.seconds - elapsed) / (self.seconds * self.decay_share)
        return warm * max(self.floor, left)
