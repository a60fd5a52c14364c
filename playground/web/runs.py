"""The runs of the process: those going on and the newest finished ones, who watches them, who may steer them."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import structlog

from playground.engine.steering import Steering
from playground.engine.turns import Turn, Turns
from playground.errors import PlaygroundError
from playground.events import Error, Event, RunFinished
from playground.recipe import Recipe
from playground.settings import Settings
from playground.trace.log import RunLog
from playground.web.archive import Archive, hashed, last_words
from playground.web.ending import ending
from playground.web.metrics import ProcessMetrics
from playground.web.security import new_control, same_control

if TYPE_CHECKING:
    from playground.engine.models import Model
    from playground.web.loans import Loan

log = structlog.get_logger()

Events = Callable[["Model", Recipe, Steering], Iterator[Event]]
"""Makes the events of a run, as `playground.engine.runs.events` does."""


class Run:
    """One run: its log, its place on the device, and its viewers."""

    turn: "Turn | Loan"
    deliver: Callable[[Event], None]
    """Takes the run's next event into its log."""

    def __init__(self, recipe: Recipe, owner: str | None = None, log: RunLog | None = None) -> None:
        self.recipe = recipe
        self.owner = owner
        """A hash of the owner's secret."""
        self.log = log or RunLog()
        self.recalled = log is not None
        """Whether it comes from the store or a recording; then nothing makes it any more."""
        self.steering = Steering(recipe)
        self.control = new_control()
        self.address = ""
        """Of the socket that started it."""
        self.viewers = 0
        self.last_words: RunFinished | None = None
        self.deadline: asyncio.TimerHandle | None = None
        """When the run ends unless somebody watches."""

    @property
    def id(self) -> str:
        """The run's id, 128 random bits."""
        return self.log.run

    @property
    def finished(self) -> bool:
        """Whether the log is complete."""
        return self.log.finished

    def let_steer(self, control: str | None) -> None:
        """Raise `PlaygroundError` (`forbidden`) unless this is the run's control token."""
        if not same_control(control, self.control):
            message = "Only the socket that started this run may steer it, or one that gives its control token."
            raise PlaygroundError("forbidden", message, "control")

    def summary(self) -> dict[str, Any]:
        """What `GET /api/runs/{id}` answers."""
        end = self.last_words
        return {
            "run": self.id,
            "state": "finished" if self.finished else self.turn.state,
            "events": len(self.log),
            "viewers": self.viewers,
            "steps_per_second": None if self.recalled else self.turn.steps_per_second,
            "stop_reason": end and end.stop_reason,
            "text": end and end.text,
            "metrics": end and end.metrics.model_dump(mode="json"),
            "recipe": (end or self).recipe.model_dump(mode="json"),
        }


class Runs:
    """Finds runs by id and ends those that nobody watches."""

    def __init__(self, settings: Settings, turns: Turns, metrics: ProcessMetrics, archive: Archive) -> None:
        self._settings = settings
        self._archive = archive
        self._turns = turns
        self._metrics = metrics
        self._going: dict[str, Run] = {}
        self._finished: dict[str, Run] = {}
        self._recalled: WeakValueDictionary[str, Run] = WeakValueDictionary()
        """Stored runs as long as somebody watches them."""

    def __len__(self) -> int:
        return len(self._going) + len(self._finished)

    def start(
        self,
        model: "Model",
        recipe: Recipe,
        events: Events,
        steps_per_second: float | None,
        owner: str | None = None,
        address: str = "",
    ) -> Run:
        """Begin a run, or queue it. owner: a secret; address: the starter's. Raises `PlaygroundError` (`busy`)."""
        run = self._new(recipe, owner, address)
        deliver = run.deliver
        began = time.perf_counter()

        def ended(failure: BaseException | None) -> None:
            if not run.finished:
                log.error("run broke off", run=run.id[:8], exc_info=failure)
                message = "The run broke off; the server's log says why."
                deliver(Error(code="internal", message=message))
                deliver(ending(run.log, recipe, "error", time.perf_counter() - began))
            self._finish(run)

        made = events(model, recipe, run.steering)
        run.turn = self._turns.enter(made, run.steering, deliver, ended, steps_per_second)
        self._begun(run)
        return run

    def adopt(self, recipe: Recipe, loan: "Loan", steering: Steering, owner: str | None, address: str) -> Run:
        """A run that is made elsewhere; whoever makes it calls its `deliver`, and it ends with `run_finished`."""
        run = self._new(recipe, owner, address)
        run.turn, run.steering = loan, steering
        record = run.deliver

        def deliver(event: Event) -> None:
            record(event)
            if run.finished:
                self._finish(run)

        run.deliver = deliver
        self._begun(run)
        return run

    def _new(self, recipe: Recipe, owner: str | None, address: str) -> Run:
        run = Run(recipe, hashed(owner) if owner is not None else None)
        run.address = address

        def deliver(event: Event) -> None:
            event = run.log.append(event)
            self._metrics.see(event)
            if isinstance(event, RunFinished):
                run.last_words = event

        run.deliver = deliver
        return run

    def _begun(self, run: Run) -> None:
        self._going[run.id] = run
        self._expect_viewer(run)
        log.info("run started", run=run.id[:8], mode=run.recipe.mode, going=len(self._going))

    def going_of(self, address: str) -> int:
        """How many runs of an address go on or wait."""
        return sum(run.address == address for run in self._going.values())

    def known(self, run_id: str) -> Run | None:
        """The run with this id, if it is in memory."""
        return self._going.get(run_id) or self._finished.get(run_id) or self._recalled.get(run_id)

    def get(self, run_id: str) -> Run:
        """The run with this id in memory. Raises `PlaygroundError` (`unknown_run`)."""
        if (run := self.known(run_id)) is None:
            raise unknown()
        return run

    async def find(self, run_id: str) -> Run:
        """The run with this id, from the store if memory has forgotten it. Raises `PlaygroundError` (`unknown_run`)."""
        if (run := self.known(run_id)) is not None:
            return run
        log = await self._archive.log(run_id)
        if log is None:
            raise unknown()
        words = last_words(log)
        run = Run(words.recipe, log=log)
        run.last_words = words
        return self._recalled.setdefault(run_id, run)

    def forget(self, run_id: str) -> None:
        """Let go of a finished run."""
        self._finished.pop(run_id, None)
        self._recalled.pop(run_id, None)

    def join(self, run: Run) -> None:
        """One viewer more."""
        run.viewers += 1
        if run.deadline is not None:
            run.deadline.cancel()
            run.deadline = None

    def leave(self, run: Run) -> None:
        """One viewer less; after the last the run has some time left for somebody to come back."""
        run.viewers -= 1
        if run.viewers == 0 and not run.finished:
            self._expect_viewer(run)

    @contextmanager
    def watching(self, run: Run) -> Iterator[Run]:
        """Be a viewer for a while."""
        self.join(run)
        try:
            yield run
        finally:
            self.leave(run)

    def _expect_viewer(self, run: Run) -> None:
        loop = asyncio.get_running_loop()
        run.deadline = loop.call_later(self._settings.unwatched_seconds, self._abandon, run)

    def _abandon(self, run: Run) -> None:
        log.info("run cancelled, nobody watches", run=run.id[:8])
        run.turn.cancel()

    def _finish(self, run: Run) -> None:
        if run.deadline is not None:
            run.deadline.cancel()
        self._going.pop(run.id, None)
        self._finished[run.id] = run
        kept = sum(run.log.bytes for run in self._finished.values())
        while len(self._finished) > 1 and (
            len(self._finished) > self._settings.keep_finished_runs or kept > self._settings.keep_finished_bytes
        ):
            oldest = self._finished.pop(next(iter(self._finished)))
            kept -= oldest.log.bytes
        reason = run.last_words and run.last_words.stop_reason
        self._archive.put(run.log, run.owner, run.summary() | {"viewers": 0})
        log.info("run finished", run=run.id[:8], stop_reason=reason, events=len(run.log), going=len(self._going))


def unknown() -> PlaygroundError:
    """There is no such run."""
    message = "There is no run with this id; runs are forgotten some time after their end."
    return PlaygroundError("unknown_run", message, "run")
