"""What people want of a run that is going on: parameter changes and an end. Read by the engine between steps."""

import threading
from collections.abc import Sequence

from playground.parameters import Decoding, DecodingChange, Sampler, SamplerChange
from playground.recipe import Recipe, SetSampler


class Cancelled(Exception):
    """The run was cancelled before its next step."""


class Steering:
    """A mailbox between those who watch a run and the thread that makes it.

    Changes are checked when they are asked for, against the parameters that will be in force by then, so that a bad
    one is refused to its sender and never reaches the run.
    """

    def __init__(self, recipe: Recipe) -> None:
        self._lock = threading.Lock()
        self._mode = recipe.mode
        self._sampler: Sampler = recipe.sampler
        self._decoding: Decoding = recipe.decoding
        self._to_come: list[SetSampler] = sorted(
            (edit for edit in recipe.edits if isinstance(edit, SetSampler)), key=lambda edit: (edit.canvas, edit.step)
        )
        self._changes: list[SamplerChange | DecodingChange] = []
        self._cancelled = threading.Event()
        self._shared = threading.Event()

    def change(self, change: SamplerChange | DecodingChange) -> None:
        """Ask for a change from the next step on.

        Raises `ValueError` if it is for the other mode or another rule, pydantic's `ValidationError` if the result does
        not fit, or if an edit of the recipe that is still to come would not fit any more.
        """
        with self._lock:
            if isinstance(change, SamplerChange) != (self._mode == "diffusion"):
                takes = "sampler" if self._mode == "diffusion" else "decoding"
                raise ValueError(f"a run in {self._mode} mode takes changes of its {takes}")
            if isinstance(change, SamplerChange):
                sampler = after = self._sampler.changed(change)
                for edit in self._to_come:
                    after = after.changed(edit.sampler)
                self._sampler = sampler
            else:
                self._decoding = self._decoding.changed(change)
            self._changes.append(change)

    def take(self) -> list[SamplerChange | DecodingChange]:
        """The changes asked for since the last call, in order. For the engine."""
        with self._lock:
            changes, self._changes = self._changes, []
            return changes

    def in_force(self, parameters: Sampler | Decoding, to_come: Sequence[SetSampler] = ()) -> None:
        """Tell what is in force now, and which edits of the recipe are still to come. For the engine."""
        with self._lock:
            self._to_come = list(to_come)
            if not self._changes:
                if isinstance(parameters, Decoding):
                    self._decoding = parameters
                else:
                    self._sampler = parameters

    def cancel(self) -> None:
        """End the run before its next step."""
        self._cancelled.set()

    @property
    def cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._cancelled.is_set()

    def share(self) -> None:
        """Note that another run had turns on the device while this one was going on."""
        self._shared.set()

    @property
    def shared(self) -> bool:
        """Whether the device was shared."""
        return self._shared.is_set()
