import asyncio
import json

import pytest

from playground.events import CanvasStarted, Error, Event, Metrics, RunFinished, Step, Token, adapter
from playground.recipe import Message, Recipe
from playground.trace.log import RunLog

RECIPE = Recipe(messages=[Message(role="user", content="hi")])


def token(index: int) -> Token:
    return Token(
        index=index,
        id=7,
        temperature=1,
        entropy=0.10000000149011612,
        logprob=-1,
        ms=1,
        device_ms=1,
        text="ü",
        texts={7: "ü"},
        top_ids=[7, 8],
        top_probabilities=[0.5, 0.25],
    )


def milestone(canvas: int = 0) -> CanvasStarted:
    return CanvasStarted(canvas=canvas, canvas_ids=[1], device_ms=0, texts={1: "a"})


def finish() -> RunFinished:
    metrics = Metrics(
        total_tokens=0,
        total_denoising_steps=None,
        effective_denoising_steps=None,
        tokens_per_forward=None,
        forward_passes=0,
        canvases=0,
        seconds=0,
        prefill_seconds=0,
        wall_seconds=0,
        time_to_first_token=None,
        tokens_per_second=None,
        shared_device=False,
        trimmed_tokens=0,
    )
    return RunFinished(text="", thought="", metrics=metrics, stop_reason="cancelled", recipe=RECIPE)


def test_numbers_events_from_zero_and_names_the_run() -> None:
    log = RunLog()
    events = [log.append(token(index)) for index in range(3)]
    assert [event.seq for event in events] == [0, 1, 2]
    assert {event.run for event in events} == {log.run}
    assert len(log) == 3


def test_ids_are_128_random_bits_and_fit_an_address() -> None:
    ids = {RunLog().run for _ in range(100)}
    assert len(ids) == 100
    assert all(len(run) == 22 and run.replace("-", "").replace("_", "").isalnum() for run in ids)


def test_a_frame_leaves_the_alternatives_out_and_a_line_has_them() -> None:
    log = RunLog()
    event = log.append(token(0))
    frame, line = json.loads(log.frame(0)), json.loads(log.line(0))
    assert "top_ids" not in frame
    assert "top_probabilities" not in frame
    assert line == frame | {"top_ids": [7, 8], "top_probabilities": [0.5, 0.25]}
    assert adapter.validate_json(log.line(0)) == event


def test_what_stands_in_the_log_is_what_the_engine_said() -> None:
    log = RunLog()
    said: list[Event] = [milestone(), token(0), Error(code="internal", message="<b>"), finish()]
    for event in said:
        log.append(event)
    read = [adapter.validate_json(log.line(seq)) for seq in range(len(log))]
    assert [event.model_copy(update={"run": None, "seq": None}) for event in read] == said


def test_nothing_follows_the_end() -> None:
    log = RunLog()
    assert not log.finished
    log.append(finish())
    assert log.finished
    with pytest.raises(ValueError, match="nothing comes after run_finished"):
        log.append(token(0))


def test_milestones_are_all_but_steps_and_tokens() -> None:
    log = RunLog()
    for event in (milestone(), token(0), token(1), milestone(1), token(2)):
        log.append(event)
    assert [log.next_milestone(seq) for seq in range(6)] == [0, 3, 3, 3, None, None]


def test_listeners_hear_each_event_until_they_stop() -> None:
    log = RunLog()
    heard: list[int] = []
    stop = log.listen(lambda: heard.append(len(log)))
    log.append(token(0))
    log.append(token(1))
    stop()
    stop()
    log.append(token(2))
    assert heard == [1, 2]


def test_size_is_counted_once_however_many_listen() -> None:
    log = RunLog()
    for _ in range(100):
        log.listen(lambda: None)
    log.append(token(0))
    assert log.bytes < 2 * len(log.line(0))


async def test_lines_follow_a_run_to_its_end() -> None:
    log = RunLog()
    log.append(token(0))
    log.append(token(1))

    async def read(after: int) -> list[int]:
        return [json.loads(line)["seq"] async for line in log.lines(after)]

    readers = [asyncio.create_task(read(after)) for after in (-1, 0, 1)]
    await asyncio.sleep(0)
    log.append(token(2))
    await asyncio.sleep(0)
    log.append(finish())
    assert await asyncio.gather(*readers) == [[0, 1, 2, 3], [1, 2, 3], [2, 3]]


def test_an_entropy_keeps_all_its_bits() -> None:
    step = Step(
        canvas=0,
        step=1,
        t=1,
        temperature=0.8,
        entropy_bound=0.1,
        max_denoising_steps=48,
        confidence_threshold=0.005,
        stability_threshold=1,
        mean_entropy=0.1,
        stable_steps=0,
        ms=1,
        device_ms=1,
        predicted=[1],
        sampled=[1],
        accepted=[True],
        entropy=[0.10000000149011612],
        canvas_ids=[1],
        texts={1: "a"},
    )
    log = RunLog()
    log.append(step)
    assert json.loads(log.frame(0))["entropy"] == [0.10000000149011612]
