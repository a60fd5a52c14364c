"""How soon a class sees what its teacher sees: one leads a run of the embedded model, many follow on real sockets."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import websockets

RECIPE = {"messages": [{"role": "user", "content": "Tell a long story about Mia the fox."}]}
PACE = 4
"""Steps a second: what the page begins with."""

START_SECONDS = 300.0


@dataclass
class Follower:
    """What one student has: the events of the run, and where the teacher is."""

    connection: Any
    events: set[int] = field(default_factory=set)
    at: int = -1
    run: str = ""
    seen: dict[int, float] = field(default_factory=dict)
    """When the page could show an event that the teacher shows, by `seq`."""

    async def follow(self) -> None:
        """Do what a student's page does, until the run has ended."""
        async for frame in self.connection:
            message = json.loads(frame)
            if message["type"] == "room":
                await self._led(message["show"])
            elif "seq" in message:
                self.events.add(message["seq"])
                await say(self.connection, "ack", run=message["run"], seq=message["seq"])
            if self.at in self.events:
                self.seen.setdefault(self.at, time.perf_counter())
            if message["type"] == "run_finished":
                return

    async def _led(self, show: dict[str, Any]) -> None:
        run = show["runs"].get("diffusion", "")
        if run and not self.run:
            self.run = run
            await say(self.connection, "join", run=run)
        self.at = show["at"].get("diffusion", -1)


def measure(followers: int) -> tuple[list[float], int]:
    """Milliseconds from when the teacher has a step until a follower can show it, for each step and follower; and how
    many there would be if no follower had skipped one because the teacher was further by then.
    """
    with _server() as address:
        return asyncio.run(_class(address, followers))


async def say(connection: Any, type: str, **fields: Any) -> None:
    """Send a message."""
    await connection.send(json.dumps({"type": type} | fields))


async def _class(address: str, count: int) -> tuple[list[float], int]:
    room = await asyncio.to_thread(_open_room, address)
    async with AsyncExitStack() as stack:
        teacher = await stack.enter_async_context(_joined(address, room=room["room"], token=room["token"]))
        followers = [
            Follower(await stack.enter_async_context(_joined(address, room=room["room"]))) for _ in range(count)
        ]
        following = [asyncio.create_task(follower.follow()) for follower in followers]
        led = await _lead(teacher)
        await asyncio.wait_for(asyncio.gather(*following), 120)
    times = [
        (follower.seen[seq] - at) * 1000 for follower in followers for seq, at in led.items() if seq in follower.seen
    ]
    return times, len(followers) * len(led)


async def _lead(teacher: Any) -> dict[int, float]:
    """Run and show every step, as the teacher's page does; when each was here, by `seq`."""
    led: dict[int, float] = {}
    await say(teacher, "start", recipe=RECIPE, steps_per_second=PACE)
    async for frame in teacher:
        event = json.loads(frame)
        if "seq" not in event:
            continue
        await say(teacher, "ack", run=event["run"], seq=event["seq"])
        if event["type"] in ("canvas_started", "step", "canvas_committed"):
            led[event["seq"]] = time.perf_counter()
            show = {"runs": {"diffusion": event["run"]}, "at": {"diffusion": event["seq"]}, "playing": True}
            await say(teacher, "lead", show=show)
        if event["type"] == "run_finished":
            break
    return led


@asynccontextmanager
async def _joined(address: str, **fields: Any) -> AsyncIterator[Any]:
    async with websockets.connect(f"ws://{address}/ws", proxy=None) as connection:
        await say(connection, "join", **fields)
        yield connection


def _open_room(address: str) -> dict[str, str]:
    body = json.dumps({"page": f"http://{address}/"}).encode()
    request = urllib.request.Request(f"http://{address}/api/rooms", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as response:
        room: dict[str, str] = json.load(response)
    return room


@contextmanager
def _server() -> Iterator[str]:
    """A server with the embedded model in a process of its own, once the model is there."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    environment = os.environ | {"PLAYGROUND_PORT": address.rpartition(":")[2], "PLAYGROUND_STORE": ""}
    process = subprocess.Popen([sys.executable, "-m", "playground.cli", "serve"], env=environment)
    try:
        deadline = time.monotonic() + START_SECONDS
        while not _ready(address):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("The server did not start.")
            time.sleep(0.3)
        yield address
    finally:
        process.terminate()
        process.wait(30)


def _ready(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"http://{address}/health", timeout=5) as response:
            return b'"ready"' in response.read()
    except OSError:
        return False
