"""The sweeps of the process: those that came with the package, those that browsers began, and the one going on."""

import asyncio
import random
import secrets
import sqlite3
import tempfile
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import structlog

from playground.engine.steering import Steering
from playground.engine.turns import Turns
from playground.errors import PlaygroundError
from playground.events import Event
from playground.lab.cells import Cell, count, wanted
from playground.lab.results import Results, Row
from playground.lab.rows import row_of
from playground.lab.spec import SweepSpec
from playground.settings import Settings
from playground.trace.store import default_path
from playground.web.sweep import Sweep

if TYPE_CHECKING:
    from playground.engine.models import Model
    from playground.web.site import Engine

log = structlog.get_logger()

RECORDED = Path(__file__).parents[1] / "lab" / "recorded"
"""Sweeps that come with the package."""

TRIED = 3
"""Runs that are tried for an estimate of the time."""
PREPARED = 32
"""Recipes that are prepared between two turns of other runs."""
YIELD_SECONDS = 0.05
MOST_YIELDED = 600
"""A sweep's next run lets other runs go first for half a minute at most."""


class Sweeps:
    """Starts, pauses, resumes and finds sweeps. One goes on at a time, run after run, and lets other runs go first.

    Belongs to the event loop's thread; files are read and written in others.
    """

    def __init__(self, settings: Settings, turns: Turns, engine: "Engine") -> None:
        self._settings = settings
        self._turns = turns
        self._engine = engine
        self._passing: tempfile.TemporaryDirectory[str] | None = None
        self._known: dict[str, Sweep] = {}
        self._closing = False

    def open(self) -> None:
        """Find what is there. Files that are no sweeps are left alone."""
        if self._settings.store:
            store = default_path() if self._settings.store == "auto" else Path(self._settings.store)
            self._folder = store.parent / "sweeps"
        else:
            self._passing = tempfile.TemporaryDirectory(prefix="sweeps-")
            self._folder = Path(self._passing.name)
        for folder, recorded in ((RECORDED, True), (self._folder, False)):
            for file in sorted(folder.glob("*.sqlite")):
                try:
                    self._known[file.stem] = Sweep(file.stem, file, recorded)
                except (sqlite3.Error, OSError, ValueError, TypeError) as error:
                    log.warning("a sweep cannot be read", file=file.name, reason=str(error))

    async def close(self) -> None:
        """Stop what goes on; it can be resumed later."""
        self._closing = True
        tasks = [sweep.task for sweep in self._known.values() if sweep.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._passing is not None:
            await asyncio.to_thread(self._passing.cleanup)

    @property
    def going(self) -> bool:
        """Whether one goes on, or is still ending its last run."""
        known = self._known.values()
        return any(sweep.state == "running" or (sweep.task and not sweep.task.done()) for sweep in known)

    def all(self, owner: str | None) -> list[Sweep]:
        """What comes with the package, and the owner's own, the newest first."""
        seen = [sweep for sweep in self._known.values() if sweep.recorded or (owner and sweep.head.owner == owner)]
        return sorted(seen, key=lambda sweep: (not sweep.recorded, sweep.head.created), reverse=True)

    def get(self, name: str) -> Sweep:
        """The sweep with this id. Raises `PlaygroundError` (`unknown_sweep`)."""
        if name not in self._known:
            raise PlaygroundError("unknown_sweep", "There is no sweep with this id.", "sweep_id")
        return self._known[name]

    def mine(self, name: str, owner: str) -> Sweep:
        """The owner's own sweep. Raises `PlaygroundError`."""
        sweep = self.get(name)
        if sweep.recorded or sweep.head.owner is None or not secrets.compare_digest(sweep.head.owner, owner):
            message = "Only the browser that started this sweep may do that."
            raise PlaygroundError("forbidden", message, "X-Playground-Owner")
        return sweep

    async def check(self, spec: SweepSpec, model: "Model") -> dict[str, Any]:
        """How many runs a spec makes and how long they may take, by some runs that are tried.

        Raises:
            PlaygroundError: naming the field, for a spec that cannot be run here.
        """
        cells = await self._cells(spec, model)
        some = random.Random(0).sample(cells, min(TRIED, len(cells)))
        seconds = [(await self._run(model, cell))[1] for cell in some]
        many, asked, seeds = count(spec)
        pace = sum(seconds) / len(seconds)
        return {
            "settings": many,
            "questions": asked,
            "seeds": seeds,
            "runs": len(cells),
            "seconds": pace * len(cells),
        }

    async def start(self, spec: SweepSpec, model: "Model", owner: str) -> Sweep:
        """Begin a sweep. Raises `PlaygroundError` for a spec that cannot be run here, or while another goes on."""
        self._check_free()
        await self._cells(spec, model)
        name = secrets.token_urlsafe(12)
        file = self._folder / f"{name}.sqlite"

        def make() -> Sweep:
            self._folder.mkdir(parents=True, exist_ok=True)
            Results(file).begin(spec, model.name, model.revision, owner)
            return Sweep(name, file)

        try:
            sweep = await asyncio.to_thread(make)
        except OSError as error:
            raise PlaygroundError("internal", f"The sweep's file cannot be written: {error.strerror}.") from None
        self._known[name] = sweep
        self.go(sweep, model)
        return sweep

    def go(self, sweep: Sweep, model: "Model") -> None:
        """Go on with a sweep. Raises `PlaygroundError` while another goes on, or for another model."""
        if sweep.state in ("running", "done"):
            return
        if sweep.task is not None and not sweep.task.done():  # paused, its last run not over yet
            raise PlaygroundError("busy", "The sweep is still ending its last run; try again in a moment.")
        self._check_free()
        if (sweep.head.model, sweep.head.revision) != (model.name, model.revision):
            message = f"The sweep was begun with {sweep.head.model} at revision {sweep.head.revision}."
            raise PlaygroundError("bad_request", message, "model")
        sweep.state, sweep.failure = "running", ""
        sweep.task = asyncio.create_task(self._drive(sweep, model), name=f"sweep {sweep.id}")

    async def stop(self, sweep: Sweep, state: Literal["paused", "cancelled"]) -> None:
        """Pause a sweep, or end it for good; what is done stays. The run that goes on is thrown away."""
        if sweep.state == "done":
            return
        sweep.state = state
        if sweep.task is not None:
            sweep.task.cancel()
            with suppress(asyncio.CancelledError):
                await sweep.task
        await asyncio.to_thread(sweep.results.cancel, state == "cancelled")

    async def delete(self, sweep: Sweep) -> None:
        """Forget a sweep and its file."""
        await self.stop(sweep, "cancelled")
        self._known.pop(sweep.id, None)
        for file in sweep.results.file.parent.glob(f"{sweep.id}.sqlite*"):
            await asyncio.to_thread(file.unlink, missing_ok=True)

    async def copy(self, sweep: Sweep) -> bytes:
        """The file of a sweep as it is now."""

        def read() -> bytes:
            with tempfile.TemporaryDirectory() as folder:
                copy = Path(folder) / "copy.sqlite"
                sweep.results.copy(copy)
                return copy.read_bytes()

        return await asyncio.to_thread(read)

    def _check_free(self) -> None:
        if self._closing:
            raise PlaygroundError("busy", "The server is shutting down.")
        going = [sweep for sweep in self._known.values() if sweep.state == "running"]
        if going:
            raise PlaygroundError("busy", "A sweep is going on here already; one goes at a time.")

    async def _cells(self, spec: SweepSpec, model: "Model") -> list[Cell]:
        most = self._settings.max_sweep_runs
        many, asked, seeds = await asyncio.to_thread(count, spec)
        if many * asked * seeds > most:
            message = f"{many} settings × {asked} questions × {seeds} seeds are {many * asked * seeds} runs; "
            raise PlaygroundError("too_long", f"{message}at most {most} are allowed here.", "vary")

        def prepare(some: list[Cell]) -> None:
            for cell in some:
                self._engine.prepare(model, cell.recipe, self._settings)

        cells = list((await asyncio.to_thread(wanted, spec, model.name)).values())
        for at in range(0, len(cells), PREPARED):  # in the device's thread, which alone may use the tokenizer
            await self._turns.call(partial(prepare, cells[at : at + PREPARED]))
        return cells

    async def _drive(self, sweep: Sweep, model: "Model") -> None:
        try:
            with sweep.results.alone():
                cells = await asyncio.to_thread(wanted, sweep.head.spec, model.name)
                sweep.total = len(cells)
                there = await asyncio.to_thread(sweep.results.keys)
                sweep.done = len(there & cells.keys())
                await asyncio.to_thread(sweep.results.cancel, False)
                for key, cell in cells.items():
                    if key not in there:
                        row, seconds = await self._run(model, cell)
                        await asyncio.to_thread(sweep.results.add, row)
                        sweep.took(seconds)
            sweep.state = "done"
        except asyncio.CancelledError:
            if sweep.state == "running":  # the process ends
                sweep.state = "paused"
            raise
        except Exception as error:
            log.exception("a sweep broke off", sweep=sweep.id)
            sweep.state, sweep.failure = "paused", f"The sweep broke off: {error}"

    async def _let_others_go(self) -> None:
        """Until nobody else's run goes on, but not for ever: one that is watched slowly takes a while."""
        await asyncio.sleep(0)
        for _ in range(MOST_YIELDED):
            if not self._turns.going + self._turns.waiting:
                return
            await asyncio.sleep(YIELD_SECONDS)

    async def _run(self, model: "Model", cell: Cell) -> tuple[Row, float]:
        """One run in turn with those of people, after theirs: its row, and the seconds from its first turn on."""
        events: list[Event] = []
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        steering = Steering(cell.recipe)

        def ended(failure: BaseException | None) -> None:
            if over.done():
                return
            if failure is None:
                over.set_result(None)
            else:
                over.set_exception(failure)

        turn = None
        while turn is None:
            await self._let_others_go()
            made = self._engine.events(model, cell.recipe, steering)
            began = self._turns.now()
            with suppress(PlaygroundError):  # full; a place will come free
                turn = self._turns.enter(made, steering, events.append, ended)
        try:
            await over
        finally:
            turn.cancel()
        seconds = self._turns.now() - began
        return await asyncio.to_thread(row_of, cell, events), seconds
