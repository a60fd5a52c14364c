"""Update, pace, pause, resume and cancel on a live socket, and who may."""

from typing import Any

import pytest

from tests.web.fake import Fake, recipe
from tests.web.live import Client, Frame, Live, serving, until


async def opening(client: Client) -> list[Frame]:
    """`run_started` and `canvas_started`, acknowledged."""
    events = [await client.hear(), await client.hear()]
    for event in events:
        await client.ack(event)
    return events


async def test_an_update_acts_on_the_next_step_and_is_recorded(fake: Fake) -> None:
    fake.hold()
    async with serving(fake.engine) as live, live.connect() as client:
        control = await client.start(recipe(steps=4))
        await opening(client)
        fake.permit()
        first = await client.hear()
        assert first["entropy_bound"] == 0.1
        await client.say("update", run=control["run"], sampler={"entropy_bound": 2, "max_denoising_steps": 3})
        await client.quiet()
        fake.release()
        await client.ack(first)
        events = sorted(await client.follow(after=2), key=lambda event: event["seq"])
        steps = [event for event in events if event["type"] == "step"]
        change = {"entropy_bound": 2, "max_denoising_steps": 3}
        edit = {"type": "set", "canvas": 0, "step": steps[0]["step"], "sampler": change}
        assert [step["entropy_bound"] for step in steps if step["edits"]] == [2]
        assert steps[-1]["step"] == 3
        recorded = events[-1]["recipe"]["edits"]
        assert len(recorded) == 1
        assert recorded[0]["sampler"] == edit["sampler"]


async def test_an_update_that_does_not_fit_is_refused_and_the_run_goes_on(fake: Fake) -> None:
    fake.hold()
    async with serving(fake.engine) as live, live.connect() as client:
        control = await client.start(recipe(steps=3))
        await opening(client)
        wrong: list[tuple[Frame, str, str]] = [
            ({"sampler": {"t_min": 0.9}}, "sampler", "t_min (0.9) must not be above t_max (0.8)"),
            ({"decoding": {"top_k": 3}}, "decoding", "a run in diffusion mode takes"),
            ({"sampler": {"t_max": -1}}, "sampler.t_max", "a number from 0.01 to 100, not -1"),
            ({"sampler": {"heat": 1}}, "sampler.heat", "allowed here: entropy_bound, top_probability"),
            ({"sampler": {}, "decoding": {}}, "sampler", "names no parameter"),
        ]
        for fields, field, part in wrong:
            await client.say("update", run=control["run"], ref=1, **fields)
            error = await client.hear()
            assert (error["code"], error["field"], error["ref"]) == ("bad_request", field, 1), error
            assert part in error["message"]
        fake.release()
        events = sorted(await client.follow(after=1), key=lambda event: event["seq"])
        assert events[-1]["recipe"]["edits"] == []


@pytest.mark.parametrize("type", ["update", "pause", "resume", "cancel", "pace"])
async def test_other_sockets_need_the_control_token(fake: Fake, type: str) -> None:
    fields: Frame = {"update": {"sampler": {"t_max": 1}}, "pace": {"steps_per_second": 100}}.get(type, {})
    fake.hold()
    async with serving(fake.engine) as live, live.connect() as starter, live.connect() as other:
        control = await starter.start(recipe())
        run = control["run"]
        await other.say("join", run=run)
        await opening(other)
        for token in (
            {},
            {"control": "wrong"},
            {"control": None},
            {"control": control["token"] + "x"},
            {"control": "é"},
        ):
            await other.say(type, run=run, ref=1, **fields, **token)
            error = await other.hear()
            assert (error["code"], error["field"], error["ref"]) == ("forbidden", "control", 1)
        await other.say(type, run=run, control=control["token"], **fields)
        await other.quiet()
        await starter.say(type, run=run, **fields)
        await starter.say("resume", run=run, control=control["token"])
        fake.release()
        fake.permit(10)
        assert (await starter.follow())[-1]["run"] == run


async def test_cancelling_ends_a_run_without_a_commit(fake: Fake) -> None:
    fake.hold()
    async with serving(fake.engine) as live, live.connect() as client:
        control = await client.start(recipe(steps=1000))
        await opening(client)
        fake.permit(2)
        steps = [await client.hear(), await client.hear()]
        await client.say("cancel", run=control["run"])
        await client.quiet()
        fake.release()
        for step in steps:
            await client.ack(step)
        events = await client.follow(after=3)
        assert [event["type"] for event in [*steps, *events]] == ["step", "step", "run_finished"]
        assert events[-1]["stop_reason"] == "cancelled"


async def test_pausing_halts_between_steps_and_changes_no_event(fake: Fake) -> None:
    async with serving(fake.engine) as live, live.connect() as client:
        fake.hold()
        control = await client.start(recipe(steps=5))
        await opening(client)
        await client.say("pause", run=control["run"])
        await client.quiet()
        fake.release()
        run = live.site.runs.get(control["run"])
        assert run.turn.state == "paused"
        assert len(fake.passes) <= 1
        await client.say("resume", run=control["run"])
        events = sorted(await client.follow(after=1), key=lambda event: event["seq"])
        assert [event["type"] for event in events] == [*["step"] * 5, "canvas_committed", "run_finished"]


async def test_a_paused_run_can_be_cancelled(fake: Fake) -> None:
    async with serving(fake.engine) as live, live.connect() as client:
        control = await client.start(recipe(steps=1000), steps_per_second=1)
        await client.say("pause", run=control["run"])
        await client.say("cancel", run=control["run"])
        assert (await client.follow())[-1]["stop_reason"] == "cancelled"
        assert len(fake.passes) <= 1


async def test_a_pace_can_be_lifted(fake: Fake) -> None:
    async with serving(fake.engine) as live, live.connect() as client:
        control = await client.start(recipe(steps=30), steps_per_second=0.05)
        run = live.site.runs.get(control["run"])
        assert run.summary()["steps_per_second"] == 0.05
        await until(lambda: len(fake.passes) == 1)
        await client.say("pace", run=control["run"], steps_per_second=None)
        assert len(await client.follow()) == 34


async def test_a_finished_run_takes_no_more_steering(fake: Fake) -> None:
    async with serving(fake.engine) as live, live.connect() as client:
        control = await client.start(recipe(steps=1))
        await client.follow()
        for type, fields in wishes():
            await client.say(type, run=control["run"], **fields)
            assert (await client.hear())["code"] == "finished"
        for type in ("cancel", "resume"):
            await client.say(type, run=control["run"])
        await client.quiet()


def wishes() -> list[tuple[str, dict[str, Any]]]:
    return [("update", {"sampler": {"t_max": 1}}), ("pause", {}), ("pace", {"steps_per_second": 1})]


async def test_acknowledging_what_was_not_sent_is_a_mistake(fake: Fake) -> None:
    fake.hold()
    async with serving(fake.engine) as live, live.connect() as client, live.connect() as other:
        control = await client.start(recipe())
        first, _ = await client.hear(), await client.hear()
        await client.ack(first)
        await client.ack(first)
        await client.quiet()
        await client.say("ack", run=control["run"], seq=99)
        error = await client.hear()
        assert (error["code"], error["field"]) == ("bad_request", "seq")
        await other.say("ack", run=control["run"], seq=0)
        assert (await other.hear())["field"] == "run"
        await refuses_unknown_runs(live, other)
        fake.release()


async def refuses_unknown_runs(live: Live, client: Client) -> None:
    assert len(live.site.runs) == 1
    for type, fields in [*wishes(), ("cancel", {}), ("resume", {}), ("join", {}), ("ack", {"seq": 0})]:
        await client.say(type, run="nobody", ref=type, **fields)
        error = await client.hear()
        assert (error["code"], error["field"], error["ref"]) == ("unknown_run", "run", type)
