"""Standard output and interrupts, as a command that shows a run needs them."""

import json
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from rich.console import Console

from playground.terminal import report
from playground.terminal.lane import Lane

INTERRUPTED = 130


def standard_output() -> Console:
    """Standard output as a console on which text that its encoding lacks is spelled out rather than refused."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
    return Console(file=sys.stdout, highlight=False, markup=False, emoji=False)


@contextmanager
def ending_at_once() -> Iterator[None]:
    """While inside, Ctrl-C ends the program without a word: nothing has begun, and imports take exceptions badly."""
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def on_interrupt(act: Callable[[], None]) -> Iterator[None]:
    """While inside, the first Ctrl-C calls `act`; a second one ends the program as usual."""

    def once(_signal: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, before)
        act()

    before = signal.signal(signal.SIGINT, once)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def finish(lane: Lane, console: Console, as_json: bool) -> None:
    """Print the end of a finished run: as one JSON object, or the answer, its figures and why it stopped."""
    if not as_json:
        report.show(lane, console)
    elif lane.finished is not None:
        parts = lane.finished.model_dump(mode="json", include={"text", "metrics", "recipe"})
        # ASCII, so that the object survives any encoding of standard output
        print(json.dumps({name: parts[name] for name in ("text", "metrics", "recipe")}), file=console.file)
