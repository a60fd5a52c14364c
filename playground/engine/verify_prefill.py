"""The check of a run's beginning: the prompt is encoded again, and its events say how far it was."""

from playground.engine.models import Model
from playground.engine.prefill import Prefilled, ends
from playground.engine.prompts import Prompt
from playground.engine.recorded import DoesNotFollow, Recorded, expect, expect_close
from playground.events import Error, Prefill, RunFinished

CLOCK_MS = 2e-3
"""Times are rounded to thousandths of a millisecond before they are added."""


def check_prefill(model: Model, prompt: Prompt, recorded: Recorded) -> tuple[Prefilled, float] | None:
    """The prompt in a cache of its own, and the device time that its events have; none where the run broke off here.

    Raises `DoesNotFollow`.
    """
    cache = model.cache()
    spent, start = 0.0, 0
    for end in ends(prompt):
        if isinstance(recorded.next, RunFinished | Error):
            return None
        logits = model.encode_pass(cache, prompt.ids[start:end], prompt.between(start, end))
        start = end
        if end == len(prompt.ids):
            return Prefilled(cache, logits, 0), spent
        event = recorded.take(Prefill, "the prompt is longer than a chunk")
        expect(event, "tokens", end)
        expect(event, "total", len(prompt.ids))
        if not event.ms >= 0:
            raise DoesNotFollow(event, "ms", f"it is {event.ms!r}")
        expect_close(event, "device_ms", spent + event.ms, CLOCK_MS)
        spent = event.device_ms
    raise AssertionError("a prompt has a last chunk")
