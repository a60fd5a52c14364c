"""Claims about a run that can be checked: `revised >= 1`, `steps < base.steps`, `stop = end_of_turn`."""

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

from playground.events import CanvasCommitted, Event, RunFinished, RunStarted, Step, Token

Value = float | str
Measures = Mapping[str, Value]

NUMBERS: dict[str, str] = {
    "steps": "denoising steps of all canvases",
    "canvases": "canvases committed",
    "tokens": "valid tokens, the end of turn among them",
    "tokens_per_forward": "tokens for each forward pass",
    "forward_passes": "decoder passes, and encoder passes between canvases; in AR one for each token",
    "used": "share of the canvases' positions that hold valid tokens",
    "accepted_first": "positions accepted in step 1 of the first canvas",
    "revised": "times that a position was accepted in two steps in a row with different tokens",
    "released": "times that a position was accepted in one step and not in the next",
    "changed": "positions that were accepted with one token and committed with another",
    "out_of_order": "positions of the text accepted before one to their left was",
    "entropy_first": "mean entropy of step 1 of the first canvas, in nats",
    "entropy_last": "mean entropy of the last step, in nats",
    "shortest_canvas": "steps of the canvas that took the fewest",
    "loops": "canvases that end in a loop",
}
"""The measures that are numbers, and what they count."""

WORDS: dict[str, str] = {
    "stop": "why the run ended",
    "canvas_stop": "why the last canvas ended",
    "text": "the answer",
}
"""The measures that are words."""

OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
    "contains": lambda text, part: part in text,
}
RUNS = ("", "ar.", "base.", "base.ar.")
"""Whose measure it is: of this run, of the same recipe in AR, of the lesson's first run."""

CLAIM = re.compile(r"((?:base\.)?(?:ar\.)?[a-z_]+)\s*(>=|<=|>|<|=|\bcontains\b)\s*(.+)")


class Claim(BaseModel):
    """One claim: a measure, how it is compared, and with what."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    measure: str
    operator: str
    value: float | str
    text: str
    """As it stands in the file."""

    @property
    def names(self) -> tuple[str, ...]:
        """The measures that it speaks of."""
        number = self.measure.rsplit(".", 1)[-1] in NUMBERS
        return (self.measure, self.value) if number and isinstance(self.value, str) else (self.measure,)

    def holds(self, measures: Measures) -> bool:
        """Whether a run's measures, named as in the claim, fulfil it."""
        other = measures.get(self.value, self.value) if isinstance(self.value, str) else self.value
        return OPERATORS[self.operator](measures[self.measure], other)

    def as_json(self) -> dict[str, Any]:
        """As the page takes it."""
        return {"measure": self.measure, "operator": self.operator, "value": self.value, "text": self.text}


def parse(text: str) -> Claim:
    """A claim from its text. Raises `ValueError` with a sentence."""
    found = CLAIM.fullmatch(text.strip())
    if found is None:
        example = "`revised >= 1`, `steps < base.steps` or `stop = end_of_turn`"
        raise ValueError(f"{text.strip()!r} is no claim; write one such as {example}")
    measure, how, value = found.groups()
    kind = measure.rsplit(".", 1)[-1]
    if kind not in NUMBERS and kind not in WORDS:
        raise ValueError(f"{measure!r} is no measure; there are {', '.join((*NUMBERS, *WORDS))}")
    if kind in WORDS:
        if how not in ("=", "contains"):
            raise ValueError(f"{measure} is a text: compare it with = or contains")
        return Claim(measure=measure, operator=how, value=value.strip().strip('"'), text=text.strip())
    if how == "contains":
        raise ValueError(f"{measure} is a number: compare it with >=, <=, >, < or =")
    if value.rsplit(".", 1)[-1] in NUMBERS and value.removesuffix(value.rsplit(".", 1)[-1]) in RUNS:
        return Claim(measure=measure, operator=how, value=value, text=text.strip())
    try:
        number = float(value)
    except ValueError:
        raise ValueError(f"{value!r} is neither a number nor a measure") from None
    if not math.isfinite(number):
        raise ValueError(f"{value!r} is no number that a measure can reach")
    return Claim(measure=measure, operator=how, value=number, text=text.strip())


def measure(events: Iterable[Event]) -> dict[str, Value]:
    """The measures of one run, from its events."""
    numbers: dict[str, float] = dict.fromkeys(NUMBERS, 0.0)
    words = dict.fromkeys(WORDS, "")
    shortest: list[int] = []
    before: Step | None = None
    length = 0
    first: dict[int, int] = {}
    settled: dict[int, int] = {}
    ends: set[int] = set()
    for event in events:
        match event:
            case RunStarted():
                length, ends = event.canvas_length, set(event.end_ids)
            case Step():
                if event.step == 1:
                    before, first, settled = None, {}, {}
                    if event.canvas == 0:
                        numbers["accepted_first"] = sum(event.accepted)
                        numbers["entropy_first"] = event.mean_entropy
                for position, accepted in enumerate(event.accepted):
                    if before is not None and before.accepted[position]:
                        numbers["released"] += not accepted
                        numbers["revised"] += accepted and before.sampled[position] != event.sampled[position]
                    if accepted:
                        first.setdefault(position, event.sampled[position])
                        settled.setdefault(position, event.step)
                numbers["entropy_last"] = event.mean_entropy
                before = event
            case CanvasCommitted():
                numbers["changed"] += sum(first.get(position, id) != id for position, id in enumerate(event.ids))
                text = [position for position, id in enumerate(event.ids) if id not in ends]
                numbers["out_of_order"] += _out_of_order([settled.get(position, math.inf) for position in text])
                words["canvas_stop"] = event.stop_reason
                shortest.append(event.steps)
            case Token():
                numbers["entropy_last"] = event.entropy
            case RunFinished():
                figures = event.metrics
                numbers["steps"] = figures.total_denoising_steps or 0
                numbers["canvases"] = figures.canvases
                numbers["tokens"] = figures.total_tokens
                numbers["tokens_per_forward"] = figures.tokens_per_forward or 0
                numbers["forward_passes"] = figures.forward_passes
                numbers["loops"] = figures.loops
                if event.recipe.mode == "diffusion" and figures.canvases:
                    numbers["used"] = figures.total_tokens / (figures.canvases * length)
                words["stop"], words["text"] = event.stop_reason, event.text
            case _:
                pass
    numbers["shortest_canvas"] = min(shortest, default=0)
    return {**numbers, **words}


def _out_of_order(steps: list[float]) -> int:
    """How many come before one that stands to their left."""
    latest, count = 0.0, 0
    for step in steps:
        count += step < latest
        latest = max(latest, step)
    return count
