"""A sweep in a process of its own that is killed outright: what is done is there, and another goes on from it."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from playground.cli import app
from playground.engine import models
from playground.errors import PlaygroundError
from playground.lab.results import Results
from playground.lab.spec import SweepSpec
from playground.lab.work import Progress, sweep
from playground.settings import Settings

SPEC: dict[str, Any] = {
    "recipe": {"max_new_tokens": 64},
    "vary": {"sampler.entropy_bound": [0.1, 5.0]},
    "tasks": {"families": ["add"], "count": 2},
    "prompts": [{"prompt": "Say hello", "pattern": "(?i)hello"}],
    "seeds": list(range(6)),
}
RUNS = 2 * 3 * 6
SCRIPT = """
import sys, time
from pathlib import Path
from playground.engine import models
from playground.lab import spec, work
from playground.lab.results import Results
from playground.settings import Settings

def tells(progress):
    print(progress.done, flush=True)
    time.sleep(600 if progress.done >= 3 else 0)

file, out = map(Path, sys.argv[1:])
work.sweep(spec.read(file), models.load(Settings(device="cpu")), Settings(), Results(out), tells)
"""


@pytest.mark.timeout(900)
def test_a_process_killed_half_way_leaves_what_another_goes_on_from(tmp_path: Path) -> None:
    file, out = tmp_path / "spec.json", tmp_path / "killed.sqlite"
    file.write_text(json.dumps(SPEC))
    spec, model = SweepSpec.model_validate(SPEC), models.load(Settings(device="cpu"))
    broken = Results(out)
    command = [sys.executable, "-c", SCRIPT, str(file), str(out)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        try:
            next(line for line in child.stdout if int(line) >= 3)
            with pytest.raises(PlaygroundError, match="Another process is running the sweep of killed"):
                sweep(spec, model, Settings(), broken)
        finally:
            os.kill(child.pid, signal.SIGKILL)
    there = len(broken.rows())
    assert there == 3
    more: list[Progress] = []
    assert sweep(spec, model, Settings(), broken, more.append)
    assert len([progress for progress in more if progress.row is not None]) == RUNS - there
    whole = Results(tmp_path / "whole.sqlite")
    assert sweep(spec, model, Settings(), whole)
    assert [replace(row, seconds=0) for row in broken.rows()] == [replace(row, seconds=0) for row in whole.rows()]


def test_a_file_that_is_gone_is_not_made_anew(tmp_path: Path) -> None:
    results = Results(tmp_path / "gone.sqlite")
    results.begin(SweepSpec.model_validate(SPEC), "m", "r")
    results.file.unlink()
    with pytest.raises(PlaygroundError, match=r"gone\.sqlite, is gone"):
        results.rows()
    assert not results.file.exists()


@pytest.mark.parametrize(
    ("option", "target", "says"),
    [
        ("--out", "none/x.sqlite", "there is no folder"),
        ("--export", "none/x.csv", "there is no folder"),
        ("--figures", ".", "it is a folder"),
        ("--export", "x.xlsx", "ends with .csv or .parquet"),
        ("--out", "spec.json", "cannot be used"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused_before_anything_runs(
    tmp_path: Path, option: str, target: str, says: str
) -> None:
    file = tmp_path / "spec.json"
    file.write_text(json.dumps(SPEC))
    result = CliRunner().invoke(app, ["sweep", str(file), option, str(tmp_path / target)])
    assert result.exit_code == 2
    assert says in result.stderr.replace("\n", " ")
    assert json.loads(file.read_text()) == SPEC
