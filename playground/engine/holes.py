"""A text with holes: `___` stands for 8 unknown tokens, `___{n}` for n; the rest stands as it is."""

import re
from collections.abc import Callable

DEFAULT_HOLE = 8
MAX_HOLE = 64

_HOLE = re.compile(r" ?___(?:\{(\d{1,3})\})?")


def pins(text: str, encode: Callable[[str], list[int]]) -> list[int | None]:
    """The text as pins, a token id where text stands and none in a hole.

    encode: gives the ids of plain text. One space before a hole belongs to it, since tokenizers put it into the word.
    Raises `ValueError` for a text without a hole, and for a hole of 0 or more than 64 tokens.
    """
    found: list[int | None] = []
    end = 0
    for match in _HOLE.finditer(text):
        length = int(match[1]) if match[1] else DEFAULT_HOLE
        if not 1 <= length <= MAX_HOLE:
            raise ValueError(f"a hole has 1 to {MAX_HOLE} tokens, not {length}")
        found += encode(text[end : match.start()]) if match.start() > end else []
        found += [None] * length
        end = match.end()
    if end == 0:
        raise ValueError("the text has no hole; write ___ where something is to be filled in")
    return found + (encode(text[end:]) if end < len(text) else [])
