"""Recordings over HTTP and the socket: listed, played and exported like stored runs, with or without a model."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import ValidationError
from starlette.testclient import TestClient

from playground.errors import ModelError
from playground.settings import Settings
from playground.web.app import create_app
from tests.trace.test_recordings import put, trace
from tests.web.fake import Fake


@pytest.fixture
def http(fake: Fake, tmp_path: Path) -> Iterator[TestClient]:
    """A server whose model could not be loaded."""
    fake.load_failure = ModelError("there is no GPU")
    put(tmp_path, "a.jsonl", trace())
    put(tmp_path, "bad.jsonl", b"{}")
    with TestClient(create_app(Settings(recordings=str(tmp_path)), fake.engine)) as client:
        yield client


def test_recordings_are_listed_without_a_model(http: TestClient) -> None:
    answer = http.get("/api/recordings").json()
    assert [each["run"] for each in answer["recordings"]] == ["abc"]
    assert answer["refused"][0]["file"] == "bad.jsonl"
    assert answer["refused"][0]["message"].startswith("bad.jsonl, line 1: ")
    assert http.get("/health").json()["status"] == "failed"


def test_a_recording_is_a_run(http: TestClient) -> None:
    lines = trace().decode().splitlines()
    summary = http.get("/api/runs/abc").json()
    assert (summary["state"], summary["events"], summary["text"]) == ("finished", 6, " red red fox")
    assert http.get("/api/runs/abc/events").text.splitlines() == lines
    assert http.get("/api/runs/abc/events?after=3").text.splitlines() == lines[4:]
    assert http.get("/api/runs/abc/events/2").text == lines[2]
    assert http.get("/api/runs/abc/export.jsonl").text.splitlines() == lines
    assert http.get("/api/runs/abc/export.html").text.startswith("<!doctype html>")
    assert http.get("/r/abc", follow_redirects=False).headers["location"] == "../#run=abc"
    assert http.get("/r/other").status_code == 404
    owner = {"X-Playground-Owner": "m" * 22}
    assert http.delete("/api/runs/abc", headers=owner).status_code in (403, 404), "it is nobody's to forget"
    assert http.get("/api/runs/abc").status_code == 200


def test_a_recording_is_watched_on_the_socket(http: TestClient) -> None:
    with http.websocket_connect("/ws") as socket:
        socket.send_json({"type": "join", "run": "abc", "after": -1})
        seen = []
        while len(seen) < 6:
            event = socket.receive_json()
            socket.send_json({"type": "ack", "run": "abc", "seq": event["seq"]})
            seen.append(event["type"])
        summary = http.get("/api/runs/abc").json()
        assert (summary["state"], summary["recording"]) == ("finished", True), "also while somebody watches it"
    assert sorted(seen) == sorted(["run_started", "canvas_started", "step", "step", "canvas_committed", "run_finished"])


def test_a_file_that_comes_later_is_listed(http: TestClient, tmp_path: Path) -> None:
    put(tmp_path, "b.jsonl", trace("later"))
    assert [each["run"] for each in http.get("/api/recordings").json()["recordings"]] == ["abc", "later"]
    assert http.get("/api/runs/later").status_code == 200


def test_a_link_is_found_before_anybody_asked_for_the_list(fake: Fake, tmp_path: Path) -> None:
    with TestClient(create_app(Settings(recordings=str(tmp_path)), fake.engine)) as http:
        http.get("/api/recordings")
        put(tmp_path, "a.jsonl", trace())
    with TestClient(create_app(Settings(recordings=str(tmp_path)), fake.engine)) as http:
        assert http.get("/api/runs/abc").status_code == 200


def test_without_a_folder_there_are_none(fake: Fake) -> None:
    with TestClient(create_app(Settings(), fake.engine)) as http:
        assert http.get("/api/recordings").json() == {"recordings": [], "refused": []}


def test_a_folder_that_is_not_there_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="takes a folder that is there"):
        Settings(recordings=str(tmp_path / "gone"))
