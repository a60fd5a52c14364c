"""What a run has said so far: an append-only log, which is the only buffer however many are reading it."""

import asyncio
import secrets
from bisect import bisect_left
from collections.abc import AsyncIterator, Callable

from playground.events import Event, RunFinished, Step, Token

FETCHED_APART = {"top_ids", "top_probabilities", "top_texts"}
"""Columns that stay in the log and the trace; the socket's frames leave them out."""


class RunLog:
    """The events of one run, numbered from 0 without gaps, each encoded once.

    Belongs to one event loop: only `append` changes it, and listeners are called within `append`.
    """

    def __init__(self, run: str | None = None) -> None:
        self.run = secrets.token_urlsafe(16) if run is None else run
        """128 random bits; whoever knows them may read."""
        self.finished = False
        self.bytes = 0
        """Size of what is kept."""
        self._frames: list[bytes] = []
        self._apart: dict[int, bytes] = {}
        self._milestones: list[int] = []
        self._listeners: set[Callable[[], None]] = set()

    def __len__(self) -> int:
        return len(self._frames)

    def append(self, event: Event) -> Event:
        """Number an event, encode it, and wake the readers; gives it back with `run` and `seq`.

        Raises `ValueError` once the run is finished.
        """
        if self.finished:
            raise ValueError(f"nothing comes after run_finished, certainly not {event.type}")
        seq = len(self._frames)
        event = event.model_copy(update={"run": self.run, "seq": seq})
        frame = event.model_dump_json(exclude=FETCHED_APART).encode()
        if isinstance(event, Step | Token):
            apart = event.model_dump_json(include=FETCHED_APART, exclude_none=True).encode()
            if apart != b"{}":
                self._apart[seq] = apart
                self.bytes += len(apart)
        else:
            self._milestones.append(seq)
        self._frames.append(frame)
        self.bytes += len(frame)
        self.finished = isinstance(event, RunFinished)
        for listener in tuple(self._listeners):
            listener()
        return event

    def frame(self, seq: int) -> str:
        """An event as a JSON object, as the socket sends it: without the top alternatives."""
        return self._frames[seq].decode()

    def line(self, seq: int) -> bytes:
        """A whole event as a JSON object, as it stands in a trace file (without the line's end)."""
        frame = self._frames[seq]
        if seq not in self._apart:
            return frame
        return frame[:-1] + b"," + self._apart[seq][1:]

    def next_milestone(self, seq: int) -> int | None:
        """The first event from `seq` on that no later one may overtake: anything but steps and tokens."""
        index = bisect_left(self._milestones, seq)
        return self._milestones[index] if index < len(self._milestones) else None

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Have `listener` called after each event; gives a function that ends this."""
        self._listeners.add(listener)
        return lambda: self._listeners.discard(listener)

    async def lines(self, after: int = -1) -> AsyncIterator[bytes]:
        """Whole events in order from the one behind `after`, as they come, until the run is finished."""
        grown = asyncio.Event()
        stop = self.listen(grown.set)
        try:
            seq = after + 1
            while True:
                grown.clear()
                while seq < len(self):
                    yield self.line(seq)
                    seq += 1
                if self.finished:
                    return
                await grown.wait()
        finally:
            stop()
