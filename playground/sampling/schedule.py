"""The temperature of a denoising step."""

import torch


def temperature(remaining: int, steps: int, t_max: float, t_min: float) -> float:
    """τ = t_min + (t_max − t_min) · n/N, with n of N steps left, the present one counted.

    Computed in float32 like the reference, so that the two agree to the last bit. The first step of a canvas has
    τ = t_max; the last one t_min + (t_max − t_min)/N, never t_min itself. (Report, section 3.3; the annealing of
    transformers' LinearTemperatureScheduleLogitsProcessor.)
    """
    fraction = torch.tensor(remaining, dtype=torch.int32) / steps
    return float(t_min + (t_max - t_min) * fraction)
