"""Finished runs in SQLite: their summaries and traces by id, within a limit of bytes; some are kept.

Several processes may share the file (WAL). A run is written in one transaction, so one that was cut off is not there at
all. Every call opens its own connection and may be made from any thread; all of them raise `sqlite3.Error` or `OSError`
where the file cannot be used.
"""

import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs

VERSION = 1
"""Of the schema, in `user_version`; a file of another version is left alone."""

CHUNK_BYTES = 256 * 1024
"""Lines are compressed in chunks of about so many bytes, so that one event costs one chunk."""

BUSY_SECONDS = 10.0

MOST = 2**63 - 1
"""The largest number that SQLite knows."""

KEPT_SHARE = 0.5
"""Kept runs may take up this share of the limit, so that new runs always find room."""

APPLICATION = 0x504C4159
"""Marks the file as ours."""

SCHEMA = f"""
PRAGMA auto_vacuum = INCREMENTAL;
PRAGMA journal_mode = WAL;
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS runs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    owner TEXT,
    created TEXT NOT NULL,
    mode TEXT NOT NULL,
    model TEXT NOT NULL,
    prompt TEXT NOT NULL,
    stop_reason TEXT NOT NULL,
    steps INTEGER,
    tokens INTEGER NOT NULL,
    kept INTEGER NOT NULL DEFAULT 0,
    events INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    summary TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS runs_of_owner ON runs (owner, number);
CREATE TABLE IF NOT EXISTS chunks (
    run INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
    first INTEGER NOT NULL,
    lines BLOB NOT NULL,
    PRIMARY KEY (run, first)
) WITHOUT ROWID;
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {VERSION};
COMMIT;
"""

STATE = """
SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version),
       (SELECT count(*) FROM sqlite_master)
"""
"""In one statement, so that another process that makes the tables is seen before or after, never half-way."""

LISTED = ("id", "created", "mode", "model", "prompt", "stop_reason", "steps", "tokens", "kept")


class Unusable(sqlite3.Error):
    """The file is there, and not for us to use; the message says why."""


@dataclass(frozen=True)
class Entry:
    """What a list of runs shows of one."""

    id: str
    created: str
    """UTC, ISO 8601."""
    mode: str
    model: str
    prompt: str
    """Its first characters."""
    stop_reason: str
    steps: int | None
    """Denoising steps; none for an autoregressive run."""
    tokens: int
    kept: bool = False


def default_path() -> Path:
    """Where the store is unless somebody says otherwise: in the user's data folder."""
    return Path(platformdirs.user_data_dir("denoising-playground", appauthor=False)) / "runs.sqlite3"


class Store:
    """Runs in one file, of at most `most_bytes`."""

    def __init__(self, path: Path, most_bytes: int) -> None:
        self.path = path
        self._most_bytes = most_bytes

    def put(self, entry: Entry, owner: str | None, summary: str, lines: Iterable[bytes]) -> bool:
        """Store a run, the oldest that nobody kept giving way; once more is fine.

        owner: a hash; lines: the trace's, without their ends. Whether there was room for it.
        """
        with self._writing() as database:
            if database.execute("SELECT 1 FROM runs WHERE id = ?", (entry.id,)).fetchone():
                return True
            number = self._insert(database, entry, owner, summary)
            events = size = 0
            for first, chunk in _chunks(lines):
                packed = zlib.compress(chunk)
                database.execute("INSERT INTO chunks VALUES (?, ?, ?)", (number, first, packed))
                events = first + chunk.count(b"\n")
                size += len(packed)
                if size > self._most_bytes:
                    break
            database.execute("UPDATE runs SET events = ?, bytes = ? WHERE number = ?", (events, size, number))
            if not self._make_room(database, number):
                database.rollback()
                return False
            return True

    def summary(self, run_id: str) -> str | None:
        """The summary of a run as it was put; none if it is not here."""
        rows = self._rows("SELECT summary FROM runs WHERE id = ?", run_id)
        return rows[0][0] if rows else None

    def lines(self, run_id: str, after: int = -1) -> Iterator[bytes]:
        """The lines of a run's trace from the one behind `after`, without their ends; none if it is not here.

        What is compressed is read at once, so that the trace comes whole even if the run is dropped meanwhile.
        """
        rows = self._chunks(run_id, min(after + 1, MOST), "")
        return (line for first, packed in rows for line in _unpacked(packed)[max(0, after + 1 - first) :])

    def line(self, run_id: str, seq: int) -> bytes | None:
        """One line of a run's trace; none if it is not here."""
        if seq > MOST:
            return None
        for first, packed in self._chunks(run_id, seq, "LIMIT 1"):
            lines = _unpacked(packed)
            return lines[seq - first] if seq - first < len(lines) else None
        return None

    def owned(self, owner: str, limit: int, before: int | None = None) -> tuple[list[Entry], int | None]:
        """Runs of an owner, the newest first, older than the number `before`; and where to go on, if there is more."""
        rows = self._rows(
            f"SELECT number, {', '.join(LISTED)} FROM runs WHERE owner = ? AND number < ? ORDER BY number DESC LIMIT ?",
            owner,
            MOST if before is None else min(before, MOST),
            limit + 1,
        )
        entries = [Entry(**dict(zip(LISTED, row[1:], strict=True)) | {"kept": bool(row[-1])}) for row in rows[:limit]]
        return entries, rows[limit - 1][0] if len(rows) > limit else None

    def owner(self, run_id: str) -> tuple[str | None] | None:
        """The owner of a run, in a tuple; none if the run is not here."""
        rows = self._rows("SELECT owner FROM runs WHERE id = ?", run_id)
        return rows[0] if rows else None

    def keep(self, run_id: str, kept: bool) -> bool:
        """Keep a run from being dropped, or no longer. Whether there was room among what is kept."""
        with self._writing() as database:
            database.execute("UPDATE runs SET kept = ? WHERE id = ?", (kept, run_id))
            (size,) = database.execute("SELECT coalesce(sum(bytes), 0) FROM runs WHERE kept").fetchone()
            if kept and size > self._most_bytes * KEPT_SHARE:
                database.rollback()
                return False
            return True

    def delete(self, run_id: str) -> None:
        """Forget a run."""
        with self._writing() as database:
            database.execute("DELETE FROM runs WHERE id = ?", (run_id,))

    def _insert(self, database: sqlite3.Connection, entry: Entry, owner: str | None, summary: str) -> int:
        columns = {name: getattr(entry, name) for name in LISTED}
        columns |= {"owner": owner, "events": 0, "bytes": 0, "summary": summary}
        names = ", ".join(columns)
        marks = ", ".join(f":{name}" for name in columns)
        number = database.execute(f"INSERT INTO runs ({names}) VALUES ({marks})", columns).lastrowid
        assert number is not None
        return number

    def _make_room(self, database: sqlite3.Connection, newest: int) -> bool:
        """Drop the oldest runs that nobody kept until the file's pages fit; whether they do, with the newest."""
        while _used(database) > self._most_bytes:
            oldest = database.execute(
                "SELECT min(number) FROM runs WHERE NOT kept AND number < ?", (newest,)
            ).fetchone()
            if oldest[0] is None:
                return False
            database.execute("DELETE FROM runs WHERE number = ?", oldest)
        return True

    def _chunks(self, run_id: str, seq: int, limit: str) -> list[tuple[int, bytes]]:
        """The compressed chunks of a run from the one with line `seq` on."""
        of_run = "FROM chunks WHERE run = (SELECT number FROM runs WHERE id = ?)"
        return self._rows(
            f"SELECT first, lines {of_run} AND first >= (SELECT max(first) {of_run} AND first <= ?) "
            f"ORDER BY first {limit}",
            run_id,
            run_id,
            seq,
        )

    def _rows(self, query: str, *values: object) -> list[Any]:
        """What a query gives; nothing as long as there is no file."""
        if not self.path.exists():
            return []
        with closing(self._open()) as database:
            return database.execute(query, values).fetchall()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction, on disk when the block ends and undone if it raises."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        database = self._open()
        try:
            database.execute("BEGIN IMMEDIATE")
            yield database
            if database.in_transaction:
                database.execute("COMMIT")
            database.execute("PRAGMA incremental_vacuum").fetchall()
        finally:
            database.close()

    def _open(self) -> sqlite3.Connection:
        database = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            database.execute("PRAGMA foreign_keys = ON")
            database.execute("PRAGMA synchronous = NORMAL")
            database.execute("PRAGMA journal_size_limit = 4194304")
            application, version, tables = database.execute(STATE).fetchone()
            if (application, version, tables) == (0, 0, 0):
                database.executescript(SCHEMA)
            elif application != APPLICATION:
                raise Unusable("it is a database of something else")
            elif version != VERSION:
                raise Unusable(f"its schema has version {version}, and this playground knows version {VERSION}")
        except BaseException:
            database.close()
            raise
        return database


def _used(database: sqlite3.Connection) -> int:
    """Bytes of the pages in use."""
    (pages,) = database.execute("PRAGMA page_count").fetchone()
    (free,) = database.execute("PRAGMA freelist_count").fetchone()
    (size,) = database.execute("PRAGMA page_size").fetchone()
    used: int = (pages - free) * size
    return used


def _chunks(lines: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """Lines joined to chunks, each with the number of its first line."""
    first, chunk = 0, bytearray()
    for count, line in enumerate(lines, 1):
        chunk += line + b"\n"
        if len(chunk) >= CHUNK_BYTES:
            yield first, bytes(chunk)
            first, chunk = count, bytearray()
    if chunk:
        yield first, bytes(chunk)


def _unpacked(packed: bytes) -> list[bytes]:
    try:
        return zlib.decompress(packed).removesuffix(b"\n").split(b"\n")
    except zlib.error as error:
        raise Unusable(f"a stored run is damaged: {error}") from None
