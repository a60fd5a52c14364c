"""The last event of a run whose maker could not give it any more: by what had come until then."""

import time

from playground.events import CanvasCommitted, Event, RunFinished, RunStopReason, Token
from playground.metrics import Meter
from playground.recipe import Recipe


class Ending:
    """Sees the events of a run, and can end it where they break off."""

    def __init__(self, recipe: Recipe) -> None:
        self.finished = False
        """Whether the run has given its last event itself."""
        self._recipe = recipe
        self._meter = Meter()
        self._text = ""
        self._began = time.perf_counter()

    def see(self, event: Event) -> None:
        """An event that came."""
        self._meter.see(event)
        self.finished |= isinstance(event, RunFinished)
        if isinstance(event, CanvasCommitted | Token):
            self._text += event.text

    def last(self, stop_reason: RunStopReason) -> RunFinished:
        """The event that is missing: what was committed, and its figures."""
        recipe = self._recipe
        seconds = time.perf_counter() - self._began
        metrics = self._meter.metrics(recipe.mode, seconds, False, recipe.max_new_tokens)
        return RunFinished(text=self._text, thought="", metrics=metrics, stop_reason=stop_reason, recipe=recipe)
