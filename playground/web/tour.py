"""The lessons over HTTP; read anew each time, so that who writes one sees it at once."""

import asyncio
from pathlib import Path
from typing import Any

import structlog
from fastapi import APIRouter

from playground.lessons.library import lessons
from playground.settings import Settings
from playground.web.site import Site

log = structlog.get_logger()


def router(site: Site) -> APIRouter:
    """The routes of a site."""
    routes = APIRouter()

    @routes.get("/api/lessons")
    async def every_lesson() -> dict[str, Any]:
        """The lessons in their order, as trees of known elements, and what is wrong with the files that are none."""
        recordings, _ = await site.archive.recordings() or ([], [])
        recorded = {recording.file: recording.run for recording in recordings}
        found, wrong = await asyncio.to_thread(lessons, _own(site.settings), recorded)
        for each in wrong:
            log.warning("lesson left out", reason=str(each))
        mistakes = [{"file": each.file, "line": each.line, "message": each.message} for each in wrong]
        return {"lessons": [lesson.as_json(recorded) for lesson in found], "mistakes": mistakes}

    return routes


def _own(settings: Settings) -> Path | None:
    return Path(settings.lessons) if settings.lessons else None
