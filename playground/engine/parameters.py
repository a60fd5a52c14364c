"""The parameters in force: the recipe's, its edits, and what is changed while the run is going on."""

from collections.abc import Sequence
from contextlib import suppress

from pydantic import ValidationError

from playground.engine.steering import Steering
from playground.parameters import DecodingChange, SamplerChange
from playground.recipe import Recipe, SetDecoding, SetSampler


class SamplerInForce:
    """The sampler of a diffusion run, step by step; `made` lists the live changes as edits.

    An edit whose step is never reached, since its canvas ended before it, applies before the next step there is: so
    the sampler at a step follows from all edits up to it, however long the canvases before it took.
    """

    def __init__(self, recipe: Recipe, steering: Steering) -> None:
        self.sampler = recipe.sampler
        self.made: list[SetSampler] = []
        edits = [edit for edit in recipe.edits if isinstance(edit, SetSampler)]
        self._to_come = sorted(edits, key=lambda edit: (edit.canvas, edit.step))
        self._steering = steering

    def before(self, canvas: int, step: int) -> list[SetSampler]:
        """Apply what belongs just before this step, the recipe's edits first; gives the edits applied."""
        applied: list[SetSampler] = []
        while self._to_come and (self._to_come[0].canvas, self._to_come[0].step) <= (canvas, step):
            edit = self._to_come.pop(0)
            self.sampler = self.sampler.changed(edit.sampler)
            applied.append(edit)
        for change in self._steering.take():
            if isinstance(change, SamplerChange):
                # Checked when it was asked for; it may not fit any more where an edit came in between.
                with suppress(ValidationError):
                    self.sampler = self.sampler.changed(change)
                    edit = SetSampler(canvas=canvas, step=step, sampler=change)
                    self.made.append(edit)
                    applied.append(edit)
        if applied:
            self._steering.in_force(self.sampler, self._to_come)
        return applied


class DecodingInForce:
    """The decoding of an autoregressive run, token by token; `made` lists the live changes as edits."""

    def __init__(self, recipe: Recipe, steering: Steering) -> None:
        self.decoding = recipe.decoding
        self.made: list[SetDecoding] = []
        self._edits: Sequence[SetDecoding] = [edit for edit in recipe.edits if isinstance(edit, SetDecoding)]
        self._steering = steering

    def before(self, index: int) -> list[SetDecoding]:
        """Apply what belongs just before this token, the recipe's edits first; gives the edits applied."""
        applied = [edit for edit in self._edits if edit.index == index]
        for change in self._steering.take():
            if isinstance(change, DecodingChange):
                edit = SetDecoding(index=index, decoding=change)
                self.made.append(edit)
                applied.append(edit)
        for edit in applied:
            self.decoding = self.decoding.changed(edit.decoding)
        if applied:
            self._steering.in_force(self.decoding)
        return applied
