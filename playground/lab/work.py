"""Running a sweep: cell after cell through the engine, each written as soon as it is done."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from playground.engine import runs
from playground.engine.models import Model
from playground.engine.steering import Steering
from playground.lab.cells import Cell, wanted
from playground.lab.results import Results, Row
from playground.lab.rows import row_of
from playground.lab.spec import SweepSpec
from playground.settings import Settings


@dataclass(frozen=True)
class Progress:
    """How far a sweep is: runs done of all, how many of them were there before, and seconds that are likely left (None
    before the first run of this process is done). `row` is the run that was done last."""

    done: int
    total: int
    before: int
    seconds_left: float | None
    row: Row | None


def sweep(
    spec: SweepSpec,
    model: Model,
    settings: Settings,
    results: Results,
    on_progress: Callable[[Progress], None] = lambda _: None,
    stopped: Callable[[], bool] = lambda: False,
) -> bool:
    """Run what is not in `results` yet. Gives whether all is done; false when `stopped` said so between two runs.

    Raises:
        PlaygroundError: naming the field, before anything runs, for a spec that the model cannot run.
    """
    asked = wanted(spec, model.name)
    for cell in asked.values():
        runs.prepare(model, cell.recipe, settings)
    total = len(asked)
    with results.alone():
        results.begin(spec, model.name, model.revision)
        there = results.keys() & asked.keys()
        done, began = len(there), time.monotonic()
        on_progress(Progress(done, total, len(there), None, None))
        for key, cell in asked.items():
            if key in there:
                continue
            if stopped():
                return False
            row = run(model, cell)
            results.add(row)
            done += 1
            pace = (time.monotonic() - began) / (done - len(there))
            on_progress(Progress(done, total, len(there), pace * (total - done), row))
    return True


def run(model: Model, cell: Cell) -> Row:
    """Run one cell."""
    return row_of(cell, list(runs.events(model, cell.recipe, Steering(cell.recipe))))
