"""What a hostile client tries: it gets a sentence, and costs neither time, nor memory, nor anybody's secrets."""

import gc
import json
import logging
import sqlite3
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
import structlog
from starlette.testclient import TestClient
from websockets.exceptions import ConnectionClosed

from playground.settings import Settings
from playground.trace.store import Store
from playground.web import logs
from playground.web.app import create_app
from playground.web.limits import REFUSALS_PER_MINUTE
from playground.web.runs import Run
from tests.web.fake import Fake, recipe
from tests.web.live import PATIENCE, serving, until
from tests.web.test_app import app_with_page
from tests.web.test_history import a_run

SECRET = "s" * 30
OWNER = {"X-Playground-Owner": SECRET}


@pytest.mark.parametrize("number", ["99999999999999999999", "9" * 26, "9" * 5000, str(2**53 + 1)])
@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/api/runs?before={}", "before"),
        ("/api/runs/nope/events/{}", "seq"),
        ("/api/runs/nope/events?after={}", "after"),
    ],
)
def test_numbers_beyond_those_of_the_store_are_mistakes(
    fake: Fake, tmp_path: Path, path: str, field: str, number: str
) -> None:
    with TestClient(create_app(Settings(store=str(tmp_path / "runs")), fake.engine)) as http:
        a_run(http, SECRET, steps=1)
        answer = http.get(path.format(number), headers=OWNER)
        assert (answer.status_code, answer.json()["field"]) == (422, field)


@pytest.mark.parametrize("failure", [OverflowError("large"), sqlite3.OperationalError("locked"), KeyError("x")])
def test_whatever_the_store_raises_is_answered(
    fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    def fail(*_: Any) -> Any:
        raise failure

    with TestClient(create_app(Settings(store=str(tmp_path / "runs")), fake.engine)) as http:
        run = a_run(http, SECRET, steps=1)
        for name in ("summary", "lines", "line", "owned", "keep", "delete"):
            monkeypatch.setattr(Store, name, fail)
        for path in ("nope", "nope/events", "nope/events/1", "nope/export.jsonl"):
            assert http.get(f"/api/runs/{path}").status_code == 404
        for method, path in (("GET", ""), ("PUT", f"/{run}/keep"), ("DELETE", f"/{run}")):
            answer = http.request(method, f"/api/runs{path}", headers=OWNER)
            assert (answer.status_code, answer.json()["code"]) == (500, "internal")


def test_a_failing_route_says_a_sentence_and_logs_no_secret(
    fake: Fake, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root, before = logging.getLogger(), logging.getLogger().handlers
    app = create_app(Settings(store=""), fake.engine)

    async def owned(*_: Any) -> Any:
        raise RuntimeError("broken")

    monkeypatch.setattr(app.state.site.archive, "owned", owned)
    try:
        logs.configure(Settings())
        with TestClient(app, raise_server_exceptions=False) as http:
            answer = http.get("/api/runs", headers=OWNER)
        try:
            secret = SECRET
            raise RuntimeError(f"broken with {len(secret)}")
        except RuntimeError:
            logging.getLogger("uvicorn.error").error("Exception in ASGI application", exc_info=sys.exc_info())
            structlog.get_logger().exception("failed")
    finally:
        root.handlers = before
        structlog.reset_defaults()
    assert (answer.status_code, answer.json()["code"]) == (500, "internal")
    said = capsys.readouterr().err
    assert said.count("RuntimeError: broken with 30") == 2
    assert SECRET not in said


async def test_a_frame_too_large_is_refused_once_and_the_socket_lives_on(fake: Fake) -> None:
    async with serving(fake.engine, max_frame_bytes=4096) as live, live.connect() as client:
        for text in ("x" * 5000, "é" * 2500):
            await client.say("start", recipe=recipe(messages=[{"role": "user", "content": text}]), ref=1)
            error = await client.hear()
            assert (error["code"], error["field"], error["ref"]) == ("bad_request", "recipe.messages.0.content", 1)
            assert error["message"].startswith("recipe.messages.0.content is too long: a frame may have at most 4096")
        for frame in ("x" * 5000, '{"a":"' + "é" * 2050 + '"}', "[" * 9000, "[" + "1," * 4000 + "1]"):
            await client.connection.send(frame)
            error = await client.hear()
            assert error["message"] == (f"A frame may have at most 4096 bytes, and this one has {len(frame.encode())}.")
        await client.quiet()


async def test_a_socket_that_is_refused_too_often_is_closed_with_a_reason(fake: Fake) -> None:
    async with serving(fake.engine) as live, live.connect() as client, live.connect() as other:
        for _ in range(REFUSALS_PER_MINUTE + 1):
            await client.connection.send("{")
        for _ in range(REFUSALS_PER_MINUTE + 1):
            assert (await client.hear())["code"] == "bad_request"
        with pytest.raises(ConnectionClosed) as closed:
            await client.hear()
        assert closed.value.rcvd is not None
        assert (closed.value.rcvd.code, "refused in a minute" in closed.value.rcvd.reason) == (1008, True)
        await other.quiet()
        await until(lambda: live.site.limits.sockets == 1)


async def test_an_address_may_have_so_many_runs_going(fake: Fake) -> None:
    async with (
        serving(fake.engine, max_runs_per_address=2) as live,
        live.connect() as one,
        live.connect() as two,
        live.connect(additional_headers={"X-Forwarded-For": "192.0.2.1"}) as elsewhere,
    ):
        run = (await one.start(recipe(), steps_per_second=1))["run"]
        await two.start(recipe(), steps_per_second=1)
        await two.hear(), await two.hear()
        await two.say("start", recipe=recipe(), ref=3)
        error = await two.hear()
        assert (error["code"], error["ref"]) == ("busy", 3)
        assert "address already has 2 runs going" in error["message"]
        await elsewhere.start(recipe(), steps_per_second=1)
        await one.say("cancel", run=run)
        await until(lambda: live.site.runs.get(run).finished)
        await two.start(recipe(), steps_per_second=1)
        assert not live.site.starting


@pytest.mark.parametrize("trusted", ["*", "127.0.0.1", "192.0.2.1"])
async def test_made_up_addresses_in_front_of_the_proxys_own_are_nobodys(
    fake: Fake, monkeypatch: pytest.MonkeyPatch, trusted: str
) -> None:
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", trusted)
    async with (
        serving(fake.engine, starts_per_minute=1) as live,
        live.connect(additional_headers={"X-Forwarded-For": "10.9.0.1, 203.0.113.7"}) as one,
        live.connect(additional_headers={"X-Forwarded-For": "10.9.0.2, 203.0.113.7"}) as two,
        live.connect(additional_headers={"X-Forwarded-For": "203.0.113.8"}) as three,
    ):
        await one.start(recipe())
        await two.say("start", recipe=recipe())
        assert (await two.hear())["code"] == "busy"
        await three.say("start", recipe=recipe())
        assert (await three.hear())["type"] == ("error" if trusted == "192.0.2.1" else "control")


async def test_a_socket_forgets_its_finished_runs_and_still_knows_that_they_were_its_own(fake: Fake) -> None:
    async with serving(fake.engine, keep_finished_runs=2, store="") as live, live.connect() as client:
        started = []
        for _ in range(6):
            started.append((await client.start(recipe(steps=1)))["run"])
            await client.follow()
        await client.quiet()

        def few_are_alive() -> bool:
            gc.collect()
            return sum(type(each) is Run and each.id in started for each in gc.get_objects()) <= 3

        await until(few_are_alive)
        for run in (started[0], started[-1]):
            await client.say("cancel", run=run)
            await client.say("pause", run=run, ref=run)
            assert ((error := await client.hear())["code"], error["ref"]) == ("finished", run)
        assert live.site.runs.known(started[0]) is None


async def test_health_has_a_head_and_no_other_methods(fake: Fake) -> None:
    async with (
        serving(fake.engine) as live,
        httpx.AsyncClient(base_url=f"http://{live.address}", timeout=PATIENCE, trust_env=False) as http,
    ):
        head = await http.head("/health")
        assert (head.status_code, head.content) == (200, b"")
        for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
            answer = await http.request(method, "/health")
            assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize("prefix", ["", "/lab"])
def test_nothing_can_be_uploaded(fake: Fake, prefix: str) -> None:
    with TestClient(app_with_page(Settings(root_path=prefix), fake)) as http:
        for path in ("/gradio_api/upload", "/gradio_api/upload/", "/gradio_api/upload?upload_id=x"):
            for headers in ({}, {"Origin": "https://evil.example"}):
                answer = http.post(prefix + path, files={"files": ("a.bin", b"x" * 1000)}, headers=headers)
                assert answer.status_code == 403
        answer = http.post(f"{prefix}/gradio_api/component_server", files={"files": ("a.bin", b"x" * 1000)})
        assert answer.status_code == 403
        assert http.head(f"{prefix}/health").status_code == 200
        assert http.post(f"{prefix}/health").status_code == 405
        assert json.loads(http.get(f"{prefix}/config").text)["components"]
