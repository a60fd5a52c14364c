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
FAR = 0.1
"""Likeness to the right answers that random text does not come near to gaining."""


def evaluated(model: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Results by family and mode."""
    given = ["evaluate", str(model), "--count", "12", "--json", *(x for name in FAMILIES for x in ("--family", name))]
    result = CliRunner().invoke(app, given)
    assert result.exit_code == 0, result.output
    return {(each["family"], each["mode"]): each for each in json.loads(result.stdout)["families"]}


@pytest.mark.timeout(600)
def test_two_minutes_of_training_show_in_the_answers(tmp_path: Path) -> None:
    trained = tmp_path / "trained"
    result = CliRunner().invoke(app, ["train", str(trained), "--minutes", "2"])
    assert result.exit_code == 0, result.output
    codec = TextCodec.load(trained / "model")
    untrained = save_model(tmp_path / "untrained", new_model(ModelSize()), codec.to_json())
    before, after = evaluated(untrained), evaluated(trained / "model")
    for mode in ("diffusion", "autoregressive"):
        gain = [after[name, mode]["similarity"] - before[name, mode]["similarity"] for name in FAMILIES]
        assert sum(gain) / len(gain) > FAR, (mode, gain)
