"""All families, and drawing from them."""

from collections.abc import Mapping
from random import Random

from playground.tiny.tasks import arithmetic, code, knowledge, letters, lists, numbers, poems, stories, sudoku
from playground.tiny.tasks import holes as infilling
from playground.tiny.tasks.task import Family, Split, Task, is_held_out

_MODULES = (arithmetic, letters, numbers, knowledge, poems, stories, lists, code, infilling, sudoku)

FAMILIES: dict[str, Family] = {family.name: family for module in _MODULES for family in module.FAMILIES}


def sample(family: str, rng: Random, split: Split = "train") -> Task:
    """An instance of the family, of the given split.

    Raises:
        KeyError: for a family that does not exist.
    """
    maker = FAMILIES[family]
    while True:
        task = maker.make(rng)
        if is_held_out(task) == (split == "held_out"):
            return task


def sample_mixture(rng: Random, weights: Mapping[str, float] | None = None) -> Task:
    """A training instance of any family, by the families' weights; `weights` replaces some of them."""
    shares = {name: family.weight for name, family in FAMILIES.items()} | dict(weights or {})
    (family,) = rng.choices(list(shares), list(shares.values()))
    return sample(family, rng, "train")


def held_out_set(family: str, count: int, seed: int = 0) -> list[Task]:
    """`count` held-out instances of the family, the same for the same seed."""
    rng = Random(f"{family}:{seed}")
    return [sample(family, rng, "held_out") for _ in range(count)]


def check(task: Task, text: str) -> bool:
    """Whether `text` (the answer alone, without thought and markers) is right."""
    return FAMILIES[task.family].check(task, text)
