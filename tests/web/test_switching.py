"""Another model in the place of the one that is loaded: when, by whom, and what becomes of everything else."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import ValidationError

from playground.settings import Settings
from playground.web.limits import SWITCHES_PER_MINUTE
from playground.web.loans import Loans
from tests.standin import spaces
from tests.web.fake import FakeModel, recipe
from tests.web.live import Client, Frame, Live, serving, until
from tests.web.shelf import CHOICE, Shelf
from tests.web.test_sweeps import MINE, SPEC


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


async def news(client: Client, done: Callable[[Frame], bool]) -> Frame:
    """The first news of the model that is the one waited for."""
    while not ((frame := await client.hear_any())["type"] == "models" and done(frame)):
        assert frame["type"] == "models", frame
    return frame


async def refused(client: Client, model: str, words: str, code: str = "busy") -> None:
    await client.say("switch", model=model, ref="no")
    frame = await client.hear()
    assert (frame["type"], frame["ref"], frame["code"]) == ("error", "no", code), frame
    assert words in frame["message"]


def arrived(model: str) -> Callable[[Frame], bool]:
    return lambda frame: frame["switch"] is None and [each["name"] for each in frame["models"]] == [model]


def failing(frame: Frame) -> bool:
    return bool(frame["switch"] and frame["switch"]["failed"])


async def ready(live: Live) -> None:
    await until(lambda: live.site.loading.status == "ready")


async def asked(live: Live) -> Any:
    async with httpx.AsyncClient(trust_env=False) as http:
        return (await http.get(f"http://{live.address}/api/models")).json()


async def test_a_switch_lets_go_of_the_old_model_and_everybody_learns_of_it(shelf: Shelf) -> None:
    async with serving(shelf.engine, **CHOICE) as live, live.connect() as client, live.connect() as other:
        await ready(live)
        before = await asked(live)
        assert (before["choices"], before["switch"]) == (["small", "large", "third"], None)
        await client.start(recipe())
        first = await client.follow()
        assert first[0]["recipe"]["model"] == "small"
        shelf.loading.clear()
        await client.say("switch", model="large")
        loading = await news(other, lambda frame: bool(frame["switch"]) and "1 GB" in frame["message"])
        assert loading["switch"] == {"model": "large", "message": loading["message"], "failed": False}
        assert loading["models"] == []
        shelf.loading.set()
        for each in (client, other):
            told = await news(each, arrived("large"))
            assert (told["status"], told["switch"], told["models"][0]["name"]) == ("ready", None, "large")
        assert {name: value for name, value in told.items() if name != "type"} == await asked(live)
        assert (shelf.there, shelf.most) == (["large"], 1), "one model in memory at a time"
        await client.start(recipe())
        second = await client.follow()
        assert (second[0]["recipe"]["model"], second[0]["model_revision"]) == ("large", "largelarge")
        run = await live.site.runs.find(first[0]["run"])
        assert run.recipe.model == "small", "what ran before stays what it was"


async def test_runs_that_are_started_meanwhile_wait_for_the_new_model(shelf: Shelf) -> None:
    async with serving(shelf.engine, **CHOICE) as live, live.connect() as client, live.connect() as other:
        await ready(live)
        shelf.loading.clear()
        await client.say("switch", model="large")
        await until(lambda: live.site.loading.status == "loading")
        await other.say("start", recipe=recipe())
        await refused(client, "third", "on its way already")
        shelf.loading.set()
        assert (await other.hear())["type"] == "control"
        events = [event for event in await other.follow() if event["type"] == "run_started"]
        assert events[0]["recipe"]["model"] == "large"


@pytest.mark.parametrize("paused", [False, True])
async def test_nothing_that_runs_is_broken_off(shelf: Shelf, paused: bool) -> None:
    shelf.hold()
    async with serving(shelf.engine, **CHOICE) as live, live.connect() as client, live.connect() as other:
        control = await client.start(recipe())
        if paused:
            await client.say("pause", run=control["run"])
        await refused(other, "large", "A run is going on")
        await client.say("resume", run=control["run"])
        shelf.release()
        assert max(await client.follow(), key=lambda event: event["seq"])["stop_reason"] == "max_new_tokens"
        await other.say("switch", model="large")
        await news(other, arrived("large"))
        assert shelf.there == ["large"]


@pytest.mark.parametrize("ending", ["cancelled", "error"])
async def test_a_run_that_ended_badly_holds_no_model(shelf: Shelf, ending: str) -> None:
    async with serving(shelf.engine, **CHOICE) as live, live.connect() as client:
        await ready(live)
        if ending == "error":
            shelf.step_failure = RuntimeError("no")
        else:
            shelf.hold()
        control = await client.start(recipe())
        await client.say("cancel", run=control["run"])
        shelf.release()
        await client.follow()
        await client.say("switch", model="large")
        await news(client, arrived("large"))
        assert shelf.there == ["large"]


async def test_a_run_that_begins_while_the_files_are_fetched_is_not_broken_off(shelf: Shelf) -> None:
    async with serving(shelf.engine, **CHOICE) as live, live.connect() as client, live.connect() as other:
        await ready(live)
        shelf.finding.clear()
        await other.say("switch", model="large")
        told = await news(other, lambda frame: bool(frame["switch"]) and "1.5 GB" in frame["switch"]["message"])
        assert (told["status"], told["models"][0]["name"]) == ("ready", "small"), "it serves on meanwhile"
        shelf.hold()
        await client.say("start", recipe=recipe())
        await until(lambda: live.site.turns.going == 1)
        shelf.finding.set()
        failed = await news(other, failing)
        assert failed["switch"]["failed"]
        assert failed["switch"]["message"].startswith("A run is going on;")
        assert failed["models"][0]["name"] == "small"
        shelf.release()
        await until(lambda: live.site.turns.going == 0)


async def test_where_the_new_model_is_not_found_the_old_one_stays(shelf: Shelf) -> None:
    shelf.missing = {"large"}
    async with serving(shelf.engine, **CHOICE) as live, live.connect() as client:
        await ready(live)
        await client.say("switch", model="large")
        failed = await news(client, failing)
        message = "The model 'large' could not be loaded: it is nowhere. 'small' is in use."
        assert failed["switch"] == {"model": "large", "message": message, "failed": True}
        assert (failed["status"], failed["models"][0]["name"]) == ("ready", "small")
        assert [made() is not None for made in shelf.made] == [True], "it was never let go"


async def test_where_the_new_model_cannot_be_loaded_the_old_one_comes_back(shelf: Shelf) -> None:
    shelf.broken = {"large"}
    async with serving(shelf.engine, **CHOICE) as live, live.connect() as client:
        await ready(live)
        await client.say("switch", model="large")
        failed = await news(client, failing)
        assert failed["switch"]["failed"]
        assert failed["switch"]["message"].endswith("it does not fit. 'small' is in use.")
        assert (failed["status"], failed["models"][0]["name"]) == ("ready", "small")
        assert (shelf.there, shelf.most) == (["small"], 1)
        await client.start(recipe())
        assert (await client.follow())[0]["recipe"]["model"] == "small"
        shelf.broken = set()
        await client.say("switch", model="large")
        await news(client, arrived("large"))  # the failure is forgotten


async def test_where_none_can_be_loaded_any_more_the_page_says_so_and_may_choose_another(shelf: Shelf) -> None:
    async with serving(shelf.engine, **CHOICE) as live, live.connect() as client:
        await ready(live)
        shelf.broken = {"large", "small"}
        await client.say("switch", model="large")
        failed = await news(client, failing)
        assert failed["switch"]["message"].endswith("it does not fit. No model is loaded now.")
        assert (failed["status"], failed["models"]) == ("failed", [])
        await client.say("start", recipe=recipe())
        assert "could not be loaded" in (await client.hear())["message"]
        await client.say("switch", model="third")
        await news(client, arrived("third"))


async def test_what_cannot_be_switched_to_is_said(shelf: Shelf) -> None:
    async with serving(shelf.engine, **CHOICE) as live, live.connect() as client:
        await ready(live)
        await refused(client, "small", "in use already", "bad_request")
        await refused(client, "/etc", "between 'small', 'large', 'third'", "unknown_model")
        await refused(client, "", "model", "bad_request")
    async with serving(shelf.engine, model="small") as live, live.connect() as client:
        await ready(live)
        assert (await asked(live))["choices"] == []
        await refused(client, "large", "one model", "bad_request")


async def test_students_do_not_switch_and_their_teacher_does(shelf: Shelf) -> None:
    async with serving(shelf.engine, **CHOICE) as live, live.connect() as teacher, live.connect() as student:
        await ready(live)
        room, token = live.site.rooms.open(lambda code: code)
        await teacher.say("join", room=room.code, token=token)
        await student.say("join", room=room.code)
        for each in (teacher, student):
            assert (await each.hear())["type"] == "room"
        await student.say("switch", model="large")
        while (answer := await student.hear())["type"] != "error":
            pass
        assert (answer["code"], "teacher" in answer["message"]) == ("forbidden", True)
        await teacher.say("switch", model="large")
        await until(lambda: shelf.there == ["large"])


async def test_one_address_may_switch_so_often(shelf: Shelf) -> None:
    async with serving(shelf.engine, **CHOICE) as live, live.connect() as client:
        await ready(live)
        for number in range(SWITCHES_PER_MINUTE):
            name = ("large", "small")[number % 2]
            await client.say("switch", model=name)
            await news(client, arrived(name))
        await refused(client, "large", "switches of the model a minute")


async def test_a_sweep_is_not_broken_off_and_one_that_is_paused_holds_no_model(shelf: Shelf) -> None:
    headers = {"X-Playground-Owner": MINE}
    async with serving(shelf.engine, max_sweep_runs=100, **CHOICE) as live, live.connect() as client:
        await ready(live)
        async with httpx.AsyncClient(base_url=f"http://{live.address}", headers=headers, trust_env=False) as http:
            shelf.hold()
            sweep = (await http.post("/api/sweeps", json=SPEC)).json()["id"]
            await refused(client, "large", "A sweep is going on")
            pausing = asyncio.create_task(http.post(f"/api/sweeps/{sweep}/pause"))
            await until(lambda: live.site.sweeps.get(sweep).state == "paused")
            shelf.release()
            await pausing
            await until(lambda: not live.site.turns.going)
            await client.say("switch", model="large")
            await news(client, arrived("large"))
            assert shelf.there == ["large"]
            resumed = await http.post(f"/api/sweeps/{sweep}/resume")
            assert (resumed.status_code, resumed.json()["field"]) == (422, "model"), "it belongs to its model"


async def test_a_lent_gpu_has_one_model(shelf: Shelf) -> None:
    loans = Loans(FakeModel(), shelf.engine, spaces.GPU(duration=1))  # type: ignore[arg-type]
    async with serving(shelf.engine, loans, **CHOICE) as live, live.connect() as client:
        await ready(live)
        assert (await asked(live))["choices"] == []
        await refused(client, "large", "one model", "bad_request")


def test_folders_are_called_by_their_own_names(tmp_path: Path) -> None:
    for name in ("one/mine", "two/mine", "one/other"):
        (tmp_path / name).mkdir(parents=True)
    mine, other = str(tmp_path / "one" / "mine"), str(tmp_path / "one" / "other")
    settings = Settings.model_validate({"models": f" {mine}, {other} ,google/some-hub-id,embedded"})
    assert settings.choices == {
        "embedded": "embedded",
        "mine": mine,
        "other": other,
        "google/some-hub-id": "google/some-hub-id",
    }
    with pytest.raises(ValidationError, match="two models called 'mine'"):
        Settings(models=(mine, str(tmp_path / "two" / "mine")))
