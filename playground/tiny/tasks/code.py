"""Small Python functions, checked by running them on examples in the restricted evaluator."""

from copy import deepcopy
from dataclasses import dataclass
from random import Random
from typing import Any

from playground.tiny.tasks.interpreter import run_function
from playground.tiny.tasks.task import Family, Task
from playground.tiny.tasks.words import listed

Kind = str  # "int", "word", "list"


@dataclass(frozen=True, slots=True)
class _Recipe:
    """What is asked, the arguments and their kinds, and one body that does it; {k} is a number."""

    asked: str
    arguments: tuple[tuple[str, Kind], ...]
    body: str


def _returns(asked: str, arguments: str, expression: str) -> _Recipe:
    kinds = {"a": "int", "b": "int", "x": "int", "s": "word", "items": "list"}
    return _Recipe(asked, tuple((name, kinds[name]) for name in arguments.split()), f"    return {expression}")


_LOOP = "    {start}\n    for x in items:\n        {each}\n    return total"

RECIPES = (
    _returns("the sum of a and b", "a b", "a + b"),
    _returns("the product of a and b", "a b", "a * b"),
    _returns("a minus b", "a b", "a - b"),
    _returns("the larger of a and b", "a b", "max(a, b)"),
    _returns("the smaller of a and b", "a b", "min(a, b)"),
    _returns("the sum of a and b times {k}", "a b", "(a + b) * {k}"),
    _returns("whether a equals b", "a b", "a == b"),
    _returns("the square of x", "x", "x * x"),
    _returns("x plus {k}", "x", "x + {k}"),
    _returns("x minus {k}", "x", "x - {k}"),
    _returns("x times {k}", "x", "x * {k}"),
    _returns("whether x is greater than {k}", "x", "x > {k}"),
    _returns("whether x is less than {k}", "x", "x < {k}"),
    _returns("whether x is even", "x", "x % 2 == 0"),
    _returns("whether x is odd", "x", "x % 2 == 1"),
    _returns("the remainder of x by {k}", "x", "x % {k}"),
    _returns("x, but at most {k}", "x", "min(x, {k})"),
    _returns("x, but at least {k}", "x", "max(x, {k})"),
    _returns("the length of s", "s", "len(s)"),
    _returns("s reversed", "s", "s[::-1]"),
    _returns("s in capitals", "s", "s.upper()"),
    _returns("s repeated {k} times", "s", "s * {k}"),
    _returns("the first letter of s", "s", "s[0]"),
    _returns("the last letter of s", "s", "s[-1]"),
    _returns("the items sorted", "items", "sorted(items)"),
    _returns("the largest of the items", "items", "max(items)"),
    _returns("the sum of the items", "items", "sum(items)"),
    _returns("how many items equal {k}", "items", "items.count({k})"),
    _Recipe(
        "how many items are over {k}",
        (("items", "list"),),
        _LOOP.format(start="total = 0", each="total += x > {k}"),
    ),
    _Recipe(
        "the sum of the items plus {k}",
        (("items", "list"),),
        _LOOP.format(start="total = {k}", each="total += x"),
    ),
    _Recipe(
        "the product of the items times {k}",
        (("items", "list"),),
        _LOOP.format(start="total = {k}", each="total *= x"),
    ),
)
FUNCTION_NAMES = listed("apply calc compute f find func g get go help make my_func run solve step test_me work")


def _examples(recipe: _Recipe, rng: Random) -> list[list[Any]]:
    def draw(kind: Kind) -> Any:
        if kind == "int":
            return rng.randint(-20, 120)
        if kind == "word":
            return "".join(rng.choice("abcdef") for _ in range(rng.randint(1, 6)))
        return [rng.randint(-3, 110) for _ in range(rng.randint(1, 6))]

    return [[draw(kind) for _, kind in recipe.arguments] for _ in range(8)]


def _python(rng: Random) -> Task:
    recipe = rng.choice(RECIPES)
    name, k = rng.choice(FUNCTION_NAMES), rng.randint(2, 99)
    asked = recipe.asked.format(k=k)
    signature = ", ".join(argument for argument, _ in recipe.arguments)
    answer = f"def {name}({signature}):\n{recipe.body.format(k=k)}"
    prompt = rng.choice(
        (
            f"Write a Python function {name}({signature}) that returns {asked}.",
            f"Python: {name}({signature}) returns {asked}.",
        )
    )
    examples = [(a, run_function(answer, name, deepcopy(a))) for a in _examples(recipe, rng)]
    return Task("python", prompt, answer, f"{name}: {asked}", data={"name": name, "examples": examples})


def _check_python(task: Task, text: str) -> bool:
    """The function gives the right result, of the right type, on every example."""
    for arguments, expected in task.data["examples"]:
        try:
            result = run_function(text, task.data["name"], deepcopy(arguments))
        except Exception:  # whatever a wrong program does, it is a wrong answer
            return False
        if type(result) is not type(expected) or result != expected:
            return False
    return True


FAMILIES = (Family("python", _python, _check_python, weight=1.0, teaches="code: a frame first, then its slots"),)
