"""Runs that were stored: found again by id and by owner, watched, kept, forgotten; and what happens without a store."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from playground.settings import Settings
from playground.web.app import create_app
from playground.web.archive import hashed
from tests.web.fake import Fake, recipe
from tests.web.live import seqs, serving, until

MINE, YOURS = "m" * 22, "y" * 43


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.sqlite3"


@pytest.fixture
def http(fake: Fake, path: Path) -> Iterator[TestClient]:
    with TestClient(create_app(Settings(store=str(path), keep_finished_runs=1), fake.engine)) as client:
        yield client


def a_run(http: TestClient, owner: str | None = MINE, **fields: Any) -> str:
    """Make a run, follow it to its end; gives its id."""
    with http.websocket_connect("/ws") as socket:
        socket.send_json({"type": "start", "recipe": recipe(**fields)} | ({} if owner is None else {"owner": owner}))
        run: str = socket.receive_json()["run"]
        follow(socket, run)
    return run


def follow(socket: Any, run: str, after: int = -1) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = []
    last = None
    while last is None or len(events) < last - after:
        event = socket.receive_json()
        events.append(event)
        socket.send_json({"type": "ack", "run": run, "seq": event["seq"]})
        last = event["seq"] if event["type"] == "run_finished" else last
    return sorted(events, key=lambda event: event["seq"])


def owned(http: TestClient, owner: str = MINE, **query: Any) -> dict[str, Any]:
    answer: dict[str, Any] = http.get("/api/runs", headers={"X-Playground-Owner": owner}, params=query).json()
    return answer


def test_each_browser_lists_its_own(http: TestClient) -> None:
    first, second = a_run(http, seed=1), a_run(http, mode="autoregressive", max_new_tokens=3)
    other, nobodys = a_run(http, YOURS), a_run(http, None)
    answer = owned(http)
    assert (answer["stored"], answer["next"]) == (True, None)
    assert [run["id"] for run in answer["runs"]] == [second, first]
    assert [run["id"] for run in owned(http, YOURS)["runs"]] == [other]
    assert nobodys not in str(answer)
    assert answer["runs"][1] == {
        "id": first,
        "created": "2026-01-01T00:00:00+00:00",
        "mode": "diffusion",
        "model": "fake",
        "prompt": "hello",
        "stop_reason": "max_new_tokens",
        "steps": 5,
        "tokens": 256,
        "kept": False,
    }
    assert (answer["runs"][0]["steps"], answer["runs"][0]["tokens"]) == (None, 3)


def test_a_list_comes_in_pages(http: TestClient) -> None:
    runs = [a_run(http, steps=1) for _ in range(5)]
    page = owned(http, limit=2)
    assert [run["id"] for run in page["runs"]] == runs[:2:-1]
    rest = owned(http, limit=3, before=page["next"])
    assert [run["id"] for run in rest["runs"]] == runs[2::-1]
    assert rest["next"] is None


def test_only_the_hash_of_an_owner_is_stored(http: TestClient, path: Path) -> None:
    a_run(http)
    owned(http)
    for file in path.parent.iterdir():
        assert MINE.encode() not in file.read_bytes()


def test_what_memory_has_forgotten_comes_from_the_store(http: TestClient) -> None:
    run = a_run(http, seed=3)
    before = [http.get(f"/api/runs/{run}{rest}") for rest in ("", "/events", "/events/3", "/events?after=6")]
    for _ in range(2):
        a_run(http, steps=1)
    owned(http)
    assert http.app.state.site.runs.known(run) is None  # type: ignore[attr-defined]
    after = [http.get(f"/api/runs/{run}{rest}") for rest in ("", "/events", "/events/3", "/events?after=6")]
    assert before[0].json() | {"viewers": 0} == after[0].json()
    assert [answer.text for answer in before[1:]] == [answer.text for answer in after[1:]]
    missing = http.get(f"/api/runs/{run}/events/9")
    assert (missing.status_code, missing.json()["code"]) == (404, "unknown_event")


def test_a_stored_run_is_watched_on_the_socket(http: TestClient) -> None:
    run = a_run(http, seed=3)
    for _ in range(2):
        a_run(http, steps=1)
    with http.websocket_connect("/ws") as socket:
        socket.send_json({"type": "join", "run": run})
        events = follow(socket, run)
        assert [event["seq"] for event in events] == list(range(9))
        assert events[0]["recipe"]["seed"] == 3
        assert "top_ids" not in events[2]
        socket.send_json({"type": "join", "run": run, "after": 6})
        assert [event["seq"] for event in follow(socket, run, 6)] == [7, 8]
        socket.send_json({"type": "join", "run": run, "after": 99, "ref": 1})
        assert socket.receive_json()["field"] == "after"
        socket.send_json({"type": "join", "run": "nobody", "ref": 2})
        assert socket.receive_json()["code"] == "unknown_run"


async def test_runs_outlive_the_server(fake: Fake, path: Path) -> None:
    async with serving(fake.engine, store=str(path)) as live, live.connect() as client:
        fake.hold()
        run = (await client.start(recipe(), owner=MINE))["run"]
        await client.hear()
        fake.permit(1)
        await until(lambda: len(live.site.runs.get(run).log) >= 3)
        fake.release()
    async with serving(fake.engine, store=str(path)) as live, live.connect() as client:
        await client.say("join", run=run)
        events = await client.follow()
        assert sorted(seqs(events)) == list(range(len(events)))
        assert max(events, key=lambda event: event["seq"])["stop_reason"] in ("cancelled", "max_new_tokens")
        (entry,), _ = await live.site.archive.owned(hashed(MINE), 9, None)
        assert entry.id == run


@pytest.mark.parametrize("ending", ["cancelled", "error"])
async def test_cancelled_and_failed_runs_are_stored_too(fake: Fake, path: Path, ending: str) -> None:
    async with serving(fake.engine, store=str(path)) as live, live.connect() as client:
        fake.hold()
        if ending == "error":
            fake.step_failure = RuntimeError("broken")
        run = (await client.start(recipe(), owner=MINE))["run"]
        if ending == "cancelled":
            await client.say("cancel", run=run)
        fake.release()
        await client.follow()
        (entry,), _ = await live.site.archive.owned(hashed(MINE), 9, None)
        assert entry.stop_reason == ending


def test_an_owner_keeps_lets_go_and_deletes(http: TestClient) -> None:
    run = a_run(http)
    mine, yours = {"X-Playground-Owner": MINE}, {"X-Playground-Owner": YOURS}
    assert http.put(f"/api/runs/{run}/keep", headers=mine).json() == {"run": run, "kept": True}
    assert owned(http)["runs"][0]["kept"] is True
    assert http.delete(f"/api/runs/{run}/keep", headers=mine).json() == {"run": run, "kept": False}
    for method, url in (
        ("PUT", f"/api/runs/{run}/keep"),
        ("DELETE", f"/api/runs/{run}/keep"),
        ("DELETE", f"/api/runs/{run}"),
    ):
        assert http.request(method, url, headers=yours).json()["code"] == "forbidden"
        assert http.request(method, url).status_code == 422
        assert (
            http.request(method, "/api/runs/nobody" + url.removeprefix(f"/api/runs/{run}"), headers=mine).status_code
            == 404
        )
    assert http.delete(f"/api/runs/{run}", headers=mine).json() == {"run": run, "deleted": True}
    assert owned(http)["runs"] == []
    assert http.get(f"/api/runs/{run}").status_code == 404
    nobodys = a_run(http, None)
    assert http.delete(f"/api/runs/{nobodys}", headers=mine).json()["code"] == "forbidden"


async def test_a_run_that_goes_on_is_not_deleted(fake: Fake, path: Path) -> None:
    import httpx

    async with serving(fake.engine, store=str(path)) as live, live.connect() as client:
        fake.hold()
        run = (await client.start(recipe(), owner=MINE))["run"]
        async with httpx.AsyncClient(base_url=f"http://{live.address}", trust_env=False) as http:
            answer = await http.delete(f"/api/runs/{run}", headers={"X-Playground-Owner": MINE})
        assert answer.json()["message"] == "The run is still going on; cancel it first."
        fake.release()


@pytest.mark.parametrize("owner", ["short", "x" * 129, "", 7])
def test_an_owner_that_is_no_secret_is_refused(http: TestClient, owner: Any) -> None:
    with http.websocket_connect("/ws") as socket:
        socket.send_json({"type": "start", "recipe": recipe(), "owner": owner, "ref": 1})
        answer = socket.receive_json()
        assert (answer["code"], answer["field"]) == ("bad_request", "owner")
        assert "22" in answer["message"]
    assert http.get("/api/runs", headers={"X-Playground-Owner": str(owner)}).status_code == 422
    assert http.get("/api/runs").status_code == 422


def test_the_short_link_leads_to_the_page(http: TestClient, fake: Fake) -> None:
    run = a_run(http)
    answer = http.get(f"/r/{run}", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (302, f"../#run={run}")
    missing = http.get("/r/nobody", follow_redirects=False)
    assert missing.status_code == 404
    assert "There is no run behind this link" in missing.text
    assert http.get("/r/%22%3E%3Cscript%3E", follow_redirects=False).status_code == 422
    with TestClient(create_app(Settings(root_path="/deep/playground"), fake.engine)) as prefixed:
        other = a_run_at(prefixed, "/deep/playground/ws")
        answer = prefixed.get(f"/deep/playground/r/{other}", follow_redirects=False)
        assert str(answer.url.join(answer.headers["location"])) == f"http://testserver/deep/playground/#run={other}"


def a_run_at(http: TestClient, url: str) -> str:
    with http.websocket_connect(url) as socket:
        socket.send_json({"type": "start", "recipe": recipe(steps=1)})
        run: str = socket.receive_json()["run"]
        follow(socket, run)
    return run
