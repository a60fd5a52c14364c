"""`playground export` and `playground verify`: real traces of the embedded model, as a person would use them."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import torch
from typer.testing import CliRunner, Result

from playground import cli
from playground.engine import models, runs
from playground.engine.steering import Steering
from playground.parameters import EntropyBoundSampler
from playground.recipe import Infill, Message, Recipe
from playground.settings import Settings
from playground.trace.log import RunLog

LARGEST = 500_000


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(cli.app, list(arguments))


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three canvases, every step of all of them taken."""
    torch.set_num_threads(1)
    model = models.load(Settings(device="cpu"))
    recipe = Recipe(
        messages=[Message(role="user", content="Tell a long story about Mia the fox and a friend named Hugo.")],
        max_new_tokens=3 * model.canvas_length,
        sampler=EntropyBoundSampler(confidence_threshold=0.0, t_max=1.2, t_min=0.8),
        edits=[Infill(text=" fox" * (5 * model.canvas_length // 2) + "___{20}")],
    )
    recipe = runs.prepare(model, recipe, Settings())
    log = RunLog()
    for event in runs.events(model, recipe, Steering(recipe)):
        log.append(event)
    path = tmp_path_factory.mktemp("traces") / "run.jsonl"
    path.write_bytes(b"".join(log.line(seq) + b"\n" for seq in range(len(log))))
    assert sum(b'"canvas_committed"' in log.line(seq) for seq in range(len(log))) == 3
    return path


def test_three_canvases_make_a_small_page(trace: Path, tmp_path: Path) -> None:
    target = tmp_path / "run.html"
    result = invoke("export", str(trace), "--to", str(target))
    assert (result.exit_code, result.output) == (0, "")
    assert target.stat().st_size < LARGEST
    assert target.read_text().startswith("<!doctype html>")


def test_tables_have_a_row_for_each_step_or_position(trace: Path, tmp_path: Path) -> None:
    for table, rows in (("steps", 144), ("positions", 144 * 64)):
        target = tmp_path / f"{table}.parquet"
        assert invoke("export", str(trace), "--to", str(target), "--table", table).exit_code == 0
        assert pq.read_table(target).num_rows == rows


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--to", "run.pdf"], "--to: the file's name must end with .html or .csv or .parquet"),
        (["--to", "run.csv", "--table", "all"], "--table: must be positions or steps"),
        (["--to", "missing/run.csv"], "--to: cannot write"),
    ],
)
def test_a_wrong_value_is_named(trace: Path, arguments: list[str], says: str) -> None:
    result = invoke("export", str(trace), *arguments)
    assert result.exit_code == 2
    assert says in result.stderr


def test_a_cut_trace_becomes_no_file(trace: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.jsonl"
    cut.write_bytes(trace.read_bytes()[:-100])
    result = invoke("export", str(cut), "--to", str(tmp_path / "run.html"))
    assert result.exit_code == 2
    assert "line 152: is cut off or not JSON" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["cut.jsonl"]


def test_a_true_trace_follows(trace: Path) -> None:
    result = invoke("verify", str(trace))
    assert result.exit_code == 0
    assert "all 152 events follow (144 passes run again" in result.stdout


def spoilt(trace: Path, path: Path, line: int, **fields: object) -> str:
    lines = trace.read_text().splitlines()
    lines[line] = json.dumps(json.loads(lines[line]) | fields)
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def test_a_false_trace_does_not(trace: Path, tmp_path: Path) -> None:
    result = invoke("verify", spoilt(trace, tmp_path / "run.jsonl", 4, temperature=0.5))
    assert result.exit_code == 1
    assert "event 4 (canvas 0, step 3), temperature: it is 0.5 where" in result.stdout


@pytest.mark.parametrize(
    ("fields", "options", "says"),
    [
        ({"model_revision": "other"}, [], "in revision other; the model 'embedded' here has revision"),
        ({"version": "99.0"}, [], "line 1: is from playground 99.0, newer"),
        ({}, ["--model", "/nowhere"], "could not be loaded"),
    ],
)
def test_what_cannot_be_said_is_neither(
    trace: Path, tmp_path: Path, fields: dict[str, object], options: list[str], says: str
) -> None:
    result = invoke("verify", spoilt(trace, tmp_path / "run.jsonl", 0, **fields), *options)
    assert result.exit_code == 2
    assert says in result.stderr.replace("\n", " ")


def test_a_limit_on_traces_is_a_setting(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLAYGROUND_MAX_TRACE_BYTES", "100000")
    result = invoke("replay", str(trace))
    assert result.exit_code == 2
    assert "grows beyond 100000 bytes" in result.stderr
