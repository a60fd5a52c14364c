"""A run made by hand, small enough to check every state in it by eye."""

from collections.abc import Sequence

from playground import __version__, events
from playground.recipe import Recipe

TEXTS = {0: "<end>", 1: " red", 2: " fox", 3: "[bold]", 4: "\x1b[2J", 5: "a\n"}


def started(mode: str = "diffusion", prompt: str = "hello") -> events.RunStarted:
    recipe = Recipe.model_validate({"mode": mode, "messages": [{"role": "user", "content": prompt}]})
    return events.RunStarted(
        recipe=recipe,
        model_revision="0123456789abcdef",
        canvas_length=4,
        vocab_size=6,
        prompt_ids=[1],
        end_ids=[0],
        device="cpu",
        dtype="float32",
        created="2026-01-01T00:00:00+00:00",
        version=__version__,
        texts=TEXTS,
    )


def canvas_started(canvas: int = 0) -> events.CanvasStarted:
    return events.CanvasStarted(canvas=canvas, canvas_ids=[3, 4, 5, 2], device_ms=0.0, texts=TEXTS)


def step(
    number: int, predicted: Sequence[int], sampled: Sequence[int], accepted: str, canvas: int = 0, mean: float = 0.5
) -> events.Step:
    """`accepted` as a string of 1 and 0, one for each position."""
    return events.Step(
        canvas=canvas,
        step=number,
        t=1.0,
        temperature=0.8,
        entropy_bound=0.1,
        max_denoising_steps=48,
        confidence_threshold=0.005,
        stability_threshold=1,
        mean_entropy=mean,
        stable_steps=0,
        ms=1.0,
        device_ms=float(number),
        predicted=list(predicted),
        sampled=list(sampled),
        accepted=[mark == "1" for mark in accepted],
        entropy=[0.25] * len(accepted),
        canvas_ids=list(sampled),
        texts=TEXTS,
        top_ids=[[1, 2]] * len(accepted),
        top_probabilities=[[0.75, 0.25]] * len(accepted),
    )


def committed(ids: Sequence[int], text: str, canvas: int = 0) -> events.CanvasCommitted:
    return events.CanvasCommitted(
        canvas=canvas,
        ids=list(ids),
        text=text,
        steps=2,
        stop_reason="stable_and_confident",
        ms=0.0,
        device_ms=2.0,
        texts=TEXTS,
    )


def finished(
    text: str = " red fox", stop_reason: events.RunStopReason = "end_of_turn", trimmed: int = 0
) -> events.RunFinished:
    metrics = events.Metrics(
        total_tokens=3,
        total_denoising_steps=2,
        effective_denoising_steps=2.0,
        tokens_per_forward=1.5,
        forward_passes=2,
        canvases=1,
        seconds=0.25,
        prefill_seconds=0.05,
        wall_seconds=0.5,
        time_to_first_token=0.25,
        tokens_per_second=15.0,
        shared_device=False,
        trimmed_tokens=trimmed,
    )
    return events.RunFinished(text=text, thought="", metrics=metrics, stop_reason=stop_reason, recipe=started().recipe)


def whole() -> list[events.Event]:
    """Two steps over one canvas in which every state occurs, then the commit."""
    return [
        started(),
        canvas_started(),
        step(1, [1, 2, 1, 0], [1, 2, 2, 0], "1110", mean=1.0),
        step(2, [1, 1, 2, 0], [1, 1, 1, 0], "1101", mean=0.1),
        committed([1, 1, 2, 0], " red red fox"),
        finished(" red red fox"),
    ]
