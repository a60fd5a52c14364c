"""What the routes and the sockets share: one object for the whole process."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from playground.engine.turns import Turns
from playground.errors import PlaygroundError
from playground.recipe import Recipe
from playground.settings import Settings
from playground.uploads import Uploads
from playground.web.archive import Archive
from playground.web.limits import Limits
from playground.web.loading import Load, Loading
from playground.web.metrics import ProcessMetrics
from playground.web.rooms import Rooms
from playground.web.runs import Events, Run, Runs
from playground.web.sweeps import Sweeps
from playground.web.switching import Find, Switching

if TYPE_CHECKING:
    from playground.engine.models import Model

LIMITS = (
    "max_prompt_tokens",
    "max_new_tokens",
    "max_frame_bytes",
    "max_sweep_runs",
    "upload_bytes",
    "max_pixels",
)
"""The settings that clients are told."""

Prepare = Callable[["Model", Recipe, Settings], Recipe]


@dataclass(frozen=True)
class Engine:
    """What the web needs of an engine: `models.load`, `runs.prepare` and `runs.events`.

    Where models are switched, `sources.find` and `memory.give_back` too.
    """

    load: Load
    prepare: Prepare
    events: Events
    find: Find = lambda *_: None
    free: Callable[[], None] = lambda: None


class Site:
    """Settings, model, device and runs of a process."""

    def __init__(self, settings: Settings, engine: Engine) -> None:
        self.settings = settings
        self.metrics = ProcessMetrics()
        self.limits = Limits(settings)
        self.uploads = Uploads(settings.keep_uploads_bytes, settings.upload_bytes, settings.max_pixels)
        self.loading = Loading(engine.load, settings, engine.free)
        self.switching = Switching(settings, self.loading, engine.find, self._busy)
        self.turns = Turns(settings.max_runs, settings.max_waiting, settings.pause_seconds)
        self.archive = Archive(settings)
        self.runs = Runs(settings, self.turns, self.metrics, self.archive)
        self.sweeps = Sweeps(settings, self.turns, engine)
        self.rooms = Rooms(settings)
        self.starting: Counter[str] = Counter()
        """Runs that are about to begin, by address."""
        self._engine = engine
        self.lends = False
        """Whether runs are made on a GPU that is lent for each of them."""
        self.metrics.gauge("open_sockets", "Sockets that are open", lambda: self.limits.sockets)
        self.metrics.gauge("rooms", "Rooms that are open", lambda: len(self.rooms))
        self.metrics.gauge("runs_going", "Runs that take turns on the device", lambda: self.turns.going)
        self.metrics.gauge("runs_waiting", "Runs that wait to begin", lambda: self.turns.waiting)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """While the process serves: the model loads, the device takes turns.

        At the end every run is cancelled, and what is finished is stored.
        """
        try:
            async with self.turns:
                self.loading.begin()
                self.sweeps.open()
                looking = asyncio.create_task(self.archive.recordings(), name="recordings")
                try:
                    yield
                finally:
                    await asyncio.gather(looking, return_exceptions=True)
                    await self.sweeps.close()
        finally:
            await self.archive.close()

    async def start(
        self, recipe: Recipe, steps_per_second: float | None, owner: str | None = None, address: str = ""
    ) -> Run:
        """Begin a run once the model is there. owner: a secret; address: the starter's. Raises `PlaygroundError`."""
        if self.lends:
            message = "This server borrows its GPU for each run, and only its page can ask for it."
            raise PlaygroundError("bad_request", message, "type")
        async with self.loading.using() as model:
            recipe = await self.prepared(recipe)
            return self.runs.start(model, recipe, self._engine.events, steps_per_second, owner, address)

    async def prepared(self, recipe: Recipe) -> Recipe:
        """The recipe as it will run, once the model is there. Raises `PlaygroundError` where it cannot."""
        async with self.loading.using() as model:
            model.uploads = self.uploads
            return await self.turns.call(lambda: self._engine.prepare(model, recipe, self.settings))

    def switch(self, name: str, address: str) -> None:
        """Change the model for the one with this name. address: whose wish it is. Raises `PlaygroundError`."""
        self.switching.check(name)
        self.limits.switch(address)
        self.switching.begin(name)

    def models(self) -> dict[str, Any]:
        """What `GET /api/models` answers: the model that recipes may name, and what this server allows."""
        return {
            "status": self.loading.status,
            "message": self.loading.message,
            "models": [] if self.loading.loaded is None else [described(self.loading.loaded)],
            **self.switching.described(),
            "limits": {name: getattr(self.settings, name) for name in LIMITS},
        }

    def _busy(self) -> str | None:
        """What would be broken off if the model went now."""
        runs = self.turns.going + self.turns.waiting
        if self.sweeps.going:
            return "A sweep is going on; the model can be switched when it has ended or is paused."
        if runs or self.loading.users:
            going = f"{runs} runs are" if runs > 1 else "A run is"
            return f"{going} going on; the model can be switched when nothing runs."
        return None


def described(model: "Model") -> dict[str, Any]:
    """A model as clients are told of it."""
    names = ("name", "revision", "canvas_length", "vocab_size", "context_length", "parameters", "device", "dtype")
    return {name: getattr(model, name) for name in names} | {
        name: getattr(model, name, False) for name in ("supports_thinking", "supports_images")
    }
