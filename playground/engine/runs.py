"""A run from its recipe: checks before it starts, its events, and an ending whatever happens."""

import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime

import structlog
import torch

from playground import __version__
from playground.engine import answers, memory
from playground.engine.autoregressive import Autoregressive
from playground.engine.diffusion import Diffusion, canvases
from playground.engine.edits import CanvasEdits
from playground.engine.models import Model
from playground.engine.prefill import CHUNK
from playground.engine.prompts import Prompt
from playground.engine.steering import Cancelled, Steering
from playground.errors import PlaygroundError
from playground.events import Error, Event, RunFinished, RunStarted, RunStopReason
from playground.metrics import Meter
from playground.recipe import Recipe
from playground.settings import Settings

log = structlog.get_logger()

_NO_MEMORY = re.compile("out of memory|can't allocate memory|not enough memory", re.IGNORECASE)


def prepare(model: Model, recipe: Recipe, settings: Settings) -> Recipe:
    """The recipe with the model's name filled in, once it is known that it can run.

    Raises `PlaygroundError` naming the field: another model, thinking asked of a model without it, more tokens than
    the settings or the model's context allow.
    """
    if recipe.model not in (None, model.name):
        here = f"This server has the model {model.name!r}"
        message = (
            f"{here} loaded now: switch to {recipe.model!r} first."
            if recipe.model in settings.choices
            else f"{here} only."
        )
        raise PlaygroundError("unknown_model", message, "recipe.model")
    if recipe.thinking and not model.supports_thinking:
        raise PlaygroundError("bad_request", f"The model {model.name!r} has no thinking mode.", "recipe.thinking")
    if recipe.max_new_tokens > settings.max_new_tokens:
        message = f"At most {settings.max_new_tokens} new tokens are allowed here."
        raise PlaygroundError("too_long", message, "recipe.max_new_tokens")
    length = len(model.prompt(recipe.messages, recipe.thinking).ids)
    limit = min(settings.max_prompt_tokens, model.context_length)
    if length > limit:
        raise PlaygroundError(
            "too_long", f"The prompt has {length} tokens; at most {limit} are allowed.", "recipe.messages"
        )
    room = model.context_length - length
    needed = recipe.max_new_tokens
    if recipe.mode == "diffusion":
        needed = canvases(recipe.max_new_tokens, model.canvas_length) * model.canvas_length
    if needed > room:
        message = (
            f"{needed} new tokens do not fit: the model's context of {model.context_length} tokens has room for {room} "
            f"after a prompt of {length}."
        )
        raise PlaygroundError("too_long", message, "recipe.max_new_tokens")
    CanvasEdits(model, recipe)
    _check_memory(model, length + needed)
    return recipe.model_copy(update={"model": model.name})


def _check_memory(model: Model, tokens: int) -> None:
    """Refuse what cannot fit before it is tried."""
    wanted = model.memory_of(tokens, CHUNK)
    if wanted > model.free_memory():
        model.release()
    if wanted > (free := model.free_memory()):
        message = (
            f"A run of {tokens} tokens takes about {memory.gigabytes(wanted)}, and {memory.gigabytes(free)} are free "
            f"on {model.device}: shorten the prompt, lower max_new_tokens, or let other runs end first."
        )
        raise PlaygroundError("out_of_memory", message, "recipe.max_new_tokens")


def events(model: Model, recipe: Recipe, steering: Steering) -> Iterator[Event]:
    """The events of a run, at most one pass of the model between two of them; `run` and `seq` are left empty.

    Never raises: a failure becomes an `error` event, and `run_finished` comes last in any case, with the committed
    text only. recipe: as `prepare` gives it.
    """
    began = time.perf_counter()
    meter = Meter()
    run: Diffusion | Autoregressive | None = None
    stop_reason: RunStopReason
    fault: Error | None = None
    try:
        prompt = model.prompt(recipe.messages, recipe.thinking)
        started = _started(model, recipe, prompt)
        meter.see(started)
        yield started
        kind = Diffusion if recipe.mode == "diffusion" else Autoregressive
        run = kind(model, recipe, steering, prompt)
        for event in run.events():
            meter.see(event)
            yield event
        stop_reason = "end_of_turn" if run.ids and run.ids[-1] in model.end_ids else "max_new_tokens"
    except Cancelled:
        stop_reason = "cancelled"
    except Exception as error:
        stop_reason, fault = "error", _error(error)
    if fault is not None:  # the error is gone by now, and with it what its traceback held on the device
        if fault.code == "out_of_memory":
            model.release()
        yield fault
    ids = run.ids if run else []
    answer = answers.read(ids[: recipe.max_new_tokens], model.end_ids, model.channel, model.decode)
    metrics = meter.metrics(recipe.mode, time.perf_counter() - began, steering.shared, recipe.max_new_tokens)
    yield RunFinished(
        text=answer.text,
        thought=answer.thought,
        metrics=metrics.model_copy(
            update={
                "reused_tokens": run.reused if run else 0,
                "thinking_tokens": answers.thinking_tokens(ids, model.channel, model.end_ids),
            }
        ),
        stop_reason=stop_reason,
        loop=meter.loop,
        recipe=recipe.model_copy(update={"edits": [*recipe.edits, *(run.made if run else [])]}),
    )


def _started(model: Model, recipe: Recipe, prompt: Prompt) -> RunStarted:
    return RunStarted(
        recipe=recipe,
        model_revision=model.revision,
        canvas_length=model.canvas_length,
        vocab_size=model.vocab_size,
        prompt_ids=prompt.ids,
        pictures=model.thumbnails(prompt),
        end_ids=model.end_ids,
        channel_ids=model.channel_ids,
        device=model.device,
        dtype=model.dtype,
        compiled=model.compiled,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        version=__version__,
        texts=model.pieces(prompt.ids, model.end_ids),
    )


def _error(error: Exception) -> Error:
    if isinstance(error, PlaygroundError):
        return Error(code=error.code, message=error.message, field=error.field)
    if isinstance(error, torch.OutOfMemoryError | MemoryError) or _NO_MEMORY.search(str(error)):
        message = "The device ran out of memory: lower max_new_tokens, shorten the prompt, or let other runs end first."
        return Error(code="out_of_memory", message=message)
    log.error("run failed", exc_info=error)
    return Error(code="internal", message=f"The run failed ({type(error).__name__}); the server's log says more.")
