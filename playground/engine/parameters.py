"""The parameters in force: the recipe's, its edits, and what is changed while the run is going on."""

from collections.abc import Sequence

from playground.engine.steering import Steering
from playground.recipe import DecodingChange, Recipe, SamplerChange, SetDecoding, SetSampler


class SamplerInForce:
    """The sampler of a diffusion run, step by step; `made` lists the live changes as edits."""

    def __init__(self, recipe: Recipe, steering: Steering) -> None:
        self.sampler = recipe.sampler
        self.made: list[SetSampler] = []
        self._edits: Sequence[SetSampler] = [edit for edit in recipe.edits if isinstance(edit, SetSampler)]
        self._steering = steering

    def before(self, canvas: int, step: int) -> list[SetSampler]:
        """Apply what belongs just before this step, the recipe's edits first; gives the edits applied."""
        applied = [edit for edit in self._edits if (edit.canvas, edit.step) == (canvas, step)]
        for change in self._steering.take():
            if isinstance(change, SamplerChange):
                edit = SetSampler(canvas=canvas, step=step, sampler=change)
                self.made.append(edit)
                applied.append(edit)
        for edit in applied:
            self.sampler = self.sampler.changed(edit.sampler)
        if applied:
            self._steering.in_force(self.sampler)
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
