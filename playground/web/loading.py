"""The model of the process: loaded in a thread while the page already answers."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
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
    """A model on its way. `status` and `message` tell how far it is; `model` waits for it."""

    def __init__(self, load: Load, settings: Settings) -> None:
        self._load = load
        self._settings = settings
        self._done = asyncio.Event()
        self._failure: PlaygroundError | None = None
        self._told = ""
        self.loaded: Model | None = None
        """The model, once it is there."""

    def begin(self) -> None:
        """Start loading. The thread does not keep the process from ending."""
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._work, args=(loop,), name="loading", daemon=True).start()

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
            told = self._told or f"The model {self._settings.model!r} is being loaded."
            return f"{told} Runs that are started now wait for it."
        model = self.loaded
        return f"The model {model.name!r} is ready: {model.parameters:,} parameters, {model.dtype} on {model.device}."

    async def model(self) -> "Model":
        """The model, as soon as it is loaded. Raises `PlaygroundError` if it could not be."""
        await self._done.wait()
        if self.loaded is None:
            assert self._failure is not None
            raise PlaygroundError(self._failure.code, self._failure.message)
        return self.loaded

    def _tell(self, sentence: str) -> None:
        """Takes words of the thread that loads."""
        self._told = sentence
        log.info("model", status="loading", message=sentence)

    def _work(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            model, failure = self._load(self._settings, self._tell), None
        except PlaygroundError as error:
            model, failure = None, error
        except Exception as error:
            log.exception("model not loaded")
            model, failure = None, ModelError(f"The model could not be loaded: {type(error).__name__}: {error}")
        with suppress(RuntimeError):  # the server may have ended meanwhile, and its loop with it
            loop.call_soon_threadsafe(self._settle, model, failure)

    def _settle(self, model: "Model | None", failure: PlaygroundError | None) -> None:
        self.loaded, self._failure = model, failure
        self._done.set()
        log.info("model", status=self.status, message=self.message)
