"""The whole app in a process of its own, for what looks at it from outside: a benchmark of the page, and its tests."""

import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

PATIENCE_SECONDS = 120.0
STOPPING_SECONDS = 15.0
LOOK_EVERY_SECONDS = 0.2


@contextmanager
def running(
    command: Sequence[str], settings: Mapping[str, str], quiet: bool = False, status: str = "ready"
) -> Iterator[str]:
    """The address of a server that the command starts, once its model has this status; ended with the block.

    settings: environment variables besides those of this process; the port is a free one of 127.0.0.1. quiet: its
    output is dropped. Raises `RuntimeError` where it ends, or has no such status after two minutes.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}/"
    environment = os.environ | {"PLAYGROUND_HOST": "127.0.0.1", "PLAYGROUND_PORT": str(port)} | dict(settings)
    output = subprocess.DEVNULL if quiet else None
    process = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
    try:
        _wait(process, url, status)
        yield url
    finally:
        process.terminate()
        try:
            process.wait(STOPPING_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(process: "subprocess.Popen[bytes]", url: str, status: str) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
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
        time.sleep(LOOK_EVERY_SECONDS)
    raise RuntimeError(f"The server was not {status} within two minutes.")
