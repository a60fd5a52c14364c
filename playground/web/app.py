"""The web app: socket, routes, static files, and the page mounted last at the root."""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, WebSocket
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from playground import __version__
from playground.engine.steering import Steering
from playground.recipe import Recipe
from playground.settings import Settings
from playground.trace.replay_page import static_folder
from playground.web import classroom, files, history, lab, routes, socket, tour, uploads
from playground.web.headers import CarefulHeaders, NoUploads, Prefix
from playground.web.loans import Loans
from playground.web.site import Engine, Site

if TYPE_CHECKING:
    from playground.engine.models import Model

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
os.environ.setdefault("GRADIO_RUN_HISTORY", "False")

STATIC_PATH = "page"
"""Where the page's modules and styles are served, below the root; plotly's own script too (`page/plotly.min.js`)."""

Page = Callable[[Settings], tuple[Any, str]]
"""Builds the page: gives a `gradio.Blocks` and the markup for the head of its document."""


def create_app(
    settings: Settings, engine: Engine | None = None, page: Page | None = None, loans: Loans | None = None
) -> FastAPI:
    """The app for one process.

    engine: by default the real one, imported when the model is loaded. page: builds the Gradio page; without it
    there are only the socket, the routes and the static files. loans: where the GPU is lent for each run.
    """
    site = Site(settings, engine or real_engine())
    if loans is not None:
        loans.site, site.lends = site, True
        site.switching.allow_none()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with site.open():
            yield

    app = FastAPI(
        title="Denoising playground",
        version=__version__,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
    )
    app.state.site = site
    routes.answer_mistakes(app)
    for part in (routes, history, files, lab, classroom, tour, uploads):
        app.include_router(part.router(site))

    @app.websocket("/ws")
    async def ws(websocket: WebSocket) -> None:
        await socket.serve(websocket, site)

    app.mount(f"/{STATIC_PATH}", FreshFiles(), name="static files")
    if page is not None:
        import gradio

        blocks, head = page(settings)
        app = gradio.mount_gradio_app(
            app, blocks, path="/", ssr_mode=False, root_path=root_path(settings) or None, footer_links=[], head=head
        )
    app.add_middleware(NoUploads)
    app.add_middleware(CarefulHeaders)
    if prefix := root_path(settings):
        app.add_middleware(Prefix, prefix=prefix)
    return app


def real_engine() -> Engine:
    """The engine of this package; torch is imported when it is first used, so that the page need not wait for it."""

    def load(settings: Settings, tell: Callable[[str], None]) -> "Model":
        from playground.engine import models

        return models.load(settings, tell)

    def prepare(model: "Model", recipe: Recipe, settings: Settings) -> Recipe:
        from playground.engine import runs

        return runs.prepare(model, recipe, settings)

    def events(model: "Model", recipe: Recipe, steering: Steering) -> Any:
        from playground.engine import runs

        return runs.events(model, recipe, steering)

    def find(model: str, tell: Callable[[str], None]) -> Any:
        from playground.engine import sources

        return sources.find(model, tell)

    def free() -> None:
        from playground.engine import memory

        memory.give_back()

    return Engine(load, prepare, events, find, free)


def root_path(settings: Settings) -> str:
    """The prefix with one slash in front and none behind; empty for none."""
    prefix = settings.root_path.strip("/")
    return f"/{prefix}" if prefix else ""


class FreshFiles(StaticFiles):
    """The static files, with an ETag that browsers ask about each time, so that updates arrive."""

    def __init__(self) -> None:
        super().__init__(
            directory=static_folder(Path(__file__).parent.parent),
            packages=[("plotly", "package_data")],
            check_dir=False,
        )

    async def get_response(self, path: str, scope: Scope) -> Response:
        """A file, or 404."""
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = "no-cache"
        return response
