"""One sweep as the server knows it: its file, how far it is, and how long it may still take."""

import asyncio
from pathlib import Path
from typing import Any, Literal

from playground.lab.cells import count
from playground.lab.results import Head, Results

State = Literal["running", "paused", "done", "cancelled"]

LATEST = 20
"""Runs whose pace says how long the rest takes."""


class Sweep:
    """A sweep: its file, and how far it is. `state` is `paused` for one that the process found unfinished."""

    def __init__(self, name: str, file: Path, recorded: bool = False) -> None:
        self.id = name
        self.recorded = recorded
        self.results = Results(file, read_only=recorded)
        self.head: Head = self.results.head()
        many, asked, seeds = count(self.head.spec)
        self.total = many * asked * seeds
        self.done = len(self.results.keys())
        self.state: State = "cancelled" if self.head.cancelled else "paused"
        if self.done >= self.total:
            self.state = "done"
        self.failure = ""
        self.task: asyncio.Task[None] | None = None
        self._paces: list[float] = []

    def took(self, seconds: float) -> None:
        """One run more is done; it took so long, waiting for others left out."""
        self.done += 1
        self._paces = [*self._paces, seconds][-LATEST:]

    @property
    def seconds_left(self) -> float | None:
        """By the pace of the latest runs."""
        if not self._paces or self.state != "running":
            return None
        return sum(self._paces) / len(self._paces) * (self.total - self.done)

    def summary(self, owner: str | None) -> dict[str, Any]:
        """How it stands. owner: a hash."""
        return {
            "id": self.id,
            "name": self.head.spec.name,
            "state": self.state,
            "recorded": self.recorded,
            "mine": owner is not None and owner == self.head.owner,
            "created": self.head.created,
            "model": self.head.model,
            "revision": self.head.revision,
            "done": self.done,
            "total": self.total,
            "seconds_left": self.seconds_left,
            "failure": self.failure,
        }
