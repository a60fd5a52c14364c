"""A real server and a real browser, for the tests that look at the page."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from playground.bench import browser

ROOT = Path(__file__).parents[1]

os.environ["PLAYGROUND_STORE"] = ""  # a test that wants a store makes one of its own

hypothesis.settings.register_profile("patient", deadline=None)  # a busy machine is no mistake in the code
hypothesis.settings.load_profile("patient")

NO_CHROMIUM = (
    "The browser tests need Chromium: install it (Debian and Ubuntu: `apt-get install chromium`), "
    "or set PLAYGROUND_CHROMIUM to the path of a Chromium or Chrome."
)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests come last: Playwright's event loop runs to the end, and no other begins beside it."""
    items.sort(key=lambda item: "playwright" in getattr(item, "fixturenames", ()))


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
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}/"
    environment = os.environ | {"PLAYGROUND_PORT": str(port)} | settings
    process = subprocess.Popen([sys.executable, "app.py"], cwd=ROOT, env=environment)
    try:
        wait_until(status, process, url)
        yield url
    finally:
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_until(status: str, process: subprocess.Popen[bytes], url: str) -> None:
    """Until the model is loaded, or has failed to; raises if the server ends or takes more than two minutes."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"The server ended with status {process.returncode} before it was {status}.")
        try:
            with urllib.request.urlopen(f"{url}health", timeout=5) as response:
                answer = response.read()
        except urllib.error.HTTPError as error:
            answer = error.read()
        except OSError:
            answer = b""
        if f'"{status}"'.encode() in answer:
            return
        time.sleep(0.2)
    raise RuntimeError(f"The server was not {status} within two minutes.")
