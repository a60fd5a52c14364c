"""Finished runs behind the event loop: those in the store, and the recordings in a folder.

What is written waits in a queue, and a store that cannot be used stops nothing.
"""

import asyncio
import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import structlog

from playground.errors import PlaygroundError
from playground.events import Event, RunFinished, adapter
from playground.recipe import Message
from playground.settings import Settings
from playground.trace.log import RunLog
from playground.trace.recordings import Recording, Recordings, Refused
from playground.trace.store import Entry, Store, default_path

log = structlog.get_logger()

T = TypeVar("T")

PROMPT_CHARACTERS = 200
"""How much of a prompt a list shows."""


def hashed(owner: str) -> str:
    """What is kept of an owner's secret."""
    return hashlib.sha256(owner.encode()).hexdigest()


class Archive:
    """Stores finished runs and finds them again. Where the store fails there are no runs in it; the log says why.

    Writing, and reading what must see it, is done in order by one thread. Belongs to one event loop.
    """

    def __init__(self, settings: Settings) -> None:
        path = default_path() if settings.store == "auto" else Path(settings.store)
        self._store = Store(path, settings.store_bytes) if settings.store else None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="store")
        self._waiting: dict[str, RunLog] = {}
        self._most_waiting = settings.keep_finished_bytes
        self._complaint = ""
        folder = settings.recordings
        self._recordings = Recordings(Path(folder).expanduser(), settings.max_trace_bytes) if folder else None
        self._refused: set[Refused] = set()

    @property
    def open(self) -> bool:
        """Whether runs are stored at all."""
        return self._store is not None

    def put(self, run: RunLog, owner: str | None, summary: dict[str, Any]) -> None:
        """Have a finished run written; returns at once. owner: a hash, or none."""
        if self._store is None:
            return
        if sum(log.bytes for log in self._waiting.values()) > self._most_waiting:
            self._complain("it is too slow: runs finish faster than they are written")
            return
        self._waiting[run.run] = run
        written = asyncio.get_running_loop().run_in_executor(self._thread, self._write, run, owner, summary)
        written.add_done_callback(lambda _: self._waiting.pop(run.run, None))

    async def close(self) -> None:
        """Until all is written."""
        await asyncio.to_thread(self._thread.shutdown)

    async def recordings(self) -> tuple[list[Recording], list[Refused]] | None:
        """What is in the folder of recordings now, and what cannot be shown; none where there is no such folder.

        What cannot be shown is logged once.
        """
        if self._recordings is None:
            return None
        found, refused = await asyncio.to_thread(self._recordings.look)
        for each in refused:
            if each not in self._refused:
                log.warning("a recording is not shown", file=each.file, reason=each.message)
        self._refused = set(refused)
        return found, refused

    async def has(self, run_id: str) -> bool:
        """Whether the run is stored or a recording."""
        return await self._recording(run_id) is not None or await self.owner(run_id) is not None

    async def summary(self, run_id: str) -> dict[str, Any] | None:
        """What `GET /api/runs/{id}` answers for a stored run or a recording; none if it is not here."""
        if (recording := await self._recording(run_id)) is not None:
            return recording.summary
        found = await self._ask(lambda store: store.summary(run_id))
        return None if found is None else json.loads(found)

    async def log(self, run_id: str) -> RunLog | None:
        """The whole log of a stored run; none if it is not here, or cannot be read any more."""
        if (waiting := self._waiting.get(run_id)) is not None:
            return waiting
        recalled = await self._recorded(lambda recordings: _log_of(run_id, recordings.events(run_id)))
        return recalled or await self._ask(lambda store: _log(store, run_id))

    async def lines(self, run_id: str, after: int = -1) -> Iterator[bytes]:
        """The lines of a stored run's trace from the one behind `after`; none if it is not here."""
        lines = await self._recorded(lambda recordings: recordings.lines(run_id, after))
        if lines is None:
            lines = await self._ask(lambda store: store.lines(run_id, after))
        return self._readable(lines) if lines is not None else iter(())

    async def line(self, run_id: str, seq: int) -> bytes | None:
        """One line of a stored run's trace; none if it is not here."""
        line = await self._recorded(lambda recordings: recordings.line(run_id, seq))
        return line if line is not None else await self._ask(lambda store: store.line(run_id, seq))

    async def owned(self, owner: str, limit: int, before: int | None) -> tuple[list[Entry], int | None]:
        """An owner's runs, the newest first, and where the next page begins.

        Raises `PlaygroundError` where they cannot be read.
        """
        found = await self._ask(lambda store: store.owned(owner, limit, before), in_order=True)
        if found is None and self.open:
            message = "The store of runs cannot be read at the moment; the server's log says more."
            raise PlaygroundError("internal", message)
        return found or ([], None)

    async def owner(self, run_id: str) -> tuple[str | None] | None:
        """The hash of a stored run's owner, in a tuple; none if the run is not here."""
        return await self._ask(lambda store: store.owner(run_id), in_order=True)

    async def keep(self, run_id: str, kept: bool) -> None:
        """Keep a run, or no longer. Raises `PlaygroundError` where that cannot be done."""
        if not await self._change(lambda store: store.keep(run_id, kept)):
            raise PlaygroundError("busy", "Kept runs already take up half of the store; let go of one first.")

    async def delete(self, run_id: str) -> None:
        """Forget a run. Raises `PlaygroundError` where that cannot be done."""
        await self._change(lambda store: store.delete(run_id))

    async def _recording(self, run_id: str) -> Recording | None:
        return await self._recorded(lambda recordings: recordings.get(run_id))

    async def _recorded(self, question: Callable[[Recordings], T | None]) -> T | None:
        """An answer of the folder of recordings; none if there is none, or the file cannot be read any more."""
        if (recordings := self._recordings) is None:
            return None
        try:
            return await asyncio.to_thread(question, recordings)
        except OSError as error:
            log.warning("a recording cannot be read", reason=str(error))
            return None

    async def _ask(self, question: Callable[[Store], T], in_order: bool = False) -> T | None:
        if (store := self._store) is None:
            return None
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._thread if in_order else None, question, store)
        except (sqlite3.Error, OSError) as error:
            self._complain(str(error))
        except Exception:
            log.exception("store failed")
        return None

    def _readable(self, lines: Iterator[bytes]) -> Iterator[bytes]:
        """The lines, or `PlaygroundError` where they cannot be read."""
        try:
            yield from lines
        except Exception as error:
            self._complain(str(error))
            raise PlaygroundError("internal", "The stored run cannot be read any more.", "run_id") from None

    async def _change(self, change: Callable[[Store], T]) -> T:
        if (store := self._store) is None:
            raise PlaygroundError("bad_request", "Runs are not stored here.")
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, change, store)
        except (sqlite3.Error, OSError) as error:
            self._complain(str(error))
        except Exception:
            log.exception("store failed")
        message = "The store of runs cannot be changed at the moment; the server's log says more."
        raise PlaygroundError("internal", message)

    def _write(self, run: RunLog, owner: str | None, summary: dict[str, Any]) -> None:
        """In the store's thread."""
        assert self._store is not None
        try:
            entry = _entry(run, summary)
            lines = (run.line(seq) for seq in range(len(run)))
            if not self._store.put(entry, owner, json.dumps(summary), lines):
                self._complain(f"there is no room for a run of {run.bytes} bytes")
            else:
                self._complaint = ""
        except (sqlite3.Error, OSError) as error:
            self._complain(str(error))
        except Exception:
            log.exception("run not stored", run=run.run[:8])

    def _complain(self, reason: str) -> None:
        """Say once what is wrong with the store."""
        if reason != self._complaint:
            self._complaint = reason
            path = self._store.path if self._store else None
            log.warning("runs are not stored; PLAYGROUND_STORE sets where", path=str(path), reason=reason)


def _entry(run: RunLog, summary: dict[str, Any]) -> Entry:
    recipe, metrics = summary["recipe"], summary["metrics"]
    return Entry(
        id=run.run,
        created=json.loads(run.frame(0)).get("created") or datetime.now(UTC).isoformat(timespec="seconds"),
        mode=recipe["mode"],
        model=recipe["model"] or "",
        prompt=Message.model_validate(recipe["messages"][-1]).text[:PROMPT_CHARACTERS],
        stop_reason=summary["stop_reason"],
        steps=metrics["total_denoising_steps"],
        tokens=metrics["total_tokens"],
    )


def _log(store: Store, run_id: str) -> RunLog | None:
    recalled = RunLog(run_id)
    for line in store.lines(run_id):
        try:
            event = adapter.validate_json(line)
        except ValueError as error:
            log.warning("a stored run cannot be read", run=run_id[:8], reason=str(error).splitlines()[0])
            return None
        recalled.append(event)
    return recalled if recalled.finished else None


def _log_of(run_id: str, events: Iterator[Event] | None) -> RunLog | None:
    """The log of a recording; none if there is none, or its file is another one by now."""
    recalled = RunLog(run_id)
    try:
        for event in events or ():
            recalled.append(event)
    except PlaygroundError as error:
        log.warning("a recording cannot be read", reason=error.message)
        return None
    return recalled if recalled.finished else None


def last_words(run: RunLog) -> RunFinished:
    """The end of a finished run."""
    event = adapter.validate_json(run.line(len(run) - 1))
    assert isinstance(event, RunFinished)
    return event
