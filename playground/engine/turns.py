"""Who runs next: fair turns on one device, one forward pass a turn; admission, pauses, pace and cancelling."""

import asyncio
import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Literal, Self, TypeVar

import structlog

from playground.engine.steering import Steering
from playground.errors import PlaygroundError
from playground.events import Event, RunFinished, Step, Token

log = structlog.get_logger()

T = TypeVar("T")

State = Literal["waiting", "running", "paused", "finished"]

CLOSING_SECONDS = 10.0
"""How long `Turns.close` waits for cancelled runs to end."""


class Turn:
    """One run's place in the round. Made by `Turns.enter`; all methods belong to the event loop's thread.

    `deliver` is called with each event and `ended` once after the last, with what the generator raised if it did.
    """

    def __init__(
        self,
        turns: "Turns",
        events: Iterator[Event],
        steering: Steering,
        deliver: Callable[[Event], None],
        ended: Callable[[BaseException | None], None],
        steps_per_second: float | None,
    ) -> None:
        self.steering = steering
        self.steps_per_second = steps_per_second
        """The pace; none for as fast as the device goes."""
        self.begun = False
        self.finished = asyncio.Event()
        self._turns = turns
        self._events = events
        self._deliver = deliver
        self._ended = ended
        self._due = 0.0
        self._stepped = -math.inf
        self._paused_until: float | None = None

    @property
    def state(self) -> State:
        """`waiting` until the first turn comes."""
        if self.finished.is_set():
            return "finished"
        if self.paused:
            return "paused"
        return "running" if self.begun else "waiting"

    @property
    def paused(self) -> bool:
        """Whether a pause is in force; it expires by itself."""
        return self._paused_until is not None and self._turns.now() < self._paused_until

    @property
    def rests(self) -> bool:
        """Whether the run leaves the device to others for stretches of time: paused, or with a pace."""
        return self.paused or self.steps_per_second is not None

    @property
    def due(self) -> float:
        """Time of the loop's clock from which the run may take its next turn."""
        if self.steering.cancelled:
            return 0.0
        return max(self._due, self._paused_until or 0.0)

    def pause(self) -> None:
        """Take no turn from the next step on, until `resume` or until the pause expires."""
        self._paused_until = self._turns.now() + self._turns.pause_seconds
        self._turns.wake()

    def resume(self) -> None:
        """End a pause."""
        self._paused_until = None
        self._turns.wake()

    def pace(self, steps_per_second: float | None) -> None:
        """Take at most this many steps (or tokens) a second; none lifts the limit."""
        self.steps_per_second = steps_per_second
        self._due = 0.0 if steps_per_second is None else self._stepped + 1 / steps_per_second
        self._turns.wake()

    def cancel(self) -> None:
        """End the run before its next step, also while it waits, rests or is paused; its last events still come."""
        self.steering.cancel()
        self._turns.wake()

    def advance(self) -> Event | None:
        """Make the next event; none at the end. Called in the device's thread."""
        event = next(self._events, None)
        if isinstance(event, RunFinished) and (close := getattr(self._events, "close", None)) is not None:
            close()
        return event

    def take(self, event: Event | None, started: float) -> None:
        """Deliver what a turn begun at `started` has brought."""
        if event is not None:
            self._deliver(event)
        if isinstance(event, Step | Token):
            self._stepped = started
            if self.steps_per_second is not None:
                self._due = started + 1 / self.steps_per_second
        if event is None or isinstance(event, RunFinished):
            self.end(None)

    def end(self, failure: BaseException | None) -> None:
        """Leave the round, once."""
        if self.finished.is_set():
            return
        self._turns.leave(self)
        self._events = iter(())  # lets go of what the run held on the device
        self.finished.set()
        try:
            self._ended(failure)
        except Exception:
            log.exception("the end of a run was not taken")


class Turns:
    """A fair round of runs on one device: whoever waited longest since its last turn goes next.

    `max_runs` runs going at full speed keep further ones waiting, at most `max_waiting` of them. Runs that rest hold
    back nobody, but count in the sum of the two. An async context manager; leaving it cancels what is going on.
    """

    def __init__(self, max_runs: int, max_waiting: int, pause_seconds: float) -> None:
        self.pause_seconds = pause_seconds
        self._max_runs = max_runs
        self._most = max_runs + max_waiting
        self._round: list[Turn] = []
        self._queue: list[Turn] = []
        self._wake = asyncio.Event()
        self._closing = False
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="device")
        self._driver: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._driver = asyncio.create_task(self._drive(), name="turns")
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def waiting(self) -> int:
        """How many runs wait to begin."""
        return len(self._queue)

    @property
    def going(self) -> int:
        """How many runs have a place in the round."""
        return len(self._round)

    def enter(
        self,
        events: Iterator[Event],
        steering: Steering,
        deliver: Callable[[Event], None],
        ended: Callable[[BaseException | None], None],
        steps_per_second: float | None = None,
    ) -> Turn:
        """Give a run a place. Raises `PlaygroundError` (`busy`) when there are too many."""
        if self._closing:
            raise PlaygroundError("busy", "The server is shutting down.")
        if len(self._round) + len(self._queue) >= self._most:
            raise PlaygroundError("busy", f"The server already has {self._most} runs, its most; try again in a moment.")
        turn = Turn(self, events, steering, deliver, ended, steps_per_second)
        self._queue.append(turn)
        self._admit()
        self.wake()
        return turn

    async def call(self, function: Callable[[], T]) -> T:
        """Run a function in the device's thread, between two turns."""
        if self._closing:
            raise PlaygroundError("busy", "The server is shutting down.")
        return await asyncio.get_running_loop().run_in_executor(self._thread, function)

    async def close(self) -> None:
        """Cancel every run, let each say its last words, and end the device's thread."""
        self._closing = True
        for turn in (*self._round, *self._queue):
            turn.cancel()
        self.wake()
        if self._driver is not None:
            ended, late = await asyncio.wait({self._driver}, timeout=CLOSING_SECONDS)
            for driver in late:
                driver.cancel()
            self._thread.shutdown(wait=bool(ended), cancel_futures=True)

    def now(self) -> float:
        """The clock of pauses and paces, in seconds."""
        return asyncio.get_running_loop().time()

    def wake(self) -> None:
        """Look again who may go."""
        self._wake.set()

    def leave(self, turn: Turn) -> None:
        """Take a run out of the round."""
        self._round.remove(turn)

    async def _drive(self) -> None:
        while not (self._closing and not self._round and not self._queue):
            self._wake.clear()
            self._admit()
            now = self.now()
            turn = next((turn for turn in self._round if turn.due <= now), None)
            if turn is None:
                await self._sleep(now)
            else:
                await self._give(turn)

    def _admit(self) -> None:
        """Let runs begin, in order of arrival; a cancelled one at once, for its last words."""
        busy = sum(not turn.rests for turn in self._round)
        for turn in tuple(self._queue):
            if turn.steering.cancelled or (busy < self._max_runs and not turn.paused):
                self._queue.remove(turn)
                self._round.append(turn)
                busy += not turn.rests

    async def _sleep(self, now: float) -> None:
        """Until somebody's pause or pace runs out, or `wake`."""
        dues = [turn.due for turn in (*self._round, *self._queue) if turn.due > now]
        with suppress(TimeoutError):
            async with asyncio.timeout_at(min(dues, default=None)):
                await self._wake.wait()

    async def _give(self, turn: Turn) -> None:
        """One turn: at most one forward pass, in the device's thread."""
        if not turn.steering.cancelled:
            for other in self._round:
                if other is not turn and other.begun:
                    other.steering.share()
        turn.begun = True
        started = self.now()
        try:
            event = await asyncio.get_running_loop().run_in_executor(self._thread, turn.advance)
            turn.take(event, started)
        except Exception as failure:
            turn.end(failure)
        if turn in self._round:
            self._round.remove(turn)
            self._round.append(turn)
