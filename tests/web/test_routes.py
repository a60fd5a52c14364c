import asyncio
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

from playground import __version__
from playground.settings import Settings
from playground.web.app import create_app
from tests.web.fake import Fake, recipe
from tests.web.live import PATIENCE, serving, until

Run = tuple[str, str]


@pytest.fixture
def http(fake: Fake) -> Iterator[TestClient]:
    with TestClient(create_app(Settings(), fake.engine)) as client:
        yield client


def a_run(http: TestClient, **fields: Any) -> str:
    """Make a run, follow it to its end; gives its id."""
    with http.websocket_connect("/ws") as socket:
        socket.send_json({"type": "start", "recipe": recipe(**fields)})
        run: str = socket.receive_json()["run"]
        heard: list[int] = []
        last = None
        while last is None or len(heard) <= last:
            event = socket.receive_json()
            heard.append(event["seq"])
            socket.send_json({"type": "ack", "run": run, "seq": event["seq"]})
            last = event["seq"] if event["type"] == "run_finished" else last
    return run


def test_a_summary_tells_how_a_run_stands(http: TestClient) -> None:
    run = a_run(http, seed=3)
    summary = http.get(f"/api/runs/{run}").json()
    assert summary["state"] == "finished"
    assert summary["events"] == 9
    assert summary["stop_reason"] == "max_new_tokens"
    assert summary["text"] == "done"
    assert summary["metrics"]["total_denoising_steps"] == 5
    assert summary["recipe"]["seed"] == 3
    assert "control" not in summary
    assert "token" not in summary


def test_events_are_a_trace_file(http: TestClient) -> None:
    run = a_run(http)
    response = http.get(f"/api/runs/{run}/events")
    assert response.headers["content-type"].startswith("application/jsonl")
    events = [json.loads(line) for line in response.text.splitlines()]
    assert [event["seq"] for event in events] == list(range(9))
    assert len(events[2]["top_ids"]) == len(events[2]["top_probabilities"]) == 256
    assert http.get(f"/api/runs/{run}/events?after=6").text == "\n".join(response.text.splitlines()[7:]) + "\n"
    assert http.get(f"/api/runs/{run}/events?after=8").text == ""


def test_one_event_comes_whole(http: TestClient) -> None:
    run = a_run(http)
    event = http.get(f"/api/runs/{run}/events/2").json()
    assert (event["type"], event["seq"]) == ("step", 2)
    assert event["top_ids"][0] == [1, 2, 3]


@pytest.mark.parametrize(
    ("path", "status", "code", "field"),
    [
        ("/api/runs/nobody", 404, "unknown_run", "run"),
        ("/api/runs/nobody/events", 404, "unknown_run", "run"),
        ("/api/runs/nobody/events/0", 404, "unknown_run", "run"),
        ("/api/runs/{run}/events/9", 404, "unknown_event", "seq"),
        ("/api/runs/{run}/events/-1", 422, "bad_request", "seq"),
        ("/api/runs/{run}/events/x", 422, "bad_request", "seq"),
        ("/api/runs/{run}/events?after=x", 422, "bad_request", "after"),
        ("/api/runs/{run}/events?after=-2", 422, "bad_request", "after"),
        ("/api/runs/" + "x" * 65, 422, "bad_request", "run_id"),
    ],
)
def test_mistakes_are_answered_like_on_the_socket(
    http: TestClient, path: str, status: int, code: str, field: str
) -> None:
    response = http.get(path.format(run=a_run(http, steps=5) if "{run}" in path else ""))
    assert response.status_code == status
    answer = response.json()
    assert (answer["type"], answer["code"], answer["field"]) == ("error", code, field)
    assert answer["message"].endswith(".")


def test_nothing_lists_runs_of_others(http: TestClient) -> None:
    a_run(http)
    assert http.get("/api/runs").status_code == 422
    assert http.get("/api/runs/").status_code == 422


async def test_events_of_a_live_run_are_followed_and_keep_it_alive(fake: Fake) -> None:
    fake.hold()
    async with (
        serving(fake.engine, unwatched_seconds=0.05) as live,
        httpx.AsyncClient(timeout=PATIENCE, trust_env=False) as http,
    ):
        async with live.connect() as client:
            control = await client.start(recipe(steps=30))
            run = live.site.runs.get(control["run"])
            await until(lambda: len(run.log) == 2)
            url = f"http://{live.address}/api/runs/{run.id}/events"
            so_far = (await http.get(f"{url}?follow=false")).text.splitlines()
            following = asyncio.create_task(http.get(url))
            await until(lambda: run.viewers == 2)
        await until(lambda: run.viewers == 1)
        await asyncio.sleep(0.1)
        fake.release()
        lines = (await following).text.splitlines()
        assert [json.loads(line)["seq"] for line in lines] == list(range(34))
        assert lines[:2] == so_far
        assert json.loads(lines[-1])["stop_reason"] == "max_new_tokens"
        await until(lambda: run.viewers == 0)


def test_health_is_told_while_the_model_loads_and_after(fake: Fake) -> None:
    fake.loading.clear()
    with TestClient(create_app(Settings(), fake.engine)) as http:
        assert http.get("/health").json()["status"] == "loading"
        assert http.get("/api/models").json()["models"] == []
        fake.loading.set()
        a_run(http)
        health = http.get("/health")
        assert health.status_code == 200
        assert health.json() == {
            "status": "ready",
            "message": "The model 'fake' is ready: 1 parameters, float32 on cpu.",
            "version": __version__,
        }
        models = http.get("/api/models").json()
        assert models["models"][0]["name"] == "fake"
        assert models["models"][0]["canvas_length"] == 256
        assert models["limits"]["max_new_tokens"] == 8192


def test_health_is_told_when_the_model_failed(fake: Fake) -> None:
    fake.load_failure = OSError("no such folder")
    with TestClient(create_app(Settings(), fake.engine)) as http:
        with http.websocket_connect("/ws") as socket:
            socket.send_json({"type": "start", "recipe": recipe()})
            assert socket.receive_json()["code"] == "model"
        health = http.get("/health")
        assert (health.status_code, health.json()["status"]) == (503, "failed")
        assert "no such folder" in health.json()["message"]


def test_metrics_count_runs_steps_and_sockets(http: TestClient) -> None:
    a_run(http)
    a_run(http, mode="autoregressive", max_new_tokens=3)
    figures = http.get("/metrics").text
    for line in (
        'playground_runs_started_total{mode="diffusion"} 1.0',
        'playground_runs_finished_total{stop_reason="max_new_tokens"} 2.0',
        'playground_steps_total{mode="diffusion"} 5.0',
        'playground_steps_total{mode="autoregressive"} 3.0',
        'playground_step_seconds_count{mode="diffusion"} 5.0',
        "playground_open_sockets 0.0",
        "playground_runs_waiting 0.0",
        "playground_runs_going 0.0",
    ):
        assert line in figures


def test_the_oldest_finished_runs_are_forgotten(fake: Fake) -> None:
    with TestClient(create_app(Settings(keep_finished_runs=2), fake.engine)) as http:
        runs = [a_run(http) for _ in range(3)]
        assert [http.get(f"/api/runs/{run}").status_code for run in runs] == [404, 200, 200]
    with TestClient(create_app(Settings(keep_finished_bytes=1), fake.engine)) as http:
        runs = [a_run(http) for _ in range(2)]
        assert [http.get(f"/api/runs/{run}").status_code for run in runs] == [404, 200]


def test_responses_carry_careful_headers_and_may_be_framed(http: TestClient) -> None:
    headers = http.get("/health").headers
    assert headers["x-content-type-options"] == "nosniff"
    assert "x-frame-options" not in headers
    assert "frame-ancestors" not in headers["content-security-policy"]
