"""The check of a diffusion run: canvas by canvas, step by step, each step fed what was recorded."""

from typing import Any

import torch
from torch import Tensor

from playground import loops
from playground.engine import answers
from playground.engine.diffusion import canvases, decide, step_draws
from playground.engine.edits import CanvasEdits, Pins
from playground.engine.margins import Margins
from playground.engine.models import Model
from playground.engine.parameters import SamplerInForce
from playground.engine.prompts import Prompt
from playground.engine.recorded import DoesNotFollow, Recorded, expect, expect_close, expect_each
from playground.engine.rules import parameters, rule_of
from playground.engine.steering import Steering
from playground.engine.verify_prefill import CLOCK_MS, check_prefill
from playground.events import CanvasCommitted, CanvasStarted, Error, RunFinished, Step
from playground.recipe import Edit, Recipe
from playground.sampling import draws, schedule, stopping
from playground.sampling.statistics import Statistics, rounded, summarise


class CanvasesCheck:
    """Follows the events of a diffusion run; `ids`, `passes`, `differing` and `largest` grow with it."""

    def __init__(self, model: Model, recipe: Recipe, prompt: Prompt, recorded: Recorded, margins: Margins):
        self.ids: list[int] = []
        self.passes = 0
        self.differing = 0
        self.largest = 0.0
        self.model = model
        self.recipe = recipe
        self.prompt = prompt
        self.recorded = recorded
        self.margins = margins
        self.in_force = SamplerInForce(recipe, Steering(recipe))
        self.edits = CanvasEdits(model, recipe)
        self.growing = answers.Apart(model.channel, model.decode)
        self.spent_ms = 0.0

    def run(self) -> bool:
        """Whether the run came to its own end; false where it was cancelled or failed. Raises `DoesNotFollow`."""
        model = self.model
        begun = check_prefill(model, self.prompt, self.recorded)
        if begun is None:
            return False
        cache, self.spent_ms = begun[0].cache, begun[1]
        count = canvases(self.recipe.max_new_tokens, model.canvas_length)
        for canvas in range(count):
            if self.broken_off():
                return False
            check = _CanvasCheck(self, canvas, cache)
            if not check.run():
                return False
            ids, ended = check.committed()
            self.ids += ids
            if ended or canvas + 1 == count:
                return True
            model.encode_pass(cache, ids)
        raise AssertionError("a run has a last canvas")

    def broken_off(self) -> bool:
        """Whether the run was cancelled or failed here."""
        return isinstance(self.recorded.next, RunFinished | Error)

    def clock(self, event: CanvasStarted | Step | CanvasCommitted, ms: float) -> None:
        """The run's clock goes on by `ms`, and never backwards."""
        if not ms >= 0:
            raise DoesNotFollow(event, "ms", f"it is {ms!r}")
        expect_close(event, "device_ms", self.spent_ms + ms, CLOCK_MS)
        self.spent_ms = event.device_ms


class _CanvasCheck:
    """One canvas of the run."""

    def __init__(self, run: CanvasesCheck, canvas: int, cache: Any) -> None:
        self._run = run
        self._canvas = canvas
        self._cache = cache
        self._pins = Pins.none(run.model.canvas_length)
        self._fed = torch.empty(0)
        """(C,) what the next step is fed."""
        self._last: Step | None = None
        self._self_conditioning: Tensor | None = None
        self._stop_reason: str | None = None

    def run(self) -> bool:
        """Check the canvas up to its commit; whether it got there."""
        run = self._run
        self._open()
        while True:
            edits: list[Edit] = []
            if not run.broken_off() and self._stop_reason is None:
                number = self._last.step + 1 if self._last else 1
                edits += run.in_force.before(self._canvas, number)
                if run.in_force.sampler.max_denoising_steps < number:
                    self._stop_reason = "max_denoising_steps"
            if run.broken_off():
                return False
            if self._stop_reason is not None:
                return True
            step = run.recorded.take(Step, "the canvas is neither stable and confident nor at its last step")
            self._step(step, number, edits)

    def _open(self) -> None:
        run, model, pins = self._run, self._run.model, self._pins
        event = run.recorded.take(CanvasStarted, "a canvas begins with it")
        expect(event, "canvas", self._canvas)
        length = model.canvas_length
        noise = draws.tokens(run.recipe.seed, self._canvas, 0, "noise", length, model.vocab_size)
        edits, fed = run.edits.before(self._canvas, 1, noise, pins)
        expect(event, "edits", edits)
        expect(event, "canvas_ids", fed.tolist())
        expect(event, "pinned", pins.mask.tolist() if pins else None)
        expect(event, "texts", model.pieces(event.canvas_ids))
        run.clock(event, event.device_ms - run.spent_ms if self._canvas == 0 else 0.0)
        self._fed = fed

    def committed(self) -> tuple[list[int], bool]:
        """The commit that follows the last step: its ids, and whether they end the turn."""
        run, model, last = self._run, self._run.model, self._last
        event = run.recorded.take(CanvasCommitted, f"the canvas stops ({self._stop_reason})")
        assert last is not None
        ids = answers.valid(last.predicted, model.end_ids)
        ended = ids[-1] in model.end_ids
        expect(event, "canvas", self._canvas)
        expect(event, "ids", ids)
        expect(event, "steps", last.step)
        expect(event, "stop_reason", self._stop_reason)
        said = run.recipe.messages[-1].text
        expect(event, "loop", loops.of_canvas(ids, ended, event.stop_reason, model.pieces(ids), said))
        gained = run.growing.add(ids[:-1] if ended else ids)
        expect(event, "text", gained.text)
        expect(event, "thought", gained.thought)
        expect(event, "texts", model.pieces(ids))
        run.clock(event, event.ms)
        return ids, ended

    def _step(self, event: Step, number: int, edits: list[Edit]) -> None:
        run, pins, sampler = self._run, self._pins, self._run.in_force.sampler
        before = self._fed
        if number > 1:
            applied, self._fed = run.edits.before(self._canvas, number, before, pins)
            edits = [*edits, *applied]
        steps = sampler.max_denoising_steps
        remaining = steps - number + 1
        temperature = schedule.temperature(remaining, steps, sampler.t_max, sampler.t_min)
        expect(event, "canvas", self._canvas)
        expect(event, "step", number)
        expect(event, "edits", edits)
        for name in ("max_denoising_steps", "confidence_threshold", "stability_threshold"):
            expect(event, name, getattr(sampler, name))
        given = parameters(sampler, remaining)
        for name in ("entropy_bound", "top_probability", "margin", "k", "jump_probability"):
            expect(event, name, given.get(name))
        expect(event, "t", remaining / steps)
        expect(event, "temperature", temperature)
        expect(event, "fed_ids", None if torch.equal(before, self._fed) else self._fed.tolist())
        expect(event, "pinned", pins.mask.tolist() if pins else None)
        ours = self._check_model_gives(event, temperature)
        self._check_decided(event, ours, remaining)
        run.clock(event, event.ms)
        stable_and_confident = stopping.stable_and_confident(
            event.mean_entropy, event.stable_steps, sampler.confidence_threshold, sampler.stability_threshold
        )
        if stable_and_confident:
            self._stop_reason = "stable_and_confident"
        elif remaining == 1:
            self._stop_reason = "max_denoising_steps"
        self._fed = torch.tensor(event.canvas_ids)
        self._last = event

    def _check_model_gives(self, event: Step, temperature: float) -> Statistics:
        """Entropies, argmax, sample and alternatives, within the margins; gives what the model gives here."""
        run, model, pins, margins = self._run, self._run.model, self._pins, self._run.margins
        logits = model.decode_pass(self._cache, self._fed, self._self_conditioning)
        logits = schedule.tempered(logits, temperature)  # (C, V)
        logits = pins.rule_out_ends(logits, model.end_ids)
        uniforms = draws.uniforms(run.recipe.seed, self._canvas, event.step, "sample", model.canvas_length)
        ours = summarise(logits, uniforms).on_host()
        self._self_conditioning = model.self_conditioning(logits)
        run.passes += 1
        entropy = ours.entropy.tolist()
        expect_each(
            event, "entropy", entropy, lambda at: margins.same(event.entropy[at], entropy[at]), range(len(entropy))
        )
        run.largest = max(run.largest, *(abs(a - b) for a, b in zip(event.entropy, entropy, strict=True)))
        free = (~pins.mask).nonzero()[:, 0].tolist()
        held = pins.mask.nonzero()[:, 0].tolist()
        for name in ("predicted", "sampled"):
            expect_each(event, name, pins.ids.tolist(), lambda _: False, held)
        self._check_vocabulary(event)
        run.differing += expect_each(
            event,
            "predicted",
            ours.predicted.tolist(),
            lambda at: margins.may_predict(logits[at], event.predicted[at]),
            free,
        )
        run.differing += expect_each(
            event,
            "sampled",
            ours.sampled.tolist(),
            lambda at: margins.may_draw(logits[at], float(uniforms[at]), event.sampled[at]),
            free,
        )
        self._check_alternatives(event, logits, ours)
        return ours

    def _check_vocabulary(self, event: Step) -> None:
        most = self._run.model.vocab_size
        for name in ("predicted", "sampled"):
            for at, token in enumerate(getattr(event, name)):
                if not 0 <= token < most:
                    raise DoesNotFollow(event, name, f"position {at} has {token}, not a token of {most}")

    def _check_alternatives(self, event: Step, logits: Tensor, ours: Statistics) -> None:
        """The top few, where the trace has them (a socket's frames leave them out)."""
        margins, top_ids, top_probabilities = self._run.margins, event.top_ids, event.top_probabilities
        if top_ids is None or top_probabilities is None:
            return
        most = self._run.model.vocab_size
        expect_each(
            event,
            "top_ids",
            ours.top_ids.tolist(),
            lambda at: all(0 <= token < most for token in top_ids[at]) and margins.may_rank(logits[at], top_ids[at]),
            range(len(top_ids)),
        )
        if event.top_texts is not None:
            expect(event, "top_texts", self._run.model.pieces(*top_ids))
        shares = [rounded(row) for row in ours.top_probabilities.tolist()]
        expect_each(
            event,
            "top_probabilities",
            shares,
            lambda at: (
                len(top_probabilities[at]) == len(shares[at])
                and all(map(margins.same, top_probabilities[at], shares[at]))
            ),
            range(len(shares)),
        )

    def _check_decided(self, event: Step, ours: Statistics, remaining: int) -> None:
        """What follows from recorded entropies, probabilities, samples and drafts alone: no margin here.

        Where the trace has no probabilities (a socket's frames leave them out), those of the model here stand in.
        """
        run, model, pins = self._run, self._run.model, self._pins
        free = ~pins.mask
        entropy = torch.tensor(event.entropy, dtype=torch.float32)
        recorded = Statistics(
            predicted=torch.tensor(event.predicted),
            sampled=torch.tensor(event.sampled),
            entropy=entropy,
            top_ids=ours.top_ids,
            top_probabilities=ours.top_probabilities
            if event.top_probabilities is None
            else torch.tensor(event.top_probabilities, dtype=torch.float64),
        )
        chance = step_draws(run.recipe.seed, self._canvas, event.step, model.canvas_length, model.vocab_size)
        decision = decide(rule_of(run.in_force.sampler, remaining), self._fed, recorded, chance, pins)
        expect(event, "accepted", decision.accepted.tolist())
        mean = stopping.mean_entropy(entropy[free])
        expect_close(event, "mean_entropy", mean, 1e-9 * max(1.0, mean))
        previous = None if self._last is None else torch.tensor(self._last.predicted)
        stable = stopping.stable_steps(
            self._last.stable_steps if self._last else 0, previous, torch.tensor(event.predicted)
        )
        expect(event, "stable_steps", stable)
        expect(event, "canvas_ids", decision.canvas_ids.tolist())
        expect(event, "texts", model.pieces(event.predicted, event.sampled, event.canvas_ids, event.fed_ids or []))
