"""What `playground sweep` does: run a sweep or go on with one, and print its table."""

import json
import os
import random
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from playground.errors import PlaygroundError
from playground.lab import export as exporting
from playground.lab import figures as drawing
from playground.lab import spec as specs
from playground.lab.cells import cells, count
from playground.lab.report import released
from playground.lab.results import Results
from playground.lab.summary import Line, lines

if TYPE_CHECKING:
    from playground.engine.models import Model
    from playground.settings import Settings

WIDE = 200
"""Columns of the table where it goes to a file or a pipe."""

TRIED = 3
"""Runs that are tried for an estimate of the time."""

Interrupts = Callable[[Callable[[], None]], AbstractContextManager[list[int]]]
"""Catches Ctrl-C while inside; the list then has the exit code for it."""


def run_sweep(
    file: Path,
    out: Path | None,
    export: Path | None,
    *,
    load: "Callable[[], tuple[Model, Settings]]",
    interrupts: Interrupts,
    output: Console,
    figures: Path | None = None,
    dry_run: bool = False,
    as_json: bool = False,
) -> int:
    """Run the sweep of a spec's file; gives the exit code.

    Raises:
        PlaygroundError, pydantic.ValidationError: before anything runs, for a spec or a file that will not do.
    """
    results = Results(out or file.with_suffix(".sqlite"))
    if export is not None:
        exporting.kind_of(export)
    for name, target in (("out", results.file), ("export", export), ("figures", figures)):
        if target is not None:
            _can_be_written(name, target)
    spec = specs.read(file)
    many, asked, seeds = count(spec)
    total = many * asked * seeds
    console = Console(stderr=True, highlight=False, markup=False)
    console.print(f"{many} settings × {asked} questions × {seeds} seeds: {total} runs")
    next(cells(spec, "any"))  # every setting is a recipe, before a model is loaded

    from playground.lab.work import run, sweep

    model, settings = load()
    if dry_run:
        some = random.Random(0).sample(list(cells(spec, model.name)), min(TRIED, total))
        pace = sum(run(model, cell).seconds for cell in some) / len(some)
        console.print(f"about {duration(pace * total)}, by {len(some)} runs that were tried")
        return 0
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[left]}"))
    with interrupts(lambda: None) as codes, Progress(*columns, console=console) as bar:
        task = bar.add_task(spec.name, total=total, left="")
        whole = sweep(
            spec,
            model,
            settings,
            results,
            lambda progress: bar.update(
                task, completed=progress.done, total=progress.total, left=left(progress.seconds_left)
            ),
            lambda: bool(codes),
        )
    rows = results.rows()
    if export is not None:
        exporting.write(rows, export)
    if figures is not None:
        drawing.write(drawing.all_of(rows, released(spec, lines(rows))), spec.name, figures)
    found = lines(rows)
    if as_json:
        output.file.write(json.dumps({"name": spec.name, "whole": whole, "settings": [asdict(line) for line in found]}))
    else:
        if not output.is_terminal:
            output.width = WIDE
        output.print(table(found))
    if not whole:
        console.print("Stopped. The same command goes on where it stopped.")
        return codes[0]
    return 0


def _can_be_written(name: str, file: Path) -> None:
    """Before anything runs. Raises `PlaygroundError` for a file that could not be written in the end."""
    folder = file.absolute().parent
    reason = None
    if not folder.is_dir():
        reason = f"there is no folder {folder}"
    elif file.is_dir():
        reason = "it is a folder"
    elif not os.access(file if file.exists() else folder, os.W_OK):
        reason = "permission denied"
    if reason:
        raise PlaygroundError("bad_request", f"{file} cannot be written: {reason}.", name)


def left(seconds: float | None) -> str:
    """How long it may still take."""
    return "" if seconds is None else f"{duration(seconds)} left"


def duration(seconds: float) -> str:
    """Seconds in words: '40 s', '3 min', '2.5 h'."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def table(found: list[Line]) -> Table:
    """The table, best settings first where answers can be told right from wrong."""
    names = list(found[0].setting) if found else []
    printed = Table(box=None, header_style="", padding=(0, 2, 0, 0))
    for title in (*(name.rsplit(".", 1)[-1] for name in names), "runs", "right", "95 % interval"):
        printed.add_column(title, justify="right", overflow="fold")
    for title in ("steps", "TPF", "tokens", "loops"):
        printed.add_column(title, justify="right")
    for line in sorted(found, key=lambda each: -(each.accuracy or 0)):
        printed.add_row(
            *(_value(line.setting[name]) for name in names),
            str(line.runs),
            _fixed(line.accuracy, 3),
            "" if line.accuracy is None else f"{line.low:.3f} to {line.high:.3f}",
            _fixed(line.effective_denoising_steps, 1),
            _fixed(line.tokens_per_forward, 2),
            _fixed(line.tokens, 1),
            str(line.loops),
        )
    return printed


def _fixed(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _value(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
