"""A tiny engine without torch: its steps are made of the recipe alone, and can be held back one by one."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from playground import __version__
from playground.engine.steering import Steering
from playground.errors import PlaygroundError
from playground.events import CanvasCommitted, CanvasStarted, Event, RunFinished, RunStarted, RunStopReason, Step, Token
from playground.metrics import Meter
from playground.parameters import Decoding, EntropyBoundSampler
from playground.recipe import Recipe, SetDecoding, SetSampler
from playground.settings import Settings
from playground.web.site import Engine

CANVAS = 256


@dataclass
class FakeModel:
    name: str = "fake"
    revision: str = "0123456789abcdef"
    canvas_length: int = CANVAS
    vocab_size: int = 1000
    context_length: int = 4096
    parameters: int = 1
    device: str = "cpu"
    dtype: str = "float32"
    end_ids: list[int] = field(default_factory=lambda: [1])


class Fake:
    """Counts its passes in `passes`, by seed; `hold` makes every pass wait for a `permit`."""

    def __init__(self) -> None:
        self.passes: list[int] = []
        self.loading = threading.Event()
        self.loading.set()
        self.load_failure: Exception | None = None
        self.step_failure: Exception | None = None
        self._held = False
        self._permits = threading.Semaphore(0)

    @property
    def engine(self) -> Engine:
        return Engine(self.load, self.prepare, self.events)  # type: ignore[arg-type]

    def hold(self) -> None:
        self._held = True

    def permit(self, passes: int = 1) -> None:
        self._permits.release(passes)

    def release(self) -> None:
        self._held = False
        self._permits.release(1)

    def load(self, _: Settings, __: Callable[[str], None]) -> FakeModel:
        assert self.loading.wait(60)
        if self.load_failure is not None:
            raise self.load_failure
        return FakeModel()

    def prepare(self, model: FakeModel, recipe: Recipe, settings: Settings) -> Recipe:
        if len(recipe.messages[-1].content) > settings.max_prompt_tokens:
            raise PlaygroundError("too_long", "the prompt is too long", "recipe.messages")
        return recipe.model_copy(update={"model": model.name})

    def events(self, model: FakeModel, recipe: Recipe, steering: Steering) -> Iterator[Event]:
        meter = Meter()
        edits: list[SetSampler | SetDecoding] = []
        yield RunStarted(
            recipe=recipe,
            model_revision=model.revision,
            canvas_length=CANVAS,
            vocab_size=model.vocab_size,
            prompt_ids=[5],
            end_ids=model.end_ids,
            device=model.device,
            dtype=model.dtype,
            created="2026-01-01T00:00:00+00:00",
            version=__version__,
            texts={5: "five"},
        )
        stop_reason: RunStopReason = "max_new_tokens"
        made = self._canvases if recipe.mode == "diffusion" else self._tokens
        for event in made(recipe, steering, edits):
            meter.see(event)
            yield event
        if steering.cancelled:
            stop_reason = "cancelled"
        metrics = meter.metrics(recipe.mode, 0.0, steering.shared, recipe.max_new_tokens)
        recipe = recipe.model_copy(update={"edits": [*recipe.edits, *edits]})
        yield RunFinished(text="done", thought="", metrics=metrics, stop_reason=stop_reason, recipe=recipe)

    def _canvases(
        self, recipe: Recipe, steering: Steering, edits: list[SetSampler | SetDecoding]
    ) -> Iterator[CanvasStarted | Step | CanvasCommitted]:
        sampler: EntropyBoundSampler = recipe.sampler
        ids = [recipe.seed % 1000] * CANVAS
        for canvas in range(-(-recipe.max_new_tokens // CANVAS)):
            yield CanvasStarted(canvas=canvas, canvas_ids=ids, device_ms=0, texts={})
            step = 0
            while step < sampler.max_denoising_steps:
                if steering.cancelled:
                    return
                self._pass(recipe.seed)
                if steering.cancelled:
                    return
                step += 1
                now = [
                    SetSampler(canvas=canvas, step=step, sampler=change)  # type: ignore[arg-type]
                    for change in steering.take()
                ]
                edits.extend(now)
                for edit in now:
                    sampler = sampler.changed(edit.sampler)
                yield _step(canvas, step, sampler, ids, now)
            yield CanvasCommitted(
                canvas=canvas,
                ids=ids,
                text="x",
                steps=step,
                stop_reason="max_denoising_steps",
                ms=0,
                device_ms=0,
                texts={},
            )

    def _tokens(self, recipe: Recipe, steering: Steering, edits: list[SetSampler | SetDecoding]) -> Iterator[Token]:
        decoding: Decoding = recipe.decoding
        for index in range(recipe.max_new_tokens):
            if steering.cancelled:
                return
            self._pass(recipe.seed)
            for change in steering.take():
                edits.append(SetDecoding(index=index, decoding=change))  # type: ignore[arg-type]
                decoding = decoding.changed(change)  # type: ignore[arg-type]
            yield Token(
                index=index,
                id=index % 1000,
                temperature=decoding.temperature,
                entropy=0.5,
                logprob=-0.5,
                ms=1,
                device_ms=index,
                text="x",
                texts={},
                top_ids=[1, 2],
                top_probabilities=[0.5, 0.25],
            )

    def _pass(self, seed: int) -> None:
        if self._held:
            assert self._permits.acquire(timeout=60)
        if self.step_failure is not None:
            raise self.step_failure
        self.passes.append(seed)


def _step(canvas: int, step: int, sampler: EntropyBoundSampler, ids: list[int], edits: list[SetSampler]) -> Step:
    return Step(
        canvas=canvas,
        step=step,
        t=1 - (step - 1) / sampler.max_denoising_steps,
        temperature=sampler.t_max,
        entropy_bound=sampler.entropy_bound,
        max_denoising_steps=sampler.max_denoising_steps,
        confidence_threshold=sampler.confidence_threshold,
        stability_threshold=sampler.stability_threshold,
        mean_entropy=1.5,
        stable_steps=0,
        ms=1.0,
        device_ms=step,
        predicted=ids,
        sampled=ids,
        accepted=[True] * CANVAS,
        entropy=[0.1] * CANVAS,
        canvas_ids=ids,
        edits=edits,
        texts={ids[0]: "<img src=x onerror=alert(1)>"},
        top_ids=[[1, 2, 3]] * CANVAS,
        top_probabilities=[[0.5, 0.3, 0.1]] * CANVAS,
    )


def recipe(seed: int = 0, steps: int = 5, **fields: object) -> dict[str, object]:
    """A recipe as JSON."""
    messages = [{"role": "user", "content": "hello"}]
    return {"messages": messages, "seed": seed, "sampler": {"max_denoising_steps": steps}} | fields
