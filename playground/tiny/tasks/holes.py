"""Infill: texts with holes between given ends, where what stands after a hole decides what goes into it."""

from random import Random

from playground.tiny.infill import INFILL_PROMPT, fill_holes
from playground.tiny.tasks.knowledge import OPPOSITES
from playground.tiny.tasks.task import Family, Task
from playground.tiny.tasks.words import ANIMALS, COLORS, MOODS, NAMES, PLACES, THINGS, article

Filled = tuple[str, list[str]]

FINDS = (
    "One day {n} found ___ in the {p}. Since then the {c} {t} is with {n}.",
    "{n} lost ___ on the way. At last a {b} brought back the {c} {t}.",
    "A {b} asked for ___, so {n} gave away the {c} {t}.",
)
MEETS = (
    "{n} met ___ by the road. The {m} {a} smiled and said hello.",
    "In the {p} lived ___ all alone. Everyone liked the {m} {a}.",
)


def _object(rng: Random) -> Filled:
    """The end names what the beginning introduces."""
    color, thing, mood, animal = rng.choice(COLORS), rng.choice(THINGS), rng.choice(MOODS), rng.choice(ANIMALS)
    slots = {"n": rng.choice(NAMES), "p": rng.choice(PLACES), "b": rng.choice(ANIMALS)}
    slots |= {"c": color, "t": thing, "m": mood, "a": animal}
    if rng.random() < 0.6:
        return rng.choice(FINDS).format(**slots), [f" {article(color)} {thing}"]
    return rng.choice(MEETS).format(**slots), [f" {article(mood)} {animal}"]


def _bridge(rng: Random) -> Filled:
    """Numbers between two that are given, rising by one step."""
    step, count = rng.choice((1, 1, 2, 5)), rng.randint(2, 3)
    first = rng.randrange(10, 80)
    numbers = [first + i * step for i in range(count + 4)]
    shown = list(map(str, numbers))
    hole = "".join(f" {x}" for x in shown[2:-2])
    length = sum(len(x) + 1 for x in shown[2:-2])
    return f"{' '.join(shown[:2])} ___{{{length}}} {' '.join(shown[-2:])}", [hole]


def _sum(rng: Random) -> Filled:
    """The missing number of a sum."""
    a, b = rng.randrange(1, 100), rng.randrange(1, 100)
    return f"{a} + ___{{3}} = {a + b}", [f" {b}"]


def _analogy(rng: Random) -> Filled:
    """Two pairs of opposites, one word missing in each."""
    one, other = rng.sample(sorted(OPPOSITES), 2)
    return f"{one} and ___{{5}}, ___{{5}} and {OPPOSITES[other]}", [f" {OPPOSITES[one]}", f" {other}"]


def _infill(rng: Random) -> Task:
    template, fillings = rng.choice((_object, _object, _bridge, _sum, _analogy))(rng)
    answer = fill_holes(template, fillings)
    return Task("infill", INFILL_PROMPT + template, answer, template, template=template, data={"fillings": fillings})


def _chain(rng: Random) -> Task:
    """A chain of sums of which only the end is given; each number keeps its last digit.

    The last number settles the one before it, and so on to the front. Written from left to right the first number
    needs all of the chain at once; denoising may begin at the end. The solution is unique.
    """
    links = rng.choice((1, 1, 2, 2, 3))
    numbers = [rng.randrange(10)]
    steps: list[str] = []
    for _ in range(links):
        amount = rng.randint(1, 9)
        sign = rng.choice("+-")
        steps.append(f"{sign}{amount}")
        numbers.append((numbers[-1] + (amount if sign == "+" else -amount)) % 10)
    template = "".join(f"___{{1}} {step} =" for step in steps) + str(numbers[-1])
    fillings = list(map(str, numbers[:-1]))
    answer = fill_holes(template, fillings)
    return Task("chain", INFILL_PROMPT + template, answer, template, template=template, data={"fillings": fillings})


FAMILIES = (
    Family("infill", _infill, weight=1.6, teaches="the end decides the beginning"),
    Family("chain", _chain, weight=1.4, teaches="denoised from right to left"),
)
