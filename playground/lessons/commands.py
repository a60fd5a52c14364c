"""`playground lesson`: check a file, run its recipes, hold its claims, look for a seed that shows them."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from playground.events import Event
    from playground.lessons.proving import RunIt
    from playground.recipe import Recipe


def lesson(
    file: Annotated[Path, typer.Argument(help="A lesson, see docs/teaching.md.")],
    run: Annotated[bool, typer.Option("--run", help="Make its runs, and say of each claim whether it holds.")] = False,
    seeds: Annotated[int, typer.Option(min=0, help="Instead: try the seeds below this one for all its runs.")] = 0,
    model: Annotated[str | None, typer.Option(help="embedded, a checkpoint folder or a hub id.")] = None,
) -> None:
    """Check a lesson file: what is wrong with it and in which line, and whether its runs show what it claims.

    Exit codes: 0 all is well, 1 a claim does not hold, 2 the file has a mistake.
    """
    from playground.lessons.checking import check_lesson
    from playground.terminal import refusal

    with refusal.in_a_sentence():
        check_lesson(file, typer.echo, None, _recorded, 0)
        code = check_lesson(file, typer.echo, _runs(model), _recorded, seeds) if run or seeds else 0
    raise typer.Exit(code)


def _recorded(name: str) -> "list[Event]":
    """A recording of the folder that the settings name. Raises `PlaygroundError`."""
    from playground.errors import PlaygroundError
    from playground.terminal import refusal
    from playground.trace import file

    folder = refusal.settings().recordings
    if not folder:
        raise PlaygroundError(
            "bad_request", f"{name}: PLAYGROUND_RECORDINGS names no folder to find it in.", "recording"
        )
    return file.read(Path(folder).expanduser() / name)


def _runs(model: str | None) -> "RunIt":
    """The model's own runs. Raises `PlaygroundError`, or pydantic's error for a wrong setting."""
    from playground.engine import models, runs
    from playground.engine.steering import Steering
    from playground.terminal import refusal

    settings = refusal.settings(model=model)
    loaded = models.load(settings)

    def events(recipe: "Recipe") -> "Iterator[Event]":
        ready = runs.prepare(loaded, recipe, settings)
        return runs.events(loaded, ready, Steering(ready))

    return events
