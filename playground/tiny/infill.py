"""The infill tasks' prompt, pins and fillings; what a hole is, the engine says. Nothing here imports torch.

The visible text is pinned in the canvas, token by token, and so is the end of the turn after it; only holes are
denoised. A hole's text may be shorter than the hole: filler tokens pad it and vanish when the text is read.
"""

from collections.abc import Callable, Sequence

from playground.engine.holes import Visible, parse_holes, pins

INFILL_PROMPT = "Fill in the holes:\n"


def infill_pins(text: str, encode: Callable[[str], list[int]], end_of_turn: int) -> list[int | None]:
    """The answer to a text with holes, as pins: a token id where text stands, None in a hole, one end of turn last.

    `encode` gives the ids of plain text. What is left of the last canvas after these pins is to be pinned to the end
    of turn, too, as the engine does.
    """
    return [*pins(text, encode), end_of_turn]


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
