"""From generated ids to text: the thought and the answer, cut at the end of turn."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

Decode = Callable[[Sequence[int]], str]

THOUGHT = "thought\n"
"""What stands behind the marker that opens a thought; no part of it."""


@dataclass(frozen=True)
class Channel:
    """Ids of the markers around a thought, `<|channel>` and `<channel|>`; none in a model without thinking."""

    open: int
    close: int


@dataclass(frozen=True)
class Answer:
    """What a run has written so far, or what it gains."""

    text: str
    thought: str


def valid(ids: Sequence[int], end_ids: Collection[int]) -> list[int]:
    """The ids up to and including the first end token; all of them if there is none."""
    for index, token in enumerate(ids):
        if token in end_ids:
            return list(ids[: index + 1])
    return list(ids)


def read(ids: Sequence[int], end_ids: Collection[int], channel: Channel | None, decode: Decode) -> Answer:
    """Decode a whole sequence of generated ids.

    Ends at the first end token, which is not part of the text. What stands in the thought channel goes to `thought`
    without its markers and its `thought` line, also when the channel is not closed (yet). No other token is hidden.
    """
    body = valid(ids, end_ids)
    if body and body[-1] in end_ids:
        body = body[:-1]
    apart = Apart(channel, decode)
    gained, rest = apart.add(body), apart.finish()
    return Answer(text=gained.text + rest.text, thought=gained.thought + rest.thought)


def thinking_tokens(ids: Sequence[int], channel: Channel | None, end_ids: Collection[int] = ()) -> int:
    """How many of these ids are in the thought channel, its markers counted and those that end the turn left out."""
    if channel is None:
        return 0
    count, thinking = 0, False
    for token in (token for token in ids if token not in end_ids):
        thinking = thinking or token == channel.open
        count += thinking
        thinking = thinking and token != channel.close
    return count


class Growing:
    """Decodes a growing sequence: each `add` gives the text gained, so that all of them together are the whole.

    A token that ends in the middle of a character gives nothing until the character is complete.
    """

    def __init__(self, decode: Decode) -> None:
        self._decode = decode
        self._ids: list[int] = []
        self._start = 0
        self._read = 0

    def add(self, ids: Sequence[int]) -> str:
        """Append ids; gives the text that they complete."""
        self._ids += ids
        before, after = self._both()
        if len(after) <= len(before) or after.endswith("\ufffd"):
            return ""
        self._start, self._read = self._read, len(self._ids)
        return after[len(before) :]

    def finish(self) -> str:
        """What is left once nothing more comes: a character that was not completed."""
        before, after = self._both()
        self._start = self._read = len(self._ids)
        return after[len(before) :]

    def _both(self) -> tuple[str, str]:
        return self._decode(self._ids[self._start : self._read]), self._decode(self._ids[self._start :])


class Apart:
    """Reads a growing sequence into answer and thought: each `add` gives what both gain, `finish` what was held back.

    Held back is what may yet turn out to be no part of them: the line `thought` behind a marker while it is not whole,
    line breaks around a thought, halves of characters. However the ids are divided, the gains add up to the same.
    """

    def __init__(self, channel: Channel | None, decode: Decode) -> None:
        self._channel = channel
        self._decode = decode
        self._growing = Growing(decode)
        self._thinking = False
        self._thought = _Thought(first=True)
        self._thoughts = 0
        self._held = ""
        """Line breaks at the beginning of the answer; a thought makes them its edge."""
        self._answered = False

    def add(self, ids: Sequence[int]) -> Answer:
        """Append ids, none of which ends the turn."""
        if self._channel is None:
            return Answer(self._growing.add(ids), "")
        gains: list[Answer] = []
        part: list[int] = []
        for token in ids:
            if token == self._channel.open or (token == self._channel.close and self._thinking):
                gains.append(self._gain(self._growing.add(part) + self._growing.finish()))
                part = []
                self._turn(thinking=token == self._channel.open)
            else:
                part.append(token)
        gains.append(self._gain(self._growing.add(part)))
        return _sum(gains)

    def finish(self) -> Answer:
        """What was held back and is part of the text after all."""
        gains = [self._gain(self._growing.finish())]
        if not self._thoughts:
            gains.append(Answer(self._held, ""))
            self._held = ""
        return _sum(gains)

    def _turn(self, thinking: bool) -> None:
        self._thinking = thinking
        self._growing = Growing(self._decode)
        if thinking:
            self._thoughts += 1
            self._thought = _Thought(first=not self._thought.begun and self._thought.first)

    def _gain(self, gained: str) -> Answer:
        if self._thinking:
            return Answer("", self._thought.add(gained))
        if self._channel is None or self._answered:
            return Answer(gained, "")
        self._held += gained
        if not self._held.strip("\n"):
            return Answer("", "")
        gained, self._held = self._held.lstrip("\n") if self._thoughts else self._held, ""
        self._answered = True
        return Answer(gained, "")


class _Thought:
    """One thought while it grows."""

    def __init__(self, first: bool) -> None:
        self.first = first
        """Whether nothing was thought before it."""
        self.begun = False
        """Whether any of it was shown."""
        self._head = ""
        self._breaks = ""

    def add(self, gained: str) -> str:
        """What is to be shown of it now; line breaks at either end are not."""
        if not self.begun:
            self._head += gained
            gained = self._head.removeprefix(THOUGHT).lstrip("\n")
            if THOUGHT.startswith(self._head) or not gained:
                return ""
            self.begun = True
            self._breaks = "" if self.first else "\n"
        gained = self._breaks + gained
        shown = gained.rstrip("\n")
        self._breaks = gained[len(shown) :]
        return shown


def _sum(gains: Sequence[Answer]) -> Answer:
    return Answer("".join(gain.text for gain in gains), "".join(gain.thought for gain in gains))
