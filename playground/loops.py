"""Degenerate repetition, as the report's section 4.2 describes it: the tokens repeat, their entropy collapses, and the
canvas stops early for that reason. It is marked and counted; nothing is cut because of it."""

import re
from collections.abc import Mapping, Sequence

from playground.events import CanvasStopReason, Loop

LONGEST = 8
"""Tokens of the longest stretch that is looked for."""
TIMES = 6
"""A stretch that stands there less often than this is no loop."""
REPEATING = re.compile(r"\b(repeat\w*|times|again|forever|over and over|say|chant|echo|copy)\b", re.IGNORECASE)
"""Words of a prompt that asks for the same thing more than once."""
COLLAPSED = 0.1
"""Mean entropy in nats of repeated autoregressive tokens below which it has collapsed."""


def repetition(ids: Sequence[int], longest: int = LONGEST, times: int = TIMES) -> Loop | None:
    """The shortest stretch that the ids end in at least `times` times in a row; the last one may be cut off."""
    for size in range(1, longest + 1):
        length = size
        while length < len(ids) and ids[-length - 1] == ids[-length - 1 + size]:
            length += 1
        if length >= size * times:
            return Loop(start=len(ids) - length, size=size, times=length // size)
    return None


def of_canvas(
    ids: Sequence[int], ended: bool, stop_reason: CanvasStopReason, texts: Mapping[int, str], prompt: str
) -> Loop | None:
    """The loop that a committed canvas ends in.

    ids: its tokens; ended: whether the last is an end token. A canvas that ends the turn is no loop, whatever it
    repeats, nor one that took all its steps: its entropy has not collapsed. Nor what the prompt asks for.
    """
    if ended or stop_reason != "stable_and_confident":
        return None
    return unasked(ids, texts, prompt)


def of_tokens(
    ids: Sequence[int], entropies: Sequence[float], ended: bool, texts: Mapping[int, str], prompt: str
) -> Loop | None:
    """The loop that an autoregressive answer ends in; entropies: of each token, in nats."""
    loop = None if ended else unasked(ids, texts, prompt)
    if loop is None:
        return None
    repeated = entropies[loop.start + loop.size :]
    return loop if sum(repeated) / len(repeated) < COLLAPSED else None


def unasked(ids: Sequence[int], texts: Mapping[int, str], prompt: str) -> Loop | None:
    """A repetition, unless the prompt asks for it."""
    loop = repetition(ids)
    if loop is None:
        return None
    stretch = [texts.get(token, "") for token in ids[loop.start : loop.start + loop.size]]
    turned = ("".join(stretch[at:] + stretch[:at]) for at in range(loop.size))
    return None if any(asked_for(" ".join(text.split()), prompt) for text in turned) else loop


def asked_for(words: str, prompt: str) -> bool:
    """Whether a prompt asks for words again and again.

    They must stand in it as they are. Since any story about the fox has "the" in its prompt, that is not enough: they
    stand in quotes, behind a colon, or twice in a row, or the prompt speaks of repeating.
    """
    said = " ".join(prompt.split())
    if not words or not (found := re.search(rf"(?<!\w){re.escape(words)}(?!\w)", said, re.IGNORECASE)):
        return False
    word = re.escape(found.group())
    shown = rf"[\"'`“„‘«]\W*{word}\W*[\"'`”“’»]|:\s*{word}(?!\w)|(?<!\w){word}\W+{word}(?!\w)"
    return re.search(shown, said, re.IGNORECASE) is not None or REPEATING.search(said) is not None
