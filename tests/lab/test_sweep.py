"""Sweeps on the embedded model: stopped and resumed, counted, exported, and through the command."""

import json
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

from playground.cli import app
from playground.engine import models
from playground.engine.models import Model
from playground.errors import PlaygroundError
from playground.lab import export, work
from playground.lab.results import Results, Row
from playground.lab.spec import SweepSpec
from playground.lab.summary import lines
from playground.lab.work import Progress, sweep
from playground.settings import Settings

SPEC: dict[str, Any] = {
    "name": "small",
    "recipe": {"max_new_tokens": 64},
    "vary": {"sampler.entropy_bound": [0.1, 5.0], "sampler.max_denoising_steps": [2, 12]},
    "tasks": {"families": ["add", "facts"], "count": 2},
    "prompts": [{"prompt": "What is 3 + 4?", "pattern": "7"}, {"prompt": "Hello"}],
    "seeds": [0, 1],
}
RUNS = 4 * 6 * 2


@pytest.fixture(scope="module")
def model() -> Model:
    return models.load(Settings(device="cpu"))


def spec(**fields: Any) -> SweepSpec:
    """The small spec with some fields changed."""
    return SweepSpec.model_validate(SPEC | fields)


def timeless(rows: list[Row]) -> list[Row]:
    """Rows without what a clock says."""
    return [replace(row, seconds=0.0) for row in rows]


def test_a_stopped_sweep_goes_on_and_gives_the_same_table(model: Model, tmp_path: Path) -> None:
    whole, broken = Results(tmp_path / "whole.sqlite"), Results(tmp_path / "broken.sqlite")
    seen: list[Progress] = []
    assert sweep(spec(), model, Settings(), whole, seen.append)
    assert (seen[0].done, seen[-1].done, seen[-1].total) == (0, RUNS, RUNS)
    assert seen[0].seconds_left is None
    assert seen[-1].seconds_left == 0
    begun: list[Progress] = []
    assert not sweep(spec(), model, Settings(), broken, begun.append, lambda: len(begun) > 20)
    there = len(broken.rows())
    assert there == 20
    more: list[Progress] = []
    assert sweep(spec(), model, Settings(), broken, more.append)
    assert (more[0].before, more[0].done) == (there, there)
    assert len([progress for progress in more if progress.row is not None]) == RUNS - there
    assert timeless(broken.rows()) == timeless(whole.rows())
    assert [replace(line, seconds=0) for line in lines(broken.rows())] == [
        replace(line, seconds=0) for line in lines(whole.rows())
    ]


def test_a_killed_sweep_leaves_whole_rows(model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results = Results(tmp_path / "killed.sqlite")
    whole = work.run
    left = iter(range(5))

    def dies(*arguments: Any) -> Row:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return whole(*arguments)

    monkeypatch.setattr(work, "run", dies)
    with pytest.raises(KeyboardInterrupt):
        sweep(spec(), model, Settings(), results)
    assert len(results.rows()) == 5


def test_figures_of_a_row_and_of_a_setting(model: Model, tmp_path: Path) -> None:
    results = Results(tmp_path / "figures.sqlite")
    sweep(spec(seeds=[0]), model, Settings(), results)
    rows = results.rows()
    for row in rows:
        settled = json.loads(row.settled)
        assert settled[-1] == 1
        assert len(settled) == row.steps or row.canvases > 1
        assert row.tokens_per_forward == pytest.approx(row.tokens / row.passes)
        assert row.right in ((None,) if row.prompt == "Hello" else (0, 1))
        assert json.loads(row.recipe)["sampler"]["max_denoising_steps"] in (2, 12)
    for line in lines(rows):
        mine = [row for row in rows if json.loads(row.setting) == line.setting]
        assert (line.runs, line.told) == (6, 5)
        assert line.right == sum(row.right or 0 for row in mine)
        assert line.low <= (line.accuracy or 0) <= line.high


def test_another_spec_and_another_file_are_refused(model: Model, tmp_path: Path) -> None:
    results = Results(tmp_path / "one.sqlite")
    results.begin(spec(), model.name, model.revision)
    with pytest.raises(PlaygroundError, match="results of another spec"):
        results.begin(spec(seeds=[7]), model.name, model.revision)
    with pytest.raises(PlaygroundError, match="revision"):
        results.begin(spec(), model.name, "other")
    text = tmp_path / "text.sqlite"
    text.write_text("no database at all, but long enough to look like one" * 20)
    with pytest.raises(PlaygroundError, match="cannot be used"):
        Results(text).begin(spec(), model.name, model.revision)
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE t (x)")
    with pytest.raises(PlaygroundError, match="not the file of a sweep"):
        Results(other).begin(spec(), model.name, model.revision)


def test_a_spec_that_the_model_cannot_run_is_refused_before_anything_runs(model: Model, tmp_path: Path) -> None:
    results = Results(tmp_path / "none.sqlite")
    with pytest.raises(PlaygroundError, match="new tokens"):
        sweep(spec(recipe={"max_new_tokens": 900_000}), model, Settings(), results)
    assert not results.file.exists()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_tables_open_in_pandas(model: Model, tmp_path: Path, kind: str) -> None:
    results = Results(tmp_path / "pandas.sqlite")
    sweep(spec(seeds=[0], prompts=[]), model, Settings(), results)
    file = tmp_path / f"table.{kind}"
    export.write(results.rows(), file)
    frame = pd.read_csv(file) if kind == "csv" else pd.read_parquet(file)
    assert len(frame) == 16
    assert set(frame["sampler.entropy_bound"]) == {0.1, 5.0}
    with sqlite3.connect(results.file) as connection:
        assert len(pd.read_sql("SELECT * FROM runs", connection)) == 16
    with pytest.raises(PlaygroundError, match=r"\.csv or \.parquet"):
        export.write(results.rows(), tmp_path / "table.xlsx")


def test_the_command_says_how_many_runs_and_prints_a_table(tmp_path: Path) -> None:
    file = tmp_path / "spec.json"
    file.write_text(json.dumps(SPEC | {"seeds": [0], "prompts": []}))
    tried = CliRunner().invoke(app, ["sweep", str(file), "--dry-run"])
    assert tried.exit_code == 0, tried.output
    assert "4 settings × 4 questions × 1 seeds: 16 runs" in tried.stderr
    assert "about" in tried.stderr
    result = CliRunner().invoke(app, ["sweep", str(file), "--export", str(tmp_path / "runs.csv")])
    assert result.exit_code == 0, result.output
    assert "entropy_bound" in result.stdout
    assert len(result.stdout.splitlines()) == 5
    again = CliRunner().invoke(app, ["sweep", str(file), "--json"])
    assert json.loads(again.stdout)["whole"] is True
    file.write_text(json.dumps(SPEC | {"vary": {"sampler.heat": [1]}}))
    wrong = CliRunner().invoke(app, ["sweep", str(file), "--out", str(tmp_path / "x.sqlite")])
    assert wrong.exit_code == 2
    assert "vary.sampler.heat" in wrong.stderr
