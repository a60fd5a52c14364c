"""What a sweep found: one SQLite file, a row a run, which pandas opens and an interrupted sweep goes on from."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from playground.errors import PlaygroundError
from playground.lab.spec import SweepSpec

APPLICATION = 0x4C414253
"""Marks the file as a sweep's."""

VERSION = 2
BUSY_SECONDS = 10.0


@dataclass(frozen=True)
class Row:
    """One run.

    setting: JSON of the varied fields. right: 1 or 0, None where nothing tells. steps, effective_denoising_steps,
    tokens_per_forward: the report's Equations 8 to 10, None in AR. capped: canvases that took all their steps.
    revised: positions accepted in some step with another token than the committed one. loops: canvases that end in a
    loop (in AR: 1 for an answer that does). seconds: on the device. settled: JSON, for each step of the first canvas
    the share of its positions whose draft is the committed token already. recipe: JSON, what is as usual left out.
    """

    key: str
    setting: str
    question: int
    family: str
    prompt: str
    seed: int
    mode: str
    right: int | None
    text: str
    stop_reason: str
    tokens: int
    passes: int
    steps: int | None
    effective_denoising_steps: float | None
    tokens_per_forward: float | None
    canvases: int
    capped: int
    revised: int
    loops: int
    seconds: float
    settled: str
    recipe: str


@dataclass(frozen=True)
class Head:
    """What a file is the sweep of. created: UTC, ISO 8601; owner: a hash of whose it is, None for nobody's."""

    spec: SweepSpec
    model: str
    revision: str
    created: str
    owner: str | None
    cancelled: bool


COLUMNS = [field.name for field in fields(Row)]

SCHEMA = f"""
PRAGMA journal_mode = WAL;
BEGIN IMMEDIATE;
CREATE TABLE sweep (
    name TEXT NOT NULL, spec TEXT NOT NULL, model TEXT NOT NULL, revision TEXT NOT NULL, created TEXT NOT NULL,
    owner TEXT, cancelled INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE runs (
    key TEXT PRIMARY KEY, setting TEXT NOT NULL, question INTEGER NOT NULL, family TEXT NOT NULL, prompt TEXT NOT NULL,
    seed INTEGER NOT NULL, mode TEXT NOT NULL, right INTEGER, text TEXT NOT NULL, stop_reason TEXT NOT NULL,
    tokens INTEGER NOT NULL, passes INTEGER NOT NULL, steps INTEGER, effective_denoising_steps REAL,
    tokens_per_forward REAL, canvases INTEGER NOT NULL, capped INTEGER NOT NULL,
    revised INTEGER NOT NULL, loops INTEGER NOT NULL,
    seconds REAL NOT NULL, settled TEXT NOT NULL, recipe TEXT NOT NULL
);
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {VERSION};
COMMIT;
"""


class Results:
    """The file of a sweep. Rows are written one by one: what is there is whole."""

    def __init__(self, file: Path, read_only: bool = False) -> None:
        self.file = file
        self._how = "immutable=1" if read_only else "mode=rw"

    @contextmanager
    def _open(self, how: str = "") -> Iterator[sqlite3.Connection]:
        """A file that is not there is made by `begin` alone: one that was deleted stays so."""
        if not how and not self.file.exists():
            raise PlaygroundError("unknown_sweep", f"The sweep's file, {self.file.name}, is gone.", "sweep_id")
        address = f"{self.file.absolute().as_uri()}?{how or self._how}"
        with closing(sqlite3.connect(address, timeout=BUSY_SECONDS, uri=True)) as connection, connection:
            yield connection

    @contextmanager
    def alone(self) -> Iterator[None]:
        """While inside, no other process may do the same; a process that is killed holds nothing any more.

        Raises:
            PlaygroundError: where another one is inside, or the file's folder cannot be written.
        """
        lock = FileLock(f"{self.file.absolute()}.lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise PlaygroundError("busy", f"Another process is running the sweep of {self.file.name}.", "out") from None
        except OSError as error:
            message = f"{self.file.name} cannot be written: {error.strerror}."
            raise PlaygroundError("bad_request", message, "out") from None
        try:
            yield
        finally:
            lock.release()

    def begin(self, spec: SweepSpec, model: str, revision: str, owner: str | None = None) -> None:
        """Make the file, or go on with the one that is there.

        Raises:
            PlaygroundError: for a file that is something else, or the results of another spec or other weights.
        """
        try:
            with self._open("mode=rwc") as connection:
                (application,) = connection.execute("PRAGMA application_id").fetchone()
                (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
                if not application and not tables:
                    connection.executescript(SCHEMA)
                    now = datetime.now(UTC).isoformat(timespec="seconds")
                    values = (spec.name, spec.model_dump_json(), model, revision, now, owner)
                    connection.execute("INSERT INTO sweep VALUES (?, ?, ?, ?, ?, ?, 0)", values)
                    return
                if application != APPLICATION:
                    raise PlaygroundError("bad_request", f"{self.file} is not the file of a sweep.", "out")
                (version,) = connection.execute("PRAGMA user_version").fetchone()
                if version != VERSION:
                    raise PlaygroundError("bad_request", f"{self.file} is of another version of the lab.", "out")
                before = connection.execute("SELECT spec, model, revision FROM sweep").fetchone()
        except sqlite3.Error as error:
            raise PlaygroundError("bad_request", f"{self.file} cannot be used: {error}.", "out") from None
        if json.loads(before[0]) != spec.model_dump(mode="json"):
            raise PlaygroundError("bad_request", f"{self.file} has the results of another spec.", "out")
        if before[1:] != (model, revision):
            message = f"{self.file} has results of {before[1]} at revision {before[2]}."
            raise PlaygroundError("bad_request", message, "out")

    def head(self) -> Head:
        """What the file is the sweep of. Raises `sqlite3.Error` for a file that is something else."""
        with self._open() as connection:
            columns = "spec, model, revision, created, owner, cancelled"
            row = connection.execute(f"SELECT {columns} FROM sweep").fetchone()
        return Head(SweepSpec.model_validate_json(row[0]), row[1], row[2], row[3], row[4], bool(row[5]))

    def cancel(self, cancelled: bool = True) -> None:
        """Note that the sweep is not to go on; or that it is."""
        with self._open() as connection:
            connection.execute("UPDATE sweep SET cancelled = ?", (int(cancelled),))

    def keys(self) -> set[str]:
        """The runs that are there."""
        with self._open() as connection:
            return {key for (key,) in connection.execute("SELECT key FROM runs")}

    def add(self, row: Row) -> None:
        """Write a run."""
        marks = ", ".join("?" * len(COLUMNS))
        with self._open() as connection:
            connection.execute(
                f"INSERT OR REPLACE INTO runs ({', '.join(COLUMNS)}) VALUES ({marks})", tuple(asdict(row).values())
            )

    def rows(self) -> list[Row]:
        """All runs, by question, seed and setting: the same order however often the sweep was broken off."""
        with self._open() as connection:
            found = connection.execute(f"SELECT {', '.join(COLUMNS)} FROM runs ORDER BY seed, question, setting, key")
            return [Row(*values) for values in found]

    def copy(self, target: Path) -> None:
        """A copy of the file as it is now, whole and in one piece, however much is being written meanwhile."""
        with self._open() as connection:
            connection.execute("VACUUM INTO ?", (str(target),))
