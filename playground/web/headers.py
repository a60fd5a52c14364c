"""Middleware on the way in and out: the prefix of a proxy, and headers that keep browsers careful."""

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CAREFUL = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Content-Security-Policy": "object-src 'none'; base-uri 'self'",
}
"""Nothing here keeps the page from being embedded in a frame, as a Space does."""


class CarefulHeaders:
    """Adds `CAREFUL` to every HTTP response that does not set them itself."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in CAREFUL.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, send_with_headers if scope["type"] == "http" else send)


class NoUploads:
    """Refuses files that are sent to Gradio: its routes take any, of any size, and the page has no use for them."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and _uploads(scope):
            answer = JSONResponse({"detail": "There is nothing here to upload to."}, 403)
            await answer(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _uploads(scope: Scope) -> bool:
    path: str = scope["path"]
    kind = Headers(scope=scope).get("content-type", "").lower()
    return "/gradio_api/" in path and ("/gradio_api/upload" in path or "multipart" in kind)


class LastForwarded:
    """Leaves only the last entry of X-Forwarded-For: the nearest proxy made it; a client may have made the others."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            name = b"x-forwarded-for"
            last = [value.rsplit(b",", 1)[-1].strip() for key, value in scope["headers"] if key == name][-1:]
            others = [(key, value) for key, value in scope["headers"] if key != name]
            scope = {**scope, "headers": [*others, *((name, value) for value in last)]}
        await self._app(scope, receive, send)


class Prefix:
    """Serves under a path prefix, whether the proxy leaves the prefix on the path or takes it off."""

    def __init__(self, app: ASGIApp, prefix: str) -> None:
        self._app = app
        self._prefix = prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            path: str = scope["path"]
            if path != self._prefix and not path.startswith(f"{self._prefix}/"):
                path = self._prefix + path
            scope = {**scope, "path": path, "root_path": self._prefix}
        await self._app(scope, receive, send)
