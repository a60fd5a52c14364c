"""Encoding a prompt into the KV cache (the report's Equation 3), chunk after chunk, other runs taking turns between.

Chunks end at multiples of `CHUNK` counted from the prompt's beginning, moved only where they would cut a picture, whose
tokens see each other. So two prompts that begin alike have the same chunks as far as they do.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass

from torch import Tensor
from transformers import DynamicCache

from playground.engine.clock import Clock
from playground.engine.models import Model
from playground.engine.prompts import Prompt
from playground.events import Prefill

CHUNK = 512
"""Tokens of a pass, so few that other runs and a cancellation do not wait for long."""


@dataclass(frozen=True)
class Prefilled:
    """A prompt in the KV cache."""

    cache: DynamicCache
    logits: Tensor
    """(V,) float32, after the last token."""
    reused: int
    """Tokens that an earlier run had encoded."""


def ends(prompt: Prompt, chunk: int = CHUNK) -> list[int]:
    """Where chunks end; the last is the prompt's length.

    A picture across the end of a chunk begins the next one, or, where it is as long as that, is a chunk of its own.
    """
    length, at = len(prompt.ids), 0
    found: list[int] = []
    while at < length:
        end = min(at + chunk, length)
        for picture in prompt.pictures:
            if picture.start < end < picture.end:
                end = picture.start if picture.start > at else picture.end
        found.append(end)
        at = end
    return found


def read(
    model: Model, prompt: Prompt, clock: Clock, before_pass: Callable[[], None]
) -> Generator[Prefill, None, Prefilled]:
    """Encode a prompt, one pass between two events; the last pass has none, since what follows it is one.

    before_pass: called before each pass; may raise. What an earlier run has encoded gets its events too, with no time.
    """
    chunks = ends(prompt)
    cache = model.cache()
    content = prompt.content
    reused = model.prefixes.longest(content, chunks[:-1], cache)
    start = 0
    logits: Tensor | None = None
    for end in chunks:
        before_pass()
        last = end == chunks[-1]
        if last and start > reused:
            model.prefixes.keep(content[:start], cache)
        ms = 0.0
        if end > reused:
            with clock.running():
                logits = model.encode_pass(cache, prompt.ids[start:end], prompt.between(start, end))
                model.finish()
            ms = clock.last_ms
        start = end
        if not last:
            yield Prefill(tokens=end, total=len(prompt.ids), ms=ms, device_ms=clock.total_ms)
    assert logits is not None
    return Prefilled(cache, logits, reused)
