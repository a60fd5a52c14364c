"""Runs as files, and files as runs: exports of finished runs, recordings in a folder, the check of a trace."""

import asyncio
import itertools
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from io import BytesIO
from typing import Annotated, Any, BinaryIO, Literal, cast

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response, StreamingResponse

from playground.errors import PlaygroundError
from playground.events import Event, RunFinished, RunStarted, adapter
from playground.trace import export, file
from playground.trace.export import Kind
from playground.trace.tables import Table
from playground.uploads import Uploads, in_words
from playground.web.runs import unknown
from playground.web.site import Site

MEDIA_TYPES = {
    "jsonl": "application/jsonl; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
}

AT_A_TIME = 2
"""Files that are made or checked at the same time; further ones wait."""

IN_MEMORY = 4 << 20
"""A trace that is sent in and larger than this waits on disk."""


def router(site: Site) -> APIRouter:
    """The routes of a site."""
    routes = APIRouter()
    slots = asyncio.Semaphore(AT_A_TIME)

    @routes.get("/api/runs/{run_id}/export.{kind}")
    async def export_run(
        run_id: Annotated[str, Path(min_length=1, max_length=64)],
        kind: Literal["jsonl", "html", "csv", "parquet"],
        table: Annotated[Table, Query()] = "positions",
    ) -> Response:
        """A finished run as a file: its trace, a page that plays it anywhere, or a table of its steps or positions."""
        lines = await _lines(site, run_id)
        line = next(lines)
        first = adapter.validate_json(line)
        headers = _headers(first, kind, table)
        if kind == "jsonl":
            whole = (each + b"\n" for each in itertools.chain((line,), lines))
            return StreamingResponse(whole, media_type=MEDIA_TYPES[kind], headers=headers)
        async with slots:
            made = await asyncio.to_thread(_made, first, lines, kind, table, site.settings.max_trace_bytes)
        return Response(made, media_type=MEDIA_TYPES[kind], headers=headers)

    @routes.post("/api/traces")
    async def check(request: Request) -> dict[str, Any]:
        """Whether the body is a whole trace that a page can play: what it is, or a sentence that says what is wrong.

        `missing` is a sentence where its prompt has uploads that this server does not hold, so that it can be played,
        but not be made again here.
        """
        most = site.settings.max_trace_bytes
        async with _received(request, most) as body, slots:
            return await asyncio.to_thread(_checked, body, most, site.uploads)

    @routes.post("/api/traces/export.{kind}")
    async def export_trace(
        request: Request,
        kind: Literal["html", "csv", "parquet"],
        table: Annotated[Table, Query()] = "positions",
    ) -> Response:
        """The trace in the body as another kind of file; nothing of it is kept here."""
        most = site.settings.max_trace_bytes
        async with _received(request, most) as body, slots:
            first, made = await asyncio.to_thread(_turned, body, kind, table, most)
        return Response(made, media_type=MEDIA_TYPES[kind], headers=_headers(first, kind, table))

    @routes.get("/api/recordings")
    async def recordings() -> dict[str, Any]:
        """The recordings that this server shows, in the order of their files' names, and the files that it cannot."""
        found, refused = await site.archive.recordings() or ([], [])
        return {
            "recordings": [recording.label() for recording in found],
            "refused": [{"file": each.file, "message": each.message} for each in refused],
        }

    return routes


async def _lines(site: Site, run_id: str) -> Iterator[bytes]:
    """The lines of a finished run, in memory or in the store. Raises `PlaygroundError`."""
    run = site.runs.known(run_id)
    if run is None:
        lines = await site.archive.lines(run_id)
        first = next(lines, None)
        if first is None:
            raise unknown()
        return itertools.chain((first,), lines)
    if not run.finished:
        message = "The run is still going on; it can be had as a file once it has finished."
        raise PlaygroundError("bad_request", message, "run_id")
    return (run.log.line(seq) for seq in range(len(run.log)))


@asynccontextmanager
async def _received(request: Request, most: int) -> AsyncIterator[BinaryIO]:
    """The body of a request, up to one byte more than is read."""
    with tempfile.SpooledTemporaryFile(IN_MEMORY) as body:
        size = 0
        async for part in request.stream():
            size += len(part)
            body.write(part[: max(0, len(part) - (size - most - 1))])
            if size > most:
                break
        body.seek(0)
        yield cast(BinaryIO, body)


def _headers(first: Event, kind: str, table: Table) -> dict[str, str]:
    ending = f"-{table}.{kind}" if kind in ("csv", "parquet") else f".{kind}"
    return {"Content-Disposition": f'attachment; filename="{export.file_name(first, ending)}"'}


def _turned(body: BinaryIO, kind: Kind, table: Table, most: int) -> tuple[Event, bytes]:
    events = list(file.stream(body, "The trace", most))
    made = BytesIO()
    export.write(events, kind, table, made)
    return events[0], made.getvalue()


def _made(first: Event, lines: Iterator[bytes], kind: Kind, table: Table, most: int) -> bytes:
    events, size = [first], 0
    for line in lines:
        size += len(line)
        if size > most:
            message = f"The run has more than {most} bytes; only its trace (jsonl) can be had as a file."
            raise PlaygroundError("too_long", message, "kind")
        events.append(adapter.validate_json(line))
    made = BytesIO()
    export.write(events, kind, table, made)
    return made.getvalue()


def _checked(body: BinaryIO, most: int, uploads: Uploads) -> dict[str, Any]:
    started: RunStarted | None = None
    count = 0
    for event in file.stream(body, "The trace", most):
        count += 1
        if isinstance(event, RunStarted):
            started = event
    assert isinstance(event, RunFinished)
    named = [part for message in event.recipe.messages for part in message.uploads]
    lacking = uploads.lacking(named)
    return {
        "run": event.run,
        "events": count,
        "created": started and started.created,
        "model": event.recipe.model,
        "model_revision": started and started.model_revision,
        "version": started and started.version,
        "mode": event.recipe.mode,
        "stop_reason": event.stop_reason,
        "uploads": [{"kind": part.type, "sha256": part.sha256, "here": part not in lacking} for part in named],
        "missing": f"The prompt has uploads that are not here: {in_words(lacking)}." if lacking else None,
    }
