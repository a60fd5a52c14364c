"""The lessons of the package: each is whole, and its runs on the embedded model show what it says."""

from collections.abc import Iterator

import pytest

from playground.engine import models, runs
from playground.engine.models import Model
from playground.engine.steering import Steering
from playground.events import Event
from playground.lessons.lesson import Lesson
from playground.lessons.library import lessons
from playground.lessons.proving import prove
from playground.recipe import Recipe
from playground.settings import Settings

LESSONS, WRONG = lessons()
NAMES = [lesson.name for lesson in LESSONS]


def test_none_of_them_has_a_mistake() -> None:
    assert WRONG == []
    assert len({lesson.order for lesson in LESSONS}) == len(LESSONS)


@pytest.mark.parametrize("lesson", LESSONS, ids=NAMES)
def test_each_has_something_to_claim_to_try_to_see_and_to_check(lesson: Lesson) -> None:
    assert lesson.run.shows
    assert lesson.summary
    assert any(part.run and part.run.shows for part in lesson.parts)
    assert any(part.choices and part.because for part in lesson.parts)
    assert "prompt" in lesson.controls


@pytest.fixture(scope="module")
def embedded() -> Model:
    return models.load(Settings())


@pytest.mark.parametrize("lesson", LESSONS, ids=NAMES)
def test_its_runs_show_what_it_says(embedded: Model, lesson: Lesson) -> None:
    settings = Settings()

    def run(recipe: Recipe) -> Iterator[Event]:
        ready = runs.prepare(embedded, recipe, settings)
        return runs.events(embedded, ready, Steering(ready))

    def none(name: str) -> Iterator[Event]:
        raise AssertionError(f"the package has no recording {name}")

    findings = list(prove(lesson, run, none))
    assert findings
    failed = [f"line {each.line}: {each.claim.text} (it is {each.found})" for each in findings if not each.holds]
    assert failed == []
