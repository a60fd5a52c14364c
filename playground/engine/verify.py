"""Derives a recorded run again from its recipe and a model, and names the first event that does not follow.

Each step is checked on its own: the model is fed the canvas that was recorded, so that a difference that is allowed in
one step does not break all later ones. What follows from recorded numbers must be equal: temperatures, the mask from
the recorded entropies, renoised ids, pins and edits, the stop, commits, texts, and the metrics from the recorded times.
What the model gives may differ within a margin (see `margins`): entropies and log-probabilities by that many nats, the
argmax and the sample where the other token was that close.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from playground.engine import answers
from playground.engine.margins import Margins
from playground.engine.models import Model
from playground.engine.prompts import Prompt
from playground.engine.recorded import DoesNotFollow, Recorded, expect
from playground.engine.verify_autoregressive import TokensCheck
from playground.engine.verify_diffusion import CanvasesCheck
from playground.errors import PlaygroundError
from playground.events import Error, Event, Picture, RunFinished, RunStarted
from playground.metrics import Meter
from playground.recipe import Recipe, SetDecoding, SetSampler
from playground.uploads import Uploads, in_words

__all__ = ["DoesNotFollow", "Verdict", "check_uploads", "verify"]

NOT_DERIVED = {"wall_seconds", "shared_device", "reused_tokens"}
"""Metrics that are of the day, not of the recipe."""

SAME_BITS = 1e-9
"""Times are sums of decimals."""


@dataclass(frozen=True)
class Verdict:
    """How a trace stood the check."""

    events: int
    passes: int
    """Forward passes that were run again."""
    differing: int
    """Decisions that differ from ours and are allowed to."""
    largest: float
    """The largest difference of an entropy, in nats."""

    def sentence(self) -> str:
        """The verdict in words."""
        exact = "with the same bits" if self.largest == 0 else f"entropies within {self.largest:.1e} nats"
        other = f", {self.differing} decisions differ inside the margin" if self.differing else ""
        return f"all {self.events} events follow ({self.passes} passes run again, {exact}{other})"


def verify(model: Model, events: Sequence[Event], tolerance: float = 1e-3) -> Verdict:
    """Check a whole trace, as `playground.trace.file` reads it, against a model.

    tolerance: in nats; 0 demands the same bits. Raises `DoesNotFollow` for the first event that does not follow, and
    `PlaygroundError` where the trace is of another model, or the model lacks an upload that its prompt names.
    """
    recorded = Recorded(events)
    meter = Meter()
    try:
        return _verify(model, recorded, events, Margins(tolerance), meter)
    except DoesNotFollow as fault:
        started = events[0]
        if isinstance(started, RunStarted):
            theirs = _made_in(started.dtype, started.device, started.compiled)
            ours = _made_in(model.dtype, model.device, model.compiled)
            if theirs != ours:
                fault.message += f" (recorded {theirs}, checked {ours})"
                fault.args = (fault.message,)
        raise


def _made_in(dtype: str, device: str, compiled: bool) -> str:
    return f"in {dtype} on {device}{' with a compiled step' if compiled else ''}"


def _verify(model: Model, recorded: Recorded, events: Sequence[Event], margins: Margins, meter: Meter) -> Verdict:
    if isinstance(recorded.next, Error):  # it failed before it began
        recorded.take(Error, "")
        end = recorded.take(RunFinished, "an error ends the run")
        _check_end(model, end, end.recipe, [], "error", meter)
        return Verdict(len(events), 0, 0, 0.0)
    started = recorded.take(RunStarted, "a run begins with it")
    finished = events[-1]
    assert isinstance(finished, RunFinished)
    prompt = _check_model(model, started)
    recipe = _check_recipe(started, finished)
    kind = CanvasesCheck if recipe.mode == "diffusion" else TokensCheck
    check = kind(model, recipe, prompt, recorded, margins)
    complete = check.run()
    stop_reason = "end_of_turn" if check.ids and check.ids[-1] in model.end_ids else "max_new_tokens"
    if not complete:
        stop_reason = "error" if isinstance(recorded.next, Error) else "cancelled"
        if isinstance(recorded.next, Error):
            recorded.take(Error, "")
    end = recorded.take(RunFinished, "the run is over" if complete else "nothing else can come here")
    for event in events:
        meter.see(event)
    _check_end(model, end, recipe, check.ids, stop_reason, meter)
    return Verdict(len(events), check.passes, check.differing, check.largest)


def _check_model(model: Model, started: RunStarted) -> Prompt:
    """What the run says of the model and the prompt; gives the prompt as the model reads it."""
    if started.model_revision != model.revision:
        raise PlaygroundError(
            "bad_request",
            f"the trace is of the model {started.recipe.model!r} in revision {started.model_revision}; "
            f"the model {model.name!r} here has revision {model.revision}, so nothing can be said",
            "model",
        )
    told = ("channel_ids",) if started.channel_ids is not None else ()
    for name in ("canvas_length", "vocab_size", "end_ids", *told):
        expect(started, name, getattr(model, name))
    recipe = started.recipe
    check_uploads(model.uploads, recipe)
    prompt = model.prompt(recipe.messages, recipe.thinking)
    expect(started, "prompt_ids", prompt.ids)
    _check_pictures(started, model.thumbnails(prompt))
    expect(started, "texts", model.pieces(started.prompt_ids, model.end_ids))
    return prompt


def check_uploads(uploads: Uploads, recipe: Recipe) -> None:
    """Raise `PlaygroundError` (`unknown_upload`) naming each picture and text file of the prompt that is not there."""
    lacking = uploads.lacking(part for message in recipe.messages for part in message.uploads)
    if lacking:
        message = f"the trace's prompt has uploads that are not here: {in_words(lacking)}"
        raise PlaygroundError("unknown_upload", message, "upload")


def _check_pictures(started: RunStarted, derived: Sequence[Picture]) -> None:
    """Thumbnails apart: another version of the library that makes them gives other bytes."""
    if len(started.pictures) != len(derived):
        raise DoesNotFollow(started, "pictures", f"it has {len(started.pictures)} where {len(derived)} follow")
    for at, (theirs, ours) in enumerate(zip(started.pictures, derived, strict=True)):
        for name in ("sha256", "width", "height", "tokens"):
            said, follows = getattr(theirs, name), getattr(ours, name)
            if said != follows:
                raise DoesNotFollow(started, "pictures", f"{name} of entry {at} is {said!r} where {follows!r} follows")


def _check_recipe(started: RunStarted, finished: RunFinished) -> Recipe:
    """The recipe with all edits: that of the start, and what was set on the way."""
    edits = started.recipe.edits
    made = finished.recipe.edits[len(edits) :]
    if finished.recipe != started.recipe.model_copy(update={"edits": [*edits, *made]}) or not all(
        isinstance(edit, SetSampler | SetDecoding) for edit in made
    ):
        reason = "it is not the recipe of run_started with parameter changes behind its edits"
        raise DoesNotFollow(finished, "recipe", reason)
    return finished.recipe


def _check_end(model: Model, end: RunFinished, recipe: Recipe, ids: list[int], stop_reason: str, meter: Meter) -> None:
    expect(end, "stop_reason", stop_reason)
    answer = answers.read(ids[: recipe.max_new_tokens], model.end_ids, model.channel, model.decode)
    expect(end, "text", answer.text)
    expect(end, "thought", answer.thought)
    expect(end, "loop", meter.loop)
    metrics = end.metrics
    derived = meter.metrics(recipe.mode, metrics.wall_seconds, metrics.shared_device, recipe.max_new_tokens)
    thinking = answers.thinking_tokens(ids, model.channel, model.end_ids)
    derived = derived.model_copy(update={"thinking_tokens": thinking})
    for name in type(metrics).model_fields.keys() - NOT_DERIVED:
        ours, theirs = getattr(derived, name), getattr(metrics, name)
        same = ours == theirs or (None not in (ours, theirs) and abs(ours - theirs) <= SAME_BITS * abs(ours))
        if not same:
            raise DoesNotFollow(end, f"metrics.{name}", f"it is {theirs!r} where {ours!r} follows from the events")
    if not metrics.wall_seconds >= 0:
        raise DoesNotFollow(end, "metrics.wall_seconds", f"it is {metrics.wall_seconds!r}")
