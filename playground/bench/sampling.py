"""What follows the logits in one denoising step: ours in one pass, against the classes of transformers."""

import os
from collections.abc import Callable
from dataclasses import fields

import torch
from torch import Tensor
from transformers.models.diffusion_gemma.generation_diffusion_gemma import (
    EntropyBoundSampler,
    EntropyBoundSamplerConfig,
    StableAndConfidentStoppingCriteria,
)

from playground.bench.pairs import Pairs, measure
from playground.sampling import draws, stopping
from playground.sampling.rules.entropy_bound import EntropyBound
from playground.sampling.rules.rule import Draws
from playground.sampling.statistics import Statistics, summarise

BOUND = 0.1
CONFIDENCE = 0.005


def compare(canvas: int, vocabulary: int, repeats: int, device: str = "cpu") -> Pairs:
    """Time sampling, entropy, acceptance, renoising and the stopping test on one step's logits (canvas, vocabulary).

    Two thirds of the positions are nearly certain, the others spread over the vocabulary, as in the middle of a run.
    """
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(canvas, vocabulary, generator=generator)
    logits[: canvas * 2 // 3, 7] += 25.0
    logits = logits.to(device)
    canvas_ids = torch.randint(vocabulary, (canvas,), generator=generator)
    return measure(_ours(logits, canvas_ids), _reference(logits, canvas_ids.to(device)), repeats)


def describe(device: str = "cpu") -> str:
    """What the figures depend on besides the code."""
    kind = torch.cuda.get_device_name() if device.startswith("cuda") else f"{os.cpu_count()} CPUs"
    return f"torch {torch.__version__}, {torch.get_num_threads()} threads, {kind}"


def _ours(logits: Tensor, canvas_ids: Tensor) -> Callable[[], bool]:
    length, vocabulary = logits.shape

    def once() -> bool:
        uniforms = draws.uniforms(0, 0, 1, "sample", length)
        statistics = summarise(logits, uniforms)
        statistics = Statistics(*(getattr(statistics, column.name).cpu() for column in fields(statistics)))
        chance = Draws(draws.tokens(0, 0, 1, "renoise", length, vocabulary), torch.zeros(length))
        EntropyBound(BOUND).step(canvas_ids, statistics, chance)
        stable = stopping.stable_steps(0, canvas_ids, statistics.predicted)
        mean = stopping.mean_entropy(statistics.entropy)
        return stopping.stable_and_confident(mean, stable, CONFIDENCE, 1)

    return once


def _reference(logits: Tensor, canvas_ids: Tensor) -> Callable[[], bool]:
    length, vocabulary = logits.shape
    sampler = EntropyBoundSampler(EntropyBoundSamplerConfig(BOUND), length, vocabulary, 48)
    stop = StableAndConfidentStoppingCriteria(1, CONFIDENCE)
    batch, canvas = logits[None], canvas_ids[None]

    def once() -> bool:
        probabilities = torch.softmax(batch, dim=-1, dtype=torch.float32)
        sampled = torch.multinomial(probabilities[0], num_samples=1).T
        predicted = torch.argmax(batch, dim=-1)
        sampler.renoise_canvas(sampler.accept_canvas(canvas, sampled, batch, 1), 1)
        return bool(stop(predicted, batch).all())

    return once
