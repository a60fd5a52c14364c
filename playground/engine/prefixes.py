"""What earlier runs have encoded: KV caches of prompts' beginnings, kept so that the next turn need not do it again.

A cache is kept at the end of a chunk only, and taken up only by a prompt that has the same chunks so far. What is left
to encode is then encoded in the same passes as without it, so a run gives the same bits either way.
"""

from collections import OrderedDict
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass

from torch import Tensor
from transformers import DynamicCache


@dataclass(frozen=True)
class _Layer:
    keys: Tensor
    """(1, heads, T or the window's share of it, d)"""
    values: Tensor
    seen: int


Content = tuple[Hashable, ...]
"""A prompt's beginning: its ids, those of pictures along with the picture."""


class Prefixes:
    """Caches by content, the last used ones up to so many bytes. Not thread-safe, as the model is not."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._kept: OrderedDict[Content, tuple[list[_Layer], int]] = OrderedDict()
        self.bytes = 0
        """Memory that the kept caches take, on the model's device."""

    def __len__(self) -> int:
        return len(self._kept)

    def longest(self, content: Sequence[Hashable], ends: Collection[int], cache: DynamicCache) -> int:
        """Fill an empty cache with the longest beginning that is kept; gives its length in tokens, 0 for none.

        ends: of the prompt's chunks; only there a cache can be taken up.
        """
        lengths = {len(kept) for kept in self._kept}
        for end in sorted(lengths.intersection(ends), reverse=True):
            beginning = tuple(content[:end])
            if beginning in self._kept:
                self._kept.move_to_end(beginning)
                _fill(cache, self._kept[beginning][0])
                return end
        return 0

    def keep(self, beginning: Content, cache: DynamicCache) -> None:
        """Keep the present state of a cache; the longest unused ones give way."""
        if beginning in self._kept or not self._most_bytes:
            return
        layers = [_Layer(_own(layer.keys), _own(layer.values), layer.get_seq_length()) for layer in cache.layers]
        size = sum(layer.keys.nbytes + layer.values.nbytes for layer in layers)
        if size > self._most_bytes:
            return
        self._kept[beginning] = layers, size
        self.bytes += size
        while self.bytes > self._most_bytes:
            _, (_, dropped) = self._kept.popitem(last=False)
            self.bytes -= dropped

    def clear(self) -> None:
        """Let go of everything."""
        self._kept.clear()
        self.bytes = 0


def _own(states: Tensor) -> Tensor:
    """The states without the rest of a larger tensor that they are a view of."""
    return states.clone() if states.untyped_storage().nbytes() > states.nbytes else states


def _fill(cache: DynamicCache, layers: Sequence[_Layer]) -> None:
    """Passes put new tensors in the place of these and never write into them, so they can be shared."""
    for mine, kept in zip(cache.layers, layers, strict=True):
        mine.lazy_initialization(kept.keys, kept.values)
        mine.keys, mine.values = kept.keys, kept.values
        if mine.is_sliding:
            mine.cumulative_length = kept.seen
