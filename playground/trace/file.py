"""Trace files: JSONL, one event a line, the same objects as on the socket. The one way of reading and writing them."""

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NoReturn

from pydantic import ValidationError

from playground import __version__, events
from playground.errors import PlaygroundError

MOST_BYTES = 64 << 20
"""The most bytes of a trace that are read, unless a caller says otherwise."""

MOST_LINE_BYTES = 16 << 20
"""The most bytes of one line: a step of 256 positions has about 30 kB."""


@contextmanager
def writing(path: Path, field: str = "trace") -> Iterator[BinaryIO]:
    """A file to write into; it appears under `path` only when whole, and not at all if the block raises.

    Raises `PlaygroundError` that names `field` where no file can be written there.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise PlaygroundError("bad_request", f"{path} is not a regular file.", field)
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        file = unfinished.open("wb")
    except OSError as error:
        raise PlaygroundError("bad_request", f"cannot write {path}: {error.strerror}.", field) from None
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def read(path: Path, most_bytes: int = MOST_BYTES) -> list[events.Event]:
    """All events of a whole trace. Raises `PlaygroundError` as `stream` does, or where there is no file to read."""
    if not path.is_file():
        raise PlaygroundError("bad_request", f"{path} is not a file.", "file")
    try:
        with path.open("rb") as source:
            return list(stream(source, str(path), most_bytes))
    except OSError as error:
        raise PlaygroundError("bad_request", f"{path} cannot be read: {error.strerror}.", "file") from None


def stream(source: BinaryIO, name: str, most_bytes: int = MOST_BYTES) -> Iterator[events.Event]:
    """The events of a trace as its lines are read; never more than one line is held.

    source: open for reading bytes; name: what to call it in a sentence.
    Raises `PlaygroundError` with the number of the first line at fault: cut off, not text, not an event, of a newer
    version, of another run or out of order, or where the trace grows beyond `most_bytes`; and at the end where the
    trace does not end with `run_finished`.
    """
    reader = _Reader(name)
    size = 0
    while line := source.readline(min(MOST_LINE_BYTES, most_bytes - size) + 1):
        size += len(line)
        reader.number += 1
        if size > most_bytes:
            raise reader.fault(
                f"here the trace grows beyond {most_bytes} bytes, the most that is read "
                "(PLAYGROUND_MAX_TRACE_BYTES sets this)"
            )
        if len(line) > MOST_LINE_BYTES:
            raise reader.fault(f"has more than {MOST_LINE_BYTES} bytes; no event is that long")
        yield reader.take(line)
    reader.end()


class _Reader:
    """What is known of a trace up to the line being read."""

    def __init__(self, name: str) -> None:
        self.number = 0
        self._name = name
        self._run: str | None = None
        self._canvas_length = 0
        self._last: events.Event | None = None
        self._place = {"canvas": -1, "step": 0, "index": -1}

    def fault(self, what: str) -> PlaygroundError:
        """A refusal of the present line."""
        where = f"{self._name}, line {self.number}: " if self.number else f"{self._name} "
        return PlaygroundError("bad_request", f"{where}{what}.", "file")

    def take(self, line: bytes) -> events.Event:
        """The event of the next line, once it fits those before it."""
        event = self._event(line)
        self._check_order(event)
        if isinstance(event, events.RunStarted):
            self._check_version(event.version)
            self._canvas_length = event.canvas_length
        self._check_columns(event)
        self._check_place(event)
        self._last = event
        return event

    def end(self) -> None:
        """Say so if the trace is not whole."""
        if self._last is None:
            raise self.fault("is empty")
        if not isinstance(self._last, events.RunFinished):
            raise self.fault("the trace breaks off here: its last event is not run_finished")

    def _event(self, line: bytes) -> events.Event:
        try:
            event = events.adapter.validate_json(line)
        except ValidationError as error:
            raise self._diagnosis(line, error) from None
        if b"NaN" in line or b"Infinity" in line:  # as numbers they are no JSON, and a browser could not read them
            json.loads(line, parse_constant=self._no_number)
        return event

    def _no_number(self, name: str) -> NoReturn:
        raise self.fault(f"has {name} where JSON has a number; as a string it could be read")

    def _diagnosis(self, line: bytes, error: ValidationError) -> PlaygroundError:
        """Why a line is not an event: the plainest reason there is."""
        try:
            raw = json.loads(line.decode())
        except UnicodeDecodeError as bad:
            return self.fault(f"is not UTF-8 text (byte {bad.start + 1} of the line)")
        except (ValueError, RecursionError):
            return self.fault("is cut off or not JSON; a trace has one event, a JSON object, on each line")
        if not isinstance(raw, dict):
            return self.fault("is not a JSON object; a trace has one event, a JSON object, on each line")
        if raw.get("type") == "run_started" and isinstance(raw.get("version"), str):
            try:
                self._check_version(raw["version"])
            except PlaygroundError as newer:
                return newer
        first = error.errors(include_url=False)[0]
        # the first part of the location is the event's type, which pydantic adds
        place = ".".join(str(part) for part in first["loc"][1:])
        kinds = {kind.model_fields["type"].default for kind in events.Event.__args__}
        if not place and raw.get("type") not in kinds:
            return self.fault(f"has the type {json.dumps(raw.get('type'))[:40]}, which no event has")
        return self.fault(f"{place or 'the event'}: {first['msg']}")

    def _check_version(self, version: str) -> None:
        numbers = re.match(r"(\d+)\.(\d+)", version)
        ours = re.match(r"(\d+)\.(\d+)", __version__)
        if numbers is None or ours is None:
            raise self.fault(f"version {version[:40]!r} is not a version of the playground")
        if tuple(map(int, numbers.groups())) > tuple(map(int, ours.groups())):
            raise self.fault(
                f"is from playground {version[:40]}, newer than this one ({__version__}): update to read it"
            )

    def _check_order(self, event: events.Event) -> None:
        if event.run is None or event.seq is None:
            raise self.fault("has no run or seq")
        last = self._last
        if last is None:
            self._run = event.run
        elif event.run != self._run:
            raise self.fault(f"belongs to run {event.run[:64]}, and the trace to run {str(self._run)[:64]}")
        expected = self.number - 1
        if event.seq < expected:
            raise self.fault(f"seq {event.seq} stands twice or out of order; {expected} was expected")
        if event.seq > expected:
            raise self.fault(f"seq is {event.seq} where {expected} was expected: lines are missing or out of order")
        if isinstance(last, events.RunFinished):
            raise self.fault("stands after run_finished, which ends a trace")
        if last is None and not isinstance(event, events.RunStarted | events.Error):
            raise self.fault(f"a trace starts with run_started, not with {event.type}")
        if last is not None and isinstance(event, events.RunStarted):
            raise self.fault("run_started stands a second time")

    def _check_columns(self, event: events.Event) -> None:
        """Every column has an entry for each position of the canvas, and no more."""
        names: tuple[str, ...] = ()
        if isinstance(event, events.Step):
            names = ("predicted", "sampled", "accepted", "entropy", "canvas_ids", *_OPTIONAL_COLUMNS)
        elif isinstance(event, events.CanvasStarted):
            names = ("canvas_ids", "pinned")
        for name in names:
            column = getattr(event, name)
            if column is not None and len(column) != self._canvas_length:
                raise self.fault(f"{name} has {len(column)} entries for a canvas of {self._canvas_length}")
        if isinstance(event, events.CanvasCommitted) and len(event.ids) > self._canvas_length:
            raise self.fault(f"ids has {len(event.ids)} entries for a canvas of {self._canvas_length}")

    def _check_place(self, event: events.Event) -> None:
        """Canvases, steps and tokens are counted without a gap."""
        if isinstance(event, events.Token):
            self._next(event, "index", self._place["index"] + 1)
        elif isinstance(event, events.CanvasStarted):
            self._next(event, "canvas", self._place["canvas"] + 1)
            self._place["step"] = 0
        elif isinstance(event, events.Step | events.CanvasCommitted):
            self._next(event, "canvas", self._place["canvas"])
            if isinstance(event, events.Step):
                self._next(event, "step", self._place["step"] + 1)

    def _next(self, event: events.Event, name: str, expected: int) -> None:
        found = getattr(event, name)
        if found != expected:
            raise self.fault(f"{name} of {event.type} is {found} where {expected} was expected")
        self._place[name] = expected


_OPTIONAL_COLUMNS = ("fed_ids", "pinned", "top_ids", "top_probabilities")
