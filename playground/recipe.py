"""What a run is: a small JSON document from which every event of the run follows."""

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

Role = Literal["system", "user", "assistant"]
Mode = Literal["diffusion", "autoregressive"]

MAX_SEED = 2**53 - 1
"""The largest integer that JSON readers in a browser keep exactly."""

MAX_PROMPT_CHARACTERS = 200_000

LOWEST_TEMPERATURE = 1e-4
"""Below it logits divided by the temperature say nothing more than greedy decoding does."""

Finite = Annotated[float, Field(allow_inf_nan=False)]
EntropyBound = Annotated[Finite, Field(ge=0, le=1e6)]
TMax = Annotated[Finite, Field(ge=0.01, le=100)]
TMin = Annotated[Finite, Field(ge=0, le=100)]
DenoisingSteps = Annotated[int, Field(ge=1, le=1024)]
ConfidenceThreshold = Annotated[Finite, Field(ge=0, le=1e6)]
StabilityThreshold = Annotated[int, Field(ge=0, le=1024)]
Temperature = Annotated[Finite, Field(ge=0, le=100)]
TopK = Annotated[int, Field(ge=0, le=2**31 - 1)]
TopP = Annotated[Finite, Field(gt=0, le=1)]


class Strict(BaseModel):
    """Unknown fields, wrong types, NaN and infinity are refused; values do not change after validation."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Message(Strict):
    """One turn of the conversation; its content is text, also where it spells a marker."""

    role: Role
    content: Annotated[str, Field(max_length=MAX_PROMPT_CHARACTERS)]


class EntropyBoundSampler(Strict):
    """The entropy-bounded sampler with temperature annealing and adaptive stopping (report, section 3.3).

    `entropy_bound` and `confidence_threshold` are in nats; `stability_threshold` counts previous steps whose
    predicted canvas must equal the present one. The defaults are the report's.
    """

    name: Literal["entropy_bound"] = "entropy_bound"
    entropy_bound: EntropyBound = 0.1
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

    def changed(self, change: "SamplerChange") -> "EntropyBoundSampler":
        """The sampler with the fields that `change` names; raises `ValidationError` where they do not fit."""
        return EntropyBoundSampler.model_validate(self.model_dump() | change.model_dump())


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


class SetSampler(Strict):
    """Change sampler parameters just before a denoising step (canvas from 0, step from 1), or, where the canvas ends
    before that step, just before the next one there is."""

    type: Literal["set"] = "set"
    canvas: Annotated[int, Field(ge=0)]
    step: Annotated[int, Field(ge=1)]
    sampler: SamplerChange


class SetDecoding(Strict):
    """Change decoding parameters just before the token of this index (from 0) is drawn."""

    type: Literal["set"] = "set"
    index: Annotated[int, Field(ge=0)]
    decoding: DecodingChange


class _CanvasEdit(Strict):
    """An edit of the canvas itself, just before a denoising step (canvas from 0, step from 1)."""

    canvas: Annotated[int, Field(ge=0)]
    step: Annotated[int, Field(ge=1)]


class _WithTokens(_CanvasEdit):
    text: Annotated[str, Field(min_length=1, max_length=MAX_PROMPT_CHARACTERS)] | None = None
    ids: Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=1, max_length=100_000)] | None = None

    @model_validator(mode="after")
    def _text_or_ids(self) -> Self:
        if (self.text is None) == (self.ids is None):
            raise ValueError("takes either text or ids")
        return self


class Pin(_WithTokens):
    """Hold the positions from `start` on to a text (or to token ids) in this step and all later ones of the canvas.

    The pinned span is as long as the text. A pinned position is neither accepted nor renoised, and has no share in
    the entropy budget or the mean entropy. Where text is pinned, no position before it takes an end token.
    """

    type: Literal["pin"] = "pin"
    start: Annotated[int, Field(ge=0)]


class Unpin(_CanvasEdit):
    """Let go of the pins on `length` positions from `start` on."""

    type: Literal["unpin"] = "unpin"
    start: Annotated[int, Field(ge=0)]
    length: Annotated[int, Field(ge=1)]


class Renoise(_CanvasEdit):
    """Feed fresh random tokens at `length` positions from `start` on, those that are pinned left out."""

    type: Literal["renoise"] = "renoise"
    start: Annotated[int, Field(ge=0)]
    length: Annotated[int, Field(ge=1)]


class SetCanvas(_WithTokens):
    """Feed this text (or these ids) from position 0 on, corrupted at noise level `noise` as in the report's Equation 1.

    Each token of it gives way to a random one with probability `noise`; positions after it stay as they are.
    """

    type: Literal["canvas"] = "canvas"
    noise: Annotated[Finite, Field(ge=0, le=1)] = 0.0


class Infill(Strict):
    """Pin a text with holes from the first step on: `___` is a hole of 8 tokens, `___{n}` of n; the rest stands.

    The text goes over as many canvases as it needs, and what follows its end is pinned to the end of turn.
    """

    type: Literal["infill"] = "infill"
    text: Annotated[str, Field(min_length=1, max_length=MAX_PROMPT_CHARACTERS)]


def _edit_kind(edit: Any) -> str | None:
    if not isinstance(edit, dict | Strict):
        return None
    fields = edit if isinstance(edit, dict) else vars(edit)
    kind = fields.get("type", "set")
    if kind == "set":
        return "set_decoding" if "index" in fields else "set_sampler"
    return str(kind)


Edit = Annotated[
    Annotated[SetSampler, Tag("set_sampler")]
    | Annotated[SetDecoding, Tag("set_decoding")]
    | Annotated[Pin, Tag("pin")]
    | Annotated[Unpin, Tag("unpin")]
    | Annotated[Renoise, Tag("renoise")]
    | Annotated[SetCanvas, Tag("canvas")]
    | Annotated[Infill, Tag("infill")],
    Discriminator(_edit_kind),
]


class Recipe(Strict):
    """Everything a run depends on; all but the messages has defaults.

    `max_new_tokens` is rounded up to whole canvases when generating and trims the text. `model` is a name from the
    server's list, filled in by the server where it is left out.
    """

    model: Annotated[str, Field(min_length=1, max_length=256)] | None = None
    mode: Mode = "diffusion"
    messages: Annotated[list[Message], Field(min_length=1, max_length=256)]
    thinking: bool = False
    seed: Annotated[int, Field(ge=0, le=MAX_SEED)] = 0
    max_new_tokens: Annotated[int, Field(ge=1, le=1_000_000)] = 256
    sampler: EntropyBoundSampler = EntropyBoundSampler()
    decoding: Decoding = Decoding()
    edits: Annotated[list[Edit], Field(max_length=10_000)] = []

    @field_validator("messages")
    @classmethod
    def _conversation(cls, messages: list[Message]) -> list[Message]:
        if messages[-1].role != "user":
            raise ValueError("the last message must be the user's")
        if not messages[-1].content.strip():
            raise ValueError("the prompt is empty: the last message needs some text")
        for index, message in enumerate(messages):
            if message.role == "system" and index > 0:
                raise ValueError(f"message {index}: only the first message may be the system's")
        turns = [message.role for message in messages if message.role != "system"]
        for index, role in enumerate(turns):
            if role != ("user" if index % 2 == 0 else "assistant"):
                raise ValueError("user and assistant must take turns, the user first")
        return messages

    @model_validator(mode="after")
    def _edits_fit(self) -> Self:
        sampler = self.sampler
        in_run_order: list[SetSampler] = []
        for number, edit in enumerate(self.edits):
            if isinstance(edit, SetDecoding) == (self.mode == "diffusion"):
                allowed = "edits of canvas and step" if self.mode == "diffusion" else "`set` edits with an index"
                raise ValueError(f"edits[{number}]: a run in {self.mode} mode takes {allowed} only")
            if isinstance(edit, SetSampler):
                in_run_order.append(edit)
        for edit in sorted(in_run_order, key=lambda edit: (edit.canvas, edit.step)):
            sampler = sampler.changed(edit.sampler)
        return self
