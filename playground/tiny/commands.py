"""`playground train` and `playground evaluate`: make the embedded model, and measure one."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from playground.tiny.evaluation import Evaluation


def train(
    out: Annotated[Path, typer.Argument(help="Folder of the training: model, log, and what to resume from.")],
    minutes: Annotated[float, typer.Option(min=0.01, help="How long this training may take.")] = 30.0,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    batch_size: Annotated[
        int | None, typer.Option(min=1, help="Rows a step; default 48 on a CPU, 768 on CUDA.")
    ] = None,
    processes: Annotated[
        int | None, typer.Option(min=1, help="Training processes on a CPU; default one a core.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of weights and data.")] = 0,
    decay_share: Annotated[float, typer.Option(min=0.0, max=1.0, help="Last part, in which the rate falls.")] = 0.4,
    family: Annotated[
        list[str] | None, typer.Option(help="Learn only this family; may be given more than once.")
    ] = None,
    resume: Annotated[bool, typer.Option(help="Go on from the folder's trunk, if there is one.")] = True,
    compile: Annotated[bool, typer.Option(help="torch.compile the layers: worth its start on CUDA.")] = False,
) -> None:
    """Train the embedded model on its tasks, from nothing or on from the last trunk in the folder."""
    from playground.tiny.training import TrainingConfig
    from playground.tiny.training import train as run

    _check_families(family)
    try:
        result = run(
            TrainingConfig(
                out=out,
                minutes=minutes,
                device=device,
                batch_size=batch_size,
                processes=processes,
                seed=seed,
                decay_share=decay_share,
                resume=resume,
                compile=compile,
                weights=None if not family else _only(family),
            )
        )
    except ValueError as error:
        typer.echo(f"playground: {error}", err=True)
        raise typer.Exit(2) from None
    typer.echo(f"{result.model}: {result.steps} steps, denoising loss {result.denoising:.3f}")


def evaluate(
    model: Annotated[Path | None, typer.Argument(help="Checkpoint folder; by default the embedded model.")] = None,
    count: Annotated[int, typer.Option(min=1, help="Held-out instances a family.")] = 200,
    family: Annotated[list[str] | None, typer.Option(help="Only this family; may be given more than once.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the instances.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the table.")] = False,
    figure: Annotated[
        Path | None, typer.Option(help="Write a figure (HTML that needs no network) to this file.")
    ] = None,
    entropy_bound: Annotated[float, typer.Option(min=0, help="Of the sampler, in nats.")] = 0.1,
    t_max: Annotated[float, typer.Option(help="Temperature of the first step.")] = 0.8,
    t_min: Annotated[float, typer.Option(help="Temperature towards the last step.")] = 0.4,
    max_denoising_steps: Annotated[int, typer.Option(min=1, help="Step cap of a canvas.")] = 48,
    confidence_threshold: Annotated[float, typer.Option(min=0, help="Of the stop, in nats.")] = 0.005,
) -> None:
    """Exact match on held-out tasks, by family and mode, with 95 % intervals."""
    from safetensors import SafetensorError

    from playground.tiny.answers import Runner
    from playground.tiny.batched import BatchedAutoregressive, BatchedDiffusion, SamplerSettings
    from playground.tiny.evaluation import evaluate as run
    from playground.tiny.saving import load_model

    folder = model or Path(__file__).parent / "checkpoint"
    _check_families(family)
    if not (folder / "config.json").is_file():
        typer.echo(f"playground: MODEL: {folder} is no checkpoint folder", err=True)
        raise typer.Exit(2)
    if not 0 < t_min <= t_max:
        typer.echo(f"playground: --t-min must be above 0 and at most --t-max, not {t_min} with {t_max}", err=True)
        raise typer.Exit(2)
    sampler = SamplerSettings(entropy_bound, t_max, t_min, max_denoising_steps, confidence_threshold)
    try:
        network, codec = load_model(folder)
    except (OSError, ValueError, KeyError, SafetensorError) as error:
        typer.echo(f"playground: MODEL: {folder} is no checkpoint of the embedded model ({error})", err=True)
        raise typer.Exit(2) from None
    runners: list[Runner] = [BatchedDiffusion(network, codec, sampler), BatchedAutoregressive(network, codec)]
    evaluation = run(
        runners,
        codec,
        count=count,
        families=family or None,
        seed=seed,
        on_result=None if as_json else lambda result, _: typer.echo(f"  {result.family}, {result.mode}", err=True),
    )
    if figure is not None:
        from playground.tiny.figure import write_figure

        write_figure(evaluation, figure)
    typer.echo(json.dumps(evaluation.as_json(), indent=2) if as_json else _table(evaluation))


def _check_families(names: list[str] | None) -> None:
    from playground.tiny.tasks import FAMILIES

    for name in names or ():
        if name not in FAMILIES:
            typer.echo(f"playground: --family takes one of {', '.join(FAMILIES)}, not {name!r}", err=True)
            raise typer.Exit(2)


def _only(names: list[str]) -> dict[str, float]:
    """A mixture of these families alone, in their usual proportions."""
    from playground.tiny.tasks import FAMILIES

    return {name: family.weight if name in names else 0.0 for name, family in FAMILIES.items()}


def _table(evaluation: "Evaluation") -> str:
    lines = [
        f"{'family':14}{'mode':16}{'right':>7}  {'95 % interval':15}{'steps':>7}{'TPF':>7}{'tokens':>8}{'loops':>7}"
    ]
    for r in evaluation.results:
        steps = "" if r.effective_denoising_steps is None else f"{r.effective_denoising_steps:.1f}"
        interval = f"{r.low:.3f} to {r.high:.3f}"
        figures = f"{steps:>7}{r.tokens_per_forward:7.2f}{r.tokens:8.1f}{r.loops:7d}"
        lines.append(f"{r.family:14}{r.mode:16}{r.accuracy:7.3f}  {interval:15}{figures}")
    for mode in sorted({r.mode for r in evaluation.results}):
        lines.append(f"{'mean':14}{mode:16}{evaluation.macro(mode):7.3f}")
    return "\n".join(lines)
