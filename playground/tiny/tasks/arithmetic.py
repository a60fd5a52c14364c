"""Addition and subtraction, with carries; also column by column in the thought channel."""

from random import Random

from playground.tiny.tasks.task import Family, Task

_SIZES = (10, 100, 100, 100, 100, 1000)


def _addition(rng: Random) -> Task:
    size = rng.choice(_SIZES)
    a, b = rng.randrange(size), rng.randrange(size)
    prompt = rng.choice((f"What is {a} + {b}?", f"Add {a} and {b}.", f"{a} + {b} ="))
    low, high = sorted((a, b))
    instance = f"{low}+{high}"
    return Task("add", prompt, f"{a} + {b} = {a + b}", instance, ("think_add", instance))


def _subtraction(rng: Random) -> Task:
    size = rng.choice(_SIZES)
    b, a = sorted((rng.randrange(size), rng.randrange(size)))
    prompt = rng.choice((f"What is {a} - {b}?", f"Subtract {b} from {a}.", f"{a} - {b} ="))
    return Task("subtract", prompt, f"{a} - {b} = {a - b}", f"{a}-{b}")


def column_addition(a: int, b: int) -> str:
    """Adding by hand, one column a line, from the ones up: '7+8=15', then '4+3+1=8'."""
    lines: list[str] = []
    carry = 0
    while True:
        x, y = a % 10, b % 10
        total = x + y + carry
        lines.append(f"{x}+{y}+{carry}={total}" if carry else f"{x}+{y}={total}")
        carry = total // 10
        a, b = a // 10, b // 10
        if not (a or b):
            return "\n".join(lines)


def _addition_by_columns(rng: Random) -> Task:
    size = rng.choice((100, 1000, 1000, 1000))
    a, b = rng.randrange(size), rng.randrange(size)
    prompt = rng.choice((f"What is {a} + {b}?", f"Add {a} and {b}.", f"{a} + {b} ="))
    low, high = sorted((a, b))
    instance = f"{low}+{high}"
    return Task("think_add", prompt, f"{a} + {b} = {a + b}", instance, ("add", instance), column_addition(a, b))


FAMILIES = (
    Family("add", _addition, weight=1.5, teaches="a digit that carries over"),
    Family("subtract", _subtraction, weight=1.5, teaches="a digit that carries over"),
    Family("think_add", _addition_by_columns, weight=0.9, teaches="scratch work before the answer"),
)
