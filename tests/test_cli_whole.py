"""The commands with the embedded model, in a process of their own, as people meet them."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from playground.trace import file as trace_file

COMMAND = [sys.executable, "-c", "from playground.cli import app; app()"]
PLAIN = {name: value for name, value in os.environ.items() if not name.startswith(("PLAYGROUND_", "NO_COLOR"))}


def generate(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*COMMAND, "generate", *arguments], capture_output=True, text=True, env=PLAIN | environment, timeout=120
    )


@pytest.mark.parametrize("mode", ["diffusion", "autoregressive"])
def test_the_embedded_model_answers(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "run.jsonl"
    done = generate("Reverse: abc", "--mode", mode, "--seed", "3", "--json", "--trace", str(path))
    assert done.returncode == 0, done.stderr
    parsed = json.loads(done.stdout)
    assert parsed["text"].strip()
    assert parsed["recipe"]["model"] == "embedded"
    trace = trace_file.read(path)
    kind = "step" if mode == "diffusion" else "token"
    assert sum(event.type == kind for event in trace) > 0
    assert all(event.top_ids for event in trace if event.type == kind)
    assert trace[-1].text == parsed["text"]


def test_a_missing_model_is_a_sentence() -> None:
    done = generate("hi", "--model", "/nowhere/at/all")
    assert done.returncode in (1, 2)
    assert done.stderr.startswith("playground: ")
    assert "/nowhere/at/all" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("environment", "received"), [({}, signal.SIGINT), ({"NO_COLOR": "1"}, signal.SIGINT), ({}, signal.SIGTERM)]
)
def test_on_a_terminal_it_animates_in_place_until_it_is_told_to_end(
    environment: dict[str, str], received: signal.Signals
) -> None:
    """A real terminal: frames are redrawn, an interrupt ends the run, the cursor comes back."""
    arguments = [*COMMAND, "generate", "Tell a story about a fox named Mia.", "--steps-per-second", "4"]
    master, slave = pty.openpty()
    env = PLAIN | {"TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24"} | environment
    process = subprocess.Popen(arguments, stdin=slave, stdout=slave, stderr=slave, env=env, start_new_session=True)
    os.close(slave)
    written = b""
    deadline = time.monotonic() + 120
    interrupted = False
    while time.monotonic() < deadline:
        try:
            part = os.read(master, 4096)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        written += part
        if b"step  2 of 48" in written and not interrupted:
            process.send_signal(received)
            interrupted = True
    assert process.wait(30) == 128 + received
    os.close(master)
    text = written.decode()
    assert "\x1b[1A" in text
    assert text.count("\x1b[?25l") == text.count("\x1b[?25h") == 1
    assert "Cancelled." in text
    assert ("38;5" in text) == (not environment)
