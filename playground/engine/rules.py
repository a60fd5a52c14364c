"""From a recipe's sampler to the rule that decides a step, and to what the step's event says of it."""

from typing import Any

from playground.parameters import (
    EntropyBoundSampler,
    EulerSampler,
    FixedKSampler,
    MarginSampler,
    Sampler,
    TopProbabilitySampler,
)
from playground.sampling.rules.entropy_bound import EntropyBound
from playground.sampling.rules.euler import Euler, jump_probability
from playground.sampling.rules.fixed_k import FixedK
from playground.sampling.rules.margin import Margin
from playground.sampling.rules.rule import Rule
from playground.sampling.rules.top_probability import TopProbability


def rule_of(sampler: Sampler, remaining: int) -> Rule:
    """The rule of a step after which `remaining` − 1 are left: n of N."""
    match sampler:
        case EntropyBoundSampler():
            return EntropyBound(sampler.entropy_bound)
        case TopProbabilitySampler():
            return TopProbability(sampler.top_probability)
        case MarginSampler():
            return Margin(sampler.margin)
        case FixedKSampler():
            return FixedK(sampler.k, sampler.max_denoising_steps - remaining + 1)
        case EulerSampler():
            return Euler(*_times(sampler, remaining), sampler.kappa)


def parameters(sampler: Sampler, remaining: int) -> dict[str, Any]:
    """The rule's own parameters in force, as the step's event has them."""
    match sampler:
        case EulerSampler():
            return {"jump_probability": jump_probability(*_times(sampler, remaining), sampler.kappa)}
        case EntropyBoundSampler():
            return {"entropy_bound": sampler.entropy_bound}
        case TopProbabilitySampler():
            return {"top_probability": sampler.top_probability}
        case MarginSampler():
            return {"margin": sampler.margin}
        case FixedKSampler():
            return {"k": sampler.k}


def _times(sampler: Sampler, remaining: int) -> tuple[float, float]:
    """t = n/N and Δt = 1/N."""
    return remaining / sampler.max_denoising_steps, 1 / sampler.max_denoising_steps
