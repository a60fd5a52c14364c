"""Runs in SQLite: by id, by owner, within a limit, from several processes, through crashes."""

import multiprocessing
import os
import signal
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from playground.trace import store
from playground.trace.store import Entry, Store, Unusable

MIB = 1 << 20


@pytest.fixture
def shelf(tmp_path: Path) -> Store:
    return Store(tmp_path / "deep" / "runs.sqlite3", 64 * MIB)


def entry(run: str, **fields: object) -> Entry:
    whole = {
        "id": run,
        "created": "2026-01-01T00:00:00+00:00",
        "mode": "diffusion",
        "model": "embedded",
        "prompt": "hello",
        "stop_reason": "end_of_turn",
        "steps": 3,
        "tokens": 12,
    }
    return Entry(**(whole | fields))  # type: ignore[arg-type]


def lines(run: str, count: int = 5, size: int = 20) -> list[bytes]:
    """Lines that do not compress well."""
    return [
        f'{{"run":"{run}","seq":{seq},"x":"'.encode() + os.urandom(size).hex().encode() + b'"}' for seq in range(count)
    ]


def test_what_is_put_is_found(shelf: Store) -> None:
    trace = lines("a", 2000, 200)
    assert shelf.put(entry("a"), "me", '{"run":"a"}', trace)
    assert shelf.summary("a") == '{"run":"a"}'
    assert list(shelf.lines("a")) == trace
    assert list(shelf.lines("a", after=1234)) == trace[1235:]
    assert list(shelf.lines("a", after=1999)) == []
    assert [shelf.line("a", seq) for seq in (0, 1500, 1999, 2000)] == [trace[0], trace[1500], trace[1999], None]
    assert shelf.owner("a") == ("me",)


@pytest.mark.parametrize("number", [2**63 - 2, 2**63 - 1, 2**63, 10**30])
def test_numbers_larger_than_sqlites_find_what_they_should(shelf: Store, number: int) -> None:
    shelf.put(entry("a"), "me", "{}", lines("a"))
    assert shelf.line("a", number) is None
    assert list(shelf.lines("a", after=number)) == []
    assert [found.id for found in shelf.owned("me", 9, number)[0]] == ["a"]


def test_a_damaged_run_cannot_be_used(shelf: Store) -> None:
    shelf.put(entry("a"), None, "{}", lines("a"))
    with sqlite3.connect(shelf.path) as database:
        database.execute("UPDATE chunks SET lines = x'00'")
    database.close()
    with pytest.raises(Unusable, match="damaged"):
        shelf.line("a", 0)
    with pytest.raises(Unusable, match="damaged"):
        list(shelf.lines("a"))


def test_nothing_is_there_before_anything_was_put(shelf: Store) -> None:
    assert shelf.summary("a") is None
    assert list(shelf.lines("a")) == []
    assert shelf.line("a", 0) is None
    assert shelf.owner("a") is None
    assert shelf.owned("me", 10) == ([], None)
    assert not shelf.path.exists()


def test_put_once_more_changes_nothing(shelf: Store) -> None:
    trace = lines("a")
    assert shelf.put(entry("a"), "me", "first", trace)
    assert shelf.put(entry("a"), "you", "second", lines("a"))
    assert (shelf.summary("a"), shelf.owner("a"), list(shelf.lines("a"))) == ("first", ("me",), trace)


def test_each_owner_has_a_list_in_pages(shelf: Store) -> None:
    for number in range(7):
        shelf.put(entry(f"r{number}", prompt=f"prompt {number}"), "me" if number % 2 == 0 else "you", "{}", lines("x"))
    shelf.put(entry("nobody's"), None, "{}", lines("x"))
    newest, further = shelf.owned("me", 3)
    assert [one.id for one in newest] == ["r6", "r4", "r2"]
    assert newest[0] == entry("r6", prompt="prompt 6")
    rest, end = shelf.owned("me", 3, further)
    assert ([one.id for one in rest], end) == (["r0"], None)
    assert shelf.owned("stranger", 3) == ([], None)


def test_the_oldest_that_nobody_kept_gives_way(tmp_path: Path) -> None:
    shelf = Store(tmp_path / "runs.sqlite3", 4 * MIB)
    for number in range(20):
        assert shelf.put(entry(f"r{number}"), "me", "{}", lines("x", 100, 5000))
        if number == 0:
            assert shelf.keep("r0", True)
    here = [one.id for one in shelf.owned("me", 100)[0]]
    assert here[0] == "r19"
    assert here[-1] == "r0"
    assert 3 < len(here) < 10
    assert here[:-1] == [f"r{number}" for number in range(19, 20 - len(here), -1)]
    assert shelf.path.stat().st_size <= 4.5 * MIB
    assert shelf.keep("r0", False)
    assert shelf.put(entry("last"), "me", "{}", lines("x", 100, 5000))
    assert shelf.summary("r0") is None


def test_kept_runs_never_fill_it(tmp_path: Path) -> None:
    shelf = Store(tmp_path / "runs.sqlite3", 4 * MIB)
    kept = []
    for number in range(12):
        assert shelf.put(entry(f"r{number}"), "me", "{}", lines("x", 100, 5000))
        kept.append(shelf.keep(f"r{number}", True))
    assert kept[:2] == [True, True]
    assert not all(kept)
    assert sum(one.kept for one in shelf.owned("me", 100)[0]) == sum(kept)


def test_a_run_larger_than_all_finds_no_room_and_drops_nothing(tmp_path: Path) -> None:
    shelf = Store(tmp_path / "runs.sqlite3", 2 * MIB)
    assert shelf.put(entry("small"), "me", "{}", lines("x"))
    assert not shelf.put(entry("large"), "me", "{}", lines("x", 800, 5000))
    assert [one.id for one in shelf.owned("me", 9)[0]] == ["small"]


def test_a_deleted_run_is_gone(shelf: Store) -> None:
    shelf.put(entry("a"), "me", "{}", lines("a"))
    shelf.delete("a")
    shelf.delete("a")
    assert shelf.summary("a") is None
    with sqlite3.connect(shelf.path) as database:
        assert database.execute("SELECT count(*) FROM chunks").fetchone() == (0,)


def test_a_trace_comes_whole_though_its_run_is_dropped_meanwhile(shelf: Store) -> None:
    trace = lines("a", 2000, 200)
    shelf.put(entry("a"), "me", "{}", trace)
    coming = shelf.lines("a")
    first = next(coming)
    shelf.delete("a")
    assert [first, *coming] == trace


def test_a_file_of_something_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite3"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE theirs (x)")
    with pytest.raises(Unusable, match="something else"):
        Store(path, MIB).put(entry("a"), None, "{}", [])
    path.write_bytes(b"no database at all" * 1000)
    with pytest.raises(sqlite3.DatabaseError):
        Store(path, MIB).summary("a")
    assert path.read_bytes().startswith(b"no database")


def test_a_newer_schema_is_left_alone(shelf: Store) -> None:
    shelf.put(entry("a"), None, "{}", lines("a"))
    with sqlite3.connect(shelf.path) as database:
        database.execute(f"PRAGMA user_version = {store.VERSION + 1}")
    with pytest.raises(Unusable, match=f"version {store.VERSION + 1}"):
        shelf.summary("a")


def _fill(path: Path, name: str, count: int) -> None:
    for number in range(count):
        Store(path, 64 * MIB).put(entry(f"{name}{number}"), name, "{}", lines(name, 20, 500))


def test_several_processes_share_it(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite3"
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_fill, args=(path, name, 10)) for name in "abcd"]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4
    assert all(len(Store(path, MIB).owned(name, 100)[0]) == 10 for name in "abcd")


def _stop_half_way(path: Path) -> None:
    def endless() -> Iterator[bytes]:
        yield from lines("half", 2000, 500)
        (path.parent / "half-way").touch()
        time.sleep(600)

    Store(path, 64 * MIB).put(entry("half"), "me", "{}", endless())


def test_a_crash_in_the_middle_of_a_write_loses_that_run_alone(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite3"
    trace = lines("whole")
    Store(path, 64 * MIB).put(entry("whole"), "me", "{}", trace)
    process = multiprocessing.get_context("spawn").Process(target=_stop_half_way, args=(path,))
    process.start()
    while not (path.parent / "half-way").exists():
        assert process.is_alive()
        time.sleep(0.02)
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    shelf = Store(path, 64 * MIB)
    assert [one.id for one in shelf.owned("me", 9)[0]] == ["whole"]
    assert list(shelf.lines("whole")) == trace
    assert shelf.put(entry("next"), "me", "{}", lines("next"))
    with sqlite3.connect(path) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_the_default_place_is_the_users_data_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert store.default_path().name == "runs.sqlite3"
