"""Run many tasks at once on transformers' model: for evaluation, where the engine's one run at a time takes long.

The decisions are the engine's (see `playground.engine.diffusion`), written for a batch; random draws differ, since here
one generator serves the whole batch. Prompts are padded on the left. A pinned position leaves the problem: it is not
accepted, has no share in the entropy budget nor in the mean, and always carries its token.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Generator, Tensor
from transformers import DiffusionGemmaForBlockDiffusion, DynamicCache

from playground.tiny.answers import Mode, Outcome
from playground.tiny.codec import TextCodec
from playground.tiny.infill import infill_pins
from playground.tiny.markers import END_IDS, END_OF_TURN_ID, PAD_ID
from playground.tiny.packed import capped_logits
from playground.tiny.prompting import chat_pieces
from playground.tiny.tasks import Task


@dataclass(frozen=True, slots=True)
class SamplerSettings:
    """The entropy-bound sampler's parameters, the report's defaults."""

    entropy_bound: float = 0.1
    t_max: float = 0.8
    t_min: float = 0.4
    max_denoising_steps: int = 48
    confidence_threshold: float = 0.005
    stability_threshold: int = 1


def accepted_positions(entropy: Tensor, free: Tensor, bound: float) -> Tensor:
    """Which positions fit the entropy budget, row by row; (B, C) entropies in nats and free positions give (B, C).

    In each row, free positions are ordered by (entropy, position); the k-th is accepted while the sum of those before
    it is at most the bound (report, section 3.3).
    """
    keys = entropy.double().masked_fill(~free, float("inf"))
    ordered, order = keys.sort(dim=-1, stable=True)
    fits = ordered.isfinite() & (ordered.masked_fill(ordered.isinf(), 0).cumsum(-1) - ordered <= bound)
    return torch.zeros_like(free).scatter(-1, order, fits)


class _Context:
    """The encoder's side of a batch: cache, mask and positions, growing by a canvas at a time."""

    def __init__(self, model: DiffusionGemmaForBlockDiffusion, prompts: Sequence[list[int]]) -> None:
        longest = max(map(len, prompts))
        self._model = model
        self.cache = DynamicCache(config=model.config.get_text_config())
        self.mask = torch.tensor([[0] * (longest - len(p)) + [1] * len(p) for p in prompts], device=model.device)
        self.next = self.mask.sum(1)  # (B,) position of the next token
        ids = torch.tensor([[PAD_ID] * (longest - len(p)) + p for p in prompts], device=model.device)
        positions = (self.mask.cumsum(1) - 1).clamp(min=0)
        self.last = self._encode(ids, positions)

    def _encode(self, ids: Tensor, positions: Tensor) -> Tensor:
        encoder = self._model.model.encoder
        out = encoder(input_ids=ids, attention_mask=self.mask, position_ids=positions, cache=self.cache)
        hidden: Tensor = out.last_hidden_state[:, -1]
        return hidden

    def append(self, ids: Tensor) -> None:
        """Encode (B, T) more ids; `last` is then the hidden state of the last of them."""
        steps = torch.arange(ids.shape[1], device=ids.device)
        self.mask = torch.cat((self.mask, torch.ones_like(ids)), 1)
        self.last = self._encode(ids, self.next[:, None] + steps)
        self.next = self.next + ids.shape[1]

    def denoise(self, canvas: Tensor, conditioning: Tensor | None) -> Tensor:
        """Logits (B, C, V) of one decoder pass."""
        steps = torch.arange(canvas.shape[1], device=canvas.device)
        out = self._model.model.decoder(
            decoder_input_ids=canvas,
            cache=self.cache,
            self_conditioning_logits=conditioning,
            decoder_attention_mask=torch.cat((self.mask, torch.ones_like(canvas)), 1),
            decoder_position_ids=self.next[:, None] + steps,
        )
        return capped_logits(self._model, out.last_hidden_state)


@dataclass(slots=True)
class _Denoised:
    """A batch of canvases, done: (B, C) ids, and for each row steps, whether it became stable, revised tokens."""

    ids: Tensor
    steps: Tensor
    stable: Tensor
    revised: Tensor


class BatchedDiffusion:
    """Runs tasks in diffusion mode."""

    mode: Mode = "diffusion"

    def __init__(
        self,
        model: DiffusionGemmaForBlockDiffusion,
        codec: TextCodec,
        sampler: SamplerSettings | None = None,
        max_new_tokens: int = 128,
        seed: int = 0,
    ) -> None:
        self._model, self._codec = model.eval(), codec
        self._sampler = sampler or SamplerSettings()
        self._canvas: int = model.config.canvas_length
        self._canvases = -(-max_new_tokens // self._canvas)
        self._seed = seed

    @torch.inference_mode()
    def run(self, tasks: Sequence[Task]) -> list[Outcome]:
        """An outcome for each task."""
        prompts = [self._codec.encode_pieces(chat_pieces(t.messages, thinking=t.thinking)) for t in tasks]
        context = _Context(self._model, prompts)
        generator = Generator(self._model.device).manual_seed(self._seed)
        pins = [self._pins(task) for task in tasks]
        outcomes = [Outcome([], "max_new_tokens", 0, [], [], []) for _ in tasks]
        going = torch.ones(len(tasks), dtype=torch.bool, device=self._model.device)
        for number in range(self._canvases):
            part = pins_of_canvas(pins, number, self._canvas).to(self._model.device)
            done = self._denoise(context, part, going, generator)
            for row in going.nonzero()[:, 0].tolist():
                outcomes[row] = _extended(outcomes[row], done, row)
                going[row] = outcomes[row].stop_reason != "end_of_turn"
            if not going.any() or number + 1 == self._canvases:
                break
            context.append(done.ids)
        return outcomes

    def _pins(self, task: Task) -> list[int | None]:
        return [] if task.template is None else infill_pins(task.template, self._codec.encode, END_OF_TURN_ID)

    def _denoise(self, context: _Context, pins: Tensor, going: Tensor, generator: Generator) -> _Denoised:
        """Denoise one canvas of every row; `pins` (B, C) holds ids, −1 where a position is free."""
        sampler, vocab = self._sampler, self._model.config.text_config.vocab_size
        free = pins < 0
        active = going.clone()
        canvas = torch.randint(vocab, pins.shape, generator=generator, device=pins.device)
        canvas = torch.where(free, canvas, pins)
        predicted = canvas
        first_accepted = torch.full_like(canvas, -1)
        changed = torch.zeros_like(free)
        stable_steps = torch.zeros(len(pins), dtype=torch.long, device=pins.device)
        steps, stable = torch.zeros_like(stable_steps), torch.zeros_like(active)
        conditioning: Tensor | None = None
        for n in range(sampler.max_denoising_steps, 0, -1):
            share = n / sampler.max_denoising_steps
            temperature = sampler.t_min + (sampler.t_max - sampler.t_min) * share
            logits = context.denoise(canvas, conditioning) / temperature
            log_p = logits.log_softmax(-1)
            entropy = -(log_p.exp() * log_p).sum(-1)
            sampled = torch.multinomial(log_p.exp().flatten(0, 1), 1, generator=generator).view_as(canvas)
            draft = torch.where(free, logits.argmax(-1), pins)
            accepted = accepted_positions(entropy, free, sampler.entropy_bound)
            fresh = torch.randint(vocab, pins.shape, generator=generator, device=pins.device)
            following = torch.where(accepted, sampled, torch.where(free, fresh, pins))
            stable_steps = torch.where((draft == predicted).all(1) & (steps > 0), stable_steps + 1, 0)
            # Finished rows stay as they are; the batch goes on for the others.
            predicted = torch.where(active[:, None], draft, predicted)
            canvas = torch.where(active[:, None], following, canvas)
            taken = active[:, None] & accepted
            changed |= taken & (first_accepted >= 0) & (first_accepted != sampled)
            first_accepted = torch.where(taken & (first_accepted < 0), sampled, first_accepted)
            steps += active
            mean = (entropy * free).sum(1) / free.sum(1).clamp(min=1)
            done = (mean < sampler.confidence_threshold) & (stable_steps >= sampler.stability_threshold)
            stable |= active & done
            active &= ~done
            conditioning = logits
            if not active.any():
                break
        revised = (changed | ((first_accepted >= 0) & (first_accepted != predicted))).sum(1)
        return _Denoised(predicted, steps, stable, revised)


def pins_of_canvas(pins: Sequence[list[int | None]], number: int, length: int) -> Tensor:
    """(B, length) pinned ids of one canvas, −1 where free. What follows an infill's text is pinned to its last id."""
    rows: list[list[int]] = []
    for row in pins:
        part = row[number * length : (number + 1) * length]
        tail = row[-1] if row and row[-1] is not None else -1
        rows.append([-1 if x is None else x for x in part] + [tail] * (length - len(part)))
    return torch.tensor(rows)


def _extended(before: Outcome, done: _Denoised, row: int) -> Outcome:
    ids = done.ids[row].tolist()
    end = next((i for i, token in enumerate(ids) if token in END_IDS), None)
    valid = ids if end is None else ids[: end + 1]
    steps = [*before.canvas_steps, int(done.steps[row])]
    return Outcome(
        ids=before.ids + valid,
        stop_reason="max_new_tokens" if end is None else "end_of_turn",
        passes=sum(steps) + len(steps) - 1,
        canvas_steps=steps,
        canvas_tokens=[*before.canvas_tokens, len(valid)],
        canvas_stops=[
            *before.canvas_stops,
            "stable_and_confident" if bool(done.stable[row]) else "max_denoising_steps",
        ],
        revised=before.revised + int(done.revised[row]),
    )


class BatchedAutoregressive:
    """Runs tasks in AR mode, greedily. Nothing is pinned: an infill's text is written from left to right."""

    mode: Mode = "autoregressive"

    def __init__(self, model: DiffusionGemmaForBlockDiffusion, codec: TextCodec, max_new_tokens: int = 128) -> None:
        self._model, self._codec, self._limit = model.eval(), codec, max_new_tokens

    @torch.inference_mode()
    def run(self, tasks: Sequence[Task]) -> list[Outcome]:
        """An outcome for each task."""
        prompts = [self._codec.encode_pieces(chat_pieces(t.messages, thinking=t.thinking)) for t in tasks]
        context = _Context(self._model, prompts)
        written: list[list[int]] = [[] for _ in tasks]
        ended = [False] * len(tasks)
        for _ in range(self._limit):
            token = capped_logits(self._model, context.last).argmax(-1)
            for row, value in enumerate(token.tolist()):
                if not ended[row]:
                    written[row].append(value)
                    ended[row] = value in END_IDS
            if all(ended):
                break
            context.append(token[:, None])
        return [
            Outcome(ids, "end_of_turn" if end else "max_new_tokens", len(ids), [], [], [])
            for ids, end in zip(written, ended, strict=True)
        ]
