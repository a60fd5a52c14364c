"""Changing the model of the process for another one that the operator allows: who may when, and how far it is."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import structlog

from playground.errors import PlaygroundError
from playground.settings import Settings
from playground.web.loading import Loading

log = structlog.get_logger()

Find = Callable[[str, Callable[[str], None]], object]
"""Gets the files of a model, as `PLAYGROUND_MODEL` takes it, on this machine; or raises `PlaygroundError`."""


@dataclass
class Switch:
    """A switch that is on its way, or that has failed."""

    model: str
    message: str
    failed: bool = False


class Switching:
    """One model is in memory at a time, so a switch begins only where nobody's run would be broken off by it.

    Its files are fetched first, while the model in use goes on. Belongs to the event loop's thread.
    """

    def __init__(self, settings: Settings, loading: Loading, find: Find, busy: Callable[[], str | None]) -> None:
        """busy: what goes on that a switch would break off, in a sentence; none for nothing."""
        self._choices = settings.choices if settings.models else {}
        self._loading = loading
        self._find = find
        self._busy = busy
        self._listeners: set[Callable[[], None]] = set()
        self.version = 0
        """Grows with everything that there is to tell."""
        self.switch: Switch | None = None
        loading.changed = self._changed

    @property
    def choices(self) -> list[str]:
        """The names of the models to choose from; empty where there is no choice."""
        return list(self._choices) if len(self._choices) > 1 else []

    def allow_none(self) -> None:
        """Have no choice: the model is fixed where the GPU is lent to forks of this process."""
        self._choices = {}

    def described(self) -> dict[str, Any]:
        """What clients are told."""
        switch = self.switch
        return {
            "choices": self.choices,
            "switch": switch and {"model": switch.model, "message": self._message(switch), "failed": switch.failed},
        }

    def listen(self, told: Callable[[], None]) -> Callable[[], None]:
        """Call a function with everything new; gives one that ends that."""
        self._listeners.add(told)
        return lambda: self._listeners.discard(told)

    def check(self, name: str) -> None:
        """Raise `PlaygroundError` unless a switch to the model with this name can begin now."""
        if not self.choices:
            raise PlaygroundError("bad_request", "This server has one model and cannot switch to another.", "model")
        if name not in self._choices:
            names = ", ".join(repr(choice) for choice in self.choices)
            raise PlaygroundError("unknown_model", f"This server can switch between {names}.", "model")
        if self._loading.status == "loading" or (self.switch is not None and not self.switch.failed):
            raise PlaygroundError("busy", "A model is on its way already; wait until it is there.", "model")
        if self._loading.loaded is not None and self._loading.loaded.name == name:
            raise PlaygroundError("bad_request", f"The model {name!r} is in use already.", "model")
        if busy := self._busy():
            raise PlaygroundError("busy", busy, "model")

    def begin(self, name: str) -> None:
        """Switch to the model with this name. Raises `PlaygroundError` as `check` does."""
        self.check(name)
        self.switch = Switch(name, f"Looking for the model {name!r}.")
        log.info("switch", model=name)
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._fetch, args=(loop, name), name="fetching", daemon=True).start()
        self._changed()

    def _fetch(self, loop: asyncio.AbstractEventLoop, name: str) -> None:
        def tell(sentence: str) -> None:
            with suppress(RuntimeError):  # the server may have ended meanwhile, and its loop with it
                loop.call_soon_threadsafe(self._tell, sentence)

        failure = ""
        try:
            self._find(self._choices[name], tell)
        except PlaygroundError as error:
            failure = error.message
        except Exception as error:
            log.exception("model not found")
            failure = f"The model {name!r} could not be fetched: {type(error).__name__}: {error}"
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(self._fetched, name, failure)

    def _fetched(self, name: str, failure: str) -> None:
        if failure:
            self._end(failure)
        elif busy := self._busy():  # somebody began a run while the files were fetched
            self._end(busy)
        else:
            self._loading.change(self._choices[name], lambda error: self._end(error.message if error else ""))

    def _tell(self, sentence: str) -> None:
        assert self.switch is not None
        self.switch.message = sentence
        self._changed()

    def _message(self, switch: Switch) -> str:
        """While the model loads, its own words."""
        return self._loading.message if self._loading.status == "loading" and not switch.failed else switch.message

    def _end(self, failure: str) -> None:
        assert self.switch is not None
        if not failure:
            self.switch = None
        else:
            log.warning("switch failed", model=self.switch.model, reason=failure)
            here = self._loading.loaded
            stays = f" {here.name!r} is in use." if here is not None else " No model is loaded now."
            self.switch = Switch(self.switch.model, failure + stays, failed=True)
        self._changed()

    def _changed(self) -> None:
        self.version += 1
        for told in tuple(self._listeners):
            told()
