"""Encoder and decoder in one pass, for training.

Encoder and decoder share their weights, so the clean sequence (each token sees those before it) and a noisy canvas
(each token sees the whole canvas and the clean tokens before it) can go through the layers together. The result equals
transformers' encoder pass plus decoder pass. Dropout, images and a sliding window shorter than the sequence are left
out: training uses none of them.
"""

from typing import Any, NamedTuple, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor
from transformers import DiffusionGemmaForBlockDiffusion

SOFTCAP = 30.0
EPSILON = 1e-6


class LayerWeights(NamedTuple):
    """The tensors of one layer, in the order of their use.

    A layer with full attention has no value projection of its own: there `values` is `keys`.
    """

    input_norm: Tensor
    queries: Tensor
    keys: Tensor
    values: Tensor
    query_norm: Tensor
    key_norm: Tensor
    out: Tensor
    attention_norm: Tensor
    mlp_norm: Tensor
    mlp_gate: Tensor
    mlp_up: Tensor
    mlp_down: Tensor
    mlp_out_norm: Tensor
    expert_norm: Tensor
    expert_gate_up: Tensor
    expert_down: Tensor
    expert_scale: Tensor
    expert_out_norm: Tensor
    out_norm: Tensor


def layer_weights(layer: Any) -> LayerWeights:
    """The tensors of a decoder layer of transformers' model (the encoder's are the same)."""
    attention, mlp = layer.self_attn, layer.mlp
    return LayerWeights(
        layer.input_layernorm.weight,
        attention.q_proj.weight,
        attention.k_proj.weight,
        (attention.k_proj if attention.v_proj is None else attention.v_proj).weight,
        attention.q_norm.weight,
        attention.k_norm.weight,
        attention.o_proj.weight,
        layer.post_attention_layernorm.weight,
        layer.pre_feedforward_layernorm.weight,
        mlp.gate_proj.weight,
        mlp.up_proj.weight,
        mlp.down_proj.weight,
        layer.post_feedforward_layernorm_1.weight,
        layer.pre_feedforward_layernorm_2.weight,
        layer.experts.gate_up_proj[0],
        layer.experts.down_proj[0],
        layer.router.per_expert_scale,
        layer.post_feedforward_layernorm_2.weight,
        layer.post_feedforward_layernorm.weight,
    )


class LayerForward(Protocol):
    """`packed_layer`, or a compiled form of it."""

    def __call__(self, w: LayerWeights, x: Tensor, cos: Tensor, sin: Tensor, seen: Tensor, clean: int) -> Tensor:
        """One layer."""


class _Norm(torch.autograd.Function):
    """y = x · r · w with r = (mean x² + ε)^-½ over the last dimension.

    Written out with its gradient because most of the time on a CPU goes into norms: six passes over memory backwards
    instead of fourteen.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor | None) -> Tensor:
        """x (…, n) and weight (n,) give (…, n) in x's dtype."""
        square = torch.linalg.vector_norm(x, dim=-1, keepdim=True, dtype=torch.float32).square_()
        r = (square / x.shape[-1]).add_(EPSILON).rsqrt_().to(x.dtype)
        weight = None if weight is None else weight.to(x.dtype)
        ctx.save_for_backward(x, r, weight)
        y: Tensor = x * r
        return y if weight is None else y.mul_(weight)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor | None]:
        """With g = dy · w: dx = r · g − x · r³ · mean(g · x), dw = Σ dy · x · r."""
        (dy,) = gradients
        x, r, weight = ctx.saved_tensors
        product = (dy * x).reshape(-1, x.shape[-1])  # (N, n)
        total = product.sum(-1) if weight is None else product @ weight  # (N,)
        dw = None if weight is None else (r.reshape(1, -1) @ product)[0].float()
        dx = dy * r if weight is None else (dy * weight).mul_(r)
        pull = r.pow(3).mul_(total.view_as(r) / -x.shape[-1])
        return dx.addcmul_(x, pull), dw


def _normed(x: Tensor, weight: Tensor | None = None) -> Tensor:
    """Root-mean-square norm over the last dimension."""
    if torch.compiler.is_compiling():  # the compiler fuses it, and its gradient, better than by hand
        r = x.float().square().mean(-1, keepdim=True).add(EPSILON).rsqrt().to(x.dtype)
        return x * r if weight is None else x * r * weight.to(x.dtype)
    y: Tensor = _Norm.apply(x, weight)  # type: ignore[no-untyped-call]
    return y


def _gated(gate: Tensor, up: Tensor) -> Tensor:
    return F.gelu(gate, approximate="tanh") * up


def _rotated(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    left, right = x.chunk(2, -1)
    return (x * cos).addcmul(torch.cat((-right, left), -1), sin)


def _attention(w: LayerWeights, x: Tensor, cos: Tensor, sin: Tensor, seen: Tensor, clean: int) -> Tensor:
    head = w.query_norm.shape[0]
    batch, length = x.shape[0], x.shape[1]
    queries = F.linear(x, w.queries).view(batch, length, -1, head)
    keys = F.linear(x, w.keys).view(batch, length, -1, head)
    values = F.linear(x, w.values).view(batch, length, -1, head)
    queries = _rotated(_normed(queries, w.query_norm), cos, sin).transpose(1, 2)
    keys = _rotated(_normed(keys, w.key_norm), cos, sin).transpose(1, 2)
    values = _normed(values).transpose(1, 2)
    # Written out: on a CPU this is several times faster than the fused kernel, whose backward pass is slow.
    before = torch.ones(clean, clean, dtype=torch.bool, device=x.device).tril()
    first = _weighted(queries[:, :, :clean], keys[:, :, :clean], values[:, :, :clean], before)
    second = _weighted(queries[:, :, clean:], keys, values, seen)
    return F.linear(torch.cat((first, second), 2).transpose(1, 2).reshape(batch, length, -1), w.out)


def _weighted(queries: Tensor, keys: Tensor, values: Tensor, seen: Tensor) -> Tensor:
    """Attention with scaling 1; queries (B, heads, S, d), keys and values (B, kv heads, T, d); the first of the groups
    of heads share the first keys. `seen` is true where a key may be seen."""
    batch, heads, length, size = queries.shape
    shared = keys.shape[1]
    scores = queries.reshape(batch, shared, -1, size) @ keys.transpose(2, 3)  # (B, kv heads, heads/kv heads · S, T)
    scores = scores.view(batch, heads, length, -1).masked_fill(~seen, float("-inf"))
    weights = scores.softmax(-1, dtype=torch.float32).type_as(values)
    return (weights.view(batch, shared, -1, weights.shape[-1]) @ values).view(batch, heads, length, size)


def _feed_forward(w: LayerWeights, x: Tensor) -> Tensor:
    """The MLP beside the one expert, whose routing weight is 1 times its scale."""
    h = _normed(x, w.mlp_norm)
    h = _normed(F.linear(_gated(F.linear(h, w.mlp_gate), F.linear(h, w.mlp_up)), w.mlp_down), w.mlp_out_norm)
    gate, up = F.linear(_normed(x, w.expert_norm), w.expert_gate_up).chunk(2, -1)
    e = F.linear(_gated(gate, up), w.expert_down) * w.expert_scale
    return h + _normed(e, w.expert_out_norm)


def packed_layer(w: LayerWeights, x: Tensor, cos: Tensor, sin: Tensor, seen: Tensor, clean: int) -> Tensor:
    """One layer over clean tokens and canvas.

    Args:
        w: its weights.
        x: (B, L + C, H).
        cos: (B, L + C, 1, head_dim), the cosines of its kind of rotation.
        sin: the same, sines. Their dtype is that of the products.
        seen: (B, 1, 1, L + C), which keys a canvas token may see.
        clean: L.

    Returns:
        (B, L + C, H).
    """
    # The residual stream keeps its precision; what branches off it has that of the products.
    x = x + _normed(_attention(w, _normed(x.to(cos.dtype), w.input_norm), cos, sin, seen, clean), w.attention_norm)
    return x + _normed(_feed_forward(w, x.to(cos.dtype)), w.out_norm)


def _rotation(decoder: Any, kind: str, positions: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    angles = positions[..., None].float() * getattr(decoder.rotary_emb, f"{kind}_inv_freq")
    angles = torch.cat((angles, angles), -1)[:, :, None]
    return angles.cos().to(dtype), angles.sin().to(dtype)


def packed_hidden(
    model: DiffusionGemmaForBlockDiffusion,
    clean: Tensor,
    canvas: Tensor,
    context: Tensor,
    soft: Tensor | None = None,
    layer_forward: LayerForward = packed_layer,
) -> Tensor:
    """Last hidden states of encoder and decoder.

    Args:
        model: the model.
        clean: (B, L) ids of the clean sequence, padded on the right.
        canvas: (B, C) ids of the noisy canvas.
        context: (B,) how many clean tokens the canvas follows and sees.
        soft: (B, C, H) expected embeddings of the step before (`soft_embeddings`); zeros stand for none.
        layer_forward: `packed_layer` or a compiled form of it.

    Returns:
        (B, L + C, H): the encoder's states of the clean tokens, then the decoder's of the canvas.
    """
    decoder: Any = model.model.decoder
    weight = decoder.embed_tokens.weight
    scale = weight.shape[1] ** 0.5
    length, size = clean.shape[1], canvas.shape[1]
    noisy = F.embedding(canvas, weight) * scale
    block = decoder.self_conditioning
    signal = _normed(torch.zeros_like(noisy) if soft is None else soft, block.pre_norm.weight)
    noisy = _normed(noisy + block.down_proj(_gated(block.gate_proj(signal), block.up_proj(signal))))
    x = torch.cat((F.embedding(clean, weight) * scale, noisy), 1)
    before = torch.arange(length, device=clean.device)
    after = torch.arange(size, device=clean.device)
    positions = torch.cat((before.expand(len(clean), -1), context[:, None] + after), 1)
    kinds: list[str] = decoder.text_config.layer_types
    dtype = torch.get_autocast_dtype(clean.device.type) if torch.is_autocast_enabled(clean.device.type) else x.dtype
    rotations = {kind: _rotation(decoder, kind, positions, dtype) for kind in set(kinds)}
    seen = torch.cat((before < context[:, None], torch.ones_like(canvas, dtype=torch.bool)), 1)[:, None, None]
    encoder_layers = model.model.encoder.language_model.layers
    for kind, layer, encoder_layer in zip(kinds, decoder.layers, encoder_layers, strict=True):
        x = layer_forward(layer_weights(layer), x, *rotations[kind], seen, length)
        if encoder_layer.layer_scalar is not layer.layer_scalar:
            x = torch.cat((x[:, :length] * encoder_layer.layer_scalar, x[:, length:] * layer.layer_scalar), 1)
    return _normed(x, decoder.norm.weight)


def capped_logits(model: DiffusionGemmaForBlockDiffusion, hidden: Tensor) -> Tensor:
    """Logits in float32, soft-capped at ±30; hidden (…, H) gives (…, V)."""
    logits: Tensor = model.lm_head(hidden).float()
    return torch.tanh(logits / SOFTCAP) * SOFTCAP


def soft_embeddings(model: DiffusionGemmaForBlockDiffusion, logits: Tensor) -> Tensor:
    """The embedding that a token of softmax(logits) has on average; logits (…, V), already tempered, give (…, H)."""
    weight: Tensor = model.model.decoder.embed_tokens.weight
    scale: float = weight.shape[1] ** 0.5
    return (logits.softmax(-1).to(weight.dtype) @ weight) * scale
