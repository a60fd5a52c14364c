"""What a training run says of itself: a bar on a terminal, one JSON object a line in a file."""

import json
import sys
import time
from pathlib import Path
from types import TracebackType

import torch
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from torch import Tensor

from playground.tiny.examples import FAMILY_NAMES
from playground.tiny.objective import Losses

NOISE_BINS = 5


class _Mean:
    """A mean of what came since it was last read, by index."""

    def __init__(self, size: int) -> None:
        self._sum = torch.zeros(size, dtype=torch.float64)
        self._count = torch.zeros(size, dtype=torch.float64)

    def add(self, index: Tensor, value: Tensor) -> None:
        self._sum.index_add_(0, index.cpu(), value.double().cpu())
        self._count.index_add_(0, index.cpu(), torch.ones(len(index), dtype=torch.float64))

    def read(self) -> list[float | None]:
        means = [round(s / n, 4) if n else None for s, n in zip(self._sum.tolist(), self._count.tolist(), strict=True)]
        self._sum.zero_()
        self._count.zero_()
        return means


class Report:
    """Collects losses and reports every `every` steps: loss by noise level, tokens a second, time left.

    The bar goes to standard error when that is a terminal; lines go to `log.jsonl` in the run's folder, and to standard
    output when there is no bar.
    """

    def __init__(self, folder: Path, seconds: float, every: int = 50, *, quiet: bool = False) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / "log.jsonl"
        self._seconds, self._every, self._quiet = seconds, every, quiet
        self._by_noise, self._by_family = _Mean(NOISE_BINS), _Mean(len(FAMILY_NAMES))
        self._losses = _Mean(2)
        self._tokens, self._since, self._steps = 0, time.monotonic(), 0
        self._bar = Progress(
            TextColumn("step {task.fields[step]}"),
            BarColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]} left · {task.fields[speed]} tokens/s · loss {task.fields[loss]}"),
            TextColumn("by noise {task.fields[noise]}"),
            disable=quiet or not sys.stderr.isatty(),
        )
        self._task = self._bar.add_task("", total=seconds, step=0, left="?", speed="?", loss="?", noise="?")

    def __enter__(self) -> "Report":
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._bar.stop()

    def add(self, losses: Losses, family: Tensor, tokens: int, *, step: int, elapsed: float, share: float) -> None:
        """Take up one step's losses; `tokens` went through the layers, `share` is that of the learning rate."""
        bins = (losses.t * NOISE_BINS).long().clamp(max=NOISE_BINS - 1)
        self._by_noise.add(bins, losses.denoising)
        self._by_family.add(family, losses.denoising)
        self._losses.add(torch.tensor([0, 1]), torch.stack((losses.denoising.mean(), losses.next_token)))
        self._tokens += tokens
        self._steps += 1
        if self._steps % self._every == 0 or self._steps in (1, 10):
            self._report(step, elapsed, share)

    def _report(self, step: int, elapsed: float, share: float) -> None:
        now = time.monotonic()
        speed = round(self._tokens / max(now - self._since, 1e-9))
        self._tokens, self._since = 0, now
        denoising, next_token = self._losses.read()
        noise = self._by_noise.read()
        families = dict(zip(FAMILY_NAMES, self._by_family.read(), strict=True))
        line = {
            "step": step,
            "minutes": round(elapsed / 60, 2),
            "rate": round(share, 3),
            "denoising": denoising,
            "next_token": next_token,
            "by_noise": noise,
            "tokens_per_second": speed,
        }
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line | {"families": families}) + "\n")
        left = max(0.0, self._seconds - elapsed)
        shown = " ".join("-" if x is None else f"{x:.2f}" for x in noise)
        self._bar.update(
            self._task,
            completed=elapsed,
            step=step,
            left=f"{left / 60:.1f} min",
            speed=speed,
            loss=f"{denoising:.3f}",
            noise=shown,
        )
        if self._bar.disable and not self._quiet:
            print(json.dumps(line), flush=True)
