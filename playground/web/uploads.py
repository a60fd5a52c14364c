"""Uploads over HTTP: pictures and text files for prompts. Recipes name them by their hash."""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request

from playground.errors import PlaygroundError
from playground.uploads import Upload
from playground.web.security import may_connect
from playground.web.site import Site

AT_A_TIME = 2
"""Uploads that are looked at together; a picture takes several times its bytes while it is."""


def router(site: Site) -> APIRouter:
    """The routes of a site."""
    routes = APIRouter()
    slots = asyncio.Semaphore(AT_A_TIME)

    @routes.post("/api/uploads")
    async def upload(request: Request) -> dict[str, Any]:
        """Take in the body, a picture or a text file; gives its hash, and what it is."""
        origins, host = request.headers.getlist("origin"), request.headers.get("host")
        if not may_connect(origins, host, site.settings.allowed_origins):
            raise PlaygroundError("forbidden", "Another site may not upload here.", "origin")
        site.limits.upload(request.client.host if request.client else "unknown")
        body = bytearray()
        async for part in request.stream():
            body += part
            if len(body) > site.uploads.largest:
                break
        async with slots:
            return _described(await asyncio.to_thread(site.uploads.put, bytes(body)))

    @routes.get("/api/uploads/{sha256}")
    async def described(sha256: Annotated[str, Path(pattern="^[0-9a-f]{64}$")]) -> dict[str, Any]:
        """What an upload is, as long as it is here."""
        return _described(site.uploads.find(sha256))

    return routes


def _described(upload: Upload) -> dict[str, Any]:
    names = ("sha256", "kind", "width", "height", "characters", "thumbnail")
    return {name: getattr(upload, name) for name in names} | {"bytes": len(upload.data)}
