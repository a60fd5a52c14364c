"""Runs to start from, grouped by what they teach."""

from typing import Any, NamedTuple

INFILL_PROMPT = "Fill in the holes:\n"
"""How the embedded model is asked to fill in the holes of the text that follows."""


class Example(NamedTuple):
    """One run: its name on the page, its prompt, and what of the recipe it sets beside it.

    `seed` is the one that shows the point; `text` is a text with holes to start from; `thinking` asks for a thought.
    What an example does not name stays as the person has set it: mode, sampler, decoding.
    """

    name: str
    prompt: str
    seed: int = 0
    text: str | None = None
    thinking: bool = False


class Group(NamedTuple):
    """Examples that teach one thing, which `teaches` says in a sentence."""

    name: str
    teaches: str
    examples: tuple[Example, ...]


def _infill(name: str, text: str, seed: int = 0) -> Example:
    return Example(name, INFILL_PROMPT + text, seed, text)


EMBEDDED = (
    Group(
        "Known at once",
        "What the model is sure of is accepted whole in the first steps, and the run stops early.",
        (
            Example("a capital", "What is the capital of France?"),
            Example("an opposite", "What is the opposite of hot?"),
            Example("a sound", "What sound does a duck make?"),
        ),
    ),
    Group(
        "Frame, then slots",
        "Brackets, keywords and length are settled first; values go into what is left open.",
        (
            Example("JSON", "Make JSON: name Zoe, age 31, city Rome"),
            Example("Python", "Write a Python function calc(a, b) that returns the larger of a and b."),
            Example("a list", "List 4 animals."),
        ),
    ),
    Group(
        "All at once",
        "Every place depends on the others: a digit on the carry beside it, a number on all it is sorted among.",
        (
            Example("a sum", "What is 47 + 38?"),
            Example("sorting", "Sort these numbers: 42 7 93 18 5"),
            Example("a Sudoku", "Sudoku:\n....\n.4.3\n4...\n23.4"),
            Example("a larger one", "Sudoku:\n......\n..6..5\n.31.5.\n465.32\n513264\n642513"),
        ),
    ),
    Group(
        "The end decides",
        "Text with holes. What stands after a hole settles what goes into it; a chain of sums is solved from its end.",
        (
            _infill("a bell", "One day Joel found ___ in the meadow. Since then the black bell is with Joel."),
            _infill("a sum", "54 + ___{3} = 91"),
            _infill("a chain", "___{1} +4 =___{1} +2 =___{1} -3 =5", seed=1),
        ),
    ),
    Group(
        "Scratch work",
        "In thinking mode the model writes into its thought channel first: by columns, what is left, one by one.",
        (
            Example("adding", "What is 648 + 275?", thinking=True),
            Example("sorting", "Sort these numbers: 42 7 93 18", thinking=True),
            Example("counting", "How many fruits are these: fig, kiwi, plum, pear, lime, cherry?", thinking=True),
        ),
    ),
    Group(
        "Change of mind",
        "Accepted is not locked: with these seeds some tokens are accepted, then become others. Look for amber.",
        (
            Example("a list", "List 4 animals.", seed=2),
            _infill("a chain", "___{1} +4 =___{1} +2 =___{1} -3 =5", seed=3),
            Example("a story", "Tell a story about a fox named Mia.", seed=37),
        ),
    ),
    Group(
        "Over the edge",
        "An answer longer than a canvas: what is committed becomes context for the next one.",
        (
            Example("a fox", "Tell a long story about Mia the fox.", seed=15),
            Example("counting", "Count from 3 to 30."),
        ),
    ),
    Group(
        "Open text",
        "Many words fit in many places, so it takes ten times the steps of a fact.",
        (
            Example("an acrostic", "Write an acrostic poem for SUN."),
            Example("a verse", "Write a verse about the owl and the bear."),
        ),
    ),
)
"""What the embedded model has learned."""

GENERAL = (
    Group(
        "Known at once",
        "What the model is sure of is accepted whole in the first steps, and the run stops early.",
        (
            Example("a capital", "What is the capital of France?"),
            Example("a sum", "What is 47 + 38?"),
        ),
    ),
    Group(
        "Frame, then slots",
        "Brackets, keywords and length are settled first; values go into what is left open.",
        (
            Example("JSON", "Make JSON for a person: name Zoe, age 31, city Rome, three hobbies."),
            Example("Python", "Write a Python function that returns the n-th Fibonacci number without recursion."),
        ),
    ),
    Group(
        "Constraints",
        "Every place depends on the others, so the order in which they are settled matters.",
        (
            Example("a Sudoku", "Solve this 4x4 Sudoku and give the grid only:\n1.3.\n..1.\n.1.3\n3.2."),
            Example("an acrostic", "Write an acrostic poem for SUN."),
        ),
    ),
    Group(
        "Longer text",
        "Open text takes more steps than a fact: many words fit in many places.",
        (
            Example("a story", "Tell a story of five sentences about a fox named Mia."),
            Example("an explanation", "Why is the sky blue? Answer in two sentences."),
        ),
    ),
)
"""For models that answer anything."""


def groups(model: str) -> tuple[Group, ...]:
    """The examples that suit a model, by its name in the settings."""
    return EMBEDDED if model == "embedded" else GENERAL


def as_props(shown: tuple[Group, ...]) -> list[dict[str, Any]]:
    """The groups as the page's module takes them: name, teaches, and examples, each with the start of a recipe."""
    return [
        {
            "name": group.name,
            "teaches": group.teaches,
            "examples": [{"name": example.name, "recipe": _recipe(example)} for example in group.examples],
        }
        for group in shown
    ]


def _recipe(example: Example) -> dict[str, Any]:
    return {
        "messages": [{"role": "user", "content": example.prompt}],
        "thinking": example.thinking,
        "seed": example.seed,
        "edits": [] if example.text is None else [{"type": "infill", "text": example.text}],
    }
