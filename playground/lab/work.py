"""Running a sweep: cell after cell through the engine, each written as soon as it is done."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass

from playground.engine import runs
from playground.engine.models import Model
from playground.engine.steering import Steering
from playground.events import CanvasCommitted, Error, Event, RunFinished, Step
from playground.lab.cells import Cell, cells
from playground.lab.judge import right
from playground.lab.results import Results, Row
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
    wanted: dict[str, Cell] = {}
    for cell in cells(spec, model.name):
        runs.prepare(model, cell.recipe, settings)
        wanted.setdefault(cell.key, cell)
    total = len(wanted)
    results.begin(spec, model.name, model.revision)
    there = results.keys() & wanted.keys()
    done, began = len(there), time.monotonic()
    on_progress(Progress(done, total, len(there), None, None))
    for key, cell in wanted.items():
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
    """Run one cell. A run that fails is a row too, with the stop reason `error`."""
    events = list(runs.events(model, cell.recipe, Steering(cell.recipe)))
    finished = events[-1]
    assert isinstance(finished, RunFinished)
    error = next((event for event in events if isinstance(event, Error)), None)
    metrics = finished.metrics
    answer = right(cell.question, finished)
    return Row(
        key=cell.key,
        setting=json.dumps(cell.setting, sort_keys=True),
        question=cell.question.number,
        family=cell.question.family,
        prompt=cell.question.prompt,
        seed=cell.recipe.seed,
        mode=cell.recipe.mode,
        right=None if answer is None else int(answer),
        text=finished.text if error is None else error.message,
        stop_reason=finished.stop_reason,
        tokens=metrics.total_tokens,
        passes=metrics.forward_passes,
        steps=metrics.total_denoising_steps,
        effective_denoising_steps=metrics.effective_denoising_steps,
        tokens_per_forward=metrics.tokens_per_forward,
        canvases=metrics.canvases,
        revised=_revised(events),
        loops=metrics.loops,
        seconds=metrics.seconds,
        settled=json.dumps(settled(events)),
        recipe=cell.recipe.model_dump_json(),
    )


def settled(events: list[Event], canvas: int = 0) -> list[float]:
    """For each step of a canvas, the share of its committed positions whose draft was the committed token already."""
    committed = next((e for e in events if isinstance(e, CanvasCommitted) and e.canvas == canvas), None)
    if committed is None:
        return []
    return [
        round(sum(a == b for a, b in zip(event.predicted, committed.ids, strict=False)) / len(committed.ids), 4)
        for event in events
        if isinstance(event, Step) and event.canvas == canvas
    ]


def _revised(events: list[Event]) -> int:
    """Positions that were accepted in some step with another token than the one that was committed."""
    count, tokens = 0, dict[int, set[int]]()
    for event in events:
        if isinstance(event, Step):
            for at, accepted in enumerate(event.accepted):
                if accepted:
                    tokens.setdefault(at, set()).add(event.sampled[at])
        elif isinstance(event, CanvasCommitted):
            count += sum(bool(tokens.get(at, set()) - {token}) for at, token in enumerate(event.ids))
            tokens = {}
    return count
