"""A store that is off, broken, full or slow: the server goes on, and says so once."""

import asyncio
import json
import os
import sqlite3
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from playground.events import Error
from playground.settings import Settings
from playground.trace.log import RunLog
from playground.trace.store import Store
from playground.web.app import create_app
from playground.web.archive import Archive, hashed
from tests.web.fake import Fake, recipe
from tests.web.live import serving, until
from tests.web.test_history import MINE, a_run, owned


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.sqlite3"


def test_without_a_store_nothing_is_stored(fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with TestClient(create_app(Settings(store=""), fake.engine)) as http:
        run = a_run(http)
        assert owned(http) == {"stored": False, "runs": [], "next": None}
        assert http.get(f"/api/runs/{run}").status_code == 200
        assert http.put(f"/api/runs/{run}/keep", headers={"X-Playground-Owner": MINE}).status_code == 404
        assert http.delete(f"/api/runs/{run}", headers={"X-Playground-Owner": MINE}).json()["deleted"] is True
        assert http.get(f"/api/runs/{run}").status_code == 404
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("broken", ["a folder", "no database", "below a file"])
def test_a_store_that_cannot_be_used_stops_nothing(
    fake: Fake, path: Path, broken: str, capsys: pytest.CaptureFixture[str]
) -> None:
    store = path
    if broken == "a folder":
        path.mkdir()
    else:
        path.write_bytes(b"something else entirely " * 100)
        store = path / "below" if broken == "below a file" else path
    with TestClient(create_app(Settings(store=str(store), keep_finished_runs=8), fake.engine)) as http:
        runs = [a_run(http) for _ in range(3)]
        listed = http.get("/api/runs", headers={"X-Playground-Owner": MINE})
        if broken == "below a file":  # as where there is no file yet
            assert listed.json()["runs"] == []
        else:
            assert listed.status_code == 500
            assert listed.json()["message"].startswith("The store of runs cannot be read at the moment")
        assert [http.get(f"/api/runs/{run}").status_code for run in runs] == [200] * 3
        assert http.get("/api/runs/nobody").status_code == 404
        assert http.put(f"/api/runs/{runs[0]}/keep", headers={"X-Playground-Owner": MINE}).status_code in (404, 500)
    assert capsys.readouterr().out.count("runs are not stored; PLAYGROUND_STORE sets where") == 1


def test_a_full_disk_stops_nothing(
    fake: Fake, path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: Any) -> bool:
        raise sqlite3.OperationalError("database or disk is full")

    with TestClient(create_app(Settings(store=str(path)), fake.engine)) as http:
        stored = a_run(http)
        owned(http)
        with monkeypatch.context() as patch:
            patch.setattr(Store, "put", full)
            lost = a_run(http)
            owned(http)
        assert http.get(f"/api/runs/{lost}").status_code == 200
        again = a_run(http)
        assert [run["id"] for run in owned(http)["runs"]] == [again, stored]
    assert "database or disk is full" in capsys.readouterr().out


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes anywhere")
def test_a_read_only_folder_stops_nothing(fake: Fake, path: Path) -> None:
    path.parent.chmod(0o500)
    try:
        with TestClient(create_app(Settings(store=str(path)), fake.engine)) as http:
            assert http.get(f"/api/runs/{a_run(http)}").status_code == 200
    finally:
        path.parent.chmod(0o700)


async def test_a_store_that_is_too_slow_loses_runs_and_says_so(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    archive = Archive(Settings(store=str(path), keep_finished_bytes=10))
    logs = [RunLog() for _ in range(3)]
    for log in logs:
        log.append(Error(code="internal", message="x"))
        archive.put(log, None, {"recipe": {}, "metrics": {}})
    await archive.close()
    assert "runs finish faster than they are written" in capsys.readouterr().out


async def test_a_run_on_its_way_into_the_store_is_found(
    fake: Fake, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    put = Store.put

    def slow(*arguments: Any) -> bool:
        assert go_on.wait(60)
        return put(*arguments)

    monkeypatch.setattr(Store, "put", slow)
    async with serving(fake.engine, store=str(path), keep_finished_runs=1) as live, live.connect() as client:
        runs = []
        for _ in range(3):
            runs.append((await client.start(recipe(steps=1), owner=MINE))["run"])
            await client.follow()
            await until(lambda: live.site.runs.get(runs[-1]).finished)
        assert (await live.site.runs.find(runs[0])).log.finished
        listing = asyncio.create_task(live.site.archive.owned(hashed(MINE), 9, None))
        go_on.set()
        assert [entry.id for entry in (await listing)[0]] == runs[::-1]


def test_a_stored_run_of_a_format_that_is_gone_is_unknown(fake: Fake, path: Path) -> None:
    with TestClient(create_app(Settings(store=str(path)), fake.engine)) as http:
        run = a_run(http)
        owned(http)
        summary = json.dumps(http.get(f"/api/runs/{run}").json())
        (entry,), _ = Store(path, 1 << 30).owned(hashed(MINE), 9)
        Store(path, 1 << 30).put(replace(entry, id="old"), None, summary, [b'{"type":"of_old"}'])
        assert http.get("/api/runs/old/events").json()["code"] == "unknown_run"
