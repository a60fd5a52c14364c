"""The whole page under a path prefix, behind a reverse proxy, in an iframe of another site: as an embed is served."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Browser, Frame, expect

from tests.conftest import serving
from tests.test_browser import LONG, SECONDS, SUM, finished, run

PREFIX = "/spaces/someone/denoise"
OUTSIDE = """<!doctype html><title>outside</title><link rel="icon" href="data:,">
<iframe src="{address}" style="width: 1240px; height: 860px; border: 0" allow="clipboard-write"></iframe>"""


@dataclass
class Proxy:
    """Passes on what is asked below the prefix; at `/` there is a page with an iframe, and all else is a stray.

    keeps_prefix, keeps_host: whether the app sees the path and the host that the browser asked for.
    """

    keeps_prefix: bool
    keeps_host: bool
    port: int = 0
    upstream: int = 0
    strays: list[str] = field(default_factory=list)

    @property
    def address(self) -> str:
        """Where the app is."""
        return f"http://127.0.0.1:{self.port}{PREFIX}/"

    @contextmanager
    def listening(self) -> Iterator["Proxy"]:
        """In a thread of its own, since Playwright's loop has this one."""
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, daemon=True)
        thread.start()
        begun = asyncio.run_coroutine_threadsafe(asyncio.start_server(self._serve, "127.0.0.1", 0), loop)
        server = begun.result(60)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            asyncio.run_coroutine_threadsafe(_end_all(server), loop).result(60)
            loop.call_soon_threadsafe(loop.stop)
            thread.join(60)
            loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            first, *lines = head[:-4].decode("latin-1").split("\r\n")
            method, path, version = first.split(" ")
            if path == "/":
                _answer(writer, "200 OK", OUTSIDE.format(address=self.address))
            elif not path.startswith(f"{PREFIX}/"):
                self.strays.append(path)
                _answer(writer, "404 Not Found", "")
            else:
                path = path if self.keeps_prefix else path.removeprefix(PREFIX)
                lines = [line for line in map(self._changed, lines) if line]
                if not any(line.lower().startswith("upgrade:") for line in lines):
                    lines = [line for line in lines if not line.lower().startswith("connection:")]
                    lines.append("Connection: close")
                await self._pass_on("\r\n".join((f"{method} {path} {version}", *lines, "", "")), reader, writer)
        writer.close()

    def _changed(self, line: str) -> str:
        hides = not self.keeps_host and line.lower().startswith("host:")
        return f"Host: 127.0.0.1:{self.upstream}" if hides else line

    async def _pass_on(self, head: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self.upstream)
        back.write(head.encode("latin-1"))
        ways = [asyncio.create_task(_pump(reader, back)), asyncio.create_task(_pump(there, writer))]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            back.close()


async def _pump(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while part := await source.read(1 << 16):
            target.write(part)
            await target.drain()


async def _end_all(server: asyncio.Server) -> None:
    server.close()
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _answer(writer: asyncio.StreamWriter, status: str, body: str) -> None:
    head = f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    writer.write((head + body).encode())


@pytest.fixture(params=[(False, True), (True, False)], ids=["prefix taken off", "prefix kept, host hidden"])
def proxy(request: pytest.FixtureRequest) -> Iterator[Proxy]:
    """The app behind a proxy. Where the proxy hides the host, the page's origin has to be allowed by hand."""
    keeps_prefix, keeps_host = request.param
    with Proxy(keeps_prefix, keeps_host).listening() as proxy:
        origin = "" if keeps_host else f"http://127.0.0.1:{proxy.port}"
        with serving(PLAYGROUND_ROOT_PATH=PREFIX, PLAYGROUND_ALLOWED_ORIGINS=origin) as url:
            proxy.upstream = int(url.rstrip("/").rpartition(":")[2])
            yield proxy


def test_a_run_in_an_iframe_under_a_prefix(browser: Browser, proxy: Proxy) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    try:
        page = context.new_page()
        page.set_default_timeout(60 * SECONDS)
        wrong: list[str] = []
        sockets: list[str] = []
        page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("websocket", lambda socket: sockets.append(socket.url))
        page.on("request", lambda request: wrong.append(request.url) if _leaves(request.url, proxy) else None)
        page.goto(f"http://localhost:{proxy.port}/")  # another site than the iframe's
        frame = page.frames[1]
        ready(frame)
        run(frame, SUM)  # type: ignore[arg-type]
        finished(frame)  # type: ignore[arg-type]
        lane = frame.locator(".lane[data-mode=diffusion]")
        first = lane.get_attribute("data-run")
        expect(frame.locator(".answer:visible .answer-text:visible")).to_contain_text("47 + 38")
        assert sockets == [f"ws://127.0.0.1:{proxy.port}{PREFIX}/ws"]

        frame.locator("#figure .label-wrap").click()  # made by Gradio, over its own routes
        frame.locator("#figure .js-plotly-plot").wait_for(timeout=LONG)
        frame.get_by_role("button", name="Lab").click()
        frame.locator("#lab").get_by_role("button").first.wait_for()

        frame.goto(f"{proxy.address}r/{first}")  # the short link, in the iframe
        ready(frame)
        expect(lane).to_have_attribute("data-run", first or "")
        assert frame.url.startswith(f"{proxy.address}#")
        assert wrong == []
        assert proxy.strays == []
    finally:
        context.close()


def ready(frame: Frame) -> None:
    """Until the page in the frame is there."""
    frame.locator("#denoise[data-ready][data-model=ready]").wait_for(timeout=LONG)
    frame.locator(".lane[data-run]").first.wait_for()


def _leaves(url: str, proxy: Proxy) -> bool:
    ours = (proxy.address, proxy.address.replace("http", "ws", 1), f"http://localhost:{proxy.port}/", "data:", "blob:")
    return not url.startswith(ours)
