"""Turns with generators that have no model: each pass is one entry in a list."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from playground.engine.steering import Steering
from playground.engine.turns import Turn, Turns
from playground.errors import PlaygroundError
from playground.events import Event, Metrics, RunFinished, Token
from playground.recipe import Message, Recipe

RECIPE = Recipe(messages=[Message(role="user", content="hi")])
METRICS: dict[str, Any] = dict.fromkeys(Metrics.model_fields, 0)


class Round:
    """A round of runs whose passes can be held back."""

    def __init__(self, turns: Turns) -> None:
        self.turns = turns
        self.passes: list[str] = []
        self.threads: set[str] = set()
        self.logs: dict[str, list[Event]] = {}
        self.failures: dict[str, BaseException | None] = {}
        self.closed: list[str] = []
        self.free = threading.Event()
        self.free.set()

    def enter(
        self, name: str, passes: int = 5, events: Iterator[Event] | None = None, pace: float | None = None
    ) -> Turn:
        steering = Steering(RECIPE)
        log = self.logs[name] = []
        made = events or self._run(name, passes, steering)
        return self.turns.enter(made, steering, log.append, lambda failure: self._end(name, failure), pace)

    def reason(self, name: str) -> str:
        end = self.logs[name][-1]
        assert isinstance(end, RunFinished)
        return end.stop_reason

    def _end(self, name: str, failure: BaseException | None) -> None:
        assert name not in self.failures, "ended twice"
        self.failures[name] = failure

    def _run(self, name: str, passes: int, steering: Steering) -> Iterator[Event]:
        stop_reason = "max_new_tokens"
        try:
            for index in range(passes):
                if steering.cancelled:
                    stop_reason = "cancelled"
                    break
                assert self.free.wait(60)
                self.threads.add(threading.current_thread().name)
                self.passes.append(name)
                yield token(index)
            yield finished(stop_reason, steering.shared)
        finally:
            self.closed.append(name)


def token(index: int) -> Token:
    return Token(index=index, id=1, temperature=1, entropy=0, logprob=0, ms=1, device_ms=1, text="", texts={})


def finished(stop_reason: Any, shared: bool = False) -> RunFinished:
    metrics = Metrics(**(METRICS | {"shared_device": shared}))
    return RunFinished(text="", thought="", metrics=metrics, stop_reason=stop_reason, recipe=RECIPE)


@asynccontextmanager
async def a_round(max_runs: int = 8, max_waiting: int = 8, pause_seconds: float = 600) -> AsyncIterator[Round]:
    async with Turns(max_runs, max_waiting, pause_seconds) as turns:
        made = Round(turns)
        try:
            yield made
        finally:
            made.free.set()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.002)


async def ends(*turns: Turn) -> None:
    async with asyncio.timeout(60):
        for turn in turns:
            await turn.finished.wait()


async def test_runs_take_turns_step_by_step() -> None:
    async with a_round() as made:
        made.free.clear()
        await ends_after_release(made, [made.enter(name) for name in "abc"])
        assert made.passes == list("abc") * 5
        assert len(made.threads) == 1


async def ends_after_release(made: Round, turns: list[Turn]) -> None:
    made.free.set()
    await ends(*turns)


async def test_events_come_in_order_and_the_generator_is_closed() -> None:
    async with a_round() as made:
        await ends(made.enter("a", passes=3))
        assert [event.type for event in made.logs["a"]] == ["token", "token", "token", "run_finished"]
        assert made.closed == ["a"]
        assert made.failures == {"a": None}
        assert (made.turns.going, made.turns.waiting) == (0, 0)


async def test_the_loop_goes_on_while_a_pass_blocks() -> None:
    async with a_round() as made:
        made.free.clear()
        turn = made.enter("a", passes=1)
        for _ in range(100):
            await asyncio.sleep(0.001)
        assert not turn.finished.is_set()
        made.free.set()
        await ends(turn)


async def test_a_late_run_gets_its_turn_after_one_step_of_each_other() -> None:
    async with a_round() as made:
        made.free.clear()
        first = made.enter("a", passes=50)
        await until(lambda: made.turns.going == 1)
        second = made.enter("b", passes=3)
        made.free.set()
        await ends(first, second)
        place = [made.passes.index("b") + offset for offset in (0, 2, 4)]
        assert [made.passes[index] for index in place] == ["b"] * 3


async def test_runs_beyond_max_runs_wait_and_then_go() -> None:
    async with a_round(max_runs=2) as made:
        made.free.clear()
        turns = [made.enter(name, passes=4) for name in "abcd"]
        assert [turn.state for turn in turns] == ["waiting"] * 4
        assert (made.turns.going, made.turns.waiting) == (2, 2)
        await ends_after_release(made, turns)
        assert set(made.passes[:8]) == {"a", "b"}
        assert set(made.passes[8:]) == {"c", "d"}


async def test_too_many_are_refused_and_the_others_go_on() -> None:
    async with a_round(max_runs=1, max_waiting=1) as made:
        made.free.clear()
        turns = [made.enter("a"), made.enter("b")]
        with pytest.raises(PlaygroundError) as refusal:
            made.enter("c")
        assert refusal.value.code == "busy"
        await ends_after_release(made, turns)
        await ends(made.enter("d"))


async def test_cancelling_takes_effect_within_one_step() -> None:
    async with a_round() as made:
        made.free.clear()
        turn = made.enter("a", passes=100)
        await asyncio.sleep(0.01)
        turn.cancel()
        await ends_after_release(made, [turn])
        assert len(made.passes) <= 1
        assert made.reason("a") == "cancelled"


async def test_a_waiting_run_that_is_cancelled_still_says_its_last_words() -> None:
    async with a_round(max_runs=1) as made:
        made.free.clear()
        first, second = made.enter("a", passes=3), made.enter("b")
        second.cancel()
        await ends_after_release(made, [second, first])
        assert made.passes == ["a"] * 3
        assert made.reason("b") == "cancelled"


async def test_a_paused_run_takes_no_turn_and_holds_back_nobody() -> None:
    async with a_round(max_runs=1) as made:
        made.free.clear()
        first, second = made.enter("a", passes=3), made.enter("b", passes=3)
        first.pause()
        await ends_after_release(made, [second])
        assert made.passes.count("a") <= 1
        assert first.state == "paused"
        first.resume()
        await ends(first)
        assert made.passes.count("a") == 3


@pytest.mark.parametrize("pace", [None, 0.05])
async def test_cancelling_reaches_a_run_that_rests(pace: float | None) -> None:
    async with a_round() as made:
        turn = made.enter("a", passes=100, pace=pace)
        if pace is None:
            turn.pause()
        else:
            await until(lambda: len(made.passes) == 1)
        turn.cancel()
        await ends(turn)
        assert made.reason("a") == "cancelled"
        assert len(made.passes) <= 1


async def test_a_pause_expires() -> None:
    async with a_round(pause_seconds=0.01) as made:
        turn = made.enter("a", passes=3)
        turn.pause()
        await ends(turn)
        assert made.reason("a") == "max_new_tokens"


async def test_a_pace_spaces_steps_and_leaves_the_device_to_others() -> None:
    async with a_round() as made:
        slow = made.enter("a", passes=100, pace=0.05)
        await until(lambda: made.passes == ["a"])
        await ends(made.enter("b", passes=20))
        assert made.passes == ["a", *"b" * 20]
        slow.pace(None)
        await ends(slow)
        assert made.passes.count("a") == 100


async def test_a_pace_is_kept() -> None:
    async with a_round() as made:
        loop = asyncio.get_running_loop()
        started = loop.time()
        await ends(made.enter("a", passes=5, pace=50))
        assert loop.time() - started >= 4 / 50


async def test_only_runs_that_overlapped_are_said_to_share() -> None:
    def shared(name: str) -> bool:
        end = made.logs[name][-1]
        assert isinstance(end, RunFinished)
        return end.metrics.shared_device

    async with a_round() as made:
        await ends(made.enter("before"))
        made.free.clear()
        await ends_after_release(made, [made.enter("a"), made.enter("b")])
        await ends(made.enter("after"))
        assert [shared(name) for name in ("before", "a", "b", "after")] == [False, True, True, False]


async def test_a_waiting_run_and_one_cancelled_while_waiting_do_not_share() -> None:
    async with a_round(max_runs=1) as made:
        made.free.clear()
        first, second, third = made.enter("a"), made.enter("b"), made.enter("c")
        third.cancel()
        await ends_after_release(made, [first, second, third])
        ends_of = [made.logs[name][-1] for name in "ab"]
        assert all(isinstance(end, RunFinished) and not end.metrics.shared_device for end in ends_of)


async def test_a_generator_that_breaks_its_promise_ends_alone() -> None:
    def broken() -> Iterator[Event]:
        yield token(0)
        raise RuntimeError("boom")

    def silent() -> Iterator[Event]:
        yield token(0)

    async with a_round() as made:
        turns = [made.enter("a", events=broken()), made.enter("b", events=silent()), made.enter("c")]
        await ends(*turns)
        assert str(made.failures["a"]) == "boom"
        assert made.failures["b"] is None
        assert made.reason("c") == "max_new_tokens"


async def test_closing_cancels_every_run_and_ends_the_thread() -> None:
    async with a_round(max_runs=2) as made:
        turns = [made.enter(name, passes=10**9) for name in "abc"]
        turns[0].pause()
        await until(lambda: len(made.passes) > 3)
    assert all(turn.finished.is_set() for turn in turns)
    assert [made.reason(name) for name in "abc"] == ["cancelled"] * 3
    assert not [thread for thread in threading.enumerate() if thread.name in made.threads]
    with pytest.raises(PlaygroundError, match="shutting down"):
        made.enter("d")


async def test_calls_run_in_the_thread_of_the_passes() -> None:
    async with a_round() as made:
        await ends(made.enter("a"))
        assert {await made.turns.call(lambda: threading.current_thread().name)} == made.threads
