"""Runs a lesson's recipes and holds its claims against the traces."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from playground.events import Event
from playground.lessons.claims import Claim, Measures, Value, measure
from playground.lessons.lesson import Lesson, Run
from playground.recipe import Recipe

RunIt = Callable[[Recipe], Iterable[Event]]
Recorded = Callable[[str], Iterable[Event]]
"""The events of a recording, by the name of its file."""


@dataclass(frozen=True)
class Finding:
    """One claim and what the run showed."""

    line: int
    """Of the recipe in the lesson's file."""
    claim: Claim
    found: Value
    holds: bool


def prove(lesson: Lesson, run: RunIt, recorded: Recorded, seed: int | None = None) -> Iterator[Finding]:
    """Every claim of a lesson, beside what its run shows. seed: in place of that of the file."""
    base = measures(lesson, lesson.run, run, recorded, seed)
    yield from _found(lesson.run, base)
    for part in lesson.parts:
        if part.run is not None and part.run.shows:
            own = measures(lesson, part.run, run, recorded, seed)
            yield from _found(part.run, {**own, **{f"base.{name}": value for name, value in base.items()}})


def measures(lesson: Lesson, wanted: Run, run: RunIt, recorded: Recorded, seed: int | None = None) -> dict[str, Value]:
    """The measures of one of its runs; those of the same recipe in AR too where a claim asks for them."""
    if wanted.recipe is None:
        return measure(recorded(str(wanted.recording)))
    recipe = wanted.recipe if seed is None else wanted.recipe.model_copy(update={"seed": seed})
    found = measure(run(recipe))
    claims = [claim for each in (lesson.run, *(part.run for part in lesson.parts)) if each for claim in each.shows]
    if any("ar." in name for claim in claims for name in claim.names):
        written = recipe.model_copy(update={"mode": "autoregressive", "edits": []})
        found |= {f"ar.{name}": value for name, value in measure(run(written)).items()}
    return found


def _found(wanted: Run, of: Measures) -> Iterator[Finding]:
    for claim in wanted.shows:
        yield Finding(wanted.line, claim, of[claim.measure], claim.holds(of))
