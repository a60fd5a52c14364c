"""Chromium through Playwright, for the benchmarks that look at the page."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

NO_PLAYWRIGHT = "This benchmark drives a browser through Playwright: install it with `pip install -e '.[dev]'`."
NO_CHROMIUM = (
    "This benchmark needs Chromium: install it (Debian and Ubuntu: `apt-get install chromium`), "
    "or set PLAYGROUND_CHROMIUM to the path of a Chromium or Chrome."
)


class NoBrowser(Exception):
    """There is no browser to measure in; the message says what to install."""


def executable() -> str:
    """The path of a Chromium or Chrome. Raises `NoBrowser` where there is none."""
    found = os.environ.get("PLAYGROUND_CHROMIUM") or next((path for path in map(shutil.which, NAMES) if path), None)
    if not found or not Path(found).exists():
        raise NoBrowser(NO_CHROMIUM)
    return found


@contextmanager
def chromium() -> Iterator["Browser"]:
    """A headless Chromium, closed in the end. Raises `NoBrowser` where Playwright or the browser is missing."""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        raise NoBrowser(NO_PLAYWRIGHT) from None
    path = executable()
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        except Error as error:
            reason = error.message.strip().splitlines()[0]
            raise NoBrowser(f"{path} does not start as a browser: {reason}") from None
        try:
            yield browser
        finally:
            browser.close()
