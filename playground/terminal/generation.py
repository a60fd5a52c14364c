"""`playground generate`: a recipe from options, then a live run, shown and recorded."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, Protocol

from playground import events
from playground.errors import PlaygroundError
from playground.recipe import Recipe
from playground.settings import Settings
from playground.terminal import console as terminal
from playground.terminal import player
from playground.terminal.lane import Lane
from playground.trace import file as trace_file
from playground.trace.log import RunLog
from playground.uploads import Upload, Uploads


class Steers(Protocol):
    """What the terminal wants of a run that is going on: to end it."""

    def cancel(self) -> None:
        """End the run before its next step."""

    @property
    def cancelled(self) -> bool:
        """Whether `cancel` was called."""
        ...


Start = Callable[[], tuple[Iterable[events.Event], Steers]]
"""Loads the model and gives a run that goes on as its events are taken."""

EXIT_CODES = {"cancelled": terminal.INTERRUPTED, "error": 1}


def recipe(
    prompt: str,
    mode: str,
    seed: int | None,
    max_new_tokens: int | None,
    sampler: Mapping[str, float | str | None],
    decoding: Mapping[str, float | None],
    thinking: bool = False,
    uploads: Sequence[Upload] = (),
) -> Recipe:
    """The recipe that the options describe; None leaves a default. Raises pydantic's `ValidationError`."""
    text = _standard_input() if prompt == "-" else prompt
    shown = [{"type": upload.kind, "sha256": upload.sha256} for upload in uploads]
    given = {
        "mode": mode,
        "messages": [{"role": "user", "content": [*shown, {"type": "text", "text": text}] if shown else text}],
        "thinking": thinking,
        "seed": seed,
        "max_new_tokens": max_new_tokens,
        "sampler": {name: value for name, value in sampler.items() if value is not None},
        "decoding": {name: value for name, value in decoding.items() if value is not None},
    }
    return Recipe.model_validate({name: value for name, value in given.items() if value is not None})


def uploads(files: Sequence[Path], settings: Settings) -> list[Upload]:
    """Pictures and text files for the prompt. Raises `PlaygroundError` for what is neither, or cannot be read."""
    known = Uploads(settings.keep_uploads_bytes, settings.upload_bytes, settings.max_pixels)
    found = []
    for file in files:
        try:
            found.append(known.put(file.read_bytes()))
        except OSError as error:
            raise PlaygroundError("bad_upload", f"{file} cannot be read: {error.strerror or error}", "upload") from None
        except PlaygroundError as error:
            raise PlaygroundError(error.code, f"{file}: {error.message}", "upload") from None
    return found


def run(start: Start, trace: Path | None, as_json: bool, steps_per_second: float) -> int:
    """Start a run, show it, record it if there is a file for that, and return the exit code.

    The trace's file is tried first. Raises `PlaygroundError` for what cannot be run or written.
    """
    if trace is None:
        return _run(start, None, as_json, steps_per_second)
    with trace_file.writing(trace) as file:
        return _run(start, file, as_json, steps_per_second)


def _run(start: Start, trace: BinaryIO | None, as_json: bool, steps_per_second: float) -> int:
    with terminal.ending_at_once():
        source, steering = start()
    console = terminal.standard_output()
    drawn = console if player.animates(console) and not as_json else None
    with terminal.on_interrupt(steering.cancel) as codes:
        lane = player.play(
            _logged(source, trace),
            drawn,
            steps_per_second=steps_per_second,
            interrupted=lambda: steering.cancelled,
        )
    terminal.finish(lane, console, as_json)
    if lane.error is not None and as_json:
        print(f"playground: {lane.error.message}", file=sys.stderr)
    return codes[0] if codes else _exit_code(lane)


def _exit_code(lane: Lane) -> int:
    return EXIT_CODES.get(lane.finished.stop_reason, 0) if lane.finished else 1


def _logged(source: Iterable[events.Event], trace: BinaryIO | None) -> Iterator[events.Event]:
    """The events as the run's log numbers them, each written to the trace as it comes."""
    log = RunLog()
    for event in source:
        numbered = log.append(event)
        if trace is not None:
            trace.write(log.line(len(log) - 1) + b"\n")
        yield numbered


def _standard_input() -> str:
    if sys.stdin is None:
        raise PlaygroundError("bad_request", "standard input is closed", "messages")
    try:
        return sys.stdin.buffer.read().decode("utf-8").removesuffix("\n")
    except UnicodeDecodeError as error:
        raise PlaygroundError("bad_request", f"standard input is not UTF-8 ({error.reason})", "messages") from None
