"""The task families: what the embedded model is taught, and how each answer is checked."""

from playground.tiny.tasks.registry import FAMILIES, check, held_out_set, sample, sample_mixture
from playground.tiny.tasks.task import Family, Split, Task, is_held_out

__all__ = [
    "FAMILIES",
    "Family",
    "Split",
    "Task",
    "check",
    "held_out_set",
    "is_held_out",
    "sample",
    "sample_mixture",
]
