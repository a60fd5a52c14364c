"""One open socket: reads a client's messages, sends the events of the runs that it watches."""

import asyncio
import json
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import structlog
from starlette.websockets import WebSocket, WebSocketDisconnect

from playground.errors import PlaygroundError
from playground.events import Error
from playground.trace.cursor import Cursor
from playground.web.limits import REFUSALS_PER_MINUTE
from playground.web.messages import (
    Acknowledge,
    Cancel,
    ClientMessage,
    Join,
    Pace,
    Pause,
    Refused,
    Resume,
    Start,
    Steered,
    Switch,
    Update,
    parse,
    too_large,
)
from playground.web.roomtalk import InRoom
from playground.web.runs import Run
from playground.web.seat import Seat
from playground.web.security import may_connect
from playground.web.site import Site
from playground.web.steer import steer

log = structlog.get_logger()

TRY_AGAIN_LATER = 1013
POLICY_VIOLATION = 1008
INTERNAL_ERROR = 1011

SEND_SECONDS = 30.0
"""A client that takes no bytes for so long is gone."""


async def serve(websocket: WebSocket, site: Site) -> None:
    """Serve a socket from handshake to end. A page of a foreign origin is refused before the handshake (HTTP 403)."""
    headers = websocket.headers
    if not may_connect(headers.getlist("origin"), headers.get("host"), site.settings.allowed_origins):
        log.warning("socket refused", origin=headers.get("origin"), host=headers.get("host"))
        await websocket.close(POLICY_VIOLATION)
        return
    await websocket.accept()
    try:
        with site.limits.socket():
            await Socket(websocket, site).serve()
    except PlaygroundError as error:
        with suppress(WebSocketDisconnect):
            await websocket.send_text(refusal(error))
            await websocket.close(TRY_AGAIN_LATER)


def refusal(error: PlaygroundError, ref: str | int | None = None) -> str:
    """An `error` for one sender alone: without `run` and `seq`."""
    event = Error(code=error.code, message=error.message, field=error.field, ref=ref)
    return event.model_dump_json(exclude={"run", "seq"} | ({"ref"} if ref is None else set()))


@dataclass
class _View:
    run: Run
    cursor: Cursor
    stop_listening: Callable[[], None]


class Socket:
    """The state of one connection: what it started and what it watches."""

    def __init__(self, websocket: WebSocket, site: Site) -> None:
        self._websocket = websocket
        self._site = site
        self._address = websocket.client.host if websocket.client else "unknown"
        self._id = secrets.token_hex(8)
        self._started: set[str] = set()
        self._going: dict[str, Run] = {}
        self._starting: set[asyncio.Task[None]] = set()
        self._views: dict[str, _View] = {}
        self._watched: set[str] = set()
        self._wake = asyncio.Event()
        self._seat = Seat(site, self._address, self._id, self._wake.set)
        self._sending = asyncio.Lock()
        self._told = site.switching.version

    async def serve(self) -> None:
        """Until the client is gone."""
        stop_listening = self._site.switching.listen(self._wake.set)
        try:
            async with asyncio.TaskGroup() as tasks:
                sender = tasks.create_task(self._send_events())
                try:
                    await self._receive(tasks)
                finally:
                    sender.cancel()
                    for start in self._starting:
                        start.cancel()
        except* (WebSocketDisconnect, TimeoutError):
            pass
        except* Exception:
            log.exception("socket failed")
            with suppress(WebSocketDisconnect, RuntimeError):
                await self._websocket.close(INTERNAL_ERROR)
        finally:
            stop_listening()
            self._seat.leave()
            for run_id in tuple(self._views):
                self._unwatch(run_id)

    # What comes in

    async def _receive(self, tasks: asyncio.TaskGroup) -> None:
        while (frame := await self._websocket.receive())["type"] == "websocket.receive":
            message: ClientMessage | None = None
            try:
                message = self._read(frame)
                if isinstance(message, Start):
                    self._begin(message, tasks)
                elif isinstance(message, Join):
                    await self._join(message)
                else:
                    self._obey(message)
            except Refused as error:
                failure: PlaygroundError = error
                ref = error.ref
            except PlaygroundError as error:
                failure, ref = error, message.ref if message else None
            except Exception:
                log.exception("message failed")
                failure = PlaygroundError("internal", "The server failed on this message; its log says more.")
                ref = message.ref if message else None
            else:
                continue
            await self._send(refusal(failure, ref))
            await asyncio.sleep(0)
            if failure.code != "finished" and not self._site.limits.refusal(self._id):
                reason = f"More than {REFUSALS_PER_MINUTE} messages were refused in a minute."
                await self._websocket.close(POLICY_VIOLATION, reason)
                return

    def _read(self, frame: Any) -> ClientMessage:
        text = frame.get("text")
        if text is None:
            raise Refused("Send text frames with JSON; binary frames are not read.", None, None)
        most = self._site.settings.max_frame_bytes
        if (size := len(text.encode(errors="replace"))) > most:
            raise too_large(text, size, most)
        return parse(text)

    def _begin(self, message: Start, tasks: asyncio.TaskGroup) -> None:
        self._seat.check_start()
        self._going = {run_id: run for run_id, run in self._going.items() if not run.finished}
        of_address = self._site.runs.going_of(self._address) + self._site.starting[self._address]
        self._site.limits.start(self._address, len(self._going) + len(self._starting), of_address)
        start = tasks.create_task(self._start(message))
        self._starting.add(start)
        self._site.starting[self._address] += 1
        start.add_done_callback(self._begun)

    def _begun(self, start: asyncio.Task[None] | None) -> None:
        """No longer count a start as one that is about to begin; a second time is fine."""
        if start in self._starting:
            self._starting.remove(start)
            self._site.starting -= {self._address: 1}

    async def _start(self, message: Start) -> None:
        try:
            run = await self._site.start(message.recipe, message.steps_per_second, message.owner, self._address)
        except PlaygroundError as error:
            await self._send(refusal(error, message.ref))
        except Exception:
            log.exception("start failed")
            failure = PlaygroundError("internal", "The run could not be started; the server's log says more.")
            await self._send(refusal(failure, message.ref))
        else:
            self._begun(asyncio.current_task())
            self._started.add(run.id)
            self._going[run.id] = run
            await self._send(_control(run, message.ref))
            self._watch(run, after=-1)

    def _obey(self, message: Acknowledge | Steered | Switch | InRoom) -> None:
        match message:
            case Acknowledge():
                self._acknowledge(message)
            case Update() | Pause() | Resume() | Cancel() | Pace():
                self._steer(message)
            case Switch():
                self._seat.check_switch()
                self._site.switch(message.model, self._address)
            case _:
                self._seat.obey(message)

    async def _join(self, message: Join) -> None:
        if message.run is None:
            self._seat.join(message)
            return
        run = await self._site.runs.find(message.run)
        if run.id in self._views:
            raise PlaygroundError("bad_request", "This socket already watches that run.", "run")
        self._watch(run, message.after)

    def _acknowledge(self, message: Acknowledge) -> None:
        view = self._views.get(message.run)
        if view is None:
            if message.run in self._watched:
                return
            self._site.runs.get(message.run)
            raise PlaygroundError("bad_request", "This socket does not watch that run.", "run")
        try:
            view.cursor.acknowledge(message.seq)
        except ValueError as error:
            raise PlaygroundError("bad_request", f"seq: {error}.", "seq") from None
        self._wake.set()

    def _steer(self, message: Steered) -> None:
        own = message.run in self._started
        run = self._site.runs.known(message.run) if own else self._site.runs.get(message.run)
        if run is not None and not own:
            run.let_steer(message.control)
        steer(run, message)

    # What goes out

    def _watch(self, run: Run, after: int) -> None:
        try:
            cursor = Cursor(run.log, after, self._site.settings.frame_window)
        except ValueError as error:
            raise PlaygroundError("bad_request", f"after {error}.", "after") from None
        self._site.runs.join(run)
        self._watched.add(run.id)
        self._views[run.id] = _View(run, cursor, run.log.listen(self._wake.set))
        self._wake.set()

    def _unwatch(self, run_id: str) -> None:
        view = self._views.pop(run_id)
        view.stop_listening()
        self._site.runs.leave(view.run)
        if view.run.finished:
            self._going.pop(run_id, None)

    async def _send_events(self) -> None:
        """Frames of all runs watched, one of each in turn, as far as their windows allow."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            for state in (self._seat.take(), self._models()):
                if state is not None:
                    await self._send(state)
            while frames := [(view, seq) for view in self._views.values() if (seq := view.cursor.take()) is not None]:
                for view, seq in frames:
                    await self._send(view.run.log.frame(seq))
            for run_id in [run_id for run_id, view in self._views.items() if view.cursor.done]:
                self._unwatch(run_id)

    def _models(self) -> str | None:
        """Which model there is, where that has changed since this socket was opened or told."""
        switching = self._site.switching
        if not switching.choices or self._told == switching.version:
            return None
        self._told = switching.version
        return json.dumps({"type": "models"} | self._site.models())

    async def _send(self, frame: str) -> None:
        async with self._sending, asyncio.timeout(SEND_SECONDS):
            await self._websocket.send_text(frame)


def _control(run: Run, ref: str | int | None) -> str:
    """What the starter gets, and nobody else."""
    message = {"type": "control", "run": run.id, "token": run.control} | ({} if ref is None else {"ref": ref})
    return json.dumps(message)
