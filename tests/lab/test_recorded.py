"""The sweep that comes with the package: of the model that comes with it, and as docs/tuning.md tells it."""

from pathlib import Path

import pytest

from playground.engine.sources import EMBEDDED_FOLDER, weights_hash
from playground.lab.results import Results
from playground.lab.spec import read
from playground.lab.summary import Line, lines, paired

LAB = Path(__file__).parents[2] / "playground" / "lab" / "recorded"
DOCS = Path(__file__).parents[2] / "docs"
RELEASED = {"sampler.entropy_bound": 0.1, "sampler.max_denoising_steps": 48}
FASTER = {"sampler.entropy_bound": 0.1, "sampler.max_denoising_steps": 16}


@pytest.fixture(scope="module")
def results() -> Results:
    return Results(LAB / "bounds-and-caps.sqlite", read_only=True)


def line(results: Results, setting: dict[str, float]) -> Line:
    return next(found for found in lines(results.rows()) if found.setting == setting)


def test_it_is_of_the_model_that_is_shipped(results: Results) -> None:
    head = results.head()
    assert (head.model, head.revision) == ("embedded", weights_hash(EMBEDDED_FOLDER))
    assert head.spec == read(DOCS / "sweeps" / "bounds-and-caps.json")
    assert len(results.rows()) == 20 * 60 * 2


def test_a_setting_is_faster_within_two_points(results: Results) -> None:
    difference, _, pairs = paired(results.rows(), FASTER, RELEASED)
    assert difference >= -0.02
    assert pairs == 120
    fast, usual = line(results, FASTER), line(results, RELEASED)
    assert fast.tokens_per_forward is not None
    assert usual.tokens_per_forward is not None
    assert fast.tokens_per_forward > usual.tokens_per_forward


def test_the_walk_through_has_its_figures(results: Results) -> None:
    text = (DOCS / "tuning.md").read_text()
    for setting in (RELEASED, FASTER):
        found = line(results, setting)
        assert found.accuracy is not None
        told = f"{100 * found.accuracy:.1f} %, {found.effective_denoising_steps:.1f} steps"
        assert told in text.replace(" of its runs", "").replace("\n   ", " ")
        assert f"{found.tokens_per_forward:.2f} tokens a pass" in text.replace("\n   ", " ")
