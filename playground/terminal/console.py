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


def tell(sentence: str) -> None:
    """How far the loading is, on standard error; a model that is there at once needs no words."""
    if not sentence.startswith("Loading the model 'embedded'"):
        print(f"playground: {sentence}", file=sys.stderr, flush=True)


@contextmanager
def ending_at_once() -> Iterator[None]:
    """While inside, Ctrl-C ends the program without a word: nothing has begun, and imports take exceptions badly."""
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def on_interrupt(act: Callable[[], None]) -> Iterator[list[int]]:
    """While inside, the first Ctrl-C or SIGTERM calls `act`, so that the terminal is left as it was; a second one ends
    the program as usual. Gives a list that then has the exit code for it: 130 or 143."""
    codes: list[int] = []

    def once(received: int, _frame: FrameType | None) -> None:
        restore()
        codes.append(128 + received)
        act()

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    before = {number: signal.signal(number, once) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield codes
    finally:
        restore()


def finish(lane: Lane, console: Console, as_json: bool) -> None:
    """Print the end of a finished run: as one JSON object, or the answer, its figures and why it stopped."""
    if not as_json:
        report.show(lane, console)
    elif lane.finished is not None:
        parts = lane.finished.model_dump(mode="json", include={"text", "metrics", "recipe"})
        # ASCII, so that the object survives any encoding of standard output
        print(json.dumps({name: parts[name] for name in ("text", "metrics", "recipe")}), file=console.file)
