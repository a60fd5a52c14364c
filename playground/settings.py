"""Every knob of the process, read from `PLAYGROUND_*` environment variables."""

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

EMBEDDED = "embedded"
"""The model that comes with the package."""

DEVICE = re.compile(r"auto|(cpu|cuda|mps|xpu)(:\d+)?")
"""Devices of torch that a model can be on."""


class Settings(BaseSettings):
    """What the operator of a server may set; a wrong value stops the start with the field named."""

    model_config = SettingsConfigDict(env_prefix="PLAYGROUND_", extra="ignore", frozen=True)

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 7860
    root_path: str = ""
    """Path prefix under which a proxy serves the app, for example `/playground`."""

    model: str = EMBEDDED
    """`embedded`, a checkpoint folder, or a hub id."""
    models: Annotated[tuple[str, ...], NoDecode] = ()
    """Further models that the page may switch to, each as `model` takes it, comma separated; empty: it cannot."""
    device: str = "auto"
    """`auto` takes CUDA when there is one; otherwise a torch device such as `cpu` or `cuda:1`."""
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    """`auto`: the checkpoint's own on a GPU, float32 on a CPU."""
    quantize: Literal["none", "8bit", "4bit"] = "none"
    """Linear layers in 8 or 4 bits by bitsandbytes, on a GPU; experts and embeddings stay as they are."""
    device_map: Literal["one", "auto", "balanced", "sequential"] = "one"
    """`one`: all weights on `device`; otherwise how accelerate spreads them over all GPUs."""
    compile: Literal["none", "step", "graphs"] = "none"
    """`step`: a denoising step's network pass is compiled at the start; `graphs`: recorded as CUDA graphs besides."""
    threads: Annotated[int, Field(ge=0)] = 0
    """Torch's CPU threads; 0 leaves torch's default."""

    max_prompt_tokens: Annotated[int, Field(ge=1)] = 8192
    """A prompt longer than this, or than the model's context allows, is refused."""
    max_new_tokens: Annotated[int, Field(ge=1)] = 8192
    """The most tokens one run may ask for."""
    prefix_bytes: Annotated[int, Field(ge=0)] = 1 << 30
    """The most memory of the model's device that encoded prompts take between runs; 0 keeps none."""
    max_runs: Annotated[int, Field(ge=1)] = 8
    """Runs that take turns on the device at the same time; further ones wait."""
    max_waiting: Annotated[int, Field(ge=0)] = 32
    """Runs that may wait for a turn; beyond that a start is refused."""
    max_runs_per_socket: Annotated[int, Field(ge=1)] = 4
    max_runs_per_address: Annotated[int, Field(ge=1)] = 16
    """Runs that one address may have going, on all its sockets together."""
    max_sockets: Annotated[int, Field(ge=1)] = 512
    starts_per_minute: Annotated[int, Field(ge=1)] = 120
    """Starts allowed from one address in a minute."""

    frame_window: Annotated[int, Field(ge=1, le=64)] = 2
    """Frames that may be open (sent, not acknowledged) on one socket and run."""
    max_frame_bytes: Annotated[int, Field(ge=1024)] = 65536
    """The largest frame a client may send; one of more than four times as much ends the socket."""
    unwatched_seconds: Annotated[float, Field(gt=0)] = 15.0
    """A run that nobody watches ends after this time."""
    pause_seconds: Annotated[float, Field(gt=0)] = 600.0
    """An engine pause expires after this time."""
    keep_finished_runs: Annotated[int, Field(ge=1)] = 64
    """Logs of finished runs kept in memory, the newest first."""
    keep_finished_bytes: Annotated[int, Field(ge=0)] = 512 * 1024 * 1024
    """The most bytes that logs of finished runs take up; the newest is kept in any case."""
    upload_bytes: Annotated[int, Field(ge=1024)] = 20 << 20
    """The largest picture or text file that may be uploaded."""
    max_pixels: Annotated[int, Field(ge=1)] = 50_000_000
    """The most pixels of an uploaded picture."""
    keep_uploads_bytes: Annotated[int, Field(ge=1024)] = 256 << 20
    """The most memory that uploads take up; the longest unused ones are forgotten first."""
    store: str = "auto"
    """The SQLite file that keeps finished runs; `auto`: in the user's data folder; empty: nothing is stored."""
    store_bytes: Annotated[int, Field(ge=1 << 20)] = 1 << 30
    """The most bytes of that file; beyond them the oldest runs that nobody kept are dropped."""
    max_sweep_runs: Annotated[int, Field(ge=0)] = 5000
    """The most runs that a sweep begun on the page may have; 0: none can be begun there."""
    recordings: str = ""
    """A folder of trace files that the page shows as a gallery; empty: none."""
    lessons: str = ""
    """A folder with lessons of one's own, beside those of the package; empty: none."""
    max_rooms: Annotated[int, Field(ge=0)] = 64
    """Rooms that may be open at the same time; 0: none can be opened."""
    max_students: Annotated[int, Field(ge=1)] = 100
    """Students in one room."""
    room_seconds: Annotated[float, Field(gt=0)] = 3600.0
    """A room that nobody is in ends after this time."""
    max_trace_bytes: Annotated[int, Field(ge=1024)] = 64 << 20
    """The largest trace that is read, checked or exported."""

    allowed_origins: Annotated[tuple[str, ...], NoDecode] = ()
    """Origins allowed on the socket besides the page's own host, comma separated."""

    log_format: Literal["console", "json"] = "console"

    @field_validator("device")
    @classmethod
    def _known(cls, value: str) -> str:
        if not DEVICE.fullmatch(value):
            raise ValueError("takes `auto`, `cpu`, `cuda` or `cuda:N`")
        return value

    @field_validator("recordings")
    @classmethod
    def _folder(cls, value: str) -> str:
        if value and not Path(value).expanduser().is_dir():
            raise ValueError("takes a folder that is there")
        return value

    @field_validator("models", "allowed_origins", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        return value

    @field_validator("models")
    @classmethod
    def _told_apart(cls, value: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        names = [name_of(model) for model in dict.fromkeys((info.data.get("model", ""), *value))]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(f"names two models called {twice!r}, which recipes could not tell apart")
        return value

    @property
    def choices(self) -> dict[str, str]:
        """The models of this process by the names that recipes have for them, the one it begins with first."""
        return {name_of(model): model for model in (self.model, *self.models)}


def name_of(model: str) -> str:
    """What recipes call a model: a folder by its own name, and never by the way to it."""
    folder = Path(model).expanduser()
    return folder.resolve().name if model != EMBEDDED and folder.is_dir() else model
