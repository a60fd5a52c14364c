"""Presets: a sampler to keep, as a small JSON document and as code for transformers."""

from typing import Any

from playground.parameters import EntropyBoundSampler, Sampler


def as_json(name: str, sampler: Sampler) -> dict[str, Any]:
    """A preset: its name and the whole sampler."""
    return {"name": name, "sampler": sampler.model_dump(mode="json")}


def as_transformers(sampler: Sampler) -> str:
    """Python that makes the same sampler for transformers' `generate()`.

    Raises:
        ValueError: for a rule that transformers does not have, or a bound of 0, which it refuses.
    """
    if not isinstance(sampler, EntropyBoundSampler):
        raise ValueError(f"transformers has the entropy bound only, not {sampler.name}")
    if sampler.entropy_bound <= 0:
        raise ValueError("transformers takes an entropy bound above 0 only")
    return f"""from transformers import DiffusionGemmaGenerationConfig, EntropyBoundSamplerConfig

config = DiffusionGemmaGenerationConfig(
    sampler_config=EntropyBoundSamplerConfig(entropy_bound={float(sampler.entropy_bound)!r}),
    t_max={float(sampler.t_max)!r},
    t_min={float(sampler.t_min)!r},
    max_denoising_steps={sampler.max_denoising_steps},
    confidence_threshold={float(sampler.confidence_threshold)!r},
    stability_threshold={sampler.stability_threshold},
)
"""
