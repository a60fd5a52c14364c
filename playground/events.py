"""What a run says: the only vocabulary that engine, log, socket, metrics and page share.

Columns (`predicted`, `entropy`, …) have one entry per canvas position. Entropies are exact float32 values in nats.
The engine leaves `run` and `seq` empty; the log fills them in.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from playground.recipe import Edit, Recipe, SetDecoding

CanvasStopReason = Literal["stable_and_confident", "max_denoising_steps"]
RunStopReason = Literal["end_of_turn", "max_new_tokens", "cancelled", "error"]


class Loop(BaseModel):
    """Tokens that repeat to the end, degenerately: `size` tokens, `times` in a row, from index `start` on."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    start: int
    size: int
    times: int


class Picture(BaseModel):
    """A picture of the prompt, in small."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sha256: str
    width: int
    height: int
    tokens: int
    """How many of `prompt_ids` stand for it."""
    thumbnail: str
    """A `data:` URL."""


class _Event(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, ser_json_inf_nan="strings")

    run: str | None = None
    seq: int | None = None


class RunStarted(_Event):
    """The first event: the whole recipe and what a reader needs to know of the model."""

    type: Literal["run_started"] = "run_started"
    recipe: Recipe
    model_revision: str
    """Hash of the weights."""
    canvas_length: int
    vocab_size: int
    prompt_ids: list[int]
    pictures: list[Picture] = []
    """Those among the prompt, in order."""
    end_ids: list[int]
    """Tokens that end the turn; a canvas is cut after the first of them."""
    channel_ids: list[int] | None = None
    """The two markers around a thought, where the model has them."""
    device: str
    dtype: str
    compiled: bool = False
    """Whether the passes of denoising steps were compiled, which can change the last bits."""
    created: str
    """UTC time of the start, ISO 8601."""
    version: str
    """Version of the playground that made the run."""
    texts: dict[int, str]


class Prefill(_Event):
    """Part of a long prompt is in the KV cache. The last part has no such event: what follows it says so."""

    type: Literal["prefill"] = "prefill"
    tokens: int
    """How many tokens are encoded so far."""
    total: int
    """How many the prompt has."""
    ms: float
    """Device time of this part; 0 where an earlier run had encoded it."""
    device_ms: float


class CanvasStarted(_Event):
    """A new canvas of random tokens, which step 1 is fed."""

    type: Literal["canvas_started"] = "canvas_started"
    canvas: int
    canvas_ids: list[int]
    pinned: list[bool] | None = None
    """Positions held to a given token from the first step on; none where nothing is pinned."""
    edits: list[Edit] = []
    """Edits of the canvas applied before its first step; they are in `canvas_ids` already."""
    device_ms: float
    """Device time of the run so far; at canvas 0 that is the prefill."""
    texts: dict[int, str]


class Step(_Event):
    """One denoising step: what the decoder saw in the canvas and what the sampler decided."""

    type: Literal["step"] = "step"
    canvas: int
    step: int
    t: float
    """Noise level n/N at which the step was taken, n steps being left with this one."""
    temperature: float
    entropy_bound: float | None = None
    """The rule's own parameter in force, as are the next four: of each run only its rule's is there."""
    top_probability: float | None = None
    margin: float | None = None
    k: int | None = None
    jump_probability: float | None = None
    """How likely the Euler step moved each position in this step."""
    max_denoising_steps: int
    """N in force in this step."""
    confidence_threshold: float
    stability_threshold: int
    mean_entropy: float
    stable_steps: int
    """How many previous steps in a row had the same predicted canvas."""
    ms: float
    """Device time of this step."""
    device_ms: float
    """Device time of the run so far, waiting left out."""
    predicted: list[int]
    sampled: list[int]
    accepted: list[bool]
    entropy: list[float]
    canvas_ids: list[int]
    """What the next step is fed: the sampled token where accepted; elsewhere a random one (or, by Euler, the old)."""
    edits: list[Edit] = []
    """Edits applied just before this step; those of the canvas before its first step stand in `canvas_started`."""
    fed_ids: list[int] | None = None
    """What this step was fed, where edits made that differ from the `canvas_ids` before it."""
    pinned: list[bool] | None = None
    """Positions held to a given token: outside the budget and the mean entropy. None where nothing is pinned."""
    texts: dict[int, str]
    top_ids: list[list[int]] | None = None
    """Per position the most probable tokens, best first; in the log and the trace, not on the socket."""
    top_probabilities: list[list[float]] | None = None
    """Their probabilities, to five decimals."""
    top_texts: dict[int, str] | None = None


class Token(_Event):
    """One token of an autoregressive run; entropy and logprob before truncation, untempered when greedy."""

    type: Literal["token"] = "token"
    index: int
    id: int
    temperature: float
    entropy: float
    logprob: float
    ms: float
    device_ms: float
    text: str
    """What the answer gains with this token; a character split over tokens comes with the last of them."""
    thought: str = ""
    """What the thought gains with it."""
    edits: list[SetDecoding] = []
    texts: dict[int, str]
    top_ids: list[int] | None = None
    top_probabilities: list[float] | None = None
    top_texts: dict[int, str] | None = None


class CanvasCommitted(_Event):
    """A canvas has become history: its predicted tokens, cut after the first end token."""

    type: Literal["canvas_committed"] = "canvas_committed"
    canvas: int
    ids: list[int]
    text: str
    """What the answer gains with this canvas; a character split over the edge comes with the later canvas."""
    thought: str = ""
    """What the thought gains with it; markers are in neither."""
    steps: int
    stop_reason: CanvasStopReason
    loop: Loop | None = None
    """The loop that the canvas ends in: repetition, and entropy so low that it stopped early."""
    ms: float
    """Device time of encoding the canvas into the KV cache; 0 for the last one, which needs none."""
    device_ms: float
    texts: dict[int, str]


class Metrics(BaseModel):
    """Figures of a run. Times are device times of this run alone; waiting for others is in `wall_seconds` only."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    total_tokens: int
    """Equation 7: valid tokens of all canvases, each up to and including the first end token."""
    total_denoising_steps: int | None
    """Equation 8; empty for an autoregressive run."""
    effective_denoising_steps: float | None
    """Equation 9: steps per canvas weighted by its valid tokens; empty for an autoregressive run."""
    tokens_per_forward: float | None
    """Equation 10: total tokens / (total steps + K − 1); 1 for an autoregressive run; empty without tokens."""
    forward_passes: int
    """Denominator of Equation 10; for an autoregressive run one per token."""
    canvases: int
    seconds: float
    """Device time from the start of prefill to the last token."""
    prefill_seconds: float
    wall_seconds: float
    time_to_first_token: float | None
    """Device time from the start to the first committed canvas (diffusion) or the first token (autoregressive)."""
    tokens_per_second: float | None
    """Tokens per second of device time without prefill; autoregressive: after the first token."""
    shared_device: bool
    """Other runs took turns on the device meanwhile."""
    trimmed_tokens: int
    """Generated tokens that the text leaves out because they are beyond max_new_tokens."""
    loops: int = 0
    """Canvases that end in a loop; 1 for an autoregressive run that does."""
    thinking_tokens: int = 0
    """Tokens of the thought, its markers counted; the others are the answer's."""
    reused_tokens: int = 0
    """Tokens of the prompt that an earlier run had encoded, so that this one need not."""


class RunFinished(_Event):
    """The last event of every run, whatever ended it."""

    type: Literal["run_finished"] = "run_finished"
    text: str
    thought: str
    metrics: Metrics
    stop_reason: RunStopReason
    loop: Loop | None = None
    """The loop that an autoregressive answer ends in; those of a diffusion run stand at their canvases."""
    recipe: Recipe
    """The recipe with every edit made on the way: run again, it gives the same events."""


class Error(_Event):
    """Something that cannot be done. With `run` it ends that run; without, it answers one sender alone."""

    type: Literal["error"] = "error"
    code: str
    """`bad_request`, `unknown_model`, `unknown_run`, `unknown_event`, `unknown_sweep`, `unknown_room`, `forbidden`,
    `finished`, `busy`, `too_long`, `bad_upload`, `unknown_upload`, `model` (it could not be loaded), `out_of_memory`,
    `bad_logits`, `gpu` (none was lent), `internal`."""
    message: str
    field: str | None = None
    """The field at fault as a dotted path, for example `recipe.sampler.t_max`."""
    ref: str | int | None = None
    """The client's own mark of the message that is answered."""


Event = RunStarted | Prefill | CanvasStarted | Step | Token | CanvasCommitted | RunFinished | Error
"""Any event of a run."""

adapter: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Field(discriminator="type")])
"""Validates an event from JSON by its `type`."""
