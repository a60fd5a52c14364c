"""Text with holes: what a hole is, and the canvas that an infill starts from.

`___` is a hole of 8 tokens, `___{n}` one of n. The visible text is pinned in the canvas, token by token, and so is the
end of the turn after it; only holes are denoised. A hole's text may be shorter than the hole: filler tokens pad it and
vanish when the text is read. One space before a hole belongs to the hole, because that is where the tokenizer puts it.
Nothing here imports torch.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

DEFAULT_HOLE = 8
MAX_HOLE = 64
INFILL_PROMPT = "Fill in the holes:\n"

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

    Raises:
        ValueError: for a hole of 0 or of more than 64 tokens.
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


def infill_pins(text: str, encode: Callable[[str], list[int]], end_of_turn: int) -> list[int | None]:
    """The answer to a text with holes, as pins: a token id where text stands, None in a hole, one end of turn last.

    `encode` gives the ids of plain text. Positions count from the start of the answer, over canvas edges. What is
    left of the last canvas after these pins is to be pinned to the end of turn, too.
    """
    pins: list[int | None] = []
    for part in parse_holes(text):
        pins.extend([None] * part.length if isinstance(part, Hole) else encode(part.text))
    return [*pins, end_of_turn]


def fill_holes(text: str, fillings: Sequence[str]) -> str:
    """The text with its holes filled, in order; a filling brings the space before it.

    Raises:
        ValueError: when the number of fillings is not that of the holes.
    """
    left = list(fillings)
    out: list[str] = []
    for part in parse_holes(text):
        if isinstance(part, Visible):
            out.append(part.text)
        elif left:
            out.append(left.pop(0))
        else:
            raise ValueError("fewer fillings than holes")
    if left:
        raise ValueError("more fillings than holes")
    return "".join(out)
