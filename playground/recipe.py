"""What a run is: a small JSON document from which every event of the run follows."""

from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, Tag, field_validator, model_validator

from playground.parameters import Decoding, DecodingChange, EntropyBoundSampler, Finite, Sampler, SamplerChange, Strict

Role = Literal["system", "user", "assistant"]
Mode = Literal["diffusion", "autoregressive"]

MAX_SEED = 2**53 - 1
"""The largest integer that JSON readers in a browser keep exactly."""

MAX_PROMPT_CHARACTERS = 200_000


MAX_PARTS = 64

Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
"""Of an upload's bytes, in hexadecimal."""

Text = Annotated[str, Field(max_length=MAX_PROMPT_CHARACTERS)]


class TextPart(Strict):
    """Some text, also where it spells a marker."""

    type: Literal["text"]
    text: Text


class ImagePart(Strict):
    """A picture that was uploaded."""

    type: Literal["image"]
    sha256: Sha256


class FilePart(Strict):
    """A text file that was uploaded: its text stands here."""

    type: Literal["file"]
    sha256: Sha256


Part = Annotated[TextPart | ImagePart | FilePart, Field(discriminator="type")]

Content = Annotated[
    Annotated[Text, Tag("text")] | Annotated[list[Part], Field(min_length=1, max_length=MAX_PARTS), Tag("parts")],
    Discriminator(lambda value: "parts" if isinstance(value, list) else "text"),
]


class Message(Strict):
    """One turn of the conversation: text, or parts with pictures and text files among them."""

    role: Role
    content: Content

    @property
    def text(self) -> str:
        """What was written, without uploads; parts are told apart by a line break."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content if isinstance(part, TextPart))

    @property
    def uploads(self) -> list[ImagePart | FilePart]:
        """What was uploaded, in order."""
        parts = [] if isinstance(self.content, str) else self.content
        return [part for part in parts if not isinstance(part, TextPart)]


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
    sampler: Sampler = EntropyBoundSampler()
    decoding: Decoding = Decoding()
    edits: Annotated[list[Edit], Field(max_length=10_000)] = Field(default_factory=list)

    @field_validator("messages")
    @classmethod
    def _conversation(cls, messages: list[Message]) -> list[Message]:
        if messages[-1].role != "user":
            raise ValueError("the last message must be the user's")
        if not messages[-1].text.strip() and not messages[-1].uploads:
            raise ValueError("the prompt is empty: the last message needs some text")
        for index, message in enumerate(messages):
            if message.role != "user" and message.uploads:
                raise ValueError(f"message {index}: only the user's may have uploads")
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
