"""The model of the process: loaded in a thread while the page already answers, and changed for another one."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Literal

import structlog

from playground.errors import ModelError, PlaygroundError
from playground.settings import Settings

if TYPE_CHECKING:
    from playground.engine.models import Model

log = structlog.get_logger()

Load = Callable[[Settings, Callable[[str], None]], "Model"]
"""Loads the model that the settings name, and tells from time to time how far it is."""


class Loading:
    """A model on its way. `status` and `message` tell how far it is; `model` and `using` wait for it."""

    def __init__(self, load: Load, settings: Settings, free: Callable[[], None] = lambda: None) -> None:
        """free: gives the memory of a model that was let go back to the machine."""
        self._load = load
        self._settings = settings
        self._free = free
        self._wanted = settings.model
        self._done = asyncio.Event()
        self._failure: PlaygroundError | None = None
        self._told = ""
        self.loaded: Model | None = None
        """The model, once it is there."""
        self.users = 0
        """Who is about to do something with it."""
        self.changed: Callable[[], None] = lambda: None
        """Called in the loop's thread when there is something new to tell."""

    def begin(self) -> None:
        """Start loading. The thread does not keep the process from ending."""
        self._start((self._settings.model,), lambda _: None)

    def change(self, model: str, then: Callable[[PlaygroundError | None], None]) -> None:
        """Let go of the model, which nobody may be using, and load another one in its place.

        Where that fails, the one before is loaded again. model: as `PLAYGROUND_MODEL` takes it. then: is called in the
        end, with what went wrong if something did.
        """
        tried = (model, self._wanted) if self.loaded is not None else (model,)
        self.loaded, self._failure, self._told = None, None, ""
        self._done.clear()
        self._start(tried, then)

    def _start(self, tried: Sequence[str], then: Callable[[PlaygroundError | None], None]) -> None:
        self._wanted = tried[0]
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._work, args=(loop, tried, then), name="loading", daemon=True).start()
        self.changed()

    @property
    def status(self) -> Literal["loading", "ready", "failed"]:
        """How far it is."""
        if not self._done.is_set():
            return "loading"
        return "ready" if self.loaded is not None else "failed"

    @property
    def message(self) -> str:
        """The same in a sentence."""
        if self._failure is not None:
            return self._failure.message
        if self.loaded is None:
            told = self._told or f"The model {self._wanted!r} is being loaded."
            return f"{told} Runs that are started now wait for it."
        model = self.loaded
        return f"The model {model.name!r} is ready: {model.parameters:,} parameters, {model.dtype} on {model.device}."

    async def model(self) -> "Model":
        """The model, as soon as it is loaded. Raises `PlaygroundError` if it could not be."""
        while not self._done.is_set():  # another change may begin before its waiters are woken
            await self._done.wait()
        if self.loaded is None:
            assert self._failure is not None
            raise PlaygroundError(self._failure.code, self._failure.message)
        return self.loaded

    @asynccontextmanager
    async def using(self) -> AsyncIterator["Model"]:
        """The model, as `model` gives it, for a while in which it is not changed for another one."""
        model = await self.model()
        self.users += 1
        try:
            yield model
        finally:
            self.users -= 1

    def _work(
        self, loop: asyncio.AbstractEventLoop, tried: Sequence[str], then: Callable[[PlaygroundError | None], None]
    ) -> None:
        def tell(sentence: str) -> None:
            log.info("model", status="loading", message=sentence)
            with suppress(RuntimeError):  # the server may have ended meanwhile, and its loop with it
                loop.call_soon_threadsafe(self._tell, sentence)

        failures: list[PlaygroundError] = []
        model = None
        for name in tried:
            if failures:
                tell(f"{failures[0].message} Loading {name!r} again.")
            self._free()
            model, failure = self._try(name, tell)
            if failure is None:
                break
            failures.append(failure)
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(self._settle, model, name, failures, then)

    def _try(self, name: str, tell: Callable[[str], None]) -> "tuple[Model | None, PlaygroundError | None]":
        """A model, or why not: without the traceback, which would hold what was loaded so far."""
        try:
            return self._load(self._settings.model_copy(update={"model": name}), tell), None
        except PlaygroundError as error:
            return None, PlaygroundError(error.code, error.message, error.field)
        except Exception as error:
            log.exception("model not loaded")
            return None, ModelError(f"The model could not be loaded: {type(error).__name__}: {error}")

    def _tell(self, sentence: str) -> None:
        self._told = sentence
        self.changed()

    def _settle(
        self,
        model: "Model | None",
        name: str,
        failures: Sequence[PlaygroundError],
        then: Callable[[PlaygroundError | None], None],
    ) -> None:
        self.loaded, self._wanted = model, name
        self._failure = failures[-1] if failures and model is None else None
        self._done.set()
        log.info("model", status=self.status, message=self.message)
        then(failures[0] if failures else None)
        self.changed()
