"""The figures of the GPU benchmark as lines, beside what the report says of the released model."""

import statistics
from collections.abc import Iterator

from playground.bench.gpu import NAMES, Result
from playground.bench.pairs import spread

REPORTED_TPF = 19.74
"""Tokens a forward pass of the released model, by its report: with random weights there is no such figure."""
REPORTED_EXPERTS = 84


def table(result: Result) -> Iterator[str]:
    """The figures, a line each below what they depend on."""
    shape = result.shape
    yield f"{shape.name}, random weights, {result.dtype}: {result.parameters:,} parameters; {result.machine}"
    yield (
        f"{shape.layers} layers, {shape.experts_per_token} of {shape.experts} experts a token, {result.ways}; "
        f"canvas {shape.canvas_length}, vocabulary {shape.vocab_size}, prompt of {result.prompt_tokens} tokens"
    )
    yield "median (least to most), ms"
    yield f"a step                     {spread(result.step)}"
    if result.compiled:
        faster = statistics.median(result.step) / statistics.median(result.compiled)
        yield f"a step, compiled           {spread(result.compiled)}  {faster:.2f} times as fast"
        yield f"compiling it, seconds      {result.compiling:.1f}"
    whole = statistics.median(result.parts["step"])
    for name in NAMES:
        share = statistics.median(result.parts[name]) / whole
        yield f"  {name:<24} {spread(result.parts[name])}  {share:.0%}"
    yield f"a step, whole canvas       {spread(result.whole.ours)}  prefill and events included"
    yield f"the same, generate()       {spread(result.whole.reference)}"
    yield f"ratio                      {spread(result.whole.ratios)} over {len(result.whole.ours)} interleaved pairs"
    yield f"a token, AR                {spread(result.token)}"
    yield f"r, a step over a token     {result.ratio:.2f}: diffusion is faster above {result.ratio:.2f} tokens a step"
    at_cap = shape.canvas_length / result.steps
    here = f"{at_cap:.2f} tokens a step, as here (all {result.steps} steps)"
    yield f"TPF/r                      {at_cap / result.ratio:.2f} at {here}"
    yield f"{'':<26} {REPORTED_TPF / result.ratio:.2f} at {REPORTED_TPF}, the released model's by its report"
    counts = f"{statistics.mean(result.experts):.1f} ({min(result.experts)} to {max(result.experts)})"
    reported = f"the released model's by its report: about {REPORTED_EXPERTS} of 128"
    yield f"distinct experts a canvas  {counts} of {shape.experts} a layer; {reported}"
    yield f"sampling statistics        {spread(result.statistics, 3)}"
    yield f"one read of the logits     {spread(result.read, 3)}"
    ratio = statistics.median(result.statistics) / statistics.median(result.read)
    yield f"the first over the second  {ratio:.1f}"
    if result.most_bytes is not None:
        yield f"GPU memory, at most        {result.most_bytes / 2**30:.1f} GiB"
