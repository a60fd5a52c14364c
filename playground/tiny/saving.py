"""What training leaves on disk: the model folder, and the trunk from which it can go on.

Each file is written beside its place and moved there whole, so that a run that is cut off leaves the last good one.
"""

import os
import shutil
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from transformers import DiffusionGemmaForBlockDiffusion

from playground.tiny.codec import TextCodec
from playground.tiny.tokenizer import save_tokenizer

TRUNK = "trunk.pt"
MODEL = "model"
MAX_SHARD = "14MB"


def save_trunk(folder: Path, state: dict[str, Any]) -> None:
    """Write the state to go on from."""
    folder.mkdir(parents=True, exist_ok=True)
    beside = folder / f".{TRUNK}.{os.getpid()}"
    torch.save(state, beside)
    beside.replace(folder / TRUNK)


def load_trunk(folder: Path) -> dict[str, Any] | None:
    """The state to go on from, on the CPU, or None where there is none."""
    path = folder / TRUNK
    if not path.exists():
        return None
    state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    return state


def save_model(folder: Path, model: DiffusionGemmaForBlockDiffusion, tokenizer_json: str, name: str = MODEL) -> Path:
    """Write an ordinary checkpoint folder, model and tokenizer, as `folder/name`, and give its path."""
    folder.mkdir(parents=True, exist_ok=True)
    beside = folder / f".{name}.{os.getpid()}"
    shutil.rmtree(beside, ignore_errors=True)
    model.save_pretrained(beside, max_shard_size=MAX_SHARD)
    save_tokenizer(Tokenizer.from_str(tokenizer_json), beside)
    place, old = folder / name, folder / f".{name}.old"
    shutil.rmtree(old, ignore_errors=True)
    if place.exists():
        place.rename(old)
    beside.rename(place)
    shutil.rmtree(old, ignore_errors=True)
    return place


def load_model(folder: Path, device: str = "cpu") -> tuple[DiffusionGemmaForBlockDiffusion, TextCodec]:
    """Model, in evaluation mode and float32, and tokenizer of a checkpoint folder."""
    model = DiffusionGemmaForBlockDiffusion.from_pretrained(folder, dtype=torch.float32, local_files_only=True)
    return model.to(device).eval(), TextCodec.load(folder)
