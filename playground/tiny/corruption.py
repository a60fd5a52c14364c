"""The forward process: Equation 1 of the report, uniform multinomial diffusion."""

import torch
from torch import Generator, Tensor


def noise_levels(rows: int, power: float, generator: Generator) -> Tensor:
    """(rows,) noise levels in (0, 1), stratified over the batch, in random order.

    The report draws t uniformly; `power` below 1 leans towards more noise: t = u^power.
    """
    strata = torch.arange(rows, device=generator.device)
    u = (strata + torch.rand(rows, generator=generator, device=generator.device)) / rows
    order = torch.randperm(rows, generator=generator, device=generator.device)
    return u[order].pow(power)


def corrupt(canvas: Tensor, t: Tensor, pinned: Tensor, vocab_size: int, generator: Generator) -> Tensor:
    """Replace each token with probability t by a token drawn uniformly from the whole vocabulary (Equation 1).

    Args:
        canvas: (B, C) clean ids.
        t: (B,) noise level of each row; the report's 1 − κ_t.
        pinned: (B, C) positions that stay clean.
        vocab_size: V.
        generator: the source of chance, on the canvas's device.

    Returns:
        (B, C) ids.
    """
    hit = torch.rand(canvas.shape, generator=generator, device=canvas.device) < t[:, None]
    drawn = torch.randint(vocab_size, canvas.shape, generator=generator, device=canvas.device)
    return torch.where(hit & ~pinned, drawn, canvas)
