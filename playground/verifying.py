"""`playground verify`: a trace, the files that went with its prompt, and the model that is to give the same again."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from playground.events import Event
    from playground.settings import Settings
    from playground.uploads import Upload


def verify(
    trace: Annotated[Path, typer.Argument(metavar="FILE", help="A trace, written here or on another machine.")],
    model: Annotated[str | None, typer.Option(help="embedded, a checkpoint folder or a hub id.")] = None,
    upload: Annotated[
        list[Path] | None, typer.Option(help="A picture or text file that its prompt has; may be given again.")
    ] = None,
    tolerance: Annotated[
        float, typer.Option(min=0, help="How far entropies may differ, in nats; 0 demands the same bits.")
    ] = 1e-3,
) -> None:
    """Run a trace again, step by step, and name the first event that does not follow from the recipe and the model.

    Exit codes: 0 everything follows, 1 something does not, 2 not a whole trace, another model, or a missing upload.
    """
    from playground.terminal import console, refusal
    from playground.trace import file as trace_file

    with refusal.in_a_sentence():
        settings = refusal.settings(model=model)
        events = trace_file.read(trace, settings.max_trace_bytes)
        uploads = _uploads(upload or [], events, settings)  # known before the model is loaded, which may take long
        from playground.engine import models
        from playground.engine import verify as verifying
        from playground.errors import PlaygroundError

        try:
            loaded = models.load(settings, console.tell)
        except PlaygroundError as error:
            raise PlaygroundError(error.code, error.message, "model") from None
        for each in uploads:
            loaded.uploads.put(each.data)
        try:
            verdict = verifying.verify(loaded, events, tolerance)
        except verifying.DoesNotFollow as fault:
            typer.echo(f"{trace}: {fault.message}")
            raise typer.Exit(1) from None
        typer.echo(f"{trace}: {verdict.sentence()}")


def _uploads(files: Sequence[Path], events: "Sequence[Event]", settings: "Settings") -> "list[Upload]":
    """The files as uploads. Raises `PlaygroundError` for one that the trace does not name, and for what is missing."""
    from playground.errors import PlaygroundError
    from playground.events import RunFinished, RunStarted
    from playground.terminal import generation
    from playground.uploads import in_words

    finished = events[-1]
    assert isinstance(finished, RunFinished)
    named = [part for message in finished.recipe.messages for part in message.uploads]
    found = generation.uploads(files, settings)
    for file, each in zip(files, found, strict=True):
        if each.sha256 not in {part.sha256 for part in named}:
            has = in_words(named) or "no uploads"
            message = f"{file} (SHA-256 {each.sha256}) is not in the trace's prompt, which has {has}"
            raise PlaygroundError("bad_upload", message, "upload")
    lacking = [part for part in named if part.sha256 not in {each.sha256 for each in found}]
    if lacking and isinstance(events[0], RunStarted):
        message = f"the trace's prompt has uploads that were not given: {in_words(lacking)}"
        raise PlaygroundError("unknown_upload", message, "upload")
    return found
