"""Training the embedded model, from nothing or from where the last run left its trunk."""

import os
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from transformers import DiffusionGemmaForBlockDiffusion

from playground.tiny.batches import BatchSettings, batch_loader
from playground.tiny.codec import TextCodec
from playground.tiny.model import ModelSize, new_model
from playground.tiny.objective import training_losses
from playground.tiny.optimizer import Optimizer
from playground.tiny.packed import packed_hidden, packed_layer
from playground.tiny.parallel import average, run_ranks
from playground.tiny.precision import bfloat16_is_faster
from playground.tiny.progress import Report
from playground.tiny.saving import load_trunk, save_model, save_trunk
from playground.tiny.schedule import Schedule
from playground.tiny.tokenizer import train_tokenizer

MAX_CPU_RANKS = 8


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """One training run.

    out: the run's folder: `model/` (for from_pretrained), `trunk.pt` (to resume from), `log.jsonl`.
    minutes: how long it may take, loading and saving left out. max_steps: a second bound, for tests.
    device: "auto", "cpu" or "cuda" (bfloat16 there). batch_size: rows a step, over all processes; None: 48 on a CPU,
    768 on a GPU. processes: training processes on a CPU, one thread each; None: one for each core.
    workers: processes that make examples ahead; None: none on a CPU, which has no core to spare, else 12.
    resume: go on from `out/trunk.pt` if it is there. decay_share: last part of the time in which the rate falls.
    compile: torch.compile the layers; minutes at the start, on a GPU well spent.
    bfloat16: multiply matrices in bfloat16; None: on a GPU, and on a CPU that is faster at it.
    matrix_rate, vector_rate: learning rates of Muon and of AdamW; None: 0.02 and 0.003.
    weights: replaces families' shares of the mixture.
    """

    out: Path
    minutes: float = 30.0
    device: str = "auto"
    seed: int = 0
    batch_size: int | None = None
    processes: int | None = None
    workers: int | None = None
    resume: bool = True
    decay_share: float = 0.4
    compile: bool = False
    bfloat16: bool | None = None
    checkpoint_minutes: float = 5.0
    report_every: int = 50
    max_steps: int | None = None
    quiet: bool = False
    matrix_rate: float = 0.02
    vector_rate: float = 3e-3
    next_token_weight: float = 0.3
    noise_power: float = 0.7
    short_share: float = 0.65
    size: ModelSize = field(default_factory=ModelSize)
    weights: Mapping[str, float] | None = None


@dataclass(frozen=True, slots=True)
class TrainingResult:
    """model: the checkpoint folder. steps: of the whole training. seconds: of the whole training. denoising: the last
    step's mean loss."""

    model: Path
    steps: int
    seconds: float
    denoising: float


def resolved(config: TrainingConfig) -> TrainingConfig:
    """The configuration with everything left open filled in.

    Raises:
        ValueError: for a device that does not exist or a bound that is none.
    """
    if config.minutes <= 0 or not 0 <= config.decay_share <= 1:
        raise ValueError("minutes must be positive and decay_share in [0, 1]")
    cuda = torch.cuda.is_available()
    device = ("cuda" if cuda else "cpu") if config.device == "auto" else config.device
    if device not in ("cpu", "cuda") or (device == "cuda" and not cuda):
        raise ValueError(f"no such device here: {device}")
    on_cpu = device == "cpu"
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    processes = (config.processes or min(cores, MAX_CPU_RANKS)) if on_cpu else 1
    batch_size = config.batch_size or (48 if on_cpu else 768)
    if batch_size % processes:
        raise ValueError(f"a batch of {batch_size} rows cannot be shared by {processes} processes")
    workers = config.workers if config.workers is not None else (0 if on_cpu else min(12, max(1, cores - 2)))
    bfloat16 = config.bfloat16 if config.bfloat16 is not None else (not on_cpu or bfloat16_is_faster())
    return replace(
        config, device=device, processes=processes, batch_size=batch_size, workers=workers, bfloat16=bfloat16
    )


def train(config: TrainingConfig) -> TrainingResult:
    """Train, and save the model. Gives where it is and how it went.

    Raises:
        ValueError: for a configuration that cannot be run, or a trunk of another size of model.
    """
    config = resolved(config)
    state = load_trunk(config.out) if config.resume else None
    if state is None:
        tokenizer = train_tokenizer(vocab_size=config.size.vocab_size).to_str()
    elif state["size"] != asdict(config.size):
        raise ValueError(f"{config.out} holds a trunk of another size: {state['size']}")
    else:
        tokenizer = state["tokenizer"]
    config.out.mkdir(parents=True, exist_ok=True)
    result = config.out / ".result.pt"
    run_ranks(partial(_train_rank, config, tokenizer, result), config.processes or 1)
    steps, seconds, denoising = torch.load(result, weights_only=True)
    result.unlink()
    return TrainingResult(config.out / "model", steps, seconds, denoising)


def _autocast(config: TrainingConfig) -> AbstractContextManager[Any]:
    return torch.autocast(config.device, dtype=torch.bfloat16) if config.bfloat16 else nullcontext()


@dataclass(slots=True)
class _Progress:
    """How far the whole training is: steps, and seconds of the runs before this one."""

    step: int = 0
    seconds_before: float = 0.0


def _start(
    config: TrainingConfig, device: torch.device
) -> tuple[DiffusionGemmaForBlockDiffusion, Optimizer, _Progress]:
    model = new_model(config.size, config.seed).to(device)
    optimizer = Optimizer(model, config.matrix_rate, config.vector_rate)
    progress = _Progress()
    state = load_trunk(config.out) if config.resume else None
    if state is not None:
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        progress = _Progress(state["step"], state["seconds"])
    return model, optimizer, progress


def _train_rank(config: TrainingConfig, tokenizer: str, result: Path, rank: int, ranks: int) -> None:
    if ranks > 1:
        torch.set_num_threads(1)
    device = torch.device(config.device)
    model, optimizer, progress = _start(config, device)
    first = progress.step
    assert config.batch_size is not None
    assert config.workers is not None
    settings = BatchSettings(
        config.batch_size // ranks,
        config.size.canvas_length,
        rank=rank,
        ranks=ranks,
        seed=config.seed * 1_000_003 + first,
        short_share=config.short_share,
        weights=config.weights,
    )
    batches = batch_loader(TextCodec.from_json(tokenizer), settings, config.workers)
    generator = torch.Generator(device).manual_seed((config.seed * 1_000_003 + first) * 64 + rank)
    layer_forward = torch.compile(packed_layer, dynamic=True) if config.compile else packed_layer
    forward = partial(packed_hidden, layer_forward=layer_forward)
    schedule = Schedule(config.minutes * 60, config.decay_share)

    def trunk(elapsed: float) -> dict[str, Any]:
        return {
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "step": progress.step,
            "seconds": progress.seconds_before + elapsed,
            "size": asdict(config.size),
            "tokenizer": tokenizer,
        }

    start, elapsed, saved, decaying, denoising = time.monotonic(), 0.0, 0.0, False, float("nan")
    with Report(config.out, schedule.seconds, config.report_every, quiet=config.quiet or rank > 0) as report:
        while not schedule.done(elapsed) and (config.max_steps is None or progress.step - first < config.max_steps):
            share = schedule.share(progress.step, elapsed)
            batch = next(batches).to(device)
            with _autocast(config):
                losses = training_losses(
                    model,
                    forward,
                    batch,
                    generator,
                    next_token_weight=config.next_token_weight,
                    noise_power=config.noise_power,
                )
            losses.total.backward()  # type: ignore[no-untyped-call]
            # All ranks must agree on the time, or one would stop a step before the others.
            elapsed = average(optimizer.parameters, time.monotonic() - start, ranks)
            optimizer.step(share)
            progress.step += 1
            if rank:
                continue
            tokens = (batch.clean.numel() + batch.canvas.numel()) * ranks
            report.add(losses, batch.family, tokens, step=progress.step, elapsed=elapsed, share=share)
            denoising = float(losses.denoising.mean())
            if not decaying and (schedule.decaying(elapsed) or elapsed - saved >= config.checkpoint_minutes * 60):
                save_trunk(config.out, trunk(elapsed))
                save_model(config.out, model, tokenizer)
                saved, decaying = elapsed, schedule.decaying(elapsed)
    if rank == 0:
        if not decaying:
            save_trunk(config.out, trunk(elapsed))
        save_model(config.out, model, tokenizer)
        torch.save((progress.step, progress.seconds_before + elapsed, denoising), result)
