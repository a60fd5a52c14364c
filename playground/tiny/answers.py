"""What a run of a task gave, whoever ran it, and the interface of those who run tasks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from playground.tiny.tasks import Task

Mode = Literal["diffusion", "autoregressive"]
StopReason = Literal["end_of_turn", "max_new_tokens"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run of one task.

    ids: the committed ids up to and including the end token. canvas_steps: denoising steps of each canvas, and
    canvas_tokens its valid tokens (both empty in AR). canvas_stops: why each canvas was done. revised: tokens that
    were accepted in one step, and committed as another. passes: forward passes, as in Equation 10 (in AR: tokens).
    """

    ids: list[int]
    stop_reason: StopReason
    passes: int
    canvas_steps: list[int]
    canvas_tokens: list[int]
    canvas_stops: list[str]
    revised: int = 0


class Runner(Protocol):
    """Runs tasks in one mode; a batch at a time, or one by one."""

    mode: Mode

    def run(self, tasks: Sequence[Task]) -> list[Outcome]:
        """An outcome for each task, in order."""
