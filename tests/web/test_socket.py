"""The socket, with a real server and client; the engine is a fake whose passes can be held back."""

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from playground.events import CanvasStarted, Event
from tests.web.fake import CANVAS, Fake, recipe
from tests.web.live import seqs, serving, until


async def test_a_run_of_256_tokens_arrives_whole(fake: Fake) -> None:
    async with serving(fake.engine) as live, live.connect() as client:
        control = await client.start(recipe(steps=48), ref="mine")
        assert control["ref"] == "mine"
        events = sorted(await client.follow(), key=lambda event: event["seq"])
        assert seqs(events) == list(range(48 + 4))
        assert {event["run"] for event in events} == {control["run"]}
        kinds = [event["type"] for event in events]
        assert kinds == ["run_started", "canvas_started", *["step"] * 48, "canvas_committed", "run_finished"]
        assert all(len(event["predicted"]) == CANVAS and "top_ids" not in event for event in events[2:50])
        assert control["token"] not in json.dumps(events)
        await client.quiet()


async def test_an_autoregressive_run_arrives_whole(fake: Fake) -> None:
    async with serving(fake.engine) as live, live.connect() as client:
        await client.start(recipe(mode="autoregressive", max_new_tokens=256))
        assert sorted(seqs(await client.follow())) == list(range(258))


async def test_who_stops_acknowledging_gets_two_frames_and_later_all(fake: Fake) -> None:
    async with serving(fake.engine) as live, live.connect() as client:
        control = await client.start(recipe(steps=48))
        first, second = await client.hear(), await client.hear()
        await until(lambda: live.site.runs.get(control["run"]).finished)
        await client.quiet()
        await client.ack(second)
        await client.ack(first)
        events = await client.follow(after=1)
        assert sorted(seqs([first, second, *events])) == list(range(52))
        kinds = [event["type"] for event in events]
        assert kinds[:3] == ["canvas_committed", "run_finished", "step"] or kinds[0] == "step"


async def test_a_viewer_who_lags_gets_the_newest_step_first(fake: Fake) -> None:
    fake.hold()
    async with serving(fake.engine) as live, live.connect() as client:
        control = await client.start(recipe(steps=10))
        log = live.site.runs.get(control["run"]).log
        opening = [await client.hear(), await client.hear()]
        fake.permit(8)
        await until(lambda: len(log) == 10)
        await client.ack(opening[0])
        assert (await client.hear())["step"] == 8
        await client.ack(opening[1])
        assert (await client.hear())["step"] == 1
        fake.release()


@pytest.mark.parametrize("rudely", [False, True])
async def test_who_vanishes_and_returns_finds_its_run(fake: Fake, rudely: bool) -> None:
    fake.hold()
    async with serving(fake.engine) as live:
        async with live.connect() as client:
            control = await client.start(recipe(steps=20))
            fake.permit(6)
            seen = []
            for _ in range(5):
                seen.append(await client.hear())
                await client.ack(seen[-1])
            if rudely:
                client.connection.transport.abort()
        run = live.site.runs.get(control["run"])
        await until(lambda: run.viewers == 0)
        assert not run.finished
        fake.permit(1)
        async with live.connect() as client:
            await client.say("join", run=run.id, after=4)
            await until(lambda: run.viewers == 1)
            fake.release()
            fake.permit(20)
            rest = await client.follow(after=4)
        assert sorted(seqs(rest)) == list(range(5, 24))
        assert run.last_words is not None
        assert run.last_words.stop_reason == "max_new_tokens"


async def test_the_run_of_who_does_not_return_ends_and_the_engine_is_idle(fake: Fake) -> None:
    async with serving(fake.engine, unwatched_seconds=0.05) as live:
        async with live.connect() as client:
            control = await client.start(recipe(steps=1000), steps_per_second=20)
            await client.hear()
        run = live.site.runs.get(control["run"])
        await until(lambda: run.finished)
        assert run.last_words is not None
        assert run.last_words.stop_reason == "cancelled"
        assert (live.site.turns.going, live.site.turns.waiting, live.site.limits.sockets) == (0, 0, 0)


async def test_two_runs_progress_alternately(fake: Fake) -> None:
    fake.loading.clear()
    async with serving(fake.engine) as live, live.connect() as one, live.connect() as two:
        await one.say("start", recipe=recipe(seed=1, steps=20))
        await two.say("start", recipe=recipe(seed=2, steps=20))
        await one.quiet()
        await two.quiet()
        fake.loading.set()
        controls = [await one.hear(), await two.hear()]
        assert controls[0]["run"] != controls[1]["run"]
        assert len(await one.follow()) == len(await two.follow()) == 24
        both = fake.passes[fake.passes.index(2) : -fake.passes[::-1].index(1)]
        assert len(both) > 30
        assert all(first != second for first, second in pairwise(both))


async def test_any_number_may_watch_and_each_gets_all(fake: Fake) -> None:
    async with serving(fake.engine) as live, live.connect() as starter:
        control = await starter.start(recipe(steps=12), steps_per_second=200)
        async with live.connect() as early, live.connect() as late:
            await early.say("join", run=control["run"])
            watched = [await starter.follow(), await early.follow()]
            await late.say("join", run=control["run"], after=-1)
            watched.append(await late.follow())
        assert [sorted(seqs(events)) for events in watched] == [list(range(16))] * 3


async def test_one_socket_may_watch_several_runs(fake: Fake) -> None:
    async with serving(fake.engine) as live, live.connect() as client:
        await client.say("start", recipe=recipe(seed=1), ref=1)
        await client.say("start", recipe=recipe(seed=2), ref=2)
        heard: dict[str, list[int]] = {}
        while [len(events) for events in heard.values()] != [9, 9]:
            frame = await client.hear()
            if frame["type"] != "control":
                heard.setdefault(frame["run"], []).append(frame["seq"])
                await client.ack(frame)
        assert [sorted(events) for events in heard.values()] == [list(range(9))] * 2


async def test_joining_twice_is_refused(fake: Fake) -> None:
    fake.hold()
    async with serving(fake.engine) as live, live.connect() as client:
        control = await client.start(recipe())
        await client.hear()
        await client.hear()
        await client.say("join", run=control["run"], ref=1)
        error = await client.hear()
        assert (error["code"], error["field"], error["ref"]) == ("bad_request", "run", 1)
        fake.release()


async def test_a_start_waits_for_the_model_and_holds_back_nothing(fake: Fake) -> None:
    fake.loading.clear()
    async with serving(fake.engine) as live, live.connect() as client:
        await client.say("start", recipe=recipe())
        await client.quiet()
        await client.say("start", recipe={"messages": []})
        assert (await client.hear())["field"] == "recipe.messages"
        fake.loading.set()
        assert (await client.hear())["type"] == "control"
        assert len(await client.follow()) == 9


async def test_a_model_that_failed_is_said_to_each_start(fake: Fake) -> None:
    fake.load_failure = OSError("no such folder")
    async with serving(fake.engine) as live, live.connect() as client:
        await client.say("start", recipe=recipe(), ref=3)
        error = await client.hear()
        assert (error["code"], error["ref"]) == ("model", 3)
        assert "no such folder" in error["message"]


async def test_the_loop_answers_while_a_step_blocks(fake: Fake) -> None:
    fake.hold()
    async with serving(fake.engine) as live, live.connect() as client, live.connect() as other:
        await client.start(recipe(steps=1))
        for _ in range(20):
            await other.quiet()
        assert fake.passes == []
        fake.release()
        assert len(await client.follow()) == 5


async def test_a_broken_engine_ends_one_run_with_an_error(fake: Fake) -> None:
    fake.step_failure = RuntimeError("boom")
    async with serving(fake.engine) as live, live.connect() as client:
        await client.start(recipe())
        events = await client.follow()
        assert [event["type"] for event in events] == ["run_started", "canvas_started", "error", "run_finished"]
        assert events[2]["code"] == "internal"
        assert events[3]["stop_reason"] == "error"
        fake.step_failure = None
        await client.start(recipe())
        assert len(await client.follow()) == 9


async def test_a_run_that_breaks_off_keeps_what_it_did(fake: Fake) -> None:
    def events(*asked: Any) -> Iterator[Event]:
        for event in fake.events(*asked):
            if isinstance(event, CanvasStarted) and event.canvas == 1:
                raise RuntimeError("boom")
            yield event

    async with serving(replace(fake.engine, events=events)) as live, live.connect() as client:
        await client.start(recipe(steps=2, max_new_tokens=2 * CANVAS))
        came = sorted(await client.follow(), key=lambda event: event["seq"])
    assert [event["type"] for event in came[-3:]] == ["canvas_committed", "error", "run_finished"]
    assert came[-1]["text"] == came[-3]["text"] != ""
    figures = came[-1]["metrics"]
    assert (figures["canvases"], figures["total_denoising_steps"]) == (1, 2)
    assert figures["total_tokens"] == len(came[-3]["ids"])
    assert figures["wall_seconds"] > 0


async def test_a_foreign_origin_is_refused_before_the_handshake(fake: Fake) -> None:
    async with serving(fake.engine, allowed_origins="https://friend.example") as live:
        for origin in ("https://evil.example", "null", f"http://{live.address}.evil.example"):
            with pytest.raises(InvalidStatus) as refusal:
                async with live.connect(origin=origin):
                    pass
            assert refusal.value.response.status_code == 403
        for origin in (f"http://{live.address}", "https://friend.example"):
            async with live.connect(origin=origin) as client:
                await client.quiet()


async def test_a_huge_frame_ends_its_socket_and_no_run_of_others(fake: Fake) -> None:
    fake.hold()
    async with serving(fake.engine, max_frame_bytes=4096) as live, live.connect() as other:
        await other.start(recipe())
        async with live.connect() as client:
            await client.connection.send("x" * (4 * 4096 + 1))
            with pytest.raises(ConnectionClosed) as closed:
                await client.hear()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1009
        fake.release()
        assert len(await other.follow()) == 9


async def test_binary_frames_are_refused_and_the_socket_lives_on(fake: Fake) -> None:
    async with serving(fake.engine) as live, live.connect() as client:
        await client.connection.send(b"\x00\xff")
        error = await client.hear()
        assert (error["type"], error["code"]) == ("error", "bad_request")
        assert "binary" in error["message"]
        await client.quiet()


async def test_what_the_engine_refuses_goes_to_the_sender_alone(fake: Fake) -> None:
    async with serving(fake.engine, max_prompt_tokens=10) as live, live.connect() as client:
        long = recipe() | {"messages": [{"role": "user", "content": "x" * 11}]}
        await client.say("start", recipe=long, ref="r")
        error = await client.hear()
        assert error == {
            "type": "error",
            "code": "too_long",
            "message": "the prompt is too long",
            "field": "recipe.messages",
            "ref": "r",
        }
        assert len(live.site.runs) == 0
