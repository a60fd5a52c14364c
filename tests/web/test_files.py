"""Exports over HTTP, and the check of a trace that is sent in."""

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from starlette.testclient import TestClient

from playground.settings import Settings
from playground.trace import file
from playground.trace.log import RunLog
from playground.web.app import create_app
from tests.terminal import runs
from tests.web.fake import Fake, recipe
from tests.web.live import serving
from tests.web.test_history import a_run


@pytest.fixture
def http(fake: Fake, tmp_path: Path) -> Iterator[TestClient]:
    store = str(tmp_path / "runs.sqlite3")
    with TestClient(create_app(Settings(store=store, keep_finished_runs=1), fake.engine)) as client:
        yield client


def trace() -> bytes:
    log = RunLog("r")
    for event in runs.whole():
        log.append(event)
    return b"".join(log.line(seq) + b"\n" for seq in range(len(log)))


@pytest.mark.parametrize("stored", [False, True])
def test_a_run_comes_as_a_file_of_each_kind(http: TestClient, stored: bool) -> None:
    run = a_run(http)
    if stored:
        a_run(http, steps=1)
        http.get("/api/runs", headers={"X-Playground-Owner": "m" * 22})
    answers = {kind: http.get(f"/api/runs/{run}/export.{kind}") for kind in ("jsonl", "html", "csv", "parquet")}
    assert [answer.status_code for answer in answers.values()] == [200] * 4
    assert answers["jsonl"].text == http.get(f"/api/runs/{run}/events").text
    assert answers["html"].text.startswith("<!doctype html>")
    assert len(answers["csv"].text.splitlines()) == 1 + 5 * 256
    assert pq.read_table(io.BytesIO(answers["parquet"].content)).num_rows == 5 * 256
    steps = http.get(f"/api/runs/{run}/export.csv?table=steps")
    assert len(steps.text.splitlines()) == 6
    name = steps.headers["content-disposition"]
    assert name.startswith('attachment; filename="diffusion-20260101000000-')
    assert name.endswith('-steps.csv"')
    assert answers["parquet"].headers["content-type"] == "application/vnd.apache.parquet"


def test_what_cannot_be_exported_is_refused(http: TestClient) -> None:
    run = a_run(http)
    assert http.get("/api/runs/nobody/export.html").json()["code"] == "unknown_run"
    assert http.get(f"/api/runs/{run}/export.pdf").status_code == 422
    assert http.get(f"/api/runs/{run}/export.csv?table=all").status_code == 422


def test_a_run_larger_than_the_limit_comes_as_a_trace_alone(fake: Fake) -> None:
    with TestClient(create_app(Settings(max_trace_bytes=2048), fake.engine)) as http:
        run = a_run(http)
        assert http.get(f"/api/runs/{run}/export.html").json()["code"] == "too_long"
        assert http.get(f"/api/runs/{run}/export.jsonl").status_code == 200


async def test_a_run_that_goes_on_is_no_file_yet(fake: Fake) -> None:
    import httpx

    async with serving(fake.engine) as live, live.connect() as client:
        fake.hold()
        run = (await client.start(recipe()))["run"]
        async with httpx.AsyncClient(base_url=f"http://{live.address}", trust_env=False) as http:
            answer = await http.get(f"/api/runs/{run}/export.html")
        assert answer.json()["message"].startswith("The run is still going on")
        fake.release()


def test_a_whole_trace_is_told_what_it_is(http: TestClient) -> None:
    assert http.post("/api/traces", content=trace()).json() == {
        "run": "r",
        "events": 6,
        "created": "2026-01-01T00:00:00+00:00",
        "model": None,
        "model_revision": "0123456789abcdef",
        "version": file.__dict__["__version__"],
        "mode": "diffusion",
        "stop_reason": "end_of_turn",
        "uploads": [],
        "missing": None,
    }


def with_uploads(*parts: dict[str, str]) -> bytes:
    """The same trace, its prompt with uploads."""
    events = [json.loads(line) for line in trace().splitlines()]
    for event in events:
        if "recipe" in event:
            event["recipe"]["messages"][-1]["content"] = [*parts, {"type": "text", "text": "What is it?"}]
    return "".join(json.dumps(event) + "\n" for event in events).encode()


def test_uploads_that_are_here_no_more_are_named(http: TestClient) -> None:
    held = http.post("/api/uploads", content=b"some words").json()["sha256"]
    body = with_uploads({"type": "file", "sha256": held}, {"type": "image", "sha256": "ab" * 32})
    told = http.post("/api/traces", content=body).json()
    assert told["uploads"] == [
        {"kind": "file", "sha256": held, "here": True},
        {"kind": "image", "sha256": "ab" * 32, "here": False},
    ]
    assert told["missing"] == f"The prompt has uploads that are not here: a picture (SHA-256 {'ab' * 32})."
    told = http.post("/api/traces", content=with_uploads({"type": "file", "sha256": held})).json()
    assert told["missing"] is None


def unmarked(page: bytes) -> bytes:
    """A page without the random word that its scripts are known by."""
    return re.sub(rb"nonce[-=][\w\"+/=-]+", b"", page)


@pytest.mark.parametrize(("kind", "begins"), [("html", b"<!doctype html>"), ("csv", b""), ("parquet", b"PAR1")])
def test_a_trace_that_is_sent_in_becomes_another_file(http: TestClient, kind: str, begins: bytes) -> None:
    run = a_run(http)
    own = http.get(f"/api/runs/{run}/export.jsonl").content
    made = http.post(f"/api/traces/export.{kind}", content=own)
    assert made.content.lower().startswith(begins.lower())
    assert unmarked(made.content) == unmarked(http.get(f"/api/runs/{run}/export.{kind}").content)
    assert f'.{kind}"' in made.headers["content-disposition"]
    assert http.post(f"/api/traces/export.{kind}", content=own[:-20]).status_code == 422


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"", "The trace is empty."),
        (b"hello", "The trace, line 1: is cut off or not JSON"),
        (trace()[:-20], "The trace, line 6: is cut off or not JSON"),
        (trace().split(b"\n")[0], "The trace, line 1: the trace breaks off here"),
    ],
)
def test_what_is_no_whole_trace_is_refused_in_a_sentence(http: TestClient, body: bytes, says: str) -> None:
    answer = http.post("/api/traces", content=body)
    assert answer.status_code == 422
    assert answer.json()["message"].startswith(says)
    assert answer.json()["message"].endswith(".")


def test_a_large_body_is_read_up_to_the_limit(fake: Fake) -> None:
    sent = 0

    def body() -> Iterator[bytes]:
        nonlocal sent
        yield trace().split(b"\n")[0]
        for _ in range(1000):
            sent += 1
            yield b" " * 65536

    with TestClient(create_app(Settings(max_trace_bytes=1 << 20), fake.engine)) as http:
        answer: Any = http.post("/api/traces", content=body())
    assert "grows beyond 1048576 bytes" in json.loads(answer.text)["message"]
