"""Where a model's weights go and in which precision, as the settings say; what cannot be is said in a sentence."""

import importlib.util
from collections.abc import Iterable
from typing import Any

import torch

from playground.errors import ModelError
from playground.settings import Settings

HEADROOM_BYTES = 1 << 30
"""Of each GPU that weights are spread over, left for caches and passes."""


def check(settings: Settings) -> None:
    """Raise `ModelError` for a device that is not there, or a quantization or compilation that cannot be done here."""
    chosen = device(settings.device)
    if settings.quantize != "none":
        what = f"PLAYGROUND_QUANTIZE is {settings.quantize!r}"
        if chosen.type != "cuda":
            raise ModelError(f"{what}, which takes a CUDA device, and there is none here.", field="quantize")
        if importlib.util.find_spec("bitsandbytes") is None:
            reason = "which takes bitsandbytes: `pip install 'denoising-playground[quantize]'` brings it."
            raise ModelError(f"{what}, {reason}", field="quantize")
    if settings.compile == "graphs" and chosen.type != "cuda":
        message = "PLAYGROUND_COMPILE is 'graphs', which takes a CUDA device, and there is none here; 'step' does not."
        raise ModelError(message, field="compile")
    if settings.compile != "none" and settings.device_map != "one":
        message = f"PLAYGROUND_COMPILE is {settings.compile!r}, which takes all weights on one device."
        raise ModelError(message, field="compile")
    if settings.device_map != "one" and chosen.type != "cuda":
        message = f"PLAYGROUND_DEVICE_MAP is {settings.device_map!r}, which spreads over GPUs, and there are none here."
        raise ModelError(message, field="device_map")


def device(wanted: str) -> torch.device:
    """The torch device that the setting names. Raises `ModelError` where torch sees none like it."""
    if wanted == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        found = torch.device(wanted)
    except RuntimeError as error:
        message = f"PLAYGROUND_DEVICE is {wanted!r}; it takes `auto`, `cpu`, `cuda` or `cuda:N`."
        raise ModelError(message, field="device") from error
    if found.type == "cuda":
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if not count:
            message = f"PLAYGROUND_DEVICE is {wanted!r}, but torch sees no CUDA device here."
            raise ModelError(message, field="device")
        if (found.index or 0) >= count:
            message = f"PLAYGROUND_DEVICE is {wanted!r}, but there are only {count} CUDA devices here, from cuda:0 on."
            raise ModelError(message, field="device")
    elif found.type != "cpu" and not _there(found.type):
        raise ModelError(f"PLAYGROUND_DEVICE is {wanted!r}, but torch sees no such device here.", field="device")
    return found


def _there(kind: str) -> bool:
    return bool(getattr(getattr(torch, kind, None) or getattr(torch.backends, kind, None), "is_available", bool)())


def dtype(wanted: str, chosen: torch.device) -> torch.dtype | str:
    """The weights' precision; `auto` stands for the checkpoint's own."""
    if wanted == "auto":
        return torch.float32 if chosen.type == "cpu" else "auto"
    found: torch.dtype = getattr(torch, wanted)
    return found


def options(settings: Settings, chosen: torch.device) -> dict[str, Any]:
    """What `from_pretrained` takes to put the weights where they belong."""
    given: dict[str, Any] = {"dtype": dtype(settings.dtype, chosen)}
    if chosen.type == "cuda":
        given["device_map"] = {"": chosen} if settings.device_map == "one" else settings.device_map
        if settings.device_map != "one":
            given["max_memory"] = {
                index: max(0, torch.cuda.mem_get_info(index)[0] - HEADROOM_BYTES)
                for index in range(torch.cuda.device_count())
            }
    if settings.quantize != "none":
        given["quantization_config"] = _quantization(settings.quantize)
    return given


def _quantization(bits: str) -> Any:
    from transformers import BitsAndBytesConfig

    if bits == "8bit":
        return BitsAndBytesConfig(load_in_8bit=True)
    return BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=torch.bfloat16)


def check_whole(network: torch.nn.Module, missing: Iterable[str], model: str) -> None:
    """Raise `ModelError` where weights are without values, or were not in the checkpoint and are random."""
    lacking = sorted(missing)
    if lacking:
        reason = f"its weights are not whole: {_some(lacking)} missing."
        raise ModelError(f"The model {model!r} could not be loaded: {reason}", field="model")
    named = (*network.named_parameters(), *network.named_buffers())
    empty = sorted(name for name, tensor in named if tensor.device.type == "meta")
    if empty:
        reason = (
            f"{_some(empty)} left without values, as happens when the GPUs have no room for all of them. "
            "PLAYGROUND_QUANTIZE or another PLAYGROUND_DEVICE may help."
        )
        raise ModelError(f"The model {model!r} could not be loaded: {reason}", field="device_map")


def _some(names: list[str]) -> str:
    more = f" and {len(names) - 1} more are" if len(names) > 1 else " is"
    return f"{names[0]}{more}"
