"""Several training processes on one CPU: each works on its rows, gradients are averaged.

Two processes of one thread each are faster than one of two threads on sizes as small as these.
"""

import multiprocessing
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Thread

import torch
import torch.distributed as dist
from torch import nn
from torch.multiprocessing.spawn import spawn


def _end_with_parent() -> None:
    """End this process when the one that started it is gone, killed or crashed: nothing else would stop it."""
    parent = multiprocessing.parent_process()

    def wait() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    Thread(target=wait, daemon=True).start()


def _run(rank: int, ranks: int, meeting: str, work: Callable[[int, int], None]) -> None:
    _end_with_parent()
    dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=ranks)
    try:
        work(rank, ranks)
    finally:
        dist.destroy_process_group()


def run_ranks(work: Callable[[int, int], None], ranks: int) -> None:
    """Call work(rank, ranks) in as many new processes; with one rank, here and now.

    Raises:
        ProcessRaisedException: when one of them fails; the others are stopped.
    """
    if ranks == 1:
        work(0, 1)
        return
    with tempfile.TemporaryDirectory() as folder:
        spawn(_run, args=(ranks, str(Path(folder) / "meeting"), work), nprocs=ranks)  # type: ignore[no-untyped-call]


def average(parameters: Sequence[nn.Parameter], extra: float, ranks: int) -> float:
    """Average the gradients over all ranks, in place, and a number along with them, which is returned."""
    if ranks == 1:
        return extra
    gradients = [p.grad for p in parameters if p.grad is not None]
    flat = torch.cat([*(g.reshape(-1) for g in gradients), torch.tensor([extra])])
    dist.all_reduce(flat)
    flat /= ranks
    start = 0
    for gradient in gradients:
        end = start + gradient.numel()
        gradient.copy_(flat[start:end].view_as(gradient))
        start = end
    return float(flat[-1])
