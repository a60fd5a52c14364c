"""`playground bench …`: run a benchmark and print its figures, ready for docs/LOG.md."""

import os
from typing import Annotated

import typer

app = typer.Typer(help="Benchmarks; their figures belong in docs/LOG.md.", no_args_is_help=True, rich_markup_mode=None)

Repeats = Annotated[int, typer.Option(min=1, help="How many pairs to time.")]


@app.callback()
def main() -> None:
    """Benchmarks; their figures belong in docs/LOG.md."""


@app.command()
def sampling(
    canvas: Annotated[int, typer.Option(min=2, help="Positions of the canvas.")] = 256,
    vocabulary: Annotated[int, typer.Option(min=8, help="Tokens of the vocabulary.")] = 262_144,
    repeats: Repeats = 7,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
) -> None:
    """What follows the logits in one step: one pass of ours against the reference's sampler."""
    from playground.bench import sampling as benchmark
    from playground.bench.pairs import spread

    typer.echo(
        f"sampling of one step, {canvas} x {vocabulary} float32; {benchmark.describe(device)}; median (least to most)"
    )
    pairs = benchmark.compare(canvas, vocabulary, repeats, device)
    typer.echo(f"ours       {spread(pairs.ours)} ms")
    typer.echo(f"reference  {spread(pairs.reference)} ms")
    typer.echo(f"ratio      {spread(pairs.ratios)} over {repeats} interleaved pairs")


@app.command()
def steps(
    steps: Annotated[int, typer.Option(min=1, help="Denoising steps of the canvas.")] = 24,
    repeats: Repeats = 7,
) -> None:
    """Whole denoising steps on the embedded model: our engine against transformers' generate()."""
    from playground.bench import steps as benchmark
    from playground.bench.pairs import spread
    from playground.bench.sampling import describe

    result = benchmark.compare(steps, repeats)
    typer.echo(
        f"one canvas of {result.canvas_length}, {steps} steps, prefill included; {describe()}; median (least to most)"
    )
    typer.echo(f"engine          {spread(result.steps.ours)} ms a step")
    typer.echo(f"generate()      {spread(result.steps.reference)} ms a step")
    typer.echo(f"ratio           {spread(result.steps.ratios)} over {repeats} interleaved pairs")
    typer.echo(f"autoregressive  {spread(result.tokens)} ms a token")


@app.command()
def gpu(
    device: Annotated[str, typer.Option(help="cuda, cuda:1 or cpu; on a CPU the shape is the small one.")] = "cuda",
    small: Annotated[bool, typer.Option(help="A small shape with all the parts, to try the command.")] = False,
    steps: Annotated[int, typer.Option(min=1, help="Denoising steps of a canvas.")] = 48,
    tokens: Annotated[int, typer.Option(min=1, help="Tokens of the autoregressive run.")] = 64,
    prompt_tokens: Annotated[
        int | None, typer.Option(min=1, help="Tokens of the prompt (default 4096; of the small shape 48).")
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="How many pairs to time, if there is time.")] = 3,
    seconds: Annotated[float, typer.Option(min=0, help="After so long no further pair is begun.")] = 240.0,
    compile: Annotated[str, typer.Option(help="step or graphs: the step compiled as well; none leaves it.")] = "none",
) -> None:
    """The released shape with random weights: a step and its parts, generate(), a token of AR, and r.

    Exit codes: 0 measured, 1 the device ran out of memory, 2 there is no such device, too little memory on it, or
    no compiling there.
    """
    import torch

    from playground.bench import gpu as benchmark
    from playground.bench import shape as shapes
    from playground.bench.gpu_table import table
    from playground.errors import PlaygroundError

    shape = shapes.SMALL if small or device == "cpu" else shapes.RELEASED
    asked = prompt_tokens or (48 if shape is shapes.SMALL else 4096)
    try:
        benchmark.check(shape, device)
        how = benchmark.way(compile, device)
        result = benchmark.run(shape, device, steps, tokens, asked, repeats, seconds, how)
    except PlaygroundError as error:
        where = f"--{error.field}: " if error.field in ("device", "compile") else ""
        typer.echo(f"playground: {where}{error.message}", err=True)
        raise typer.Exit(2 if error.field else 1) from None
    except torch.OutOfMemoryError:
        typer.echo(
            "playground: the device ran out of memory; lower --prompt-tokens, or end what else runs there.", err=True
        )
        raise typer.Exit(1) from None
    for line in table(result):
        typer.echo(line)


@app.command()
def frames(
    seconds: Annotated[float, typer.Option(min=0.5, max=5, help="How long each scene is recorded.")] = 3.0,
) -> None:
    """Script, style, layout and paint of each frame while two lanes of 256 tokens play, beside an empty page's.

    Exit codes: 0 measured, 2 there is no browser to measure in.
    """
    from playground.bench import browser
    from playground.bench import frames as benchmark

    try:
        result = benchmark.measure(seconds)
    except browser.NoBrowser as missing:
        typer.echo(f"playground: {missing}", err=True)
        raise typer.Exit(2) from None
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    typer.echo(f"two lanes of {benchmark.TOKENS} tokens; {result.browser}, {os.cpu_count()} CPUs, load {load}")
    for line in benchmark.table(result.scenes):
        typer.echo(line)


@app.command()
def room(
    followers: Annotated[int, typer.Option(min=1, max=100, help="Students that follow.")] = 30,
) -> None:
    """How soon students see the step that their teacher sees, over real sockets on this machine."""
    from statistics import median, quantiles

    from playground.bench import room as benchmark

    times, shown = benchmark.measure(followers)
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    typer.echo(f"{followers} followers, {benchmark.PACE} steps/s; {os.cpu_count()} CPUs, load {load}")
    parts = quantiles(times, n=100)
    typer.echo(f"median {median(times):.1f} ms, 95 of 100 below {parts[94]:.1f} ms, 99 below {parts[98]:.1f} ms")
    typer.echo(f"longest {max(times):.1f} ms; {len(times)} of {shown} steps were seen before the teacher went on")
