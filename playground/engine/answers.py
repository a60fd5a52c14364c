"""From generated ids to text: the thought and the answer, cut at the end of turn."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Channel:
    """Ids of the markers around a thought, `<|channel>` and `<channel|>`; none in a model without thinking."""

    open: int
    close: int


@dataclass(frozen=True)
class Answer:
    """What a run has written so far."""

    text: str
    thought: str


def valid(ids: Sequence[int], end_ids: Collection[int]) -> list[int]:
    """The ids up to and including the first end token; all of them if there is none."""
    for index, token in enumerate(ids):
        if token in end_ids:
            return list(ids[: index + 1])
    return list(ids)


def read(
    ids: Sequence[int], end_ids: Collection[int], channel: Channel | None, decode: Callable[[Sequence[int]], str]
) -> Answer:
    """Decode a whole sequence of generated ids.

    Ends at the first end token, which is not part of the text. What stands in the thought channel goes to `thought`
    without its markers and its `thought` line, also when the channel is not closed (yet). No other token is hidden.
    """
    body = valid(ids, end_ids)
    if body and body[-1] in end_ids:
        body = body[:-1]
    if channel is None:
        return Answer(text=decode(body), thought="")
    thoughts: list[list[int]] = []
    answer: list[int] = []
    current = answer
    for token in body:
        if token == channel.open and current is answer:
            thoughts.append([])
            current = thoughts[-1]
        elif token == channel.close and current is not answer:
            current = answer
        else:
            current.append(token)
    thought = "\n".join(decode(part).removeprefix("thought\n").strip("\n") for part in thoughts)
    text = decode(answer)
    return Answer(text=text.lstrip("\n") if thoughts else text, thought=thought)


class Growing:
    """Decodes a growing sequence: each `add` gives the text gained, so that all of them together are the whole.

    A token that ends in the middle of a character gives nothing until the character is complete.
    """

    def __init__(self, decode: Callable[[Sequence[int]], str]) -> None:
        self._decode = decode
        self._ids: list[int] = []
        self._start = 0
        self._read = 0

    def add(self, ids: Sequence[int]) -> str:
        """Append ids; gives the text that they complete."""
        self._ids += ids
        before = self._decode(self._ids[self._start : self._read])
        after = self._decode(self._ids[self._start :])
        if len(after) <= len(before) or after.endswith("\ufffd"):
            return ""
        self._start, self._read = self._read, len(self._ids)
        return after[len(before) :]
