"""What training minimises: Equation 11 of the report, and a causal next-token loss that keeps the AR mode."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Generator, Tensor
from transformers import DiffusionGemmaForBlockDiffusion

from playground.tiny.batches import Batch
from playground.tiny.corruption import corrupt, noise_levels
from playground.tiny.packed import capped_logits, soft_embeddings

Forward = Callable[[DiffusionGemmaForBlockDiffusion, Tensor, Tensor, Tensor, Tensor], Tensor]

T_MIN, T_MAX = 0.4, 0.8  # the temperatures a self-conditioning signal has at inference


@dataclass(frozen=True, slots=True)
class Losses:
    """total: what to differentiate. denoising: (B,) mean cross-entropy of each canvas. next_token: a mean.
    t: (B,) noise levels."""

    total: Tensor
    denoising: Tensor
    next_token: Tensor
    t: Tensor


def training_losses(
    model: DiffusionGemmaForBlockDiffusion,
    forward: Forward,
    batch: Batch,
    generator: Generator,
    *,
    next_token_weight: float = 0.3,
    noise_power: float = 0.7,
) -> Losses:
    """Losses of one batch.

    1. Draw noise levels and corrupt the canvases (Equation 1).
    2. For half of the rows, denoise once without gradient; its tempered prediction is their self-conditioning signal.
    3. Predict the clean canvas: L = −Σ_i log p(x_0^i | x_t, z_t, H), here a mean over positions (Equation 11).
    4. Add the next-token loss of the answer in the encoder's causal half.

    `forward` is `packed_hidden` or a compiled form of it.
    """
    rows, length = batch.clean.shape
    vocab_size = model.lm_head.weight.shape[0]
    t = noise_levels(rows, noise_power, generator)  # 1
    noisy = corrupt(batch.canvas, t, batch.pinned, vocab_size, generator)
    soft = _self_conditioning(model, forward, batch, noisy, generator)  # 2
    hidden = forward(model, batch.clean, noisy, batch.context, soft)  # (B, L + C, H)
    logits = capped_logits(model, hidden[:, length:])  # 3, (B, C, V)
    denoising = F.cross_entropy(logits.flatten(0, 1), batch.canvas.flatten(), reduction="none")
    denoising = denoising.view_as(batch.canvas).mean(1)
    before = hidden[:, :length].reshape(-1, hidden.shape[-1])[batch.next_from]  # 4, (N, H)
    next_token = F.cross_entropy(capped_logits(model, before), batch.next_ids)
    total = denoising.mean() + next_token_weight * next_token
    return Losses(total, denoising.detach(), next_token.detach(), t)


def _self_conditioning(
    model: DiffusionGemmaForBlockDiffusion, forward: Forward, batch: Batch, noisy: Tensor, generator: Generator
) -> Tensor:
    """(B, C, H) expected embeddings for the first half of the rows, zeros for the rest; no gradient flows into them.

    Gradients stay on meanwhile: a compiled forward would else be compiled twice.
    """
    rows = len(noisy)
    half = rows // 2
    soft = torch.zeros(*noisy.shape, model.lm_head.weight.shape[1], device=noisy.device)
    if not half:
        return soft
    # The clean tokens of the canvas itself cannot be seen from it, so they need not be there.
    length = int(batch.context[:half].max())
    hidden = forward(model, batch.clean[:half, :length], noisy[:half], batch.context[:half], soft[:half])
    with torch.no_grad():
        logits = capped_logits(model, hidden[:, length:])
        temperature = T_MIN + (T_MAX - T_MIN) * torch.rand(half, 1, 1, generator=generator, device=noisy.device)
        soft[:half] = soft_embeddings(model, logits / temperature)
    return soft
