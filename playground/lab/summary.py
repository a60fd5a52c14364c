"""The table of a sweep: a line for each setting."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from playground.lab.results import Row
from playground.tiny.evaluation import wilson_interval


@dataclass(frozen=True)
class Line:
    """A setting's figures: runs, right answers of those that can be told (with a 95 % interval by Wilson), means over
    runs of effective denoising steps, tokens per forward pass and tokens, runs that went in circles, seconds in all."""

    setting: dict[str, Any]
    runs: int
    told: int
    right: int
    low: float
    high: float
    effective_denoising_steps: float | None
    tokens_per_forward: float | None
    tokens: float
    loops: int
    seconds: float

    @property
    def accuracy(self) -> float | None:
        """Share of right answers; None where nothing tells."""
        return self.right / self.told if self.told else None


def lines(rows: Sequence[Row]) -> list[Line]:
    """A line for each setting, in order of first appearance."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.setting, []).append(row)
    return [_line(json.loads(setting), group) for setting, group in groups.items()]


def _line(setting: dict[str, Any], rows: list[Row]) -> Line:
    told = [row.right for row in rows if row.right is not None]
    low, high = wilson_interval(sum(told), len(told))
    return Line(
        setting=setting,
        runs=len(rows),
        told=len(told),
        right=sum(told),
        low=low,
        high=high,
        effective_denoising_steps=_mean([row.effective_denoising_steps for row in rows]),
        tokens_per_forward=_mean([row.tokens_per_forward for row in rows]),
        tokens=sum(row.tokens for row in rows) / len(rows),
        loops=sum(row.loop for row in rows),
        seconds=sum(row.seconds for row in rows),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
