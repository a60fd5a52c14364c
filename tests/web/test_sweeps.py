"""Sweeps over HTTP: begun, paused, resumed by another process, ended, looked at, and refused before anything runs."""

import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from playground.lab.results import Results
from playground.settings import Settings
from playground.web.app import create_app
from tests.web.fake import Fake, recipe
from tests.web.live import PATIENCE

MINE, YOURS = "m" * 22, "y" * 43
SPEC: dict[str, Any] = {
    "name": "small",
    "recipe": {"max_new_tokens": 256},
    "vary": {"sampler.max_denoising_steps": [2, 4, 48]},
    "prompts": [{"prompt": "one"}, {"prompt": "two", "pattern": "."}],
    "seeds": [7, 8],
}
RUNS = 3 * 2 * 2


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.sqlite3"


@pytest.fixture
def http(fake: Fake, path: Path) -> Iterator[TestClient]:
    with TestClient(create_app(Settings(store=str(path), max_sweep_runs=100), fake.engine)) as client:
        yield client


def until(condition: Callable[[], bool]) -> None:
    late = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < late
        time.sleep(0.01)


def begin(http: TestClient, owner: str = MINE, **fields: Any) -> str:
    answer = http.post("/api/sweeps", json=SPEC | fields, headers={"X-Playground-Owner": owner})
    assert answer.status_code == 201, answer.text
    sweep: str = answer.json()["id"]
    return sweep


def steer(http: TestClient, sweep: str, action: str, owner: str = MINE) -> Any:
    return http.post(f"/api/sweeps/{sweep}/{action}", headers={"X-Playground-Owner": owner})


def state(http: TestClient, sweep: str) -> dict[str, Any]:
    answer: dict[str, Any] = http.get(f"/api/sweeps/{sweep}", headers={"X-Playground-Owner": MINE}).json()
    return answer


def own(http: TestClient, owner: str) -> list[str]:
    found = http.get("/api/sweeps", headers={"X-Playground-Owner": owner}).json()["sweeps"]
    return [sweep["id"] for sweep in found if not sweep["recorded"]]


def done(http: TestClient, sweep: str) -> dict[str, Any]:
    until(lambda: state(http, sweep)["state"] == "done")
    return state(http, sweep)


def test_a_sweep_from_start_to_table(http: TestClient) -> None:
    sweep = begin(http)
    whole = done(http, sweep)
    assert (whole["done"], whole["total"], whole["mine"], whole["failure"]) == (RUNS, RUNS, True, "")
    assert [line["setting"] for line in whole["settings"]] == [
        {"sampler.max_denoising_steps": 2},
        {"sampler.max_denoising_steps": 4},
        {"sampler.max_denoising_steps": 48},
    ]
    assert [line["usual"] for line in whole["settings"]] == [False, False, True]
    assert all(line["runs"] == 4 and line["told"] == 2 for line in whole["settings"])
    assert whole["settings"][0]["against"]["pairs"] == 2
    setting = '{"sampler.max_denoising_steps": 4}'
    runs = http.get(f"/api/sweeps/{sweep}/runs", params={"setting": setting}).json()["runs"]
    assert [(run["prompt"], run["seed"]) for run in runs] == [("one", 7), ("two", 7), ("one", 8), ("two", 8)]
    assert runs[0]["recipe"]["sampler"]["max_denoising_steps"] == 4
    assert runs[0]["recipe"]["seed"] == 7
    preset = http.get(f"/api/sweeps/{sweep}/preset", params={"setting": setting}).json()
    assert preset["preset"]["sampler"]["max_denoising_steps"] == 4
    assert "max_denoising_steps=4" in preset["transformers"]
    figures = http.get(f"/api/sweeps/{sweep}/figures").json()
    assert "Correctness against tokens per forward pass" in figures
    assert own(http, MINE) == [sweep]
    assert own(http, YOURS) == []


def test_the_files_of_a_sweep(http: TestClient, tmp_path: Path) -> None:
    sweep = begin(http)
    done(http, sweep)
    assert http.get(f"/api/sweeps/{sweep}/export.csv").text.count("\n") == RUNS + 1
    assert http.get(f"/api/sweeps/{sweep}/export.parquet").content.startswith(b"PAR1")
    assert "plotly" in http.get(f"/api/sweeps/{sweep}/export.html").text
    copy = tmp_path / "copy.sqlite"
    copy.write_bytes(http.get(f"/api/sweeps/{sweep}/export.sqlite").content)
    assert len(Results(copy, read_only=True).rows()) == RUNS


def test_two_sweeps_beside_each_other(http: TestClient) -> None:
    first = begin(http)
    done(http, first)
    second = begin(http, name="another")
    done(http, second)
    alone = http.get(f"/api/sweeps/{first}/figures").json()
    both = http.get(f"/api/sweeps/{first}/figures?beside={second}").json()
    assert both.keys() - alone.keys() == {"Beside another", "Beside another, by kind of task"}
    points = [trace["name"] for trace in both["Beside another"]["data"] if trace["mode"] == "markers"]
    assert points == ["small", "another"]
    bars = both["Beside another, by kind of task"]["data"]
    assert [bar["name"] for bar in bars] == ["small, released settings", "another, released settings"]
    assert [list(bar["x"]) for bar in bars] == [["prompts"], ["prompts"]]
    assert http.get(f"/api/sweeps/{first}/figures?beside=nothing").status_code == 404


def test_a_paused_sweep_goes_on_without_repeating_a_run(http: TestClient, fake: Fake) -> None:
    fake.hold()
    sweep = begin(http)
    fake.permit(6)  # the first two runs: 2 and 4 steps
    until(lambda: state(http, sweep)["done"] == 2)
    assert state(http, sweep)["seconds_left"] is not None
    fake.permit(1)  # so that the run that is thrown away can hear of it
    assert steer(http, sweep, "pause").json()["state"] == "paused"
    assert state(http, sweep)["state"] == "paused"
    fake.release()
    until(lambda: steer(http, sweep, "resume").status_code == 200)
    assert done(http, sweep)["done"] == RUNS


def test_another_process_goes_on_with_a_sweep(path: Path) -> None:
    first, second = Fake(), Fake()
    settings = Settings(store=str(path))
    first.hold()
    with TestClient(create_app(settings, first.engine)) as http:
        sweep = begin(http)
        first.permit(6)
        until(lambda: state(http, sweep)["done"] == 2)
        first.release()
        steer(http, sweep, "pause")
        there = state(http, sweep)["done"]
    with TestClient(create_app(settings, second.engine)) as http:
        found = state(http, sweep)
        assert (found["state"], found["done"], found["mine"]) == ("paused", there, True)
        steer(http, sweep, "resume")
        table = done(http, sweep)["settings"]
    with TestClient(create_app(Settings(store=str(path.with_name("other"))), Fake().engine)) as http:
        whole = done(http, begin(http))["settings"]
    assert [line | {"seconds": 0} for line in table] == [line | {"seconds": 0} for line in whole]


def test_an_ended_sweep_keeps_what_it_has_and_can_be_deleted(http: TestClient, fake: Fake, path: Path) -> None:
    fake.hold()
    sweep = begin(http)
    fake.permit(3)
    until(lambda: state(http, sweep)["done"] == 1)
    fake.release()
    assert steer(http, sweep, "cancel").json()["state"] == "cancelled"
    assert state(http, sweep)["done"] >= 1
    assert http.delete(f"/api/sweeps/{sweep}", headers={"X-Playground-Owner": MINE}).json()["deleted"]
    assert http.get(f"/api/sweeps/{sweep}").status_code == 404
    assert list((path.parent / "sweeps").iterdir()) == []


def test_only_its_owner_steers_a_sweep_and_one_goes_at_a_time(http: TestClient, fake: Fake) -> None:
    fake.hold()
    sweep = begin(http)
    for answer in (
        steer(http, sweep, "pause", YOURS),
        http.delete(f"/api/sweeps/{sweep}", headers={"X-Playground-Owner": YOURS}),
    ):
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
    second = http.post("/api/sweeps", json=SPEC, headers={"X-Playground-Owner": YOURS})
    assert (second.status_code, second.json()["code"]) == (503, "busy")
    fake.release()
    done(http, sweep)
    assert done(http, begin(http, YOURS))["mine"] is False


def test_a_sweep_lets_the_runs_of_people_go_first(http: TestClient, fake: Fake) -> None:
    fake.hold()
    with http.websocket_connect("/ws") as socket:
        socket.send_json({"type": "start", "recipe": recipe(seed=99, steps=192)})
        until(lambda: http.app.state.site.turns.going == 1)  # type: ignore[attr-defined]
        with ThreadPoolExecutor(1) as beside:
            begun = beside.submit(begin, http)
            while not begun.done():  # its recipes are prepared between two passes
                fake.permit()
                time.sleep(0.01)
            sweep = begun.result()
        assert set(fake.passes) == {99}
        fake.release()
    done(http, sweep)


def test_a_check_counts_runs_and_tries_a_few(http: TestClient, fake: Fake) -> None:
    found = http.post("/api/sweeps/check", json=SPEC).json()
    assert (found["settings"], found["questions"], found["seeds"], found["runs"]) == (3, 2, 2, RUNS)
    assert found["seconds"] > 0
    assert 0 < len(fake.passes) <= 3 * 48
    assert own(http, MINE) == []


@pytest.mark.parametrize(
    ("fields", "field", "words"),
    [
        ({"vary": {"sampler.heat": [1]}}, "vary.sampler.heat", ""),
        (
            {"vary": {"sampler.t_max": {"low": 2, "high": 1, "count": 3}}},
            "vary.sampler.t_max",
            "low (2) must be below high",
        ),
        ({"vary": {"sampler.t_max": []}}, "vary.sampler.t_max", "at least 1"),
        ({"seeds": list(range(1000))}, "vary", "6000 runs; at most 100"),
        ({"prompts": [{"prompt": "x" * 9000}]}, "recipe.messages", "too long"),
        ({"prompts": [{"prompt": "x", "pattern": "("}]}, "prompts.0", "no regular expression"),
        ({"speed": 3}, "speed", "not known"),
    ],
    ids=str,
)
@pytest.mark.parametrize("where", ["/api/sweeps", "/api/sweeps/check"])
def test_a_wrong_spec_is_refused_before_anything_runs(
    http: TestClient, fake: Fake, where: str, fields: dict[str, Any], field: str, words: str
) -> None:
    answer = http.post(where, json=SPEC | fields, headers={"X-Playground-Owner": MINE})
    assert answer.status_code == 422
    assert answer.json()["field"] == field
    assert words in answer.json()["message"]
    assert fake.passes == []
    assert own(http, MINE) == []


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff", b"3"])
def test_what_is_no_spec_gets_a_sentence(http: TestClient, body: bytes) -> None:
    answer = http.post("/api/sweeps/check", content=body)
    assert answer.status_code == 422
    assert answer.json()["message"]


def test_what_is_no_sweep_is_left_alone(path: Path, fake: Fake) -> None:
    folder = path.parent / "sweeps"
    folder.mkdir()
    (folder / "notes.sqlite").write_text("not a database")
    with sqlite3.connect(folder / "other.sqlite") as connection:
        connection.execute("CREATE TABLE sweep (x)")
    with TestClient(create_app(Settings(store=str(path)), fake.engine)) as http:
        assert own(http, MINE) == []
        done(http, begin(http))


def test_a_file_deleted_under_a_sweep_is_told_and_stays_deleted(http: TestClient, path: Path) -> None:
    sweep = begin(http)
    done(http, sweep)
    file = path.parent / "sweeps" / f"{sweep}.sqlite"
    file.unlink()
    for what in ("", "/figures", "/runs?setting={}", "/export.csv", "/export.sqlite"):
        answer = http.get(f"/api/sweeps/{sweep}{what}")
        assert (answer.status_code, answer.json()["code"]) == (404, "unknown_sweep")
        assert "is gone" in answer.json()["message"]
    assert not file.exists()
    assert http.delete(f"/api/sweeps/{sweep}", headers={"X-Playground-Owner": MINE}).status_code == 200


def test_a_sweep_that_another_process_runs_is_not_run_twice(http: TestClient, fake: Fake, path: Path) -> None:
    fake.hold()
    sweep = begin(http)
    fake.release()
    steer(http, sweep, "pause")
    with Results(path.parent / "sweeps" / f"{sweep}.sqlite").alone():
        until(lambda: steer(http, sweep, "resume").status_code == 200)
        until(lambda: "Another process" in state(http, sweep)["failure"])
    steer(http, sweep, "resume")
    assert done(http, sweep)["done"] == RUNS


def test_where_nothing_tells_agreement_is_measured(http: TestClient) -> None:
    sweep = begin(http, prompts=[{"prompt": "one"}, {"prompt": "two"}])
    found = done(http, sweep)["settings"]
    assert [line["accuracy"] for line in found] == [None] * 3
    assert (found[2]["agreement"]["share"], found[2]["agreement"]["pairs"]) == (1, 4)
    assert "Agreement against steps" in http.get(f"/api/sweeps/{sweep}/figures").json()


@pytest.mark.parametrize("kind", ["csv", "parquet", "html", "sqlite"])
def test_a_sweep_without_a_run_has_its_files(http: TestClient, fake: Fake, kind: str) -> None:
    fake.hold()
    sweep = begin(http)
    assert http.get(f"/api/sweeps/{sweep}/export.{kind}").status_code == 200
    fake.release()
    done(http, sweep)
