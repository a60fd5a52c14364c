"""Rooms over HTTP: opening one, how it stands, and its link as a QR code."""

import io
import ipaddress
import socket
from typing import Annotated, Any
from urllib.parse import urlsplit, urlunsplit

import segno
from fastapi import APIRouter, Path, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from playground.errors import PlaygroundError
from playground.web.roomtalk import ALPHABET, CODE_CHARACTERS
from playground.web.security import may_connect
from playground.web.site import Site

RoomCode = Annotated[str, Path(pattern=f"^[{ALPHABET}]{{{CODE_CHARACTERS}}}$")]

ANYWHERE = ("192.0.2.1", 9)
"""An address kept for documentation; asking for the way to it sends nothing."""


class NewRoom(BaseModel):
    """What a teacher's page says when it opens a room."""

    model_config = ConfigDict(extra="forbid")

    page: Annotated[str, Field(max_length=512)]
    """The page's own address, without its hash; the students' link is made of it."""


def router(site: Site) -> APIRouter:
    """The routes of a site."""
    routes = APIRouter()

    @routes.post("/api/rooms", status_code=201)
    async def open_room(request: Request, new: NewRoom) -> dict[str, Any]:
        """Open a room. The token is the teacher's alone; who has the code or the link is a student."""
        origins = request.headers.getlist("origin")
        if not may_connect(origins, request.headers.get("host"), site.settings.allowed_origins):
            raise PlaygroundError("forbidden", "Only this server's own page may open a room.")
        page = _page(site, request, new.page)
        site.limits.room(request.client.host if request.client else "")
        room, token = site.rooms.open(lambda code: f"{page}#room={code}")
        return {"room": room.code, "token": token, "link": room.link, "reachable": not _is_loopback(urlsplit(page))}

    @routes.get("/api/rooms/{code}")
    async def room(code: RoomCode, request: Request) -> dict[str, Any]:
        """Whether there is a room with this code, and who is there."""
        state = _room(site, request, code).seen_by("")
        return {"room": state.room, "link": state.link, "students": state.students, "teacher": state.teacher}

    @routes.get("/api/rooms/{code}/qr.svg")
    async def qr(code: RoomCode, request: Request) -> Response:
        """The students' link as a QR code, black on white with its quiet zone."""
        image = io.BytesIO()
        link = _room(site, request, code).link
        segno.make(link, error="m", micro=False).save(image, kind="svg", scale=8, border=4, light="#fff", xmldecl=False)
        headers = {"Cache-Control": "no-store", "Content-Security-Policy": "default-src 'none'"}
        return Response(image.getvalue(), media_type="image/svg+xml", headers=headers)

    return routes


def _room(site: Site, request: Request, code: str) -> Any:
    try:
        return site.rooms.get(code)
    except PlaygroundError:
        site.limits.wrong_code(request.client.host if request.client else "")
        raise


def _page(site: Site, request: Request, said: str) -> str:
    """The address under which students find the page. Raises `PlaygroundError` (field `page`)."""
    try:
        parts = urlsplit(said)
        origin = f"{parts.scheme}://{parts.netloc}"
    except ValueError:
        origin = ""
    if not may_connect([origin], request.headers.get("host"), site.settings.allowed_origins):
        raise PlaygroundError("bad_request", "page must be an address of this server's page.", "page")
    if _is_loopback(parts) and _listens_everywhere(site.settings.host) and (near := _own_address()):
        parts = parts._replace(netloc=near if parts.port is None else f"{near}:{parts.port}")
    return urlunsplit((parts.scheme, parts.netloc, parts.path or "/", "", ""))


def _is_loopback(parts: Any) -> bool:
    """Whether only this machine can reach the address."""
    try:
        return ipaddress.ip_address(parts.hostname).is_loopback
    except ValueError:
        return bool(parts.hostname == "localhost")


def _listens_everywhere(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False


def _own_address() -> str | None:
    """This machine's address on the network that leads out of it; none where there is no network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way:
        try:
            way.connect(ANYWHERE)
        except OSError:
            return None
        address = str(way.getsockname()[0])
    return None if ipaddress.ip_address(address).is_loopback else address
