"""transformers' own `generate()`, fed the same random draws: what the engine's events have to agree with."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from transformers import DynamicCache
from transformers.generation.streamers import BaseStreamer
from transformers.models.diffusion_gemma.generation_diffusion_gemma import EntropyBoundSampler as ReferenceSampler
from transformers.models.diffusion_gemma.generation_diffusion_gemma import EntropyBoundSamplerConfig

from playground.engine import answers
from playground.engine.models import Model
from playground.events import CanvasCommitted, CanvasStarted, Event, RunFinished, RunStarted, Step
from playground.sampling import draws
from playground.sampling.statistics import summarise


@dataclass
class Reference(BaseStreamer):
    """Feeds `generate()` our draws and writes down its drafts, canvases and masks."""

    seed: int
    canvas: int = -1
    step: int = 0
    drafts: list[list[int]] = field(default_factory=list)
    masks: list[list[bool]] = field(default_factory=list)
    fed: list[list[int]] = field(default_factory=list)

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        theirs_accept, theirs_renoise = ReferenceSampler.accept_canvas, ReferenceSampler.renoise_canvas
        reference = self

        def initialize_canvas(sampler: ReferenceSampler, *_: object, **__: object) -> torch.Tensor:
            purpose = "renoise" if reference.renoising else "noise"
            if not reference.renoising:
                reference.canvas, reference.step = reference.canvas + 1, 0
            count, vocabulary = sampler.canvas_length, sampler.vocab_size
            return draws.tokens(reference.seed, reference.canvas, reference.step, purpose, count, vocabulary)[None]

        def accept_canvas(
            sampler: ReferenceSampler, current: torch.Tensor, drawn: torch.Tensor, logits: torch.Tensor, cur_step: int
        ) -> torch.Tensor:
            reference.step += 1
            uniforms = draws.uniforms(reference.seed, reference.canvas, reference.step, "sample", drawn.shape[1])
            drawn = summarise(logits[0], uniforms).sampled[None]
            accepted = theirs_accept(sampler, current, drawn, logits, cur_step)
            reference.masks.append(sampler.accepted_token_mask[0].tolist())
            return accepted

        def renoise_canvas(sampler: ReferenceSampler, accepted: torch.Tensor, cur_step: int) -> torch.Tensor:
            reference.renoising = True
            renoised = theirs_renoise(sampler, accepted, cur_step)
            reference.renoising = False
            reference.fed.append(renoised[0].tolist())
            return renoised

        monkeypatch.setattr(ReferenceSampler, "initialize_canvas", initialize_canvas)
        monkeypatch.setattr(ReferenceSampler, "accept_canvas", accept_canvas)
        monkeypatch.setattr(ReferenceSampler, "renoise_canvas", renoise_canvas)

    renoising: bool = False

    def put(self, value: torch.Tensor) -> None: ...

    def put_draft(self, value: torch.Tensor) -> None:
        self.drafts.append(value[0].tolist())

    def end(self) -> None: ...


def agree(model: Model, events: Sequence[Event], monkeypatch: pytest.MonkeyPatch, **inputs: Any) -> None:
    """Hold a diffusion run against `generate()`: masks, drafts, fed canvases, steps and committed tokens.

    inputs: what `generate()` takes besides the prompt's ids, as the processor gives it.
    """
    started, finished = events[0], events[-1]
    assert isinstance(started, RunStarted)
    assert isinstance(finished, RunFinished)
    assert finished.stop_reason in ("end_of_turn", "max_new_tokens")
    recipe = started.recipe
    reference = Reference(recipe.seed)
    sampler = recipe.sampler
    with monkeypatch.context() as patch:
        reference.install(patch)
        output = model._network.generate(
            torch.tensor([started.prompt_ids]),
            max_new_tokens=recipe.max_new_tokens,
            max_denoising_steps=sampler.max_denoising_steps,
            sampler_config=EntropyBoundSamplerConfig(sampler.entropy_bound),
            t_min=sampler.t_min,
            t_max=sampler.t_max,
            stability_threshold=sampler.stability_threshold,
            confidence_threshold=sampler.confidence_threshold,
            eos_token_id=model.end_ids,
            pad_token_id=0,
            cache=DynamicCache(config=model._network.config.get_text_config()),
            streamer=reference,
            **inputs,
        )
    steps = [event for event in events if isinstance(event, Step)]
    assert len(steps) == len(reference.drafts)
    for step, draft, mask, fed in zip(steps, reference.drafts, reference.masks, reference.fed, strict=True):
        place = f"canvas {step.canvas}, step {step.step}"
        assert step.accepted == mask, place
        assert step.predicted == draft, place
        assert step.canvas_ids == fed, place
    committed = [token for event in events if isinstance(event, CanvasCommitted) for token in event.ids]
    theirs = output.sequences[0, len(started.prompt_ids) :].tolist()
    assert committed == answers.valid(theirs, model.end_ids)
    assert len([event for event in events if isinstance(event, CanvasStarted)]) == reference.canvas + 1
