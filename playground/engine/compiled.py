"""The network pass of a denoising step, compiled once for all prompts, canvases and runs.

The compiled function takes plain tensors: the canvas, its positions, the self-conditioning, and each layer's keys and
values as the KV cache holds them. So it reads the very tensors that the eager pass reads, before and after the sliding
window is full, and nothing of the sampler is compiled into it. Only the prefix's length differs from canvas to canvas;
it is a symbol in the graph. ADR 5 says why.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import torch
from torch import Tensor
from transformers import DynamicCache

from playground.errors import ModelError

How = Literal["step", "graphs"]
"""`step`: compiled by inductor. `graphs`: recorded as CUDA graphs besides, the prefix filled up to few lengths."""

FILLED_TO = 1024
"""With `graphs`: prefixes are as long as a multiple of this, so that a graph serves more canvases than one."""

FIRST = 24
"""Prefix length of the sliding layers that it is compiled at; the full ones have twice as much, so that the graph takes
the two for two symbols. That they may be equal, as before the window is full, is no case of its own then."""


class _Layer:
    """A layer's share of the prefix."""

    def __init__(self, keys: Tensor, values: Tensor) -> None:
        self.keys = keys
        self.values = values


class _Prefix:
    """What the decoder reads of a cache, inside the compiled function."""

    is_compileable = False

    def __init__(self, keys: Sequence[Tensor], values: Sequence[Tensor]) -> None:
        self.layers = [_Layer(*each) for each in zip(keys, values, strict=True)]


class Compiled:
    """The decoder and its head as one compiled function; called like `Model.decode_pass`.

    `fullgraph` holds: nothing in it waits for the host. network: a `DiffusionGemmaForBlockDiffusion`; head: hidden
    states (C, d) to logits (C, V); filled_to: prefixes are filled up to a multiple of it and masked, if it is given.
    """

    def __init__(
        self, network: Any, head: Callable[[Tensor], Tensor], how: How, filled_to: int | None = None, **options: Any
    ) -> None:
        self._network = network
        self._head = head
        self.filled_to = filled_to or (FILLED_TO if how == "graphs" else None)
        self._records = how == "graphs"
        mode = "reduce-overhead" if how == "graphs" else None
        self._pass = torch.compile(self._traced, fullgraph=True, mode=mode, **options)

    def __call__(self, cache: DynamicCache, canvas_ids: Tensor, self_conditioning: Tensor | None) -> Tensor:
        """Logits (C, V) float32, as `Model.decode_pass` gives them. With `graphs` the next pass overwrites them."""
        lengths = [layer.keys.shape[2] for layer in cache.layers]
        keys = [self._filled(layer.keys) for layer in cache.layers]
        values = [self._filled(layer.values) for layer in cache.layers]
        return self._call(keys, values, lengths, cache.get_seq_length(), canvas_ids, self_conditioning)

    def compile(self, cache: DynamicCache, canvas_ids: Tensor) -> None:
        """Compile now, for layers like those of a cache that holds something.

        Raises `ModelError` in a sentence where that cannot be done here.
        """
        first = self.filled_to or FIRST
        lengths = [first if layer.is_sliding else 2 * first for layer in cache.layers]
        keys = [_as_long(layer.keys, length) for layer, length in zip(cache.layers, lengths, strict=True)]
        values = [_as_long(layer.values, length) for layer, length in zip(cache.layers, lengths, strict=True)]
        try:
            self._call(keys, values, lengths, 2 * first, canvas_ids, None)
        except (torch.OutOfMemoryError, MemoryError):
            raise
        except Exception as error:  # whatever a compiler may raise
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            message = (
                f"PLAYGROUND_COMPILE asks for a compiled step, which could not be made here: {reason} It takes a C++ "
                "compiler and Python's headers, on a GPU also Triton; `none` does without."
            )
            raise ModelError(message, field="compile") from error

    def _call(
        self,
        keys: list[Tensor],
        values: list[Tensor],
        lengths: Sequence[int],
        start: int,
        canvas_ids: Tensor,
        self_conditioning: Tensor | None,
    ) -> Tensor:
        """Tensors come in the same way each time, for whatever differs is a case of its own to compile: of inference
        mode but for the self-conditioning, which the engine makes outside of it."""
        for states in (*keys, *values):
            _any_length(states, 2)
        device, size = canvas_ids.device, canvas_ids.shape[0]
        given = torch.full((1,), self_conditioning is not None, device=device)
        if self_conditioning is None:
            embedding = self._network.model.decoder.embed_tokens.weight  # (V, d)
            with torch.inference_mode(False):
                self_conditioning = torch.zeros((size, embedding.shape[0]), dtype=embedding.dtype, device=device)
        elif self_conditioning.is_inference():
            with torch.inference_mode(False):
                self_conditioning = self_conditioning.clone()
        positions = torch.arange(start, start + size, device=device)
        masks = self._masks(keys, lengths, size)
        if self._records:
            torch.compiler.cudagraph_mark_step_begin()  # type: ignore[no-untyped-call]
        logits: Tensor = self._pass(
            canvas_ids[None].clone(), positions[None], self_conditioning[None], given, keys, values, masks
        )
        return logits

    def _traced(
        self,
        canvas_ids: Tensor,
        positions: Tensor,
        self_conditioning: Tensor,
        given: Tensor,
        keys: list[Tensor],
        values: list[Tensor],
        masks: dict[str, Tensor | None],
    ) -> Tensor:
        """canvas_ids, positions: (1, C) int64; self_conditioning: (1, C, V); given: (1,) bool, false for a canvas's
        first step; keys, values: a layer each, (1, heads, T, d); masks: by the layers' kind, (1, 1, C, T + C) bool."""
        hidden = self._network.model.decoder(
            decoder_input_ids=canvas_ids,
            cache=_Prefix(keys, values),
            self_conditioning_logits=self_conditioning,
            self_conditioning_mask=given,
            decoder_attention_mask=masks,
            decoder_position_ids=positions,
        ).last_hidden_state  # (1, C, d)
        return self._head(hidden[0])

    def _masks(self, keys: Sequence[Tensor], lengths: Sequence[int], size: int) -> dict[str, Tensor | None]:
        """Which keys are the prefix's own or the canvas's; none where nothing is filled up: all are attended to."""
        kinds: list[str] = self._network.config.get_text_config().layer_types
        masks: dict[str, Tensor | None] = {"full_attention": None, "sliding_attention": None}
        if self.filled_to is None:
            return masks
        for kind, states, length in zip(kinds, keys, lengths, strict=True):
            if masks[kind] is None:
                places = torch.arange(states.shape[2] + size, device=states.device)
                mask = (places < length) | (places >= states.shape[2])
                mask = masks[kind] = mask[None, None, None].expand(1, 1, size, -1).contiguous()
                _any_length(mask, 3)
        return masks

    def _filled(self, states: Tensor) -> Tensor:
        """(1, heads, T, d) in one piece, T filled up with zeros, which the mask leaves out.

        What a sliding layer holds is a view of more; its strides would be another case to compile.
        """
        more = -states.shape[2] % (self.filled_to or 1)
        if more:
            return torch.nn.functional.pad(states, (0, 0, 0, more))
        whole = states.contiguous().flatten().view(states.shape)
        return whole if whole.is_inference() else whole.clone()


def _as_long(states: Tensor, length: int) -> Tensor:
    """Zeros in the shape of a layer's states, (1, heads, length, d)."""
    return states.new_zeros((*states.shape[:2], length, states.shape[3]))


def _any_length(tensor: Tensor, dimension: int) -> None:
    """Have that dimension be a symbol in the graph."""
    from torch._dynamo import mark_dynamic  # a slow import, of no use to who compiles nothing

    mark_dynamic(tensor, dimension)
