"""The browser's account of the wire has exactly the fields that the events have."""

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from playground import events
from playground.parameters import (
    Decoding,
    EntropyBoundSampler,
    EulerSampler,
    FixedKSampler,
    MarginSampler,
    TopProbabilitySampler,
)
from playground.recipe import Recipe

STATIC = Path(__file__).parents[2] / "static"

TYPES: dict[str, type[BaseModel]] = {
    "RunStarted": events.RunStarted,
    "CanvasStarted": events.CanvasStarted,
    "Step": events.Step,
    "Token": events.Token,
    "CanvasCommitted": events.CanvasCommitted,
    "Metrics": events.Metrics,
    "RunFinished": events.RunFinished,
    "RunError": events.Error,
    "Recipe": Recipe,
    "Decoding": Decoding,
}


@pytest.mark.parametrize("name", TYPES)
def test_fields(name: str) -> None:
    assert _declared(name) == set(TYPES[name].model_fields)


def test_fields_of_any_sampler() -> None:
    rules = (EntropyBoundSampler, TopProbabilitySampler, MarginSampler, FixedKSampler, EulerSampler)
    assert _declared("Sampler") == {name for rule in rules for name in rule.model_fields}


def _declared(name: str) -> set[str]:
    text = (STATIC / "run" / "wire.js").read_text()
    found = re.search(rf"@typedef {{object}} {name}\n(( \* @property .*\n)+)", text)
    assert found is not None
    return set(re.findall(r"@property \{.*?\} \[?(\w+)\]?", found[1]))
