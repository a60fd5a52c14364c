"""A folder of trace files as runs that can be looked at: what is in it, and why a file is not."""

import re
import threading
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playground.errors import PlaygroundError
from playground.events import Event, RunFinished, RunStarted
from playground.trace import file

PATTERN = "*.jsonl"
MOST_FILES = 500
"""More are not read: a page is no place for a longer list."""
RUN_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
PROMPT_CHARACTERS = 200
"""How much of a prompt a list shows."""

Stamp = tuple[int, int]
"""Size and time of the last change of a file, to see whether it is still the one that was read."""


@dataclass(frozen=True)
class Recording:
    """A whole run in a file; `summary` is what a live run says of itself."""

    file: str
    run: str
    created: str
    model: str
    revision: str
    mode: str
    device: str
    prompt: str
    stop_reason: str
    steps: int | None
    """Denoising steps; none of an autoregressive run."""
    tokens: int
    summary: dict[str, Any] = field(repr=False)
    offsets: "array[int]" = field(repr=False)
    """Where each event's line begins."""

    def label(self) -> dict[str, Any]:
        """What a list shows."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__ if name not in ("summary", "offsets")}


@dataclass(frozen=True)
class Refused:
    """A file that is not shown, and a sentence that says why."""

    file: str
    message: str


class Recordings:
    """The traces in a folder, in the order of their names. `look` reads what is new; everything may be called from
    any thread, and reads files, so not from an event loop's.
    """

    def __init__(self, folder: Path, most_bytes: int) -> None:
        self._folder = folder
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._read: dict[str, tuple[Stamp, Recording | Refused]] = {}
        self._runs: dict[str, Recording] = {}
        self._looked = False

    def look(self) -> tuple[list[Recording], list[Refused]]:
        """What is in the folder now: its recordings, and the files that are none. Only files that changed are read."""
        with self._lock:
            self._looked = True
            try:
                paths = sorted(path for path in self._folder.glob(PATTERN) if not path.name.startswith("."))
            except OSError:
                paths = []
            self._read = {path.name: self._known(path) for path in paths[:MOST_FILES]}
            found = [each for _, each in self._read.values()]
            refused = [each for each in found if isinstance(each, Refused)]
            self._runs = {}
            for each in found:
                if isinstance(each, Recording):
                    first = self._runs.setdefault(each.run, each)
                    if first is not each:
                        refused.append(Refused(each.file, f"{each.file} has the same run as {first.file}."))
            for path in paths[MOST_FILES:]:
                refused.append(Refused(path.name, f"{path.name} is not read: at most {MOST_FILES} files are."))
            return list(self._runs.values()), refused

    def get(self, run_id: str) -> Recording | None:
        """The recording of a run; none if it is not here, or its file is another one by now."""
        if not self._looked:
            self.look()
        with self._lock:
            recording = self._runs.get(run_id)
            if recording is None:
                return None
            stamp, _ = self._read[recording.file]
        return recording if _stamp(self._folder / recording.file) == stamp else None

    def events(self, run_id: str) -> Iterator[Event] | None:
        """All events of a run; none if it is not here. Raises `PlaygroundError` on the way if the file is changed."""
        if (recording := self.get(run_id)) is None:
            return None
        return self._events(self._folder / recording.file)

    def lines(self, run_id: str, after: int = -1) -> Iterator[bytes] | None:
        """The lines of a run's trace from the one behind `after`, without their ends; none if it is not here."""
        if (recording := self.get(run_id)) is None:
            return None
        if after + 1 >= len(recording.offsets):
            return iter(())
        return self._lines(self._folder / recording.file, recording.offsets[after + 1])

    def line(self, run_id: str, seq: int) -> bytes | None:
        """One line of a run's trace; none if it is not here."""
        recording = self.get(run_id)
        if recording is None or not 0 <= seq < len(recording.offsets):
            return None
        return next(self._lines(self._folder / recording.file, recording.offsets[seq]), None)

    def _known(self, path: Path) -> tuple[Stamp, Recording | Refused]:
        stamp = _stamp(path)
        known = self._read.get(path.name)
        return known if known is not None and known[0] == stamp else (stamp, self._open(path))

    def _open(self, path: Path) -> Recording | Refused:
        try:
            return self._described(path)
        except PlaygroundError as error:
            return Refused(path.name, error.message)

    def _described(self, path: Path) -> Recording:
        started: RunStarted | None = None
        offsets, at = array("q"), 0
        for event, size in self._sized(path):
            offsets.append(at)
            at += size
            if isinstance(event, RunStarted):
                started = event
        assert isinstance(event, RunFinished)
        if started is None:
            raise PlaygroundError("bad_request", f"{path.name} has a run that failed before it began.", "file")
        if not RUN_ID.fullmatch(event.run or ""):
            raise PlaygroundError("bad_request", f"{path.name} has a run id that no link can name.", "file")
        recipe, metrics = event.recipe, event.metrics
        return Recording(
            file=path.name,
            run=event.run or "",
            created=started.created,
            model=recipe.model or "",
            revision=started.model_revision,
            mode=recipe.mode,
            device=started.device,
            prompt=recipe.messages[-1].text[:PROMPT_CHARACTERS],
            stop_reason=event.stop_reason,
            steps=metrics.total_denoising_steps,
            tokens=metrics.total_tokens,
            summary={
                "run": event.run,
                "state": "finished",
                "recording": True,
                "events": len(offsets),
                "viewers": 0,
                "steps_per_second": None,
                "stop_reason": event.stop_reason,
                "text": event.text,
                "metrics": metrics.model_dump(mode="json"),
                "recipe": recipe.model_dump(mode="json"),
            },
            offsets=offsets,
        )

    def _events(self, path: Path) -> Iterator[Event]:
        for event, _ in self._sized(path):
            yield event

    def _sized(self, path: Path) -> Iterator[tuple[Event, int]]:
        """Each event with the bytes of its line."""
        try:
            if not path.is_file():
                raise PlaygroundError("bad_request", f"{path.name} is not a file.", "file")
            with path.open("rb") as source:
                before = 0
                for event in file.stream(source, path.name, self._most_bytes):
                    yield event, source.tell() - before
                    before = source.tell()
        except OSError as error:
            raise PlaygroundError("bad_request", f"{path.name} cannot be read: {error.strerror}.", "file") from None

    def _lines(self, path: Path, at: int) -> Iterator[bytes]:
        with path.open("rb") as source:
            source.seek(at)
            for line in source:
                yield line.rstrip(b"\r\n")


def _stamp(path: Path) -> Stamp:
    """Zeros where there is no such file."""
    try:
        status = path.stat()
    except OSError:
        return (0, 0)
    return (status.st_size, status.st_mtime_ns)
