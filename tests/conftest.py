"""A real server and a real browser, for the tests that look at the page."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from playwright.sync_api import Page

from playground.bench import browser, server
from tests.watching import visit, watched

ROOT = Path(__file__).parents[1]

os.environ["PLAYGROUND_STORE"] = ""  # a test that wants a store makes one of its own
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # workers beside each other share the cores

hypothesis.settings.register_profile("patient", deadline=None)  # a busy machine is no mistake in the code
hypothesis.settings.load_profile("patient")

NO_CHROMIUM = (
    "The browser tests need Chromium: install it (Debian and Ubuntu: `apt-get install chromium`), "
    "or set PLAYGROUND_CHROMIUM to the path of a Chromium or Chrome."
)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with browser tests come last: Playwright's event loop runs to the end, and no other begins beside it.

    Of workers beside each other each keeps this order: files are given out whole and in turn.
    """
    driven = {item.path for item in items if "playwright" in getattr(item, "fixturenames", ())}
    items.sort(key=lambda item: item.path in driven)


def chromium() -> str:
    """The path of a Chromium; fails the test in a plain sentence where there is none."""
    try:
        return browser.executable()
    except browser.NoBrowser:
        pytest.fail(NO_CHROMIUM, pytrace=False)


@pytest.fixture(scope="session")
def find_chromium() -> Callable[[], str]:
    """How the tests find their browser."""
    return chromium


@pytest.fixture(scope="session")
def browser_type_launch_args(find_chromium: Callable[[], str]) -> dict[str, Any]:
    """For pytest-playwright: the Chromium of this machine instead of a download."""
    return {"executable_path": find_chromium(), "args": list(browser.FLAGS)}


@pytest.fixture(scope="session")
def browser_context_args() -> dict[str, Any]:
    """For pytest-playwright: the size that the page is designed at."""
    return {"viewport": {"width": 1280, "height": 900}}


@pytest.fixture(scope="module")
def server_url() -> Iterator[str]:
    """The address of the whole app with the embedded model, in a process of its own."""
    with serving(PLAYGROUND_STARTS_PER_MINUTE="1000") as url:
        yield url


@contextmanager
def serving(status: str = "ready", **settings: str) -> Iterator[str]:
    """`python app.py` with these settings, once its model has this status; gives its address."""
    with server.running([sys.executable, str(ROOT / "app.py")], settings, status=status) as url:
        yield url


@pytest.fixture
def playground(page: Page, server_url: str) -> Iterator[Page]:
    """The page, open, its model loaded; nothing may go wrong meanwhile."""
    with watched(page, server_url):
        visit(page, server_url)
        yield page
