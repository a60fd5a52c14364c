"""Muon for the matrices, AdamW for everything else.

PyTorch has a Muon, but it takes two-dimensional parameters one at a time and orthogonalises in bfloat16, which is slow
on a CPU; the model's experts are three-dimensional, and gate and up projection are two matrices in one. This one
stacks all matrices of one shape and works in float32 (or in bfloat16 on an accelerator).
"""

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

_COEFFICIENTS = (3.4445, -4.7750, 2.0315)  # the quintic Newton–Schulz iteration of Keller Jordan's Muon


def orthogonalised(matrices: Tensor, steps: int = 5) -> Tensor:
    """The nearest semi-orthogonal matrices, roughly, by Newton–Schulz; (K, m, n) gives (K, m, n) in float32."""
    a, b, c = _COEFFICIENTS
    x = matrices.bfloat16()
    tall = x.shape[1] > x.shape[2]
    if tall:
        x = x.mT
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(steps):
        gram = x @ x.mT
        x = a * x + (b * gram + c * gram @ gram) @ x
    result: Tensor = (x.mT if tall else x).float()
    return result


class Muon:
    """Momentum, orthogonalised: each matrix moves by the learning rate along a semi-orthogonal matrix.

    Args:
        matrices: parameters of two dimensions, or of three with 1 as the first; and how many matrices each stacks.
    """

    def __init__(
        self, matrices: Iterable[tuple[nn.Parameter, int]], momentum: float = 0.95, weight_decay: float = 0.02
    ) -> None:
        self.momentum, self.weight_decay = momentum, weight_decay
        self._groups: dict[tuple[int, int], list[tuple[nn.Parameter, int, int]]] = {}
        for parameter, stacked in matrices:
            rows, columns = parameter.shape[-2] // stacked, parameter.shape[-1]
            for start in range(0, rows * stacked, rows):
                self._groups.setdefault((rows, columns), []).append((parameter, start, start + rows))
        self._momenta = {
            shape: torch.zeros(len(parts), *shape, device=parts[0][0].device) for shape, parts in self._groups.items()
        }

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """Move every matrix along its gradient, with this learning rate."""
        for shape, parts in self._groups.items():
            gradients = torch.stack([_flat(p.grad)[a:b] for p, a, b in parts if p.grad is not None])
            momenta = self._momenta[shape]
            momenta.mul_(self.momentum).add_(gradients)
            update = orthogonalised(gradients + self.momentum * momenta)
            scale = rate * max(1.0, shape[0] / shape[1]) ** 0.5
            for (parameter, a, b), change in zip(parts, update, strict=True):
                _flat(parameter)[a:b].mul_(1 - rate * self.weight_decay).add_(change, alpha=-scale)

    def state_dict(self) -> dict[str, Tensor]:
        """The momenta, by shape."""
        return {f"{m}x{n}": value for (m, n), value in self._momenta.items()}

    def load_state_dict(self, state: dict[str, Tensor]) -> None:
        """Take up saved momenta.

        Raises:
            KeyError: when they are another model's.
        """
        for (m, n), value in self._momenta.items():
            value.copy_(state[f"{m}x{n}"])


def _flat(tensor: Tensor | None) -> Tensor:
    assert tensor is not None
    return tensor.view(-1, tensor.shape[-1])


class Optimizer:
    """Both optimizers under one roof; `step(share)` scales both learning rates."""

    def __init__(self, model: nn.Module, matrix_rate: float, vector_rate: float) -> None:
        matrices: list[tuple[nn.Parameter, int]] = []
        others: list[nn.Parameter] = []
        for name, parameter in model.named_parameters():
            # The vision tower is never run; a router with one expert has no say but its scale.
            trained = "vision" not in name and ("router" not in name or "per_expert_scale" in name)
            parameter.requires_grad_(trained)
            if trained:
                is_matrix = parameter.ndim >= 2 and "embed_tokens" not in name and "lm_head" not in name
                if is_matrix:
                    matrices.append((parameter, 2 if "gate_up_proj" in name else 1))
                else:
                    others.append(parameter)
        self.parameters = [*(parameter for parameter, _ in matrices), *others]
        self._others = others
        self._matrix_rate, self._vector_rate = matrix_rate, vector_rate
        self._muon = Muon(matrices)
        self._adam = torch.optim.AdamW(others, lr=vector_rate, betas=(0.9, 0.98), weight_decay=0.0, fused=True)

    def step(self, share: float) -> None:
        """One update from the gradients at hand, which are then dropped."""
        torch.nn.utils.clip_grad_norm_(self._others, 1.0)
        self._muon.step(self._matrix_rate * share)
        for group in self._adam.param_groups:
            group["lr"] = self._vector_rate * share
        self._adam.step()
        for parameter in self.parameters:
            parameter.grad = None

    def state_dict(self) -> dict[str, Any]:
        """What is needed to go on."""
        return {"muon": self._muon.state_dict(), "adam": self._adam.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a saved state."""
        self._muon.load_state_dict(state["muon"])
        self._adam.load_state_dict(state["adam"])
