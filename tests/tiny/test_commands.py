import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from playground.cli import app
from playground.tiny.model import ModelSize, new_model
from playground.tiny.saving import save_model
from playground.tiny.tokenizer import train_tokenizer


@pytest.fixture(scope="module")
def untrained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("untrained")
    tokenizer = train_tokenizer(examples=300, vocab_size=400)
    size = ModelSize(vocab_size=tokenizer.get_vocab_size(), hidden_size=32, mlp_size=32, layers=3, heads=2, kv_heads=1)
    return save_model(folder, new_model(size), tokenizer.to_str())


def test_evaluate_prints_one_json_object_and_writes_a_figure(untrained: Path, tmp_path: Path) -> None:
    figure = tmp_path / "figure.html"
    given = ["evaluate", str(untrained), "--count", "2", "--family", "spell", "--json", "--figure", str(figure)]
    result = CliRunner().invoke(app, given)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert {(family["family"], family["mode"]) for family in found["families"]} == {
        ("spell", "diffusion"),
        ("spell", "autoregressive"),
    }
    assert "<script src=" not in figure.read_text()


def test_evaluate_prints_a_table(untrained: Path) -> None:
    result = CliRunner().invoke(app, ["evaluate", str(untrained), "--count", "1", "--family", "facts"])
    assert result.exit_code == 0, result.output
    assert "95 % interval" in result.stdout
    assert "mean" in result.stdout


def test_evaluate_obeys_the_samplers_options(untrained: Path) -> None:
    """Two steps at most, with a bound that accepts all: an untrained model never gets surer, so it takes just these."""
    given = ["evaluate", str(untrained), "--count", "1", "--family", "facts", "--json"]
    given += ["--max-denoising-steps", "2", "--entropy-bound", "1000"]
    result = CliRunner().invoke(app, given)
    assert result.exit_code == 0, result.output
    diffusion = next(f for f in json.loads(result.stdout)["families"] if f["mode"] == "diffusion")
    assert diffusion["effective_denoising_steps"] == 2
    assert set(diffusion["canvas_stops"]) == {"max_denoising_steps"}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["evaluate", "--family", "nope"], "sudoku_4x4"),
        (["evaluate", "/nowhere"], "no checkpoint folder"),
        (["evaluate", "--t-min", "0.9"], "--t-min"),
        (["train", "out", "--device", "abacus"], "device"),
    ],
)
def test_wrong_values_get_a_sentence(given: list[str], says: str) -> None:
    result = CliRunner().invoke(app, given)
    assert result.exit_code == 2
    assert says in result.stderr
