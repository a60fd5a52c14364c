"""Memory: what weights and caches need, and what there is. Bytes throughout; sentences say gigabytes (10^9)."""

import gc
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import torch

BYTES = {"F64": 8, "F32": 4, "BF16": 2, "F16": 2, "F8_E4M3": 1, "F8_E5M2": 1, "I64": 8, "I32": 4, "I8": 1, "U8": 1}
"""Bytes of an element by safetensors' names."""

QUANTIZED = {"8bit": 1.0, "4bit": 0.5625}
"""Bytes of a weight under bitsandbytes: in 4 bits a float32 scale for each 64 of them comes on top."""

CONTROL_GROUP = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class Weights:
    """What the headers of a checkpoint's files say."""

    parameters: int
    matrices: int
    """Those in matrices of linear layers, which quantization makes smaller; experts and embeddings stay as they are."""
    stored: int
    """Bytes as they lie on the disk."""


def weights(folder: Path) -> Weights:
    """Read the headers of all safetensors files in a folder. Raises `OSError` or `ValueError` for broken ones."""
    parameters = matrices = stored = 0
    for file in sorted(folder.glob("*.safetensors")):
        for name, tensor in _header(file).items():
            if name == "__metadata__":
                continue
            count = 1
            for size in tensor["shape"]:
                count *= size
            parameters += count
            stored += count * BYTES.get(tensor["dtype"], 4)
            if len(tensor["shape"]) == 2 and "embed" not in name and "lm_head" not in name:
                matrices += count
    return Weights(parameters, matrices, stored)


def _header(file: Path) -> dict[str, Any]:
    with file.open("rb") as stream:
        size = int.from_bytes(stream.read(8), "little")
        if size > 100_000_000:
            raise ValueError(f"{file.name} is not a safetensors file")
        header = json.loads(stream.read(size))
    if not isinstance(header, dict):
        raise ValueError(f"{file.name} is not a safetensors file")
    return header


def needed(given: Weights, dtype: torch.dtype | str, quantize: str) -> int:
    """Bytes that the weights take once loaded. dtype: `auto` for the checkpoint's own."""
    each = given.stored / max(1, given.parameters) if isinstance(dtype, str) else dtype.itemsize
    if quantize == "none":
        return round(given.parameters * each)
    return round((given.parameters - given.matrices) * each + given.matrices * QUANTIZED[quantize])


def there(device: torch.device, spread: bool = False) -> int:
    """Bytes that are free on a device, or (`spread`) on all GPUs together."""
    if device.type == "cuda":
        devices = range(torch.cuda.device_count()) if spread else [device]
        return sum(torch.cuda.mem_get_info(one)[0] for one in devices)
    return int(min(psutil.virtual_memory().available, _group_allows()))


def give_back() -> None:
    """Return what nobody holds any more to the machine, a model that was let go among it."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def _group_allows() -> float:
    """What a container's limit leaves."""
    try:
        most = (CONTROL_GROUP / "memory.max").read_text().strip()
        used = (CONTROL_GROUP / "memory.current").read_text().strip()
        return float("inf") if most == "max" else max(0, int(most) - int(used))
    except (OSError, ValueError):
        return float("inf")


def caches(text_config: Any, tokens: int, chunk: int, item: int) -> int:
    """Bytes of the KV cache of a context: full layers keep all tokens, sliding ones a window and the chunk behind it.

    tokens: in the context; chunk: the most that one pass appends; item: bytes of a number.
    """
    total = 0
    for index, kind in enumerate(text_config.layer_types):
        layer = text_config.per_layer_config[index]
        kept = tokens if kind == "full_attention" else min(tokens, text_config.sliding_window - 1 + chunk)
        total += 2 * kept * layer.num_key_value_heads * layer.head_dim * item
    return total


def gigabytes(count: float) -> str:
    """`52.1 GB`; below a tenth of one `3.4 MB`."""
    return f"{count / 1e9:.1f} GB" if count >= 1e8 else f"{count / 1e6:.1f} MB"
