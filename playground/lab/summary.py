"""The table of a sweep: a line for each setting."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from playground.lab.results import Row
from playground.tiny.evaluation import wilson_interval


@dataclass(frozen=True)
class Line:
    """A setting's figures: runs, right answers of those that can be told (with a 95 % interval by Wilson), means over
    runs of effective denoising steps, tokens per forward pass and tokens, the share of canvases that took all their
    steps, runs with a loop, seconds in all."""

    setting: dict[str, Any]
    runs: int
    told: int
    right: int
    low: float
    high: float
    effective_denoising_steps: float | None
    tokens_per_forward: float | None
    tokens: float
    capped: float | None
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


def pareto(found: Sequence[Line], cost: str, more: bool) -> list[Line]:
    """Settings that none other beats in both: at least as right and at least as cheap, and better in one.

    `cost` is the name of a figure; `more`: whether more of it is better.
    """
    sign = 1 if more else -1

    def place(line: Line) -> tuple[float, float]:
        return line.accuracy or 0.0, sign * float(getattr(line, cost))

    front, best = set(), -math.inf
    for right, cheap in sorted({place(line) for line in found}, reverse=True):
        if cheap > best:
            front.add((right, cheap))
            best = cheap
    return [line for line in found if place(line) in front]


Outcomes = dict[tuple[int, int], int]
"""1 for right, 0 for wrong, by question and seed."""


def outcomes(rows: Sequence[Row]) -> dict[str, Outcomes]:
    """By setting, as the JSON that stands in its rows; runs of which nothing can be told are left out."""
    found: dict[str, Outcomes] = {}
    for row in rows:
        if row.right is not None:
            found.setdefault(row.setting, {})[row.question, row.seed] = row.right
    return found


def difference(one: Outcomes, other: Outcomes) -> tuple[float, float, int]:
    """How much more often `one` is right than `other`, on the same questions with the same seeds.

    Gives the mean difference, its standard error, and the number of pairs.

    Raises:
        ValueError: without a pair.
    """
    differences = [one[pair] - other[pair] for pair in one.keys() & other.keys()]
    if not differences:
        raise ValueError("no question was answered under both settings")
    mean = sum(differences) / len(differences)
    spread = sum((difference - mean) ** 2 for difference in differences) / max(1, len(differences) - 1)
    return mean, (spread / len(differences)) ** 0.5, len(differences)


def paired(rows: Sequence[Row], one: dict[str, Any], other: dict[str, Any]) -> tuple[float, float, int]:
    """`difference` of two settings."""
    found = outcomes(rows)
    first, second = (found.get(name_of(setting), {}) for setting in (one, other))
    return difference(first, second)


def name_of(setting: dict[str, Any]) -> str:
    """The JSON of a setting that stands in its rows."""
    return json.dumps(setting, sort_keys=True)


def agreeing(rows: Sequence[Row], reference: dict[str, Any]) -> list[Row]:
    """The rows, where being right means: the same answer, word for word, as the setting `reference` gave to the same
    question with the same seed. Nothing is told of runs that failed or have no such partner."""
    name = name_of(reference)
    answers = {(row.question, row.seed): row.text for row in rows if row.setting == name and row.stop_reason != "error"}

    def same(row: Row) -> int | None:
        answer = answers.get((row.question, row.seed))
        return None if answer is None or row.stop_reason == "error" else int(row.text == answer)

    return [replace(row, right=same(row)) for row in rows]


def slowest(found: Sequence[Line]) -> dict[str, Any] | None:
    """The setting that takes most steps, which is what others can be held against where no released one is there."""
    known = [line for line in found if line.effective_denoising_steps is not None]
    return max(known, key=lambda line: line.effective_denoising_steps or 0).setting if known else None


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
        capped=_mean([row.capped / row.canvases if row.canvases else None for row in rows]),
        loops=sum(row.loops > 0 for row in rows),
        seconds=sum(row.seconds for row in rows),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
