"""Block diffusion: canvases outside, denoising steps inside, as a generator of events.

The loop of the report's section 3: encode the context into the KV cache (Equation 3), denoise a canvas (Equations 5
and 6, the rule of section 3.3), append it to the cache (Equation 4), until the end of turn.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from playground.engine import answers
from playground.engine.clock import Clock
from playground.engine.models import Model
from playground.engine.parameters import SamplerInForce
from playground.engine.steering import Cancelled, Steering
from playground.errors import PlaygroundError
from playground.events import CanvasCommitted, CanvasStarted, CanvasStopReason, Event, Step
from playground.recipe import Recipe, SetSampler
from playground.sampling import draws, schedule, stopping
from playground.sampling.rules.entropy_bound import EntropyBound
from playground.sampling.statistics import Statistics, summarise


@dataclass
class Draft:
    """A canvas while it is denoised."""

    canvas: int
    canvas_ids: Tensor
    """(C,) what the next step is fed."""
    predicted: Tensor | None = None
    """(C,) argmax of the last step."""
    self_conditioning: Tensor | None = None
    """(C, V) tempered logits of the last step."""
    steps: int = 0
    stable_steps: int = 0
    stop_reason: CanvasStopReason | None = None


@dataclass
class Diffusion:
    """One diffusion run; iterate over `events`. `ids` and `made` grow with it."""

    model: Model
    recipe: Recipe
    steering: Steering
    prompt_ids: list[int]
    ids: list[int] = field(default_factory=list)
    """Committed ids of all canvases."""

    def __post_init__(self) -> None:
        self.in_force = SamplerInForce(self.recipe, self.steering)
        self._clock = Clock()

    @property
    def made(self) -> list[SetSampler]:
        """The edits made while the run was going on."""
        return list(self.in_force.made)

    def events(self) -> Iterator[Event]:
        """At most one pass of the model between two events. Raises `Cancelled` and whatever the model raises."""
        cache = self.model.cache()
        growing = answers.Growing(self.model.decode)
        count = canvases(self.recipe.max_new_tokens, self.model.canvas_length)
        for canvas in range(count):
            self._check_cancelled()
            if canvas == 0:
                with self._clock.running():
                    self.model.encode_pass(cache, self.prompt_ids)
                    self.model.finish()
            draft = self._new_draft(canvas)
            yield self._canvas_started(draft)
            while draft.stop_reason is None:
                self._check_cancelled()
                step = self._step(draft, cache)
                if step is not None:
                    yield step
            assert draft.predicted is not None
            ids = answers.valid(draft.predicted.tolist(), self.model.end_ids)
            self.ids += ids
            ended = ids[-1] in self.model.end_ids
            last = ended or canvas + 1 == count
            ms = 0.0
            if not last:
                with self._clock.running():
                    self.model.encode_pass(cache, ids)
                    self.model.finish()
                ms = self._clock.last_ms
            yield CanvasCommitted(
                canvas=canvas,
                ids=ids,
                text=growing.add(ids[:-1] if ended else ids),
                steps=draft.steps,
                stop_reason=draft.stop_reason,
                ms=ms,
                device_ms=self._clock.total_ms,
                texts=self.model.pieces(ids),
            )
            if last:
                return

    def _check_cancelled(self) -> None:
        if self.steering.cancelled:
            raise Cancelled

    def _new_draft(self, canvas: int) -> Draft:
        count, vocabulary = self.model.canvas_length, self.model.vocab_size
        return Draft(canvas, draws.tokens(self.recipe.seed, canvas, 0, "noise", count, vocabulary))

    def _canvas_started(self, draft: Draft) -> CanvasStarted:
        canvas_ids = draft.canvas_ids.tolist()
        return CanvasStarted(
            canvas=draft.canvas,
            canvas_ids=canvas_ids,
            device_ms=self._clock.total_ms,
            texts=self.model.pieces(canvas_ids),
        )

    def _step(self, draft: Draft, cache: Any) -> Step | None:
        """Take one denoising step; none if the cap was lowered so far that there is nothing left to do."""
        number = draft.steps + 1
        edits = self.in_force.before(draft.canvas, number)
        sampler = self.in_force.sampler
        steps = sampler.max_denoising_steps
        remaining = steps - number + 1  # n, this step counted
        if remaining < 1:
            draft.stop_reason = "max_denoising_steps"
            return None
        seed, length, vocabulary = self.recipe.seed, self.model.canvas_length, self.model.vocab_size
        with self._clock.running():
            # 1. The denoiser's prediction, tempered.
            logits = self.model.decode_pass(cache, draft.canvas_ids, draft.self_conditioning)  # (C, V)
            temperature = schedule.temperature(remaining, steps, sampler.t_max, sampler.t_min)
            logits = logits / torch.tensor(temperature, device=logits.device)
            # 2. One pass over it.
            uniforms = draws.uniforms(seed, draft.canvas, number, "sample", length)
            statistics = _on_host(summarise(logits, uniforms))
            if not bool(statistics.entropy.isfinite().all()):
                place = f"canvas {draft.canvas}, step {number}"
                raise PlaygroundError("bad_logits", f"the model's logits at {place} are no distribution")
            # 3. Accept and renoise.
            decision = EntropyBound(sampler.entropy_bound).step(
                draft.canvas_ids,
                statistics,
                remaining / steps,
                draws.tokens(seed, draft.canvas, number, "renoise", length, vocabulary),
            )
            # 4. Stop when stable and confident, or at the cap.
            mean = stopping.mean_entropy(statistics.entropy)
            stable = stopping.stable_steps(draft.stable_steps, draft.predicted, statistics.predicted)
            if stopping.stable_and_confident(mean, stable, sampler.confidence_threshold, sampler.stability_threshold):
                draft.stop_reason = "stable_and_confident"
            elif remaining == 1:
                draft.stop_reason = "max_denoising_steps"
            # 5. The prediction conditions the next step.
            draft.self_conditioning = self.model.self_conditioning(logits)
        draft.canvas_ids = decision.canvas_ids
        draft.predicted = statistics.predicted
        draft.stable_steps = stable
        draft.steps = number
        predicted, sampled = statistics.predicted.tolist(), statistics.sampled.tolist()
        fed = decision.canvas_ids.tolist()
        return Step(
            canvas=draft.canvas,
            step=number,
            t=remaining / steps,
            temperature=temperature,
            entropy_bound=sampler.entropy_bound,
            max_denoising_steps=steps,
            confidence_threshold=sampler.confidence_threshold,
            stability_threshold=sampler.stability_threshold,
            mean_entropy=mean,
            stable_steps=stable,
            ms=self._clock.last_ms,
            device_ms=self._clock.total_ms,
            predicted=predicted,
            sampled=sampled,
            accepted=decision.accepted.tolist(),
            entropy=statistics.entropy.tolist(),
            canvas_ids=fed,
            edits=edits,
            texts=self.model.pieces(predicted, sampled, fed),
            top_ids=statistics.top_ids.tolist(),
            top_probabilities=statistics.top_probabilities.tolist(),
        )


def canvases(max_new_tokens: int, canvas_length: int) -> int:
    """How many canvases a run may take: max_new_tokens rounded up to whole ones."""
    return math.ceil(max_new_tokens / canvas_length)


def _on_host(statistics: Statistics) -> Statistics:
    """The few kilobytes that leave the device; waits for them."""
    return Statistics(
        predicted=statistics.predicted.cpu(),
        sampled=statistics.sampled.cpu(),
        entropy=statistics.entropy.cpu(),
        top_ids=statistics.top_ids.cpu(),
        top_probabilities=statistics.top_probabilities.cpu(),
    )
