"""A real server on a free port, and a socket client to talk to it."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import uvicorn
import websockets

from playground.settings import Settings
from playground.web.app import create_app
from playground.web.loans import Loans
from playground.web.server import config as server_config
from playground.web.site import Engine, Site

PATIENCE = 60.0
"""Seconds after which a test gives up; no test depends on how long anything takes."""

Frame = dict[str, Any]


@dataclass
class Live:
    """A server that is up."""

    site: Site
    address: str

    @asynccontextmanager
    async def connect(self, origin: str | None = None, **kwargs: Any) -> AsyncIterator["Client"]:
        url = f"ws://{self.address}/ws"
        async with websockets.connect(url, origin=origin, proxy=None, **kwargs) as connection:  # type: ignore[arg-type]
            yield Client(connection)


@asynccontextmanager
async def serving(engine: Engine, loans: Loans | None = None, **changes: Any) -> AsyncIterator[Live]:
    settings = Settings(**changes)
    app = create_app(settings, engine, loans=loans)
    listening = socket.create_server(("127.0.0.1", 0))
    config = server_config(settings, app)
    config.timeout_graceful_shutdown = 1
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve(sockets=[listening]))
    await until(lambda: server.started)
    try:
        yield Live(app.state.site, f"127.0.0.1:{listening.getsockname()[1]}")
    finally:
        server.should_exit = True
        await task
        listening.close()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.005)


class Client:
    """Says and hears JSON."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    async def say(self, type: str, **fields: Any) -> None:
        await self.connection.send(json.dumps({"type": type} | fields))

    async def hear(self) -> Frame:
        """The next frame that is meant for this client: news of the model come to everybody, at any time."""
        while (frame := await self.hear_any())["type"] == "models":
            pass
        return frame

    async def hear_any(self) -> Frame:
        async with asyncio.timeout(PATIENCE):
            frame: Frame = json.loads(await self.connection.recv())
            return frame

    async def start(self, recipe: Frame, **fields: Any) -> Frame:
        """Start a run; gives the `control` message."""
        await self.say("start", recipe=recipe, **fields)
        control = await self.hear()
        assert control["type"] == "control", control
        return control

    async def ack(self, event: Frame) -> None:
        await self.say("ack", run=event["run"], seq=event["seq"])

    async def follow(self, after: int = -1) -> list[Frame]:
        """Hear and acknowledge events of one run until none behind `after` is missing; in the order of arrival."""
        events: list[Frame] = []
        last: int | None = None
        while last is None or len(events) < last - after:
            event = await self.hear()
            assert "seq" in event, event
            await self.ack(event)
            events.append(event)
            if event["type"] == "run_finished":
                last = event["seq"]
        return events

    async def quiet(self) -> None:
        """All that was said is read, and nothing is to come: the answer to a wrong message is the next frame."""
        await self.say("nonsense", ref="quiet")
        frame = await self.hear()
        assert (frame["type"], frame["ref"]) == ("error", "quiet"), frame


def seqs(events: list[Frame]) -> list[int]:
    return [event["seq"] for event in events]
