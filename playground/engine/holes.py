"""A text with holes: `___` stands for 8 unknown tokens, `___{n}` for n; the rest stands as it is. Imports no torch."""

import re
from collections.abc import Callable
from dataclasses import dataclass

DEFAULT_HOLE = 8
MAX_HOLE = 64

_HOLE = re.compile(r" ?___(?:\{(\d{1,3})\})?")


@dataclass(frozen=True, slots=True)
class Visible:
    """Text that stands."""

    text: str


@dataclass(frozen=True, slots=True)
class Hole:
    """A gap of `length` tokens."""

    length: int


def parse_holes(text: str) -> list[Visible | Hole]:
    """The text as visible parts and holes, in order.

    One space before a hole belongs to it, since tokenizers put it into the word. Raises `ValueError` for a hole of 0 or
    of more than 64 tokens.
    """
    parts: list[Visible | Hole] = []
    end = 0
    for match in _HOLE.finditer(text):
        if match.start() > end:
            parts.append(Visible(text[end : match.start()]))
        length = int(match[1]) if match[1] else DEFAULT_HOLE
        if not 1 <= length <= MAX_HOLE:
            raise ValueError(f"a hole has 1 to {MAX_HOLE} tokens, not {length}")
        parts.append(Hole(length))
        end = match.end()
    if end < len(text):
        parts.append(Visible(text[end:]))
    return parts


def pins(text: str, encode: Callable[[str], list[int]]) -> list[int | None]:
    """The text as pins, a token id where text stands and none in a hole; positions count over canvas edges.

    encode: gives the ids of plain text. Raises `ValueError` for a text without a hole, or with an impossible one.
    """
    parts = parse_holes(text)
    if not any(isinstance(part, Hole) for part in parts):
        raise ValueError("the text has no hole; write ___ where something is to be filled in")
    found: list[int | None] = []
    for part in parts:
        found += [None] * part.length if isinstance(part, Hole) else encode(part.text)
    return found
