"""The parameters of a run: a sampler for diffusion, a decoding for AR, and changes of either."""

from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    SerializerFunctionWrapHandler,
    Tag,
    field_validator,
    model_serializer,
    model_validator,
)

LOWEST_TEMPERATURE = 1e-4
"""Below it logits divided by the temperature say nothing more than greedy decoding does."""

Finite = Annotated[float, Field(allow_inf_nan=False)]
EntropyBound = Annotated[Finite, Field(ge=0, le=1e6)]
TMax = Annotated[Finite, Field(ge=0.01, le=100)]
TMin = Annotated[Finite, Field(ge=0, le=100)]
DenoisingSteps = Annotated[int, Field(ge=1, le=1024)]
ConfidenceThreshold = Annotated[Finite, Field(ge=0, le=1e6)]
StabilityThreshold = Annotated[int, Field(ge=0, le=1024)]
Probability = Annotated[Finite, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=1, le=1_000_000)]
Kappa = Literal["linear", "cosine"]
Temperature = Annotated[Finite, Field(ge=0, le=100)]
TopK = Annotated[int, Field(ge=0, le=2**31 - 1)]
TopP = Annotated[Finite, Field(gt=0, le=1)]


class Strict(BaseModel):
    """Unknown fields, wrong types, NaN and infinity are refused; values do not change after validation."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Sampler(Strict):
    """What every rule goes with: temperature annealing and adaptive stopping (report, section 3.3).

    `confidence_threshold` is in nats; `stability_threshold` counts previous steps whose predicted canvas must equal the
    present one. The defaults are the report's.
    """

    t_max: TMax = 0.8
    t_min: TMin = 0.4
    max_denoising_steps: DenoisingSteps = 48
    confidence_threshold: ConfidenceThreshold = 0.005
    stability_threshold: StabilityThreshold = 1

    @model_validator(mode="after")
    def _temperatures_in_order(self) -> Self:
        if self.t_min > self.t_max:
            raise ValueError(f"t_min ({self.t_min:g}) must not be above t_max ({self.t_max:g})")
        return self

    def changed(self, change: "SamplerChange") -> Self:
        """The sampler with the fields that `change` names; raises `ValidationError` where they do not fit, and
        `ValueError` where the rule has no such field."""
        fields = change.model_dump()
        for name in fields:
            if name not in type(self).model_fields:
                raise ValueError(f"the rule {self.model_dump()['name']} has no {name}")
        return type(self).model_validate(self.model_dump() | fields)


class EntropyBoundSampler(_Sampler):
    """The released sampler (report, section 3.3): as many positions as the entropy budget, in nats, allows."""

    name: Literal["entropy_bound"] = "entropy_bound"
    entropy_bound: EntropyBound = 0.1


class TopProbabilitySampler(_Sampler):
    """Positions whose most probable token has at least this probability (Fast-dLLM, arXiv 2505.22618)."""

    name: Literal["top_probability"]
    top_probability: Probability = 0.9


class MarginSampler(_Sampler):
    """Positions whose most probable token is at least this far ahead of the second (arXiv 2502.06768)."""

    name: Literal["margin"]
    margin: Probability = 0.5


class FixedKSampler(_Sampler):
    """`k` positions more in every step, those with the highest top probability (after MaskGIT, CVPR 2022)."""

    name: Literal["fixed_k"]
    k: Count = 8


class EulerSampler(_Sampler):
    """The discrete Euler step of the report's footnote 1, with noise schedule `kappa`: 1 − t, or cos²(πt/2)."""

    name: Literal["euler"]
    kappa: Kappa = "linear"


def _sampler_name(sampler: Any) -> str:
    """The union's tag; a sampler that says nothing is the released one."""
    fields = sampler if isinstance(sampler, dict) else vars(sampler) if isinstance(sampler, Strict) else {}
    return str(fields.get("name", "entropy_bound"))


Sampler = Annotated[
    Annotated[EntropyBoundSampler, Tag("entropy_bound")]
    | Annotated[TopProbabilitySampler, Tag("top_probability")]
    | Annotated[MarginSampler, Tag("margin")]
    | Annotated[FixedKSampler, Tag("fixed_k")]
    | Annotated[EulerSampler, Tag("euler")],
    Discriminator(_sampler_name),
]


class Decoding(Strict):
    """How an autoregressive run draws a token: tempered, top-k, then top-p; temperature 0 is greedy, top_k 0 off."""

    temperature: Temperature = 1.0
    top_k: TopK = 64
    top_p: TopP = 0.95

    @field_validator("temperature")
    @classmethod
    def _greedy_or_warm(cls, temperature: float) -> float:
        if 0 < temperature < LOWEST_TEMPERATURE:
            raise ValueError(f"temperature is 0, for greedy, or at least {LOWEST_TEMPERATURE:g}")
        return temperature

    def changed(self, change: "DecodingChange") -> "Decoding":
        """The decoding with the fields that `change` names."""
        return Decoding.model_validate(self.model_dump() | change.model_dump())


class _Change(Strict):
    @model_validator(mode="before")
    @classmethod
    def _no_nulls(cls, data: Any) -> Any:
        if isinstance(data, dict):
            if not data:
                raise ValueError("names no parameter to change")
            for name, value in data.items():
                if value is None:
                    raise ValueError(f"{name} is null; leave it out to keep it")
        return data

    @model_serializer(mode="wrap")
    def _only_what_changes(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {name: value for name, value in handler(self).items() if value is not None}


class SamplerChange(_Change):
    """Some of the sampler's parameters, to take over from a step on."""

    entropy_bound: EntropyBound | None = None
    top_probability: Probability | None = None
    margin: Probability | None = None
    k: Count | None = None
    kappa: Kappa | None = None
    t_max: TMax | None = None
    t_min: TMin | None = None
    max_denoising_steps: DenoisingSteps | None = None
    confidence_threshold: ConfidenceThreshold | None = None
    stability_threshold: StabilityThreshold | None = None


class DecodingChange(_Change):
    """Some of the decoding's parameters, to take over from a token on."""

    temperature: Temperature | None = None
    top_k: TopK | None = None
    top_p: TopP | None = None
