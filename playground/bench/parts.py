"""Where the time of a step goes: hooks on a network's parts, and a stopwatch that does not hold the device up."""

import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

Moment = Any
"""A point in time: a CUDA event, or seconds."""


class Stopwatch:
    """Adds up times by name. On CUDA they are the device's own, and nothing waits before `take`."""

    def __init__(self, device: torch.device) -> None:
        self._cuda = device.type == "cuda"
        self._device = device
        self._began: dict[str, Moment] = {}
        self._spans: dict[str, list[tuple[Moment, Moment]]] = defaultdict(list)

    def start(self, name: str) -> None:
        """From here on."""
        self._began[name] = self._now()

    def stop(self, name: str) -> None:
        """Up to here."""
        self._spans[name].append((self._began.pop(name), self._now()))

    @contextmanager
    def span(self, name: str) -> Iterator[None]:
        """For as long as the block takes."""
        self.start(name)
        yield
        self.stop(name)

    def take(self) -> dict[str, float]:
        """Milliseconds by name since the last call."""
        if self._cuda:
            torch.cuda.synchronize(self._device)
        taken = {name: sum(self._between(*span) for span in spans) for name, spans in self._spans.items()}
        self._spans.clear()
        return taken

    def _now(self) -> Moment:
        if not self._cuda:
            return time.perf_counter()
        event = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
        event.record(torch.cuda.current_stream(self._device))
        return event

    def _between(self, began: Moment, ended: Moment) -> float:
        return float(began.elapsed_time(ended) if self._cuda else (ended - began) * 1000)


@contextmanager
def timed(layers: Any, watch: Stopwatch) -> Iterator[None]:
    """Have the layers' attention (projections included) and experts (router included) timed, as `attention` and `MoE`.

    layers: of the decoder.
    """
    hooks = []
    for layer in layers:
        for first, last, name in (
            (layer.self_attn, layer.self_attn, "attention"),
            (layer.router, layer.experts, "MoE"),
        ):
            hooks.append(first.register_forward_pre_hook(lambda *_, name=name: watch.start(name)))
            hooks.append(last.register_forward_hook(lambda *_, name=name: watch.stop(name)))
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


@contextmanager
def counted(layers: Any, counts: list[int]) -> Iterator[None]:
    """Have `counts` filled with the number of distinct experts that each layer's router names in a pass."""

    def count(_: Any, __: Any, output: Any) -> None:
        counts.append(int(output[2].unique().numel()))

    hooks = [layer.router.register_forward_hook(count) for layer in layers]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
