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

from playground import loops
from playground.engine import answers, prefill
from playground.engine.clock import Clock
from playground.engine.edits import CanvasEdits, Pins
from playground.engine.models import Model
from playground.engine.parameters import SamplerInForce
from playground.engine.prompts import Prompt
from playground.engine.rules import parameters, rule_of
from playground.engine.steering import Cancelled, Steering
from playground.errors import PlaygroundError
from playground.events import CanvasCommitted, CanvasStarted, CanvasStopReason, Event, Step
from playground.recipe import Edit, Recipe, SetSampler
from playground.sampling import draws, schedule, stopping
from playground.sampling.rules.rule import Draws, Rule
from playground.sampling.rules.rule import Step as Decision
from playground.sampling.statistics import Statistics, rounded, summarise


@dataclass
class Draft:
    """A canvas while it is denoised."""

    canvas: int
    canvas_ids: Tensor
    """(C,) what the next step is fed."""
    pins: Pins
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
    prompt: Prompt
    ids: list[int] = field(default_factory=list)
    """Committed ids of all canvases."""
    reused: int = 0
    """Tokens of the prompt that an earlier run had encoded."""

    def __post_init__(self) -> None:
        self.in_force = SamplerInForce(self.recipe, self.steering)
        self._edits = CanvasEdits(self.model, self.recipe)
        self._clock = Clock()

    @property
    def made(self) -> list[SetSampler]:
        """The edits made while the run was going on."""
        return list(self.in_force.made)

    def events(self) -> Iterator[Event]:
        """At most one pass of the model between two events. Raises `Cancelled` and whatever the model raises."""
        growing = answers.Apart(self.model.channel, self.model.decode)
        count = canvases(self.recipe.max_new_tokens, self.model.canvas_length)
        prefilled = yield from prefill.read(self.model, self.prompt, self._clock, self._check_cancelled)
        cache, self.reused = prefilled.cache, prefilled.reused
        for canvas in range(count):
            self._check_cancelled()
            draft, started = self._open(canvas)
            yield started
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
            texts = self.model.pieces(ids)
            gained = growing.add(ids[:-1] if ended else ids)
            yield CanvasCommitted(
                canvas=canvas,
                ids=ids,
                text=gained.text,
                thought=gained.thought,
                steps=draft.steps,
                stop_reason=draft.stop_reason,
                loop=loops.of_canvas(ids, ended, draft.stop_reason, texts, self.recipe.messages[-1].text),
                ms=ms,
                device_ms=self._clock.total_ms,
                texts=texts,
            )
            if last:
                return

    def _check_cancelled(self) -> None:
        if self.steering.cancelled:
            raise Cancelled

    def _open(self, canvas: int) -> tuple[Draft, CanvasStarted]:
        """A canvas of random tokens, with the edits that come before its first step."""
        length, vocabulary = self.model.canvas_length, self.model.vocab_size
        pins = Pins.none(length)
        noise = draws.tokens(self.recipe.seed, canvas, 0, "noise", length, vocabulary)
        edits, fed = self._edits.before(canvas, 1, noise, pins)
        canvas_ids = fed.tolist()
        started = CanvasStarted(
            canvas=canvas,
            canvas_ids=canvas_ids,
            pinned=pins.mask.tolist() if pins else None,
            edits=edits,
            device_ms=self._clock.total_ms,
            texts=self.model.pieces(canvas_ids),
        )
        return Draft(canvas, fed, pins), started

    def _step(self, draft: Draft, cache: Any) -> Step | None:
        """Take one denoising step; none if the cap was lowered so far that there is nothing left to do."""
        number = draft.steps + 1
        edits: list[Edit] = [*self.in_force.before(draft.canvas, number)]
        fed, pins = draft.canvas_ids, draft.pins
        if number > 1:
            applied, fed = self._edits.before(draft.canvas, number, draft.canvas_ids, pins)
            edits += applied
        sampler = self.in_force.sampler
        steps = sampler.max_denoising_steps
        remaining = steps - number + 1  # n, this step counted
        if remaining < 1:
            draft.stop_reason = "max_denoising_steps"
            return None
        seed, length, vocabulary = self.recipe.seed, self.model.canvas_length, self.model.vocab_size
        with self._clock.running():
            uniforms = draws.uniforms(seed, draft.canvas, number, "sample", length).to(self.model.device)
            # 1. The denoiser's prediction, tempered. From here to the copy in 2. nothing waits for the device.
            logits = self.model.decode_pass(cache, fed, draft.self_conditioning)  # (C, V)
            temperature = schedule.temperature(remaining, steps, sampler.t_max, sampler.t_min)
            logits = schedule.tempered(logits, temperature)
            logits = pins.rule_out_ends(logits, self.model.end_ids)
            # 2. One pass over it.
            statistics = summarise(logits, uniforms).on_host()
            if not bool(statistics.entropy.isfinite().all()):
                place = f"canvas {draft.canvas}, step {number}"
                raise PlaygroundError("bad_logits", f"The model's logits at {place} are no distribution.")
            # 3. Accept and renoise, pinned positions apart.
            chance = step_draws(seed, draft.canvas, number, length, vocabulary)
            decision = decide(rule_of(sampler, remaining), fed, statistics, chance, pins)
            predicted, sampled = pins.put(statistics.predicted), pins.put(statistics.sampled)
            # 4. Stop when stable and confident, or at the cap.
            mean = stopping.mean_entropy(statistics.entropy[~pins.mask])
            stable = stopping.stable_steps(draft.stable_steps, draft.predicted, predicted)
            if stopping.stable_and_confident(mean, stable, sampler.confidence_threshold, sampler.stability_threshold):
                draft.stop_reason = "stable_and_confident"
            elif remaining == 1:
                draft.stop_reason = "max_denoising_steps"
            # 5. The prediction conditions the next step.
            draft.self_conditioning = self.model.self_conditioning(logits)
        fed_ids = None if torch.equal(fed, draft.canvas_ids) else fed.tolist()
        draft.canvas_ids = decision.canvas_ids
        draft.predicted = predicted
        draft.stable_steps = stable
        draft.steps = number
        top_ids = statistics.top_ids.tolist()
        columns = (predicted.tolist(), sampled.tolist(), decision.canvas_ids.tolist())
        return Step(
            canvas=draft.canvas,
            step=number,
            t=remaining / steps,
            temperature=temperature,
            **parameters(sampler, remaining),
            max_denoising_steps=steps,
            confidence_threshold=sampler.confidence_threshold,
            stability_threshold=sampler.stability_threshold,
            mean_entropy=mean,
            stable_steps=stable,
            ms=self._clock.last_ms,
            device_ms=self._clock.total_ms,
            predicted=columns[0],
            sampled=columns[1],
            accepted=decision.accepted.tolist(),
            entropy=statistics.entropy.tolist(),
            canvas_ids=columns[2],
            edits=edits,
            fed_ids=fed_ids,
            pinned=pins.mask.tolist() if pins else None,
            texts=self.model.pieces(*columns, fed_ids or []),
            top_ids=top_ids,
            top_probabilities=[rounded(row) for row in statistics.top_probabilities.tolist()],
            top_texts=self.model.pieces(*top_ids),
        )


def canvases(max_new_tokens: int, canvas_length: int) -> int:
    """How many canvases a run may take: max_new_tokens rounded up to whole ones."""
    return math.ceil(max_new_tokens / canvas_length)


def step_draws(seed: int, canvas: int, step: int, length: int, vocabulary: int) -> Draws:
    """What a step may renoise with and decide by, for `length` positions."""
    return Draws(
        random_ids=draws.tokens(seed, canvas, step, "renoise", length, vocabulary),
        uniforms=draws.uniforms(seed, canvas, step, "jump", length),
    )


def decide(rule: Rule, fed: Tensor, statistics: Statistics, chance: Draws, pins: Pins) -> Decision:
    """The rule's step over the positions that are not pinned; pinned ones are not accepted and keep their token."""
    if not pins:
        return rule.step(fed, statistics, chance)
    free = ~pins.mask
    part = Statistics(**{name: column[free] for name, column in vars(statistics).items()})
    decision = rule.step(fed[free], part, chance.at(free))
    accepted, canvas_ids = torch.zeros_like(free), pins.ids.clone()
    accepted[free], canvas_ids[free] = decision.accepted, decision.canvas_ids
    return Decision(accepted=accepted, canvas_ids=canvas_ids)
