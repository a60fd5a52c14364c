"""What the process answers over HTTP: models, runs and their events, health, metrics."""

from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response, StreamingResponse

from playground import __version__
from playground.errors import PlaygroundError
from playground.events import Error
from playground.web import mistakes
from playground.web.metrics import CONTENT_TYPE
from playground.web.runs import Run
from playground.web.site import Site

STATUS = {
    "unknown_run": 404,
    "unknown_event": 404,
    "unknown_upload": 404,
    "unknown_sweep": 404,
    "unknown_room": 404,
    "forbidden": 403,
    "busy": 503,
    "model": 503,
    "internal": 500,
}
"""HTTP status by error code; 422 for the others."""

RunId = Annotated[str, Path(min_length=1, max_length=64)]

LARGEST = 2**53
"""No number of an event or of a run is larger; SQLite could not look for one that is much larger."""


def router(site: Site) -> APIRouter:
    """The routes of a site."""
    routes = APIRouter()

    @routes.get("/health")
    async def health() -> JSONResponse:
        """`loading`, `ready` or `failed`, with a sentence; 503 once loading has failed."""
        status = site.loading.status
        body = {"status": status, "message": site.loading.message, "version": __version__}
        return JSONResponse(body, 503 if status == "failed" else 200)

    routes.head("/health", include_in_schema=False)(health)

    @routes.api_route("/health", methods=["POST", "PUT", "PATCH", "DELETE", "OPTIONS"], include_in_schema=False)
    async def no_such_method() -> Response:
        """Said here, since the page at the root answers what no route does."""
        return Response(status_code=405, headers={"Allow": "GET, HEAD"})

    @routes.get("/metrics")
    async def metrics() -> Response:
        """Figures of the process for Prometheus."""
        return Response(site.metrics.exposition(), media_type=CONTENT_TYPE)

    @routes.get("/api/models")
    async def models() -> dict[str, Any]:
        """The model that recipes may name, empty while loading; those to switch to, and what this server allows."""
        return site.models()

    @routes.get("/api/runs/{run_id}")
    async def run(run_id: RunId) -> dict[str, Any]:
        """How a run stands: state, recipe, and once finished text and metrics."""
        here = site.runs.known(run_id)
        stored = await site.archive.summary(run_id) if here is None or here.recalled else None
        return stored or site.runs.get(run_id).summary()

    @routes.get("/api/runs/{run_id}/events")
    async def events(
        run_id: RunId, after: Annotated[int, Query(ge=-1, le=LARGEST)] = -1, follow: bool = True
    ) -> StreamingResponse:
        """Whole events as JSONL, from the one behind `after`; of a live run to its end, or so far (`follow=false`)."""
        run = await site.runs.find(run_id)
        lines = _followed(site, run, after) if follow else _so_far(run, after)
        return StreamingResponse(lines, media_type="application/jsonl; charset=utf-8")

    @routes.get("/api/runs/{run_id}/events/{seq}")
    async def event(run_id: RunId, seq: Annotated[int, Path(ge=0, le=LARGEST)]) -> Response:
        """One whole event, with its top alternatives."""
        if site.runs.known(run_id) is None and (line := await site.archive.line(run_id, seq)) is not None:
            return Response(line, media_type="application/json")
        run = await site.runs.find(run_id)
        if seq >= len(run.log):
            message = f"The run has the events 0 to {len(run.log) - 1} so far."
            raise PlaygroundError("unknown_event", message, "seq")
        return Response(run.log.line(seq), media_type="application/json")

    return routes


def answer_mistakes(app: FastAPI) -> None:
    """Have every refusal over HTTP look like those on the socket."""

    @app.exception_handler(PlaygroundError)
    async def refused(_: Request, error: PlaygroundError) -> JSONResponse:
        return _refusal(error.code, error.message, error.field)

    @app.exception_handler(RequestValidationError)
    async def mistaken(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        field = mistakes.dotted(tuple(first["loc"][1:]))
        return _refusal("bad_request", f"{field}: {first['msg']}.", field)

    @app.exception_handler(Exception)
    async def failed(_: Request, __: Exception) -> JSONResponse:
        return _refusal("internal", "The server failed on this request; its log says more.", None)


def _refusal(code: str, message: str, field: str | None) -> JSONResponse:
    body = Error(code=code, message=message, field=field).model_dump(exclude={"run", "seq", "ref"})
    return JSONResponse(body, STATUS.get(code, 422))


async def _followed(site: Site, run: Run, after: int) -> AsyncIterator[bytes]:
    with site.runs.watching(run):
        async for line in run.log.lines(after):
            yield line + b"\n"


async def _so_far(run: Run, after: int) -> AsyncIterator[bytes]:
    for seq in range(after + 1, len(run.log)):
        yield run.log.line(seq) + b"\n"
