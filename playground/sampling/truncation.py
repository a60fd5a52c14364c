"""Top-k and top-p, for the autoregressive mode."""

import torch
from torch import Tensor


def truncate(logits: Tensor, top_k: int, top_p: float) -> Tensor:
    """The logits (V,) with −inf for every token outside the top k, then outside the nucleus of mass top_p.

    top_k 0 and top_p 1 leave everything. The nucleus is the smallest set of most probable tokens whose mass reaches
    top_p (Holtzman et al., arXiv 1904.09751), taken after top-k has been renormalised; it is never empty.
    """
    if 0 < top_k < logits.shape[-1]:
        smallest = logits.topk(top_k).values[-1]
        logits = torch.where(logits < smallest, -torch.inf, logits)
    if top_p < 1:
        ordered, order = torch.sort(logits, descending=True, stable=True)
        probabilities = ordered.softmax(dim=-1, dtype=torch.float64)
        outside = probabilities.cumsum(dim=-1) - probabilities >= top_p
        outside[0] = False
        logits = torch.where(torch.zeros_like(outside).scatter(-1, order, outside), -torch.inf, logits)
    return logits
