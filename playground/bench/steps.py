"""Whole denoising steps on the embedded model: our engine against transformers' `generate()`, and a token of AR."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from transformers import DiffusionGemmaForBlockDiffusion

from playground.bench.pairs import Pairs, measure
from playground.engine import models, runs
from playground.engine.steering import Steering
from playground.events import Step, Token
from playground.parameters import Decoding, EntropyBoundSampler
from playground.recipe import Message, Mode, Recipe
from playground.settings import Settings

PROMPT = "Tell a story about a fox named Mia."


@dataclass(frozen=True)
class Result:
    """Milliseconds a step (pairs), and a token in autoregressive mode."""

    steps: Pairs
    tokens: list[float]
    canvas_length: int


def compare(steps: int, repeats: int) -> Result:
    """Time one canvas of exactly `steps` steps, prefill included, events included on our side."""
    settings = Settings(model=models.EMBEDDED, device="cpu", dtype="float32")
    model = models.load(settings)
    pairs = measure(_ours(model, settings, steps), _reference(model, steps), repeats)
    per_step = Pairs([ms / steps for ms in pairs.ours], [ms / steps for ms in pairs.reference])
    return Result(per_step, _tokens(model, settings, repeats), model.canvas_length)


def _recipe(model: models.Model, settings: Settings, mode: Mode, sampler: EntropyBoundSampler) -> Recipe:
    messages = [Message(role="user", content=PROMPT)]
    recipe = Recipe(
        mode=mode, messages=messages, max_new_tokens=model.canvas_length, sampler=sampler, decoding=Decoding()
    )
    return runs.prepare(model, recipe, settings)


def _ours(model: models.Model, settings: Settings, steps: int) -> Callable[[], int]:
    # A mean entropy is never below 0, so the canvas goes to the cap.
    sampler = EntropyBoundSampler(max_denoising_steps=steps, confidence_threshold=0.0)
    recipe = _recipe(model, settings, "diffusion", sampler)

    def once() -> int:
        taken = sum(isinstance(event, Step) for event in runs.events(model, recipe, Steering(recipe)))
        if taken != steps:
            raise RuntimeError(f"{taken} steps were taken instead of {steps}")
        return taken

    return once


def _reference(model: models.Model, steps: int) -> Callable[[], object]:
    network = DiffusionGemmaForBlockDiffusion.from_pretrained(models.EMBEDDED_FOLDER, dtype=torch.float32).eval()
    ids = torch.tensor([model.encode([Message(role="user", content=PROMPT)], False)])

    def once() -> object:
        return network.generate(
            ids,
            max_new_tokens=model.canvas_length,
            max_denoising_steps=steps,
            confidence_threshold=1e-30,
            stability_threshold=steps,
        )

    return once


def _tokens(model: models.Model, settings: Settings, repeats: int) -> list[float]:
    recipe = _recipe(model, settings, "autoregressive", EntropyBoundSampler())
    times: list[float] = []
    for _ in range(repeats):
        mine = [event.ms for event in runs.events(model, recipe, Steering(recipe)) if isinstance(event, Token)]
        times.append(sum(mine) / len(mine))
    return times
