"""Training processes beside each other."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

PROGRAM = """
import os, sys, time
from collections.abc import Callable
from pathlib import Path
from playground.tiny.parallel import run_ranks

def work(rank, ranks):
    Path(sys.argv[1], f"{rank}").write_text(str(os.getpid()))
    time.sleep(600)

if __name__ == "__main__":
    run_ranks(work, 2)
"""


def alive(process: int) -> bool:
    """Whether a process runs; one that has ended and waits for its parent does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def wait_for(what: Callable[[], object], seconds: float = 60) -> bool:
    """Whether `what()` comes true in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if what():
            return True
        time.sleep(0.05)
    return False


def test_processes_end_with_the_one_that_started_them(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    notes = tmp_path / "notes"
    notes.mkdir()
    parent = subprocess.Popen([sys.executable, str(program), str(notes)])
    ranks: list[int] = []
    try:
        assert wait_for(lambda: [p for p in notes.iterdir() if p.read_text()][1:])
        ranks = [int(note.read_text()) for note in notes.iterdir()]
        assert all(map(alive, ranks))
        parent.kill()
        parent.wait()
        assert wait_for(lambda: not any(map(alive, ranks)), 20)
    finally:
        parent.kill()
        for rank in filter(alive, ranks):
            os.kill(rank, signal.SIGKILL)
