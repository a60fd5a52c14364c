"""Trace files: JSONL, one event a line, the same objects as on the socket."""

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from pydantic import ValidationError

from playground import __version__, events
from playground.errors import PlaygroundError


@contextmanager
def writing(path: Path) -> Iterator[TextIO]:
    """A file to write a trace into; it appears under `path` only when whole, and not at all if the block raises.

    Raises `PlaygroundError` where no file can be written there.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise PlaygroundError("bad_request", f"{path} is not a regular file", "trace")
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        file = unfinished.open("w", encoding="utf-8", newline="\n")
    except OSError as error:
        raise PlaygroundError("bad_request", f"cannot write {path}: {error.strerror}", "trace") from None
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def read(path: Path) -> list[events.Event]:
    """All events of a whole trace.

    Raises `PlaygroundError` with the number of the first line at fault: cut off, not an event, of another version,
    another run or out of order; or where the trace does not end with `run_finished`.
    """
    try:
        text = path.read_text(encoding="utf-8") if path.is_file() else None
    except (OSError, UnicodeDecodeError) as error:
        raise _fault(path, None, f"cannot be read as UTF-8 text: {error}") from None
    if text is None:
        raise _fault(path, None, "is not a file")
    trace: list[events.Event] = []
    for number, line in enumerate(text.removesuffix("\n").split("\n") if text else [], 1):
        event = _event(path, number, line)
        _check_order(path, number, event, trace)
        if isinstance(event, events.Step):
            _check_columns(path, number, event, trace[0])
        trace.append(event)
    if not trace:
        raise _fault(path, None, "is empty")
    if not isinstance(trace[-1], events.RunFinished):
        raise _fault(path, len(trace), "the trace breaks off here: its last event is not run_finished")
    return trace


def _event(path: Path, number: int, line: str) -> events.Event:
    try:
        raw = json.loads(line)
    except ValueError:
        raise _fault(path, number, "is cut off or not JSON") from None
    if not isinstance(raw, dict):
        raise _fault(path, number, "is not a JSON object")
    if raw.get("type") == "run_started" and isinstance(raw.get("version"), str):
        _check_version(path, number, raw["version"])
    try:
        return events.adapter.validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        # the first part of the location is the event's type, which pydantic adds
        place = ".".join(str(part) for part in first["loc"][1:]) or "event"
        raise _fault(path, number, f"{place}: {first['msg']}") from None


def _check_version(path: Path, number: int, version: str) -> None:
    numbers = re.match(r"(\d+)\.(\d+)", version)
    ours = re.match(r"(\d+)\.(\d+)", __version__)
    if numbers is None or ours is None:
        raise _fault(path, number, f"version {version!r} is not a version of the playground")
    if tuple(map(int, numbers.groups())) > tuple(map(int, ours.groups())):
        raise _fault(
            path, number, f"is from playground {version}, newer than this one ({__version__}): update to play it"
        )


def _check_order(path: Path, number: int, event: events.Event, before: list[events.Event]) -> None:
    if event.run is None or event.seq is None:
        raise _fault(path, number, "has no run or seq")
    if event.seq != len(before):
        raise _fault(path, number, f"seq is {event.seq} where {len(before)} was expected")
    if before and event.run != before[0].run:
        raise _fault(path, number, f"belongs to run {event.run}, and the trace to run {before[0].run}")
    if not before and not isinstance(event, events.RunStarted | events.Error):
        raise _fault(path, number, f"a trace starts with run_started, not with {event.type}")
    if before and isinstance(before[-1], events.RunFinished):
        raise _fault(path, number, "stands after run_finished, which ends a trace")


def _check_columns(path: Path, number: int, step: events.Step, first: events.Event) -> None:
    length = first.canvas_length if isinstance(first, events.RunStarted) else 0
    for name in ("predicted", "sampled", "accepted", "entropy", "canvas_ids"):
        if len(getattr(step, name)) != length:
            raise _fault(path, number, f"{name} has {len(getattr(step, name))} entries for a canvas of {length}")


def _fault(path: Path, number: int | None, what: str) -> PlaygroundError:
    where = f"{path}, line {number}: " if number else f"{path} "
    return PlaygroundError("bad_request", where + what, "file")
