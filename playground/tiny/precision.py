"""Which precision a CPU multiplies matrices in faster."""

import time

import torch


def bfloat16_is_faster(size: int = 512, rounds: int = 20) -> bool:
    """Whether bfloat16 products take less than half the time of float32 ones here, by trying.

    Processors with matrix units for it win by a factor of six; others lose.
    """
    times: list[float] = []
    for dtype in (torch.bfloat16, torch.float32):
        matrix = torch.ones(size, size, dtype=dtype)
        matrix @ matrix
        start = time.perf_counter()
        for _ in range(rounds):
            matrix @ matrix
        times.append(time.perf_counter() - start)
    return times[0] < times[1] / 2
