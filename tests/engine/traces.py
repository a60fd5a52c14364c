"""Traces made here, and their check."""

import json
from typing import Any

from playground.engine import runs
from playground.engine.models import Model
from playground.engine.steering import Steering
from playground.engine.verify import Verdict, verify
from playground.events import adapter
from playground.parameters import DecodingChange, SamplerChange
from playground.recipe import Message, Recipe
from playground.settings import Settings

Trace = list[dict[str, Any]]

LONG = "Tell a long story about Mia the fox and a friend named Hugo."
CHANGES: dict[int, SamplerChange | DecodingChange] = {}


def made(
    model: Model,
    prompt: str = "Tell a story about a fox named Mia.",
    *,
    cancel_after: int | None = None,
    changes: dict[int, SamplerChange | DecodingChange] = CHANGES,
    **fields: Any,
) -> Trace:
    """A trace, as JSON would carry it. changes: by the number of the event after which they are asked for."""
    recipe = Recipe(messages=[Message(role="user", content=prompt)], **{"seed": 4, **fields})
    steering = Steering(recipe)
    trace: Trace = []
    for seq, event in enumerate(runs.events(model, runs.prepare(model, recipe, Settings()), steering)):
        trace.append(json.loads(event.model_copy(update={"run": "r", "seq": seq}).model_dump_json()))
        if seq in changes:
            steering.change(changes[seq])
        if seq == cancel_after:
            steering.cancel()
    return trace


def check(model: Model, trace: Trace, tolerance: float = 0.0) -> Verdict:
    return verify(model, [adapter.validate_json(json.dumps(event)) for event in trace], tolerance)
