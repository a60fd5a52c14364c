"""Runs on a GPU that is lent for each: made in a forked worker, seen by everybody as any run is."""

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from gradio.context import LocalContext

from playground.engine.steering import Steering
from playground.events import Event, RunStarted
from playground.recipe import Recipe
from playground.web.loans import Loans, batched
from tests.standin import spaces
from tests.web.fake import Fake, FakeModel, recipe
from tests.web.live import Client, Live, serving

NAP = 0.02


class Worker(Fake):
    """Says in `run_started` in which process it runs, and takes its time; `die` ends that process in mid-run."""

    die = False

    def events(self, model: FakeModel, recipe: Recipe, steering: Steering) -> Iterator[Event]:
        for number, event in enumerate(super().events(model, recipe, steering)):
            time.sleep(NAP)
            if self.die and number == 3:
                os._exit(1)
            yield event.model_copy(update={"device": str(os.getpid())}) if isinstance(event, RunStarted) else event


@pytest.fixture
def worker() -> Worker:
    return Worker()


@asynccontextmanager
async def lending(worker: Worker, monkeypatch: pytest.MonkeyPatch, **changes: Any) -> AsyncIterator[tuple[Live, Loans]]:
    """A server that borrows its GPU; the request whose account it goes on is there."""
    monkeypatch.setattr(spaces, "launched", True)
    loans = Loans(FakeModel(), worker.engine, spaces.GPU(duration=60))  # type: ignore[arg-type]
    token = LocalContext.request.set(object())
    try:
        async with serving(worker.engine, loans, **changes) as live:
            yield live, loans
    finally:
        LocalContext.request.reset(token)


def start(ref: str = "one", **fields: Any) -> str:
    return json.dumps({"type": "start", "ref": ref, "recipe": recipe(**fields)})


async def watched(live: Live, run: str) -> list[dict[str, Any]]:
    async with live.connect() as client:
        await client.say("join", run=run)
        return sorted(await client.follow(), key=lambda event: event["seq"])


async def test_a_lent_run_is_a_run_like_any_other(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    async with lending(worker, monkeypatch) as (live, loans):
        asked = loans.ask(start(steps=5), "1.2.3.4")
        first = await anext(asked)
        assert (first["ref"], first["events"]) == ("one", 0)
        seen = asyncio.create_task(watched(live, first["run"]))
        answers = [answer async for answer in asked]
        events = await seen
    kinds = [event["type"] for event in events]
    assert kinds == ["run_started", "canvas_started", *["step"] * 5, "canvas_committed", "run_finished"]
    assert [event["seq"] for event in events] == list(range(9))
    assert events[0]["device"] != str(os.getpid()), "it was made in another process"
    assert worker.passes == [], "and nothing of it here"
    assert answers[-1]["events"] == 9
    assert events[-1]["stop_reason"] == "max_new_tokens"


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("no JSON", None),
        (json.dumps({"type": "start", "ref": "one", "recipe": recipe(seed=-1)}), "recipe.seed"),
        (json.dumps({"type": "join", "run": "x"}), "type"),
    ],
)
async def test_what_is_no_start_is_refused(
    worker: Worker, monkeypatch: pytest.MonkeyPatch, text: str, field: str | None
) -> None:
    async with lending(worker, monkeypatch) as (_, loans):
        answers = [answer async for answer in loans.ask(text, "1.2.3.4")]
    assert len(answers) == 1
    assert answers[0]["error"]["field"] == field
    assert answers[0]["error"]["message"]


async def test_starts_are_limited(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    async with lending(worker, monkeypatch, starts_per_minute=1) as (_, loans):
        answers = [
            [answer async for answer in loans.ask(start(steps=1), address)]
            for address in ("1.2.3.4", "1.2.3.4", "5.6.7.8")
        ]
    assert ["error" in given[0] for given in answers] == [False, True, False]


async def test_a_lent_run_is_cancelled_by_whoever_has_its_token(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with lending(worker, monkeypatch) as (live, loans):
        asked = loans.ask(start(steps=1000), "1.2.3.4")
        first = await anext(asked)
        async with live.connect() as client:
            await refused(client, first, "pause", "does not halt")
            await refused(client, first, "update", "takes no changes", sampler={"t_max": 1.5})
            await client.say("pace", run=first["run"], control=first["token"], steps_per_second=1)
            await client.say("cancel", run=first["run"], control=first["token"])
            answers = [answer async for answer in asked]
        events = await watched(live, first["run"])
        assert events[-1]["stop_reason"] == "cancelled"
        assert events[-1]["seq"] + 1 == answers[-1]["events"] == len(events) < 500
        assert live.site.runs.going_of("1.2.3.4") == 0


async def refused(client: Client, run: dict[str, Any], kind: str, words: str, **fields: Any) -> None:
    """Say something that a lent run cannot do."""
    await client.say(kind, run=run["run"], control=run["token"], ref=kind, **fields)
    frame = await client.hear()
    assert frame["ref"] == kind
    assert words in frame["message"]


async def test_whoever_asked_and_left_ends_the_run(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    async with lending(worker, monkeypatch) as (live, loans):
        asked = loans.ask(start(steps=1000), "1.2.3.4")
        run = (await anext(asked))["run"]
        await asked.aclose()
        events = await watched(live, run)
    assert events[-1]["stop_reason"] == "cancelled"


async def test_a_worker_that_dies_ends_its_run_with_a_sentence(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    worker.die = True
    async with lending(worker, monkeypatch) as (live, loans):
        answers = [answer async for answer in loans.ask(start(steps=9), "1.2.3.4")]
        events = await watched(live, answers[0]["run"])
        worker.die = False
        again = [answer async for answer in loans.ask(start(steps=1), "1.2.3.4")]
    assert [event["type"] for event in events[-2:]] == ["error", "run_finished"]
    assert events[-2]["message"] == "The GPU was taken back, or none was lent: GPU task aborted"
    assert events[-1]["stop_reason"] == "error"
    assert again[-1]["events"] == 5, "the next run works"


async def test_the_socket_starts_nothing_where_the_gpu_is_lent(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    async with lending(worker, monkeypatch) as (live, _), live.connect() as client:
        await client.say("start", recipe=recipe(), ref="s")
        frame = await client.hear()
    assert (frame["type"], frame["ref"]) == ("error", "s")
    assert "borrows its GPU" in frame["message"]


def test_events_travel_in_batches() -> None:
    events = list(
        Fake().events(FakeModel(), Recipe.model_validate(recipe(steps=5)), Steering(Recipe.model_validate(recipe())))
    )
    assert [len(batch) for batch in batched(iter(events), 60)] == [9]
    assert [len(batch) for batch in batched(iter(events), 0)] == [1] * 9
    assert next(batched(iter(events), 60))[0].startswith('{"run":null,"seq":null,"type":"run_started"')
