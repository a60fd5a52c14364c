"""Lists of numbers and things: sorting, counting how many there are, counting from one number to another."""

from random import Random

from playground.tiny.tasks.task import Family, Task
from playground.tiny.tasks.words import KINDS


def _numbers(rng: Random, longest: int) -> list[int]:
    return [rng.randrange(rng.choice((10, 100))) for _ in range(rng.randint(3, longest))]


def _sort_prompt(rng: Random, numbers: list[int], *, falling: bool) -> str:
    listed = " ".join(map(str, numbers))
    if falling:
        return rng.choice((f"Sort from high to low: {listed}", f"Sort these numbers in falling order: {listed}"))
    return rng.choice((f"Sort these numbers: {listed}", f"Sort from low to high: {listed}"))


def _sort(rng: Random) -> Task:
    numbers = _numbers(rng, 7)
    falling = rng.random() < 0.25
    answer = " ".join(map(str, sorted(numbers, reverse=falling)))
    twin = None if falling else ("think_sort", f"{numbers}")
    return Task("sort", _sort_prompt(rng, numbers, falling=falling), answer, f"{numbers}{falling}", twin)


def selection_sort(numbers: list[int]) -> str:
    """Sorting by hand: what is left after the smallest has been taken, a line each time."""
    lines: list[str] = []
    left = list(numbers)
    while len(left) > 1:
        smallest = min(left)
        left.remove(smallest)
        lines.append(f"{smallest}: {' '.join(map(str, left))}")
    return "\n".join(lines)


def _sort_by_selection(rng: Random) -> Task:
    numbers = _numbers(rng, 5)
    answer = " ".join(map(str, sorted(numbers)))
    prompt = _sort_prompt(rng, numbers, falling=False)
    twin = ("sort", f"{numbers}{False}")
    return Task("think_sort", prompt, answer, f"{numbers}", twin, selection_sort(numbers))


def _kind_and_items(rng: Random, most: int) -> tuple[str, list[str]]:
    kind = rng.choice(sorted(KINDS))
    return kind, rng.sample(KINDS[kind], rng.randint(2, most))


def _count_prompt(rng: Random, kind: str, items: list[str]) -> str:
    listed = ", ".join(items)
    return rng.choice(
        (f"How many {kind} are these: {listed}?", f"Count the {kind}: {listed}.", f"How many {kind}: {listed}?")
    )


def _count(rng: Random) -> Task:
    kind, items = _kind_and_items(rng, 8)
    instance = ", ".join(items)
    return Task("count", _count_prompt(rng, kind, items), f"{len(items)} {kind}.", instance, ("think_count", instance))


def tally(items: list[str]) -> str:
    """Counting by hand: a number at each item."""
    return ", ".join(f"{number} {item}" for number, item in enumerate(items, 1))


def _count_by_tally(rng: Random) -> Task:
    kind, items = _kind_and_items(rng, 10)
    prompt = _count_prompt(rng, kind, items)
    instance = ", ".join(items)
    return Task("think_count", prompt, f"{len(items)} {kind}.", instance, ("count", instance), tally(items))


def _range(rng: Random, family: str, first: int, length: int, step: int) -> Task:
    """Count from a to b.

    The answer begins with how many numbers follow. That fixes its length before the numbers are known: without it,
    a diffusion model places the end of the turn while it is still unsure of what comes before.
    """
    numbers = [first + i * step for i in range(length)]
    if step == 1 and rng.random() < 0.25:
        numbers.reverse()
        prompt = f"Count down from {numbers[0]} to {numbers[-1]}."
    else:
        by = "" if step == 1 else f" by {step}"
        prompt = f"Count from {numbers[0]} to {numbers[-1]}{by}."
    answer = f"{length} numbers: {' '.join(map(str, numbers))}"
    return Task(family, prompt, answer, f"{numbers[0]} to {numbers[-1]} by {step}")


def _count_range(rng: Random) -> Task:
    if rng.random() < 0.25:
        return _range(rng, "count_range", rng.randrange(1, 40), rng.randint(3, 6), 10)
    return _range(rng, "count_range", rng.randrange(1, 80), rng.randint(3, 9), 1)


def _count_far(rng: Random) -> Task:
    return _range(rng, "count_far", rng.randrange(1, 21), rng.randint(20, 30), 1)


FAMILIES = (
    Family("sort", _sort, weight=2.0, teaches="every place depends on all others"),
    Family("think_sort", _sort_by_selection, weight=0.7, teaches="scratch work before the answer"),
    Family("count", _count, weight=1.4, teaches="a number settled at once"),
    Family("think_count", _count_by_tally, weight=0.8, teaches="scratch work before the answer"),
    Family("count_range", _count_range, weight=1.6, teaches="a length settled before the content"),
    Family("count_far", _count_far, weight=0.7, teaches="an answer over two canvases"),
)
