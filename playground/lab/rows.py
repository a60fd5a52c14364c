"""From the events of a run to its row. Knows no model."""

import json
from collections.abc import Sequence
from typing import Any

from playground.events import CanvasCommitted, Error, Event, RunFinished, Step
from playground.lab.cells import Cell
from playground.lab.judge import right
from playground.lab.results import Row
from playground.recipe import Recipe


def row_of(cell: Cell, events: Sequence[Event]) -> Row:
    """The row of a cell's run. A run that failed is a row too, with the stop reason `error`."""
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
        capped=sum(isinstance(e, CanvasCommitted) and e.stop_reason == "max_denoising_steps" for e in events),
        revised=_revised(events),
        loops=metrics.loops,
        seconds=metrics.seconds,
        settled=json.dumps(settled(events)),
        recipe=json.dumps(lean(cell.recipe), ensure_ascii=False),
    )


def lean(recipe: Recipe) -> dict[str, Any]:
    """The recipe without those of its fields that are as usual."""
    usual = Recipe(messages=recipe.messages).model_dump(mode="json", exclude={"messages"})
    return {name: value for name, value in recipe.model_dump(mode="json").items() if usual.get(name) != value}


def settled(events: Sequence[Event], canvas: int = 0) -> list[float]:
    """For each step of a canvas, the share of its committed positions whose draft was the committed token already."""
    committed = next((e for e in events if isinstance(e, CanvasCommitted) and e.canvas == canvas), None)
    if committed is None:
        return []
    return [
        round(sum(a == b for a, b in zip(event.predicted, committed.ids, strict=False)) / len(committed.ids), 4)
        for event in events
        if isinstance(event, Step) and event.canvas == canvas
    ]


def _revised(events: Sequence[Event]) -> int:
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
