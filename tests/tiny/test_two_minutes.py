"""`playground train --minutes 2`, as a person would, measured with `playground evaluate`."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from playground.cli import app
from playground.tiny.codec import TextCodec
from playground.tiny.model import ModelSize, new_model
from playground.tiny.saving import save_model

FAMILIES = ("opposites", "count", "sudoku_4x4", "python")
LEAST = {"diffusion": 0.1, "autoregressive": 0.03}
"""Likeness to the right answers to be gained, a third of what two idle cores gain (0.31 and 0.14) or less; random text
gains none. The causal half learns later in so few steps."""


def evaluated(model: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Results by family and mode."""
    given = ["evaluate", str(model), "--count", "12", "--json", *(x for name in FAMILIES for x in ("--family", name))]
    result = CliRunner().invoke(app, given)
    assert result.exit_code == 0, result.output
    return {(each["family"], each["mode"]): each for each in json.loads(result.stdout)["families"]}


@pytest.mark.timeout(600)
def test_two_minutes_of_training_show_in_the_answers(tmp_path: Path) -> None:
    trained = tmp_path / "trained"
    result = CliRunner().invoke(app, ["train", str(trained), "--minutes", "2", "--batch-size", "24"])
    assert result.exit_code == 0, result.output
    codec = TextCodec.load(trained / "model")
    untrained = save_model(tmp_path / "untrained", new_model(ModelSize()), codec.to_json())
    before, after = evaluated(untrained), evaluated(trained / "model")
    for mode, least in LEAST.items():
        gain = [after[name, mode]["similarity"] - before[name, mode]["similarity"] for name in FAMILIES]
        assert sum(gain) / len(gain) > least, (mode, gain)
