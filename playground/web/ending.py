"""The last event of a run whose maker could not give it any more: by what its log has."""

from playground.events import CanvasCommitted, RunFinished, RunStopReason, Token, adapter
from playground.metrics import Meter
from playground.recipe import Recipe
from playground.trace.log import RunLog


def ending(log: RunLog, recipe: Recipe, stop_reason: RunStopReason, wall_seconds: float) -> RunFinished:
    """What was committed until the log broke off, and its figures."""
    meter = Meter()
    text = ""
    for seq in range(len(log)):
        event = adapter.validate_json(log.frame(seq))
        meter.see(event)
        if isinstance(event, CanvasCommitted | Token):
            text += event.text
    metrics = meter.metrics(recipe.mode, wall_seconds, False, recipe.max_new_tokens)
    return RunFinished(text=text, thought="", metrics=metrics, stop_reason=stop_reason, recipe=recipe)
