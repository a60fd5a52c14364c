"""Where a checkpoint comes from: the embedded one, a folder, or the hub; whatever stands in the way in plain words."""

import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from huggingface_hub import constants, snapshot_download
from huggingface_hub.errors import (
    GatedRepoError,
    HFValidationError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
)
from huggingface_hub.utils.tqdm import disable_progress_bars

from playground.errors import ModelError
from playground.settings import EMBEDDED, name_of

EMBEDDED_FOLDER = Path(__file__).parent.parent / "tiny" / "checkpoint"
TAKES = "PLAYGROUND_MODEL takes `embedded`, a checkpoint folder, or a hub id."
ARCHITECTURE = "diffusion_gemma"

FILES = ["*.json", "*.jinja", "*.model", "*.safetensors"]
"""What a checkpoint is made of; other formats of the same weights are not fetched."""

TELL_SECONDS = 2.0

HASH_WHOLE_BELOW = 1 << 30
"""Weights up to this many bytes are hashed whole; of larger ones the sizes and evenly spaced samples."""
HASH_SAMPLES = 64
HASH_SAMPLE_BYTES = 1 << 20

Tell = Callable[[str], None]
"""Takes a sentence about how far the loading is."""


@dataclass(frozen=True)
class Source:
    """A checkpoint that is on this machine."""

    folder: Path
    name: str
    commit: str | None
    """The hub's commit; none for a folder."""


def find(model: str, tell: Tell) -> Source:
    """The checkpoint that a setting names, fetched from the hub where it has to be.

    Raises `ModelError` with a sentence where there is none, or one of another architecture.
    """
    source = _find(model, tell)
    config = _config(model, source.folder)
    kind = config.get("model_type")
    if kind != ARCHITECTURE:
        raise _cannot(model, f"it is a checkpoint of the kind {kind!r}, and only {ARCHITECTURE!r} is denoised here.")
    if not any(source.folder.glob("*.safetensors")):
        raise _cannot(model, "there are no weights (*.safetensors) in its folder.")
    if not any((source.folder / name).is_file() for name in ("tokenizer.json", "tokenizer.model")):
        raise _cannot(model, "there is no tokenizer (tokenizer.json) in its folder.")
    return source


def _find(model: str, tell: Tell) -> Source:
    if model == EMBEDDED:
        return Source(EMBEDDED_FOLDER, EMBEDDED, None)
    folder = Path(model).expanduser()
    if folder.is_dir():
        return Source(folder, name_of(model), None)
    if model.startswith((".", "/", "~")) or model.count("/") != 1:
        raise _cannot(model, f"there is no such folder. {TAKES}")
    folder = _fetched(model, tell)
    return Source(folder, model, folder.name)


def _fetched(model: str, tell: Tell) -> Path:
    """The folder of a hub id, from the cache or the network."""
    disable_progress_bars()
    cached = Path(constants.HF_HUB_CACHE) / f"models--{model.replace('/', '--')}" / "blobs"
    try:
        with _watching(cached, lambda gigabytes: tell(f"Fetching {model!r} from the hub: {gigabytes:.1f} GB so far.")):
            return Path(snapshot_download(model, allow_patterns=FILES))
    except GatedRepoError:
        reason = (
            f"its terms have to be accepted first, on https://huggingface.co/{model}; then log in here with "
            "`hf auth login`, or set HF_TOKEN."
        )
    except RepositoryNotFoundError:
        reason = f"the hub knows no such model, or none that is open to you (HF_TOKEN logs in). {TAKES}"
    except HFValidationError:
        reason = f"this is no hub id. {TAKES}"
    except (LocalEntryNotFoundError, OfflineModeIsEnabled):
        reason = (
            "the hub cannot be reached, and the model has not been fetched before. Fetch it where there is a network "
            f"(`hf download {model}`), or give its folder."
        )
    except (OSError, ValueError) as error:
        reason = f"fetching it failed: {_first_line(error)}"
    raise _cannot(model, reason) from None


def _config(model: str, folder: Path) -> dict[str, Any]:
    try:
        config = json.loads((folder / "config.json").read_text())
    except FileNotFoundError:
        raise _cannot(model, f"its folder has no config.json. {TAKES}") from None
    except (OSError, ValueError) as error:
        raise _cannot(model, f"its config.json cannot be read: {_first_line(error)}") from None
    if not isinstance(config, dict):
        raise _cannot(model, "its config.json is no JSON object.")
    return config


def _cannot(model: str, reason: str) -> ModelError:
    return ModelError(f"The model {model!r} could not be loaded: {reason}", field="model")


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


@contextmanager
def _watching(folder: Path, say: Callable[[float], None]) -> Iterator[None]:
    """Tell from time to time how many gigabytes a folder has."""
    done = threading.Event()

    def watch() -> None:
        told = 0.0
        while not done.wait(TELL_SECONDS):
            gigabytes = sum(file.stat().st_size for file in folder.glob("*") if file.is_file()) / 1e9
            if gigabytes - told >= 0.1:
                told = gigabytes
                say(gigabytes)

    watcher = threading.Thread(target=watch, name="watching", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def weights_hash(folder: Path) -> str:
    """SHA-256 over the weights' files in a checkpoint folder, shortened to 16 hex digits.

    Files above a gibibyte in all are sampled evenly, so that opening 50 GB does not take minutes.
    """
    files = sorted(folder.glob("*.safetensors"))
    digest = hashlib.sha256()
    whole = sum(file.stat().st_size for file in files) <= HASH_WHOLE_BELOW
    for file in files:
        size = file.stat().st_size
        digest.update(f"{file.name}:{size}\n".encode())
        with file.open("rb") as stream:
            if whole:
                while block := stream.read(HASH_SAMPLE_BYTES):
                    digest.update(block)
            else:
                for sample in range(HASH_SAMPLES):
                    stream.seek(sample * (size // HASH_SAMPLES))
                    digest.update(stream.read(HASH_SAMPLE_BYTES))
    return digest.hexdigest()[:16]
