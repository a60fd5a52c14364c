"""Stored runs over HTTP: an owner's list, what is kept, what is forgotten, and the short link to a run."""

import secrets
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Header, Path, Query
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from playground.errors import PlaygroundError
from playground.web.archive import hashed
from playground.web.message import OWNER_CHARACTERS
from playground.web.routes import LARGEST, RunId
from playground.web.runs import unknown
from playground.web.site import Site

Owner = Annotated[
    str,
    Header(alias="X-Playground-Owner", min_length=OWNER_CHARACTERS.start, max_length=OWNER_CHARACTERS.stop - 1),
]

MISSING = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>No such run</title>
<p>There is no run behind this link any more, or there never was one. Runs are dropped after some
time unless somebody keeps them.</p>
<p><a href="../">To the playground</a></p>
</html>
"""


def router(site: Site) -> APIRouter:
    """The routes of a site."""
    routes = APIRouter()

    @routes.get("/api/runs")
    async def runs(
        owner: Owner,
        limit: Annotated[int, Query(ge=1, le=200)] = 50,
        before: Annotated[int | None, Query(ge=0, le=LARGEST)] = None,
    ) -> dict[str, Any]:
        """The stored runs of the owner whose secret the header has, the newest first; `next` goes in as `before`."""
        entries, further = await site.archive.owned(hashed(owner), limit, before)
        return {"stored": site.archive.open, "runs": [asdict(entry) for entry in entries], "next": further}

    @routes.put("/api/runs/{run_id}/keep")
    async def keep(run_id: RunId, owner: Owner) -> dict[str, Any]:
        """Keep a run of one's own from being dropped."""
        await _check_stored(site, run_id, owner)
        await site.archive.keep(run_id, True)
        return {"run": run_id, "kept": True}

    @routes.delete("/api/runs/{run_id}/keep")
    async def let_go(run_id: RunId, owner: Owner) -> dict[str, Any]:
        """Let a run of one's own be dropped in its time."""
        await _check_stored(site, run_id, owner)
        await site.archive.keep(run_id, False)
        return {"run": run_id, "kept": False}

    @routes.delete("/api/runs/{run_id}")
    async def delete(run_id: RunId, owner: Owner) -> dict[str, Any]:
        """Forget a finished run of one's own, in memory and in the store."""
        run = site.runs.known(run_id)
        holder = await site.archive.owner(run_id)
        if run is None and holder is None:
            raise unknown()
        _check_owner(run.owner if run else holder and holder[0], owner)
        if run is not None and not run.finished:
            raise PlaygroundError("bad_request", "The run is still going on; cancel it first.", "run_id")
        if site.archive.open:
            await site.archive.delete(run_id)
        site.runs.forget(run_id)
        return {"run": run_id, "deleted": True}

    @routes.get("/r/{run_id}", include_in_schema=False)
    async def link(run_id: Annotated[str, Path(pattern=r"^[A-Za-z0-9_-]{1,64}$")]) -> Response:
        """The short link: to the page, with the run in its hash. Relative, so that it holds under any prefix."""
        if site.runs.known(run_id) is None and not await site.archive.has(run_id):
            return HTMLResponse(MISSING, 404)
        return RedirectResponse(f"../#run={run_id}", 302)

    return routes


async def _check_stored(site: Site, run_id: str, owner: str) -> None:
    """Raise `PlaygroundError` unless the run is stored and its owner asks."""
    holder = await site.archive.owner(run_id)
    if holder is None:
        raise unknown()
    _check_owner(holder[0], owner)


def _check_owner(holder: str | None, owner: str) -> None:
    if holder is None or not secrets.compare_digest(holder, hashed(owner)):
        raise PlaygroundError("forbidden", "Only the browser that started this run may do that.", "X-Playground-Owner")
