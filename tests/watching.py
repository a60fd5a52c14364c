"""A page under the eyes of a test: what goes wrong while it is used fails the test, seen or not."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Page

SECONDS = 1000

OFFLINE = "ERR_INTERNET_DISCONNECTED"
"""Chromium's own words for a request made while a test has taken the network away."""


@contextmanager
def watched(page: Page, server_url: str, console: bool = True) -> Iterator[None]:
    """In the end nothing may have gone wrong, nor been asked of another server.

    console: whether an error in the console counts; the browser writes one for each refusal of the server, so not where
    a test wants to be refused.
    """
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: None if own(request.url, server_url) else wrong.append(request.url))
    if console:
        page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.set_default_timeout(60 * SECONDS)
    yield
    assert [what for what in wrong if OFFLINE not in what] == []


def own(url: str, server_url: str) -> bool:
    """Whether an address is the server's own."""
    return url.startswith((server_url, server_url.replace("http", "ws", 1), "data:", "blob:", "about:blank"))


def visit(page: Page, url: str) -> None:
    """Opens an address in a fresh document, and waits for the page and its model."""
    page.goto("about:blank")
    page.goto(url)
    page.locator("#denoise[data-ready][data-model=ready]").wait_for()


def cancel(page: Page) -> None:
    """Ends what runs. The page takes no press of it just after one of Run, which could be half a double click."""
    page.wait_for_timeout(650)
    page.locator("#cancel").click()
