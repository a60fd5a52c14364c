"""Runs on a GPU that is lent for one run at a time, as ZeroGPU does: made in a worker that is forked for it.

The page asks through Gradio, since the loan goes on the account of who sent that request. The worker's generator gives
events in batches; they go into the run's log, and from there to every viewer like those of any other run.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any

import structlog

from playground.engine.steering import Steering
from playground.errors import PlaygroundError
from playground.events import Error, Event, adapter
from playground.parameters import DecodingChange, SamplerChange
from playground.recipe import Recipe
from playground.web.ending import ending
from playground.web.messages import Refused, Start, parse

if TYPE_CHECKING:
    from playground.engine.models import Model
    from playground.web.runs import Run
    from playground.web.site import Engine, Site

log = structlog.get_logger()

BATCH_SECONDS = 0.1
"""Events wait so long for others, so that a fast run does not cross the process's edge for each of them."""

Batch = list[str]
"""Events as JSON, without `run` and `seq`."""
Batches = Callable[[str], Iterator[Batch]]
"""Makes a run from a recipe as JSON."""


class Deaf(Steering):
    """Of a run in another process, which hears nothing until it ends."""

    def change(self, change: SamplerChange | DecodingChange) -> None:
        """Raises `ValueError`."""
        raise ValueError("the run has its GPU on loan and takes no changes; they act on the next run")


class Loan:
    """A run's place on the lent GPU: it stands where otherwise its turn does. It cannot be paused or paced."""

    state = "running"
    steps_per_second = None

    def __init__(self) -> None:
        self.over = False

    def cancel(self) -> None:
        """End the run with its next batch."""
        self.over = True

    def pause(self) -> None:
        """Raises `PlaygroundError`."""
        message = "The run has its GPU on loan, so it does not halt; the player can be paused."
        raise PlaygroundError("bad_request", message, "type")

    def resume(self) -> None:
        """Nothing rests."""

    def pace(self, steps_per_second: float | None) -> None:
        """The run goes as fast as it can; the player has its own pace."""


class Loans:
    """Lends the GPU to runs. `site` is set by the app; `model` is what a worker inherits when it is forked."""

    def __init__(self, model: "Model", engine: "Engine", lend: Callable[[Batches], Batches]) -> None:
        """lend: makes of a generator one that runs where the GPU is, as `spaces.GPU` does."""
        self.site: Site | None = None

        def batches(recipe: str) -> Iterator[Batch]:
            made = Recipe.model_validate_json(recipe)
            yield from batched(engine.events(model, made, Steering(made)))

        self._batches = lend(batches)

    async def ask(self, text: str, address: str) -> AsyncIterator[dict[str, Any]]:
        """A `start` as the socket takes it: makes the run, and says how far it is until it has ended.

        The first answer has the run's id and control token, or an error with code, message and field.
        """
        ref: str | int | None = None
        try:
            message = _start(text)
            ref = message.ref
            run = await self._begin(message, address)
        except PlaygroundError as error:
            ref = error.ref if isinstance(error, Refused) else ref
            yield {"ref": ref, "error": {"code": error.code, "message": error.message, "field": error.field}}
            return
        grown = asyncio.Event()
        stop = run.log.listen(grown.set)
        work = asyncio.create_task(asyncio.to_thread(self._work, run, asyncio.get_running_loop()))
        work.add_done_callback(lambda _: grown.set())
        try:
            while True:
                grown.clear()
                yield {"ref": ref, "run": run.id, "token": run.control, "events": len(run.log)}
                if work.done():
                    return
                await grown.wait()
        finally:
            stop()
            run.turn.cancel()

    async def _begin(self, message: Start, address: str) -> "Run":
        site = self.site
        assert site is not None
        going = site.runs.going_of(address)
        site.limits.start(address, going, going)
        recipe = await site.prepared(message.recipe)
        return site.runs.adopt(recipe, Loan(), Deaf(recipe), message.owner, address)

    def _work(self, run: "Run", loop: asyncio.AbstractEventLoop) -> None:
        """In a thread, with the context of the request: take batches until the run has ended or is to end."""
        failure: Exception | None = None
        loan = run.turn
        assert isinstance(loan, Loan)
        began = time.perf_counter()
        try:
            with closing(self._batches(run.recipe.model_dump_json())) as batches:  # type: ignore[type-var]
                for batch in batches:
                    events = [adapter.validate_json(line) for line in batch]
                    loop.call_soon_threadsafe(_deliver, run, events)
                    if loan.over:
                        break
        except Exception as error:
            failure = error
        loop.call_soon_threadsafe(_end, run, failure, time.perf_counter() - began)


def _end(run: "Run", failure: Exception | None, seconds: float) -> None:
    """Give the events that a worker did not: none where it ended its run itself."""
    if run.finished:
        return
    if failure is not None:
        log.warning("a lent run broke off", reason=str(failure))
        run.deliver(Error(code="gpu", message=f"The GPU was taken back, or none was lent: {failure}"))
    run.deliver(ending(run.log, run.recipe, "cancelled" if failure is None else "error", seconds))


def batched(events: Iterator[Event], seconds: float = BATCH_SECONDS) -> Iterator[Batch]:
    """Events as JSON, those of about so many seconds together."""
    batch: Batch = []
    since = time.perf_counter()
    for event in events:
        batch.append(event.model_dump_json())
        if time.perf_counter() - since >= seconds:
            yield batch
            batch, since = [], time.perf_counter()
    if batch:
        yield batch


def _start(text: str) -> Start:
    message = parse(text)
    if not isinstance(message, Start):
        raise PlaygroundError("bad_request", "type must be start here.", "type")
    return message


def _deliver(run: "Run", events: list[Event]) -> None:
    for event in events:
        run.deliver(event)
