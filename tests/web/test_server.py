"""The process: addresses, wrong settings, interruption."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from playground.settings import Settings
from playground.web import server
from tests.web.live import PATIENCE

SCRIPT = "from playground.web.server import read_settings, serve; serve(read_settings())"


def test_a_port_in_use_is_said_in_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SystemExit) as exit:
            server.serve(Settings(port=port))
    assert exit.value.code == 2
    said = capsys.readouterr().err.strip()
    assert said.startswith(f"Cannot serve on 127.0.0.1 port {port}: Address already in use.")
    assert "\n" not in said


def test_a_host_that_is_not_there_is_said_in_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit:
        server.serve(Settings(host="203.0.113.1", port=0))
    assert exit.value.code == 2
    assert capsys.readouterr().err.startswith("Cannot serve on 203.0.113.1 port 0: ")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PLAYGROUND_PORT", "http"),
        ("PLAYGROUND_PORT", "70000"),
        ("PLAYGROUND_DTYPE", "int4"),
        ("PLAYGROUND_DEVICE", "abacus"),
        ("PLAYGROUND_MAX_RUNS", "0"),
    ],
)
def test_a_wrong_setting_is_named(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as exit:
        server.read_settings()
    assert exit.value.code == 2
    said = capsys.readouterr().err.strip()
    assert said.startswith(f"{name}: ")
    assert repr(value) in said


def test_a_process_serves_and_ends_on_an_interrupt(tmp_path: Path) -> None:
    settings = {"PLAYGROUND_PORT": "0", "PLAYGROUND_MODEL": str(tmp_path), "PLAYGROUND_LOG_FORMAT": "json"}
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT], env=os.environ | settings, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            assert '"event": "serving"' in line
            address = line.split('"url": "', 1)[1].split('"', 1)[0]
            health = httpx.get(f"{address}health", timeout=PATIENCE, trust_env=False)
            assert health.json()["status"] in ("loading", "failed")
            process.send_signal(signal.SIGINT)
            _, rest = process.communicate(timeout=PATIENCE)
            assert "Traceback" not in rest
            assert process.returncode == 0
        finally:
            process.kill()
