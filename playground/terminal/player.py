"""Plays the events of a run, live or recorded, at a pace that a person can follow."""

import time
from collections.abc import Callable, Iterable

from rich.console import Console
from rich.live import Live

from playground import events
from playground.terminal.lane import Lane
from playground.terminal.view import draw

_SLICE = 0.05  # seconds; an interrupt is noticed within this time


def animates(console: Console) -> bool:
    """Whether this console is a terminal on which lines can be redrawn."""
    return console.file.isatty() and console.is_terminal and not console.is_dumb_terminal


def play(
    source: Iterable[events.Event],
    console: Console | None,
    *,
    steps_per_second: float = 0.0,
    recorded: bool = False,
    interrupted: Callable[[], bool] = lambda: False,
) -> Lane:
    """Take in all events of `source`, redrawing the lane on `console` after each; without a console nothing is drawn.

    A live source makes its next step only when it is asked for one, so the pace (0: none) holds the run back as well.
    When `interrupted` says so, the pace is dropped, for the source to come to its end.
    """
    lane = Lane()
    if console is None:
        for event in source:
            lane.apply(event)
        return lane
    with Live(console=console, auto_refresh=False, transient=True) as live:
        for event in source:
            lane.apply(event)
            live.update(draw(lane, console, recorded), refresh=True)
            if steps_per_second and isinstance(event, events.CanvasStarted | events.Step | events.Token):
                _wait(1 / steps_per_second, interrupted)
    return lane


def _wait(seconds: float, interrupted: Callable[[], bool]) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0 and not interrupted():
        time.sleep(min(left, _SLICE))
