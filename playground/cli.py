"""The console script. Each command imports what it needs when it runs, so that `--help` is quick."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from playground import __version__
from playground.bench.commands import app as bench
from playground.lessons.commands import lesson
from playground.tiny.commands import evaluate, train
from playground.verifying import verify

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from playground.engine.models import Model
    from playground.engine.steering import Steering
    from playground.events import Event
    from playground.recipe import Recipe
    from playground.settings import Settings
    from playground.uploads import Upload

app = typer.Typer(
    help="Watch a diffusion language model think.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(bench, name="bench")

Pace = Annotated[
    float, typer.Option(min=0, help="Steps (or tokens) shown in a second on a terminal; 0: as fast as they come.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead: text, metrics, recipe.")]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"playground {__version__}")
        raise typer.Exit


@app.callback()
def main(
    _: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Watch a diffusion language model think."""


@app.command()
def generate(
    prompt: Annotated[str, typer.Argument(help="What to ask the model; - reads it from standard input.")],
    mode: Annotated[str, typer.Option(help="diffusion or autoregressive: the same weights either way.")] = "diffusion",
    model: Annotated[str | None, typer.Option(help="embedded, a checkpoint folder or a hub id.")] = None,
    seed: Annotated[int | None, typer.Option(help="Fixes every random draw (default 0).")] = None,
    max_new_tokens: Annotated[int | None, typer.Option(help="The most tokens to answer with (default 256).")] = None,
    thinking: Annotated[bool, typer.Option("--thinking", help="Think first, where the model can.")] = False,
    upload: Annotated[
        list[Path] | None, typer.Option(help="A picture or text file in front of the prompt; may be given again.")
    ] = None,
    rule: Annotated[
        str | None,
        typer.Option(help="Diffusion: entropy_bound, top_probability, margin, fixed_k or euler (default the first)."),
    ] = None,
    entropy_bound: Annotated[
        float | None, typer.Option(help="Diffusion: entropy that a step may accept, in nats (default 0.1).")
    ] = None,
    top_probability: Annotated[
        float | None, typer.Option(help="With that rule: accept from this top probability on (default 0.9).")
    ] = None,
    margin: Annotated[
        float | None, typer.Option(help="With that rule: accept from this lead over the second on (default 0.5).")
    ] = None,
    k: Annotated[
        int | None, typer.Option(help="With fixed_k: positions accepted more in each step (default 8).")
    ] = None,
    kappa: Annotated[str | None, typer.Option(help="With euler: linear or cosine (default linear).")] = None,
    t_max: Annotated[float | None, typer.Option(help="Diffusion: temperature at first (default 0.8).")] = None,
    t_min: Annotated[float | None, typer.Option(help="Diffusion: temperature it falls towards (default 0.4).")] = None,
    max_denoising_steps: Annotated[
        int | None, typer.Option(help="Diffusion: the most steps for one canvas (default 48).")
    ] = None,
    confidence_threshold: Annotated[
        float | None, typer.Option(help="Diffusion: stop below this mean entropy, in nats (default 0.005).")
    ] = None,
    stability_threshold: Annotated[
        int | None, typer.Option(help="Diffusion: stop once the draft stood still for so many steps (default 1).")
    ] = None,
    temperature: Annotated[
        float | None, typer.Option(help="Autoregressive: temperature; 0 is greedy (default 1).")
    ] = None,
    top_k: Annotated[
        int | None, typer.Option(help="Autoregressive: draw from so many tokens at most; 0 is off (default 64).")
    ] = None,
    top_p: Annotated[
        float | None, typer.Option(help="Autoregressive: draw from this share of the probability (default 0.95).")
    ] = None,
    steps_per_second: Pace = 8.0,
    trace: Annotated[Path | None, typer.Option(help="Write all events to this file, one JSON object a line.")] = None,
    as_json: Json = False,
) -> None:
    """Answer a prompt, and show on a terminal how the canvas is denoised.

    Exit codes: 0 an answer, 1 the run failed, 2 a value is wrong, 130 cancelled by Ctrl-C, 143 by SIGTERM.
    """
    from playground.terminal import generation, refusal

    sampler = {
        "name": rule,
        "entropy_bound": entropy_bound,
        "top_probability": top_probability,
        "margin": margin,
        "k": k,
        "kappa": kappa,
        "t_max": t_max,
        "t_min": t_min,
        "max_denoising_steps": max_denoising_steps,
        "confidence_threshold": confidence_threshold,
        "stability_threshold": stability_threshold,
    }
    decoding = {"temperature": temperature, "top_k": top_k, "top_p": top_p}
    with refusal.in_a_sentence():
        settings = refusal.settings(model=model)
        uploads = generation.uploads(upload or [], settings)
        recipe = generation.recipe(prompt, mode, seed, max_new_tokens, sampler, decoding, thinking, uploads)
        given = {"uploads": uploads} if uploads else {}
        code = generation.run(lambda: _live(recipe, settings, **given), trace, as_json, steps_per_second)
    raise typer.Exit(code)


def _live(
    recipe: "Recipe", settings: "Settings", uploads: "Sequence[Upload]" = ()
) -> "tuple[Iterator[Event], Steering]":
    """Load the model and make the run; it goes on as its events are taken."""
    from playground.engine import models, runs
    from playground.engine.steering import Steering
    from playground.terminal.console import tell

    model = models.load(settings, tell)
    for upload in uploads:
        model.uploads.put(upload.data)
    recipe = runs.prepare(model, recipe, settings)
    steering = Steering(recipe)
    return runs.events(model, recipe, steering), steering


@app.command()
def replay(
    file: Annotated[Path, typer.Argument(help="A trace written by `playground generate --trace`.")],
    steps_per_second: Pace = 8.0,
    as_json: Json = False,
) -> None:
    """Play a recorded run: no model is needed. Exit codes: 0 played, 2 not a whole trace, 130 stopped by Ctrl-C."""
    from playground.terminal import recording, refusal

    with refusal.in_a_sentence():
        recording.replay(file, as_json, steps_per_second, refusal.settings().max_trace_bytes)


@app.command()
def export(
    file: Annotated[Path, typer.Argument(help="A trace written by `playground generate --trace`.")],
    to: Annotated[Path, typer.Option(help="The file to write; its name ends with .html, .csv or .parquet.")],
    table: Annotated[str, typer.Option(help="For .csv and .parquet: positions or steps, one row each.")] = "positions",
) -> None:
    """Turn a recorded run into a page that plays it anywhere, or into a table. No model is needed.

    Exit codes: 0 written, 2 not a whole trace or a wrong value.
    """
    from playground.terminal import refusal
    from playground.trace import export as exporting
    from playground.trace import file as trace_file

    with refusal.in_a_sentence():
        kind, wanted = exporting.kind_of(to.suffix), exporting.table_of(table)
        events = trace_file.read(file, refusal.settings().max_trace_bytes)
        with trace_file.writing(to, "to") as target:
            exporting.write(events, kind, wanted, target)


app.command()(verify)


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on (PLAYGROUND_HOST, 127.0.0.1).")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on (PLAYGROUND_PORT, 7860).")] = None,
    model: Annotated[str | None, typer.Option(help="embedded, a checkpoint folder or a hub id.")] = None,
) -> None:
    """Serve the page. What is not given is taken from PLAYGROUND_* environment variables."""
    from playground.terminal import refusal

    with refusal.in_a_sentence():
        settings = refusal.settings(host=host, port=port, model=model)
        from playground.web.server import serve as serve_page

        serve_page(settings, _page)


def _page(settings: "Settings") -> tuple[Any, str]:
    """The Gradio page, imported late: the address is taken before Gradio is."""
    from playground.ui.page import build

    return build(settings)


@app.command()
def sweep(
    spec: Annotated[Path, typer.Argument(help="What to run: a JSON file, see docs/tuning.md.")],
    out: Annotated[
        Path | None, typer.Option(help="SQLite file of the results (default: SPEC's name with .sqlite).")
    ] = None,
    model: Annotated[str | None, typer.Option(help="embedded, a checkpoint folder or a hub id.")] = None,
    dry_run: Annotated[bool, typer.Option(help="Say how many runs it is and how long they may take.")] = False,
    export: Annotated[Path | None, typer.Option(help="Write all runs to a .csv or .parquet file as well.")] = None,
    figures: Annotated[
        Path | None, typer.Option(help="Write all figures to this file: HTML that needs no network.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Run a sampler sweep. What is done already is not done again, so the same command goes on after a stop.

    Exit codes: 0 all done, 2 a value is wrong, 130 stopped by Ctrl-C.
    """
    from playground.lab.commands import run_sweep
    from playground.terminal import console, refusal

    def load() -> "tuple[Model, Settings]":
        from playground.engine import models

        settings = refusal.settings(model=model)
        return models.load(settings, console.tell), settings

    with refusal.in_a_sentence():
        code = run_sweep(
            spec,
            out,
            export,
            load=load,
            interrupts=console.on_interrupt,
            output=console.standard_output(),
            figures=figures,
            dry_run=dry_run,
            as_json=as_json,
        )
    raise typer.Exit(code)


app.command()(lesson)
app.command()(train)
app.command()(evaluate)

if __name__ == "__main__":
    app()
