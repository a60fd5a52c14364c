"""What a task is, and which instances are held out."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal

Split = Literal["train", "held_out"]

HELD_OUT_ONE_IN = 8


@dataclass(frozen=True, slots=True)
class Task:
    """One prompt with a right answer.

    `instance` names what is asked, apart from how it is phrased: two phrasings of 3 + 4 are one instance. The split
    depends on it alone, and on `twin`: family and instance under which another family asks the same, with a thought
    or without. `thought` is the scratch work of an answer in thinking mode. `template` is the text with
    holes of an infill task; its visible part is pinned in the canvas. `data` is what the checker needs to know.
    """

    family: str
    prompt: str
    answer: str
    instance: str
    twin: tuple[str, str] | None = None
    thought: str | None = None
    template: str | None = None
    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def thinking(self) -> bool:
        """Whether the answer is asked for in thinking mode."""
        return self.thought is not None

    @property
    def messages(self) -> list[dict[str, str]]:
        """The conversation as a recipe has it."""
        return [{"role": "user", "content": self.prompt}]


def equals_answer(task: Task, text: str) -> bool:
    """Exact match, for families with one right answer."""
    return text == task.answer


@dataclass(frozen=True, slots=True)
class Family:
    """A kind of task.

    `make` draws an instance of either split, `check` says whether a text answers it, exactly. `weight` is its share
    of the training mixture, before normalisation. `teaches` is what a visitor sees in it, in a word or two.
    A `closed` family has so few facts that no fact can be kept from training: there, an instance is a fact in one
    phrasing, and the held-out set asks known facts in phrasings never seen with them.
    """

    name: str
    make: Callable[[Random], Task]
    check: Callable[[Task, str], bool] = equals_answer
    weight: float = 1.0
    teaches: str = "two or three steps"
    closed: bool = False


def is_held_out(task: Task) -> bool:
    """Whether the task's instance is kept from training: one in eight, by a hash of family and instance.

    What two families ask is kept from both if it is so under both names, one in 64; otherwise both may train on it.
    """
    return all(_chosen(family, instance) for family, instance in _names(task))


def _names(task: Task) -> list[tuple[str, str]]:
    return [(task.family, task.instance), *([task.twin] if task.twin else [])]


def _chosen(family: str, instance: str) -> bool:
    digest = hashlib.blake2b(f"{family}\0{instance}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % HELD_OUT_ONE_IN == 0
