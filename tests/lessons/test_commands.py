"""`playground lesson`: what it says and how it ends; the model's runs are made up."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from playground.cli import app
from playground.errors import PlaygroundError
from playground.events import Event, adapter
from playground.lessons.checking import check_lesson
from playground.recipe import Recipe
from tests.lessons.test_reading import GOOD, RECORDED

TRACE = Path(__file__).parents[2] / "static" / "recordings" / "diffusion.jsonl"


def recording(name: str) -> list[Event]:
    """The recorded run, whatever it is called."""
    assert name.endswith(".jsonl")
    return [adapter.validate_json(line) for line in TRACE.read_text().splitlines()]


def recorded(recipe: Recipe) -> list[Event]:
    """The recorded run, whatever is asked, but that a seed of 3 ends otherwise."""
    events = recording("any.jsonl")
    if recipe.seed == 3:
        return events
    return [*events[:-1], events[-1].model_copy(update={"stop_reason": "max_new_tokens"})]


@pytest.fixture
def lesson(tmp_path: Path) -> Path:
    path = tmp_path / "noise.md"
    path.write_text(GOOD)
    return path


def test_a_file_is_checked(lesson: Path) -> None:
    result = CliRunner().invoke(app, ["lesson", str(lesson)])
    assert (result.exit_code, result.output) == (0, f"{lesson}: Noise, 2 parts, 3 claims\n")
    lesson.write_text(GOOD.replace("title", "titel"))
    result = CliRunner().invoke(app, ["lesson", str(lesson)])
    assert result.exit_code == 2
    assert f"{lesson}, line 2: 'titel' is not known" in result.stderr


def test_claims_are_held_against_the_runs(lesson: Path) -> None:
    said: list[str] = []
    assert check_lesson(lesson, said.append, recorded, recording, seeds=0) == 1
    assert said[0].startswith("  holds  line 5: steps >= 1 (it is ")
    assert said[1] == "  FAILS  line 5: stop = end_of_turn (it is max_new_tokens)"
    assert said[2].startswith("  holds  line 27: steps <= base.steps")


def test_a_seed_is_looked_for(lesson: Path) -> None:
    said: list[str] = []
    assert check_lesson(lesson, said.append, recorded, recording, seeds=5) == 0
    assert said == ["  seed 3: all claims hold"]
    assert check_lesson(lesson, said.append, recorded, recording, seeds=3) == 1
    assert said[-1] == "  no seed below 3 makes all claims hold"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(PlaygroundError) as caught:
        check_lesson(tmp_path / "none.md", print, None, recording, 0)
    assert caught.value.field == "file"
    assert "cannot be read" in caught.value.message


def test_claims_about_a_recording_are_held_against_its_trace(
    lesson: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lesson.write_text(RECORDED)
    said: list[str] = []
    assert check_lesson(lesson, said.append, recorded, recording, seeds=0) == 0
    assert said[0].startswith("  holds  line 3: steps >= 3 (it is ")
    assert said[1].startswith("  holds  line 11: tokens = base.tokens")
    monkeypatch.setenv("PLAYGROUND_RECORDINGS", str(tmp_path))
    result = CliRunner().invoke(app, ["lesson", str(lesson), "--run"])
    assert (result.exit_code, "large.jsonl is not a file" in result.stderr) == (2, True)
    for name in ("large", "same"):
        (tmp_path / f"{name}.jsonl").write_bytes(TRACE.read_bytes())
    result = CliRunner().invoke(app, ["lesson", str(lesson), "--run"])
    assert (result.exit_code, result.output.count("holds")) == (0, 2)
    monkeypatch.delenv("PLAYGROUND_RECORDINGS")
    result = CliRunner().invoke(app, ["lesson", str(lesson), "--run"])
    assert "PLAYGROUND_RECORDINGS names no folder" in result.stderr
