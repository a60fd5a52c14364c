"""The socket with the embedded model itself."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from playground.engine import models, runs
from playground.engine.models import Model
from playground.engine.steering import Steering
from playground.events import adapter
from playground.recipe import Message, Recipe
from playground.settings import Settings
from playground.web.app import real_engine
from playground.web.site import Engine
from tests import released
from tests.web.live import PATIENCE, Client, Frame, serving, until

TIMES = {"run", "ms", "device_ms", "created", "metrics"}
"""What may differ between two runs of one recipe."""


@pytest.fixture(scope="module")
def model() -> Model:
    return models.load(Settings(device="cpu", threads=1))


@pytest.fixture
def engine(model: Model) -> Engine:
    return Engine(lambda *_: model, runs.prepare, runs.events)


def recipe(prompt: str, **fields: Any) -> Frame:
    return {"messages": [{"role": "user", "content": prompt}], "max_new_tokens": 64} | fields


def without_times(events: list[Frame]) -> list[Frame]:
    events = sorted(events, key=lambda event: event["seq"])
    return [{name: value for name, value in event.items() if name not in TIMES} for event in events]


async def watch(client: Client, of: Frame) -> list[Frame]:
    await client.start(of)
    return await client.follow()


async def test_a_prompt_is_denoised_over_the_socket(engine: Engine) -> None:
    async with serving(engine) as live, live.connect() as client:
        events = sorted(await watch(client, recipe("3 + 4 =")), key=lambda event: event["seq"])
        async with httpx.AsyncClient(timeout=PATIENCE, trust_env=False) as http:
            trace = (await http.get(f"http://{live.address}/api/runs/{events[0]['run']}/events")).text.splitlines()
    assert [event["seq"] for event in events] == list(range(len(events)))
    steps = [event for event in events if event["type"] == "step"]
    assert steps
    for step in steps:
        assert len({len(step[name]) for name in ("predicted", "sampled", "accepted", "entropy", "canvas_ids")}) == 1
        assert any(step["accepted"])
    assert events[-1]["metrics"]["total_denoising_steps"] == len(steps)
    assert events[-1]["metrics"]["shared_device"] is False
    whole = [json.loads(line) for line in trace]
    kept_apart = {"top_ids", "top_probabilities", "top_texts"}
    assert [{name: event[name] for name in event.keys() - kept_apart} for event in whole] == events
    assert all(adapter.validate_python(event) for event in whole)


@pytest.mark.parametrize("mode", ["diffusion", "autoregressive"])
async def test_the_same_recipe_gives_equal_events_while_three_others_run(engine: Engine, mode: str) -> None:
    asked = recipe("sort 4 2 9", mode=mode, seed=11, max_new_tokens=24 if mode == "autoregressive" else 64)
    others = [
        recipe("sort 4 2 9", seed=12),
        recipe("2 + 2 =", seed=11, sampler={"entropy_bound": 0.5, "t_max": 1.0, "max_denoising_steps": 20}),
        recipe("name a colour", seed=11, mode="autoregressive", max_new_tokens=40),
    ]
    async with serving(engine) as live, live.connect() as client:
        alone = await watch(client, asked)
    async with serving(engine) as live, live.connect() as client:
        busy = [live.connect() for _ in others]
        clients = [await connection.__aenter__() for connection in busy]
        for other, of in zip(clients, others, strict=True):
            await other.start(of)
        together = await watch(client, asked)
        finished = [await other.follow() for other in clients]
        for connection in busy:
            await connection.__aexit__(None, None, None)
    assert without_times(together) == without_times(alone)
    assert all(max(events, key=lambda event: event["seq"])["type"] == "run_finished" for events in finished)
    last = max(together, key=lambda event: event["seq"])
    assert last["metrics"]["shared_device"] is True


async def test_a_run_that_was_steered_is_reproduced_by_its_recipe(engine: Engine, model: Model) -> None:
    asked = recipe("tell me a story", sampler={"entropy_bound": 0.02, "confidence_threshold": 0}, seed=5)
    async with serving(engine) as live, live.connect() as client:
        await client.say("start", recipe=asked, steps_per_second=20)
        control = await client.hear()
        early = [await client.hear(), await client.hear()]
        await client.say("update", run=control["run"], sampler={"entropy_bound": 1.5, "max_denoising_steps": 30})
        await client.say("pace", run=control["run"], steps_per_second=None)
        for event in early:
            await client.ack(event)
        events = sorted([*early, *await client.follow(after=1)], key=lambda event: event["seq"])
    recorded = Recipe.model_validate_json(json.dumps(events[-1]["recipe"]))
    assert len(recorded.edits) == 1
    again = [json.loads(event.model_dump_json()) for event in runs.events(model, recorded, Steering(recorded))]
    columns = ("predicted", "sampled", "accepted", "entropy", "canvas_ids", "entropy_bound", "edits")
    steps, steps_again = ([event for event in made if event["type"] == "step"] for made in (events, again))
    assert [[step[name] for name in columns] for step in steps] == [
        [step[name] for name in columns] for step in steps_again
    ]
    assert events[-1]["text"] == again[-1]["text"]


async def test_what_the_model_cannot_take_is_refused_by_field(engine: Engine, model: Model) -> None:
    async with serving(engine, max_prompt_tokens=50) as live, live.connect() as client:
        wrong: list[tuple[Frame, str]] = [
            (recipe("word " * 400), "recipe.messages"),
            (recipe("hi", max_new_tokens=100_000), "recipe.max_new_tokens"),
            (recipe("hi", model="another"), "recipe.model"),
        ]
        for of, field in wrong:
            await client.say("start", recipe=of, ref=field)
            error = await client.hear()
            assert (error["type"], error["field"], error["ref"]) == ("error", field, field)
        assert (await watch(client, recipe("hi")))[0]["type"] == "run_started"
        assert Recipe(messages=[Message(role="user", content="hi")]).model is None
        assert model.name == "embedded"


async def test_two_checkpoints_take_turns_in_one_process(tmp_path: Path) -> None:
    """The embedded model, another folder and back: each answers as it does in a process of its own."""
    released.save(tmp_path / "second")
    asked = recipe("What is 47 + 38?", max_new_tokens=32)
    choices = {"models": (str(tmp_path / "second"),), "device": "cpu", "threads": 1}

    async def switched(client: Client, name: str) -> None:
        await client.say("switch", model=name)
        while (news := await client.hear_any())["switch"] is not None or news["models"][0]["name"] != name:
            pass

    async with serving(real_engine(), **choices) as live:
        await until(lambda: live.site.loading.status == "ready")
        async with live.connect() as client:
            first = await watch(client, asked)
            await switched(client, "second")
            second = await watch(client, asked)
            await client.say("start", recipe=asked | {"model": "embedded"})
            refusal = await client.hear()
            assert (refusal["code"], refusal["field"]) == ("unknown_model", "recipe.model")
            assert "switch to 'embedded' first" in refusal["message"]
            await switched(client, "embedded")
            third = await watch(client, asked)
    assert without_times(third) == without_times(first)
    made = models.load(Settings(model=str(tmp_path / "second"), device="cpu", threads=1))
    async with serving(Engine(lambda *_: made, runs.prepare, runs.events)) as live, live.connect() as client:
        assert without_times(await watch(client, asked)) == without_times(second)
    assert (first[0]["recipe"]["model"], second[0]["recipe"]["model"]) == ("embedded", "second")
    assert first[0]["model_revision"] != second[0]["model_revision"]
