"""Prompts to start from, by what they show."""

from typing import NamedTuple


class Group(NamedTuple):
    """Prompts of one kind; each click on the group gives the next."""

    name: str
    prompts: tuple[str, ...]


EMBEDDED = (
    Group("Facts", ("What is the capital of France?", "What sound does a duck make?", "What is the opposite of hot?")),
    Group("Arithmetic", ("What is 47 + 38?", "What is 91 - 57?", "Add 318 and 264.")),
    Group("Sort", ("Sort these numbers: 42 7 93 18 5", "Sort from high to low: 12 80 33 6")),
    Group("JSON", ("Make JSON: name Zoe, age 31, city Rome", "Convert to JSON: pet owl, color green, fruit plum")),
    Group(
        "Python",
        (
            "Write a Python function calc that returns the larger of a and b.",
            "Write a Python function solve that returns s reversed.",
        ),
    ),
    Group("Story", ("Tell a story about a fox named Mia.", "Write a short story about Leo the owl in the garden.")),
    Group("Long story", ("Tell a long story about Mia the fox.", "Tell a long story about Hugo the bear.")),
    Group("Acrostic", ("Write an acrostic poem for SUN.", "Write an acrostic poem for FOX.")),
    Group("Sudoku", ("Sudoku:\n1.3.\n..1.\n.1.3\n3.2.", "Sudoku:\n.2.4\n3..2\n2.4.\n.3.1")),
)
"""What the embedded model has learned."""

GENERAL = (
    Group("Facts", ("What is the capital of France?", "Why is the sky blue? Answer in two sentences.")),
    Group("Arithmetic", ("What is 47 + 38? Show each step.",)),
    Group("JSON", ("Make JSON for a person: name Zoe, age 31, city Rome, three hobbies.",)),
    Group("Python", ("Write a Python function that returns the n-th Fibonacci number without recursion.",)),
    Group("Story", ("Tell a story of five sentences about a fox named Mia.",)),
    Group("Acrostic", ("Write an acrostic poem for SUN.",)),
    Group("Sudoku", ("Solve this 4x4 Sudoku and give the grid only:\n1.3.\n..1.\n.1.3\n3.2.",)),
)
"""For models that answer anything."""


def groups(model: str) -> tuple[Group, ...]:
    """The examples that suit a model, by its name in the settings."""
    return EMBEDDED if model == "embedded" else GENERAL
