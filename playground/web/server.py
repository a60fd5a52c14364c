"""Serve the app with uvicorn; what stands in the way is said in one sentence, with exit code 2."""

import os
import socket
import sys
from typing import NoReturn

import structlog
import uvicorn
from pydantic import ValidationError
from starlette.types import ASGIApp
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from playground.errors import ModelError
from playground.settings import Settings
from playground.web import logs
from playground.web.app import Page, create_app, root_path
from playground.web.headers import LastForwarded
from playground.web.loans import Loans
from playground.web.site import Engine

log = structlog.get_logger()

PING_SECONDS = 20.0
SHUTDOWN_SECONDS = 3

FRAMES_READ = 4
"""A frame with up to so many times the bytes allowed is still read, to be refused in a sentence."""

WRONG_SETTING = 2


def read_settings() -> Settings:
    """The settings from the environment; a wrong one ends the process with a sentence that names it."""
    try:
        return Settings()
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = "_".join(str(part) for part in first["loc"]).upper()
        given = f", not {first['input']!r}" if first["type"] != "missing" else ""
        give_up(f"PLAYGROUND_{name}: {first['msg'].removeprefix('Value error, ').removeprefix('Input ')}{given}.")


def serve(
    settings: Settings, page: Page | None = None, engine: Engine | None = None, loans: Loans | None = None
) -> None:
    """Serve until interrupted. Exits with code 2 if the address or the device that was asked for cannot be had."""
    if loans is None:  # a lent device is there only while a run has it
        _check_device(settings)
    logs.configure(settings)
    with _listening(settings) as listening:
        server = uvicorn.Server(config(settings, create_app(settings, engine, page, loans)))
        name = f"[{settings.host}]" if ":" in settings.host else settings.host
        log.info("serving", url=f"http://{name}:{listening.getsockname()[1]}{root_path(settings)}/")
        try:
            server.run(sockets=[listening])
        except KeyboardInterrupt:
            log.info("interrupted")


def config(settings: Settings, app: ASGIApp) -> uvicorn.Config:
    """How uvicorn serves the app. `FORWARDED_ALLOW_IPS` names the proxies that tell their clients' addresses."""
    trusted = os.environ.get("FORWARDED_ALLOW_IPS", "127.0.0.1")
    app = ProxyHeadersMiddleware(app, trusted)  # type: ignore[arg-type,assignment]
    return uvicorn.Config(
        LastForwarded(app) if trusted.strip() == "*" else app,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws_max_size=settings.max_frame_bytes * FRAMES_READ,
        ws_ping_interval=PING_SECONDS,
        ws_ping_timeout=PING_SECONDS,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )


def _check_device(settings: Settings) -> None:
    """Torch is asked only where somebody wants something special of it: its import takes seconds."""
    if (settings.device, settings.quantize, settings.device_map) in (("auto", "none", "one"), ("cpu", "none", "one")):
        return
    from playground.engine import placement

    try:
        placement.check(settings)
    except ModelError as error:
        give_up(error.message)


def _listening(settings: Settings) -> socket.socket:
    try:
        info = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listening = socket.socket(info[0])
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(info[4])
            listening.listen()
        except OSError:
            listening.close()
            raise
    except OSError as error:
        give_up(
            f"Cannot serve on {settings.host} port {settings.port}: {error.strerror or error}. "
            "PLAYGROUND_HOST and PLAYGROUND_PORT choose another address."
        )
    return listening


def give_up(sentence: str) -> NoReturn:
    print(sentence, file=sys.stderr)
    raise SystemExit(WRONG_SETTING)
