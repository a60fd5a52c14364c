"""`playground lesson`: what it says and how it ends; the model's runs are made up."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from playground.cli import app
from playground.errors import PlaygroundError
from playground.events import Event, adapter
from playground.lessons.checking import check_lesson
from playground.recipe import Recipe
from tests.lessons.test_reading import GOOD

TRACE = Path(__file__).parents[2] / "static" / "recordings" / "diffusion.jsonl"


def recorded(recipe: Recipe) -> list[Event]:
    """The recorded run, whatever is asked, but that a seed of 3 ends otherwise."""
    events = [adapter.validate_json(line) for line in TRACE.read_text().splitlines()]
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
    assert check_lesson(lesson, said.append, recorded, seeds=0) == 1
    assert said[0].startswith("  holds  line 5: steps >= 1 (it is ")
    assert said[1] == "  FAILS  line 5: stop = end_of_turn (it is max_new_tokens)"
    assert said[2].startswith("  holds  line 27: steps <= base.steps")


def test_a_seed_is_looked_for(lesson: Path) -> None:
    said: list[str] = []
    assert check_lesson(lesson, said.append, recorded, seeds=5) == 0
    assert said == ["  seed 3: all claims hold"]
    assert check_lesson(lesson, said.append, recorded, seeds=3) == 1
    assert said[-1] == "  no seed below 3 makes all claims hold"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(PlaygroundError) as caught:
        check_lesson(tmp_path / "none.md", print, None, 0)
    assert caught.value.field == "file"
    assert "cannot be read" in caught.value.message
