"""What `playground lesson` does: check a file, run its recipes, hold its claims, look for a seed that shows them."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from playground.errors import PlaygroundError
from playground.events import Event
from playground.lessons.lesson import Lesson, Mistake
from playground.lessons.proving import RunIt, prove
from playground.lessons.reading import read
from playground.recipe import Recipe

Say = Callable[[str], None]


def lesson(
    file: Annotated[Path, typer.Argument(help="A lesson, see docs/teaching.md.")],
    run: Annotated[bool, typer.Option("--run", help="Make its runs, and say of each claim whether it holds.")] = False,
    seeds: Annotated[int, typer.Option(min=0, help="Instead: try the seeds below this one for all its runs.")] = 0,
    model: Annotated[str | None, typer.Option(help="embedded, a checkpoint folder or a hub id.")] = None,
) -> None:
    """Check a lesson file: what is wrong with it and in which line, and whether its runs show what it claims.

    Exit codes: 0 all is well, 1 a claim does not hold, 2 the file has a mistake.
    """
    from playground.terminal import refusal

    with refusal.in_a_sentence():
        check_lesson(file, typer.echo, None, 0)
        code = check_lesson(file, typer.echo, _runs(model), seeds) if run or seeds else 0
    raise typer.Exit(code)


def _runs(model: str | None) -> RunIt:
    """The model's own runs. Raises `PlaygroundError`, or pydantic's error for a wrong setting."""
    from playground.engine import models, runs
    from playground.engine.steering import Steering
    from playground.terminal import refusal

    settings = refusal.settings(model=model)
    loaded = models.load(settings)

    def events(recipe: Recipe) -> Iterator[Event]:
        ready = runs.prepare(loaded, recipe, settings)
        return runs.events(loaded, ready, Steering(ready))

    return events


def check_lesson(file: Path, say: Say, run: RunIt | None, seeds: int) -> int:
    """The exit code: 0 all is well, 1 a claim does not hold (or no seed below `seeds` makes all hold).

    run: makes a recipe's events; without it the file is only read. Raises `PlaygroundError` (field `file`), which
    names the line.
    """
    try:
        found = read(file)
    except Mistake as mistake:
        raise PlaygroundError("bad_request", f"{file}, line {mistake.line}: {mistake.message}", "file") from None
    if run is None:
        say(f"{file}: {found.title}, {_count(len(found.parts), 'part')}, {_count(_claims(found), 'claim')}")
        return 0
    return _find_seed(found, say, run, seeds) if seeds else _hold(found, say, run)


def _hold(lesson: Lesson, say: Say, run: RunIt) -> int:
    fine = True
    for finding in prove(lesson, run):
        fine &= finding.holds
        found = f"{finding.found:g}" if isinstance(finding.found, float) else str(finding.found).replace("\n", " ")[:60]
        say(f"  {'holds' if finding.holds else 'FAILS'}  line {finding.line}: {finding.claim.text} (it is {found})")
    return 0 if fine else 1


def _find_seed(lesson: Lesson, say: Say, run: RunIt, seeds: int) -> int:
    """Says every seed below `seeds` with which all claims hold."""
    good = []
    for seed in range(seeds):
        if all(finding.holds for finding in prove(lesson, run, seed)):
            good.append(seed)
            say(f"  seed {seed}: all claims hold")
    if not good:
        say(f"  no seed below {seeds} makes all claims hold")
    return 0 if good else 1


def _claims(lesson: Lesson) -> int:
    return sum(len(run.shows) for run in (lesson.run, *(part.run for part in lesson.parts)) if run)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
