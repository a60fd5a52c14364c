"""The temperature of a denoising step."""

import torch
from torch import Tensor


def temperature(remaining: int, steps: int, t_max: float, t_min: float) -> float:
    """τ = t_min + (t_max − t_min) · n/N, with n of N steps left, the present one counted.

    Computed in float32 like the reference, so that the two agree to the last bit. The first step of a canvas has
    τ = t_max; the last one t_min + (t_max − t_min)/N, never t_min itself. (Report, section 3.3; the annealing of
    transformers' LinearTemperatureScheduleLogitsProcessor.)
    """
    fraction = torch.tensor(remaining, dtype=torch.int32) / steps
    return float(t_min + (t_max - t_min) * fraction)


def tempered(logits: Tensor, temperature: float) -> Tensor:
    """Logits over the temperature, on their device: a true division everywhere, and nothing waits for the device.

    (A GPU would multiply by the inverse of a number, which differs in the last bit; and to make a tensor there of a
    number on the host waits until the device has done all that it was asked before.)
    """
    return logits / torch.full((), temperature, dtype=logits.dtype, device=logits.device)
