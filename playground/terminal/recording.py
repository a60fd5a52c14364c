"""`playground replay`: a trace through the same player as a live run."""

from collections.abc import Iterator
from pathlib import Path

import typer

from playground import events
from playground.terminal import console as terminal
from playground.terminal import player
from playground.trace import file as trace_file


def replay(file: Path, as_json: bool, steps_per_second: float, most_bytes: int) -> None:
    """Check the trace, play it and print how it ended; Ctrl-C skips to nothing and exits with 130."""
    trace = trace_file.read(file, most_bytes)
    console = terminal.standard_output()
    drawn = console if player.animates(console) and not as_json else None
    stopped: list[bool] = []

    def until_stopped() -> Iterator[events.Event]:
        for event in trace:
            if stopped:
                return
            yield event

    with terminal.on_interrupt(lambda: stopped.append(True)) as codes:
        lane = player.play(
            until_stopped(),
            drawn,
            steps_per_second=steps_per_second,
            recorded=True,
            interrupted=lambda: bool(stopped),
        )
    if lane.finished is None:
        raise typer.Exit(codes[0] if codes else terminal.INTERRUPTED)
    terminal.finish(lane, console, as_json)
