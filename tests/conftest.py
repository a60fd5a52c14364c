"""A real server and a real browser, for the tests that look at the page."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

ROOT = Path(__file__).parents[1]

os.environ["PLAYGROUND_STORE"] = ""  # a test that wants a store makes one of its own

hypothesis.settings.register_profile("patient", deadline=None)  # a busy machine is no mistake in the code
hypothesis.settings.load_profile("patient")

CHROMIUM_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

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
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
    found = os.environ.get("PLAYGROUND_CHROMIUM") or next((path for path in map(shutil.which, names) if path), None)
    if not found or not Path(found).exists():
        pytest.fail(NO_CHROMIUM, pytrace=False)
    return found


@pytest.fixture(scope="session")
def find_chromium() -> Callable[[], str]:
    """How the tests find their browser."""
    return chromium


@pytest.fixture(scope="session")
def browser_type_launch_args(find_chromium: Callable[[], str]) -> dict[str, Any]:
    """For pytest-playwright: the Chromium of this machine instead of a download."""
    return {"executable_path": find_chromium(), "args": list(CHROMIUM_FLAGS)}


@pytest.fixture(scope="session")
def browser_context_args() -> dict[str, Any]:
    """For pytest-playwright: the size that the page is designed at."""
    return {"viewport": {"width": 1280, "height": 900}}


@pytest.fixture(scope="module")
def server_url() -> Iterator[str]:
    """The address of the whole app with the embedded model, in a process of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}/"
    environment = os.environ | {"PLAYGROUND_PORT": str(port), "PLAYGROUND_STARTS_PER_MINUTE": "1000"}
    process = subprocess.Popen([sys.executable, "app.py"], cwd=ROOT, env=environment)
    try:
        wait_until_ready(process, url)
        yield url
    finally:
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_until_ready(process: subprocess.Popen[bytes], url: str) -> None:
    """Until the model is loaded; raises if the server ends or takes more than two minutes."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"The server ended with status {process.returncode} before it was ready.")
        try:
            with urllib.request.urlopen(f"{url}health", timeout=5) as response:
                if b'"ready"' in response.read():
                    return
        except OSError:
            pass
        time.sleep(0.2)
    raise RuntimeError("The server was not ready within two minutes.")
