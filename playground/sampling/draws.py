"""Random draws as a pure function of (seed, canvas, step, purpose).

Nothing is taken from a global or running random state, so a draw never depends on how many came before it, on what
else is running, or on the device. The bits are SHAKE-128 of the key.
"""

import hashlib
from typing import Literal

import torch
from torch import Tensor

Purpose = Literal["noise", "sample", "renoise", "token", "edit", "corrupt", "jump"]
"""`noise`: the canvas that step 1 is fed; `sample`: the sampled tokens; `renoise`: the random ones; `token`: AR;
`edit`: the random tokens of an edit; `corrupt`: which tokens of a given canvas give way to them; `jump`: which
positions an Euler step moves."""


def uniforms(seed: int, canvas: int, step: int, purpose: Purpose, count: int) -> Tensor:
    """`count` numbers uniform on [0, 1) with 53 random bits each: (count,) float64, on the CPU."""
    key = f"{seed}/{canvas}/{step}/{purpose}".encode()
    bits = torch.frombuffer(bytearray(hashlib.shake_128(key).digest(8 * count)), dtype=torch.int64)
    return ((bits >> 11) & (2**53 - 1)).to(torch.float64) * 2.0**-53


def tokens(seed: int, canvas: int, step: int, purpose: Purpose, count: int, vocab_size: int) -> Tensor:
    """`count` token ids uniform over the whole vocabulary: (count,) int64, on the CPU."""
    return (uniforms(seed, canvas, step, purpose, count) * vocab_size).to(torch.int64)
