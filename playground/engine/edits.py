"""Edits of the canvas: pins, renoised spans, a canvas of one's own, infill. Checked before a run, applied in it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from playground.engine import holes
from playground.engine.models import Model
from playground.errors import PlaygroundError
from playground.recipe import Edit, Infill, Pin, Recipe, Renoise, SetCanvas, SetDecoding, SetSampler, Unpin
from playground.sampling import draws


@dataclass
class Pins:
    """What is held in a canvas: a token at each pinned position."""

    mask: Tensor
    """(C,) bool."""
    ids: Tensor
    """(C,) int64; of meaning where the mask is set."""
    goes_on: bool = False
    """Whether text is pinned in a later canvas, so that the turn must not end in this one."""

    @classmethod
    def none(cls, canvas_length: int) -> "Pins":
        """Nothing pinned."""
        return cls(torch.zeros(canvas_length, dtype=torch.bool), torch.zeros(canvas_length, dtype=torch.int64))

    def __bool__(self) -> bool:
        return bool(self.mask.any())

    def hold(self, start: int, ids: Sequence[int | None]) -> None:
        """Pin ids from `start` on, none leaving its position as it is."""
        for position, token in enumerate(ids, start):
            if token is not None:
                self.mask[position], self.ids[position] = True, token

    def rule_out_ends(self, logits: Tensor, end_ids: Sequence[int]) -> Tensor:
        """The logits (C, V) with −inf for end tokens at free positions before pinned text, which must be reached."""
        text = self.mask & ~torch.isin(self.ids, torch.tensor(end_ids))
        before = len(text) if self.goes_on else int(text.nonzero()[-1]) if text.any() else 0
        rows = (~self.mask[:before]).nonzero()[:, 0]
        if len(rows) == 0:
            return logits
        logits = logits.clone()
        logits[rows[:, None].to(logits.device), torch.tensor(end_ids, device=logits.device)] = -torch.inf
        return logits

    def put(self, canvas_ids: Tensor) -> Tensor:
        """The canvas with the pinned tokens in their places."""
        return torch.where(self.mask, self.ids, canvas_ids)


@dataclass
class CanvasEdits:
    """The canvas edits of a recipe, compiled for a model.

    Raises `PlaygroundError` naming the edit where a span reaches over the canvas, a token is not in the vocabulary, or
    a text with holes has none or is longer than the run may be.
    """

    model: Model
    recipe: Recipe
    _texts: dict[int, list[int]] = field(default_factory=dict)
    _infill: list[int | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        for number, edit in enumerate(self.recipe.edits):
            try:
                self._check(number, edit)
            except ValueError as error:
                raise PlaygroundError("bad_request", f"Edit {number}: {error}.", f"recipe.edits.{number}") from None

    def _check(self, number: int, edit: Edit) -> None:
        length = self.model.canvas_length
        if isinstance(edit, Infill):
            if self._infill:
                raise ValueError("a run takes only one text with holes")
            self._infill = holes.pins(edit.text, self.model.encode_text)
            room = -(-self.recipe.max_new_tokens // length) * length
            if len(self._infill) > room:
                raise ValueError(f"the text has {len(self._infill)} tokens with its holes; max_new_tokens gives {room}")
        elif isinstance(edit, Pin | SetCanvas):
            ids = self.model.encode_text(edit.text) if edit.text is not None else edit.ids or []
            start = edit.start if isinstance(edit, Pin) else 0
            if start + len(ids) > length:
                raise ValueError(_beyond("token", len(ids), f"position {start}", length))
            if max(ids) >= self.model.vocab_size:
                raise ValueError(f"token {max(ids)} is not in the vocabulary of {self.model.vocab_size}")
            self._texts[number] = ids
        elif isinstance(edit, Unpin | Renoise) and edit.start + edit.length > length:
            raise ValueError(_beyond("position", edit.length, f"{edit.start}", length))

    def before(self, canvas: int, step: int, canvas_ids: Tensor, pins: Pins) -> tuple[list[Edit], Tensor]:
        """Apply what belongs just before this step, in list order; `pins` is changed in place.

        Gives the edits applied and what the step is fed: canvas_ids (C,) int64 with edits and pins.
        """
        applied: list[Edit] = []
        for number, edit in enumerate(self.recipe.edits):
            if isinstance(edit, SetSampler | SetDecoding):
                continue
            if isinstance(edit, Infill):
                if step == 1:
                    self._hold_infill(canvas, pins)
                    applied.append(edit)
                continue
            if (edit.canvas, edit.step) != (canvas, step):
                continue
            applied.append(edit)
            match edit:
                case Pin():
                    pins.hold(edit.start, self._texts[number])
                case Unpin():
                    pins.mask[edit.start : edit.start + edit.length] = False
                case Renoise():
                    span = torch.zeros_like(pins.mask)
                    span[edit.start : edit.start + edit.length] = True
                    canvas_ids = torch.where(span, self._random(canvas, step), canvas_ids)
                case SetCanvas():
                    ids = torch.tensor(self._texts[number])
                    corrupted = draws.uniforms(self.recipe.seed, canvas, step, "corrupt", len(ids)) < edit.noise
                    ids = torch.where(corrupted, self._random(canvas, step)[: len(ids)], ids)
                    canvas_ids = torch.cat([ids, canvas_ids[len(ids) :]])
        return applied, pins.put(canvas_ids)

    def _hold_infill(self, canvas: int, pins: Pins) -> None:
        length = self.model.canvas_length
        part = self._infill[canvas * length : (canvas + 1) * length]
        pins.goes_on = len(self._infill) > (canvas + 1) * length
        pins.hold(0, [*part, *[self.model.end_of_turn] * (length - len(part))])

    def _random(self, canvas: int, step: int) -> Tensor:
        return draws.tokens(self.recipe.seed, canvas, step, "edit", self.model.canvas_length, self.model.vocab_size)


def _beyond(noun: str, count: int, start: str, length: int) -> str:
    """That a span is too long for its canvas, in words."""
    span = f"1 {noun} from {start} on reaches" if count == 1 else f"{count} {noun}s from {start} on reach"
    return f"{span} over the canvas of {length}"
