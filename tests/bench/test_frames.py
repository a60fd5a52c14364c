import json
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from playground.bench import browser, frames
from playground.bench.timeline import Frame
from playground.cli import app
from playground.trace import file as trace_file


def test_the_runs_are_whole_and_as_long_as_is_said(tmp_path: Path) -> None:
    torch.set_num_threads(1)
    files = frames.write_traces(tmp_path)
    assert {mode: len(paths) for mode, paths in files.items()} == {"diffusion": 2, "autoregressive": 1}
    for mode, paths in files.items():
        for path in paths:
            events = trace_file.read(path)
            assert events[-1].type == "run_finished"
            assert events[-1].metrics.total_tokens == frames.TOKENS
            assert events[0].type == "run_started"
            assert events[0].recipe.mode == mode
            assert events[0].canvas_length == frames.TOKENS
    first, second = (json.loads(path.read_text().splitlines()[0])["recipe"]["seed"] for path in files["diffusion"])
    assert first != second


def test_without_a_browser_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PLAYGROUND_CHROMIUM", str(tmp_path / "none"))
    result = CliRunner().invoke(app, ["bench", "frames"])
    assert result.exit_code == 2
    assert result.stderr.strip() == f"playground: {browser.NO_CHROMIUM}"


def test_what_was_measured_is_printed_scene_by_scene(monkeypatch: pytest.MonkeyPatch) -> None:
    busy = [Frame(script=float(ms), layout=1, paint=0.5, cpu=ms / 2) for ms in range(1, 101)]
    scenes = [frames.Scene("empty page", [Frame(0.1, 0, 0.1, None)] * 3), frames.Scene("race", busy)]
    monkeypatch.setattr(frames, "measure", lambda _: frames.Result("Chromium 1", scenes))
    result = CliRunner().invoke(app, ["bench", "frames"])
    assert result.exit_code == 0, result.output
    first, _, empty, race = result.stdout.splitlines()
    assert first.startswith("two lanes of 256 tokens; Chromium 1, ")
    assert empty.replace("|", "").split() == ["empty", "page", "3", "0.20", "0.20", "0.20", "0.10", "0.00", "0.10", "–"]
    figures = ["100", "51.50", "96.50", "101.50", "95.00", "1.00", "0.50", "47.50"]
    assert race.replace("|", "").split() == ["race", *figures]
