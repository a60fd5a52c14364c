"""Specs: what is refused before anything runs, and what a good one makes."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from playground.errors import PlaygroundError
from playground.lab.cells import cells, count, questions, settings
from playground.lab.spec import Range, SweepSpec, read

ASK: dict[str, Any] = {"prompts": [{"prompt": "hi"}]}


def spec(**fields: Any) -> SweepSpec:
    """A spec that asks one thing, with these fields."""
    return SweepSpec.model_validate(ASK | fields)


def test_a_grid_is_every_combination_in_order() -> None:
    found = settings(spec(vary={"sampler.entropy_bound": [0.1, 1.0], "sampler.max_denoising_steps": [8, 48]}))
    assert [list(setting.values()) for setting in found] == [[0.1, 8], [0.1, 48], [1.0, 8], [1.0, 48]]
    assert settings(spec()) == [{}]


@pytest.mark.parametrize(
    ("fields", "values"),
    [
        ({"low": 0.0, "high": 1.0, "count": 3}, [0.0, 0.5, 1.0]),
        ({"low": 0.01, "high": 1.0, "count": 3, "scale": "log"}, [0.01, 0.1, 1.0]),
        ({"low": 1, "high": 4, "count": 7, "whole": True}, [1, 2, 3, 4]),
    ],
)
def test_ranges(fields: dict[str, Any], values: list[float]) -> None:
    assert Range(**fields).grid() == pytest.approx(values)


def test_a_random_search_repeats_for_its_seed_and_stays_in_the_ranges() -> None:
    search = {"kind": "random", "samples": 30, "seed": 4}
    vary = {"sampler.entropy_bound": {"low": 0.01, "high": 2.0, "scale": "log"}, "sampler.max_denoising_steps": [8, 48]}
    found = settings(spec(vary=vary, search=search))
    assert found == settings(spec(vary=vary, search=search))
    assert found != settings(spec(vary=vary, search=search | {"seed": 5}))
    assert len(found) == 30
    assert all(0.01 <= setting["sampler.entropy_bound"] <= 2.0 for setting in found)
    assert {setting["sampler.max_denoising_steps"] for setting in found} == {8, 48}


def test_every_setting_has_its_turn_before_a_question_comes_again() -> None:
    two = spec(vary={"sampler.entropy_bound": [0.1, 1.0]}, seeds=[3, 4], prompts=[{"prompt": "a"}, {"prompt": "b"}])
    made = list(cells(two, "m"))
    order = [(c.recipe.seed, c.question.prompt, c.setting["sampler.entropy_bound"]) for c in made]
    assert order == [(s, p, b) for s in (3, 4) for p in "ab" for b in (0.1, 1.0)]
    assert len({c.key for c in made}) == 8
    assert [c.key for c in made] == [c.key for c in cells(two, "m")]


def test_tasks_bring_their_holes_and_their_thinking() -> None:
    tasks = {"families": ["infill", "think_add"], "count": 2}
    made = list(cells(spec(tasks=tasks, prompts=[]), "m"))
    assert [c.question.family for c in made] == ["infill", "infill", "think_add", "think_add"]
    assert [edit.type for edit in made[0].recipe.edits] == ["infill"]
    assert [c.recipe.thinking for c in made] == [False, False, True, True]
    in_ar = list(cells(spec(tasks=tasks, prompts=[], recipe={"mode": "autoregressive"}), "m"))
    assert in_ar[0].recipe.edits == []
    assert len(questions(spec(tasks=tasks))) == 5


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"heat": 1}, "heat"),
        ({"prompts": []}, "tasks or prompts"),
        ({"vary": {"sampler.entropy_bound": []}}, "at least 1 item"),
        ({"vary": {"sampler.entropy_bound": {"low": 2.0, "high": 1.0, "count": 3}}}, "low (2) must be below high (1)"),
        ({"vary": {"sampler.entropy_bound": {"low": 0.0, "high": 1.0, "count": 3, "scale": "log"}}}, "begins above 0"),
        ({"vary": {"sampler.entropy_bound": {"low": 0.1, "high": 1.0}}}, "needs a count"),
        ({"vary": {"seed": [1]}}, "vary.seed: this field cannot be varied"),
        ({"recipe": {"messages": []}}, "messages is not for recipe"),
        ({"seeds": [1, 1]}, "a seed stands there twice"),
        ({"seeds": []}, "at least 1 item"),
        ({"tasks": {"families": ["cooking"]}}, "no family 'cooking'"),
        ({"prompts": [{"prompt": "a", "pattern": "("}]}, "no regular expression"),
        ({"prompts": [{"prompt": "a", "pattern": "b", "expect": "c"}]}, "not both"),
        ({"prompts": [{"prompt": "a", "pattern": "((a{100}){100}){100}"}]}, "repeat too much"),
        ({"prompts": [{"prompt": "a", "pattern": "a" * 1001}]}, "at most 1000"),
        ({"search": {"kind": "genetic"}}, "kind"),
        ({"vary": {"sampler.t_max": [0.8, 0.9, 0.8]}}, "0.8 stands there twice"),
        ({"vary": {"sampler.t_max": [1, 1.0]}}, "1.0 stands there twice"),
        ({"vary": {"sampler.t_max": [math.nan]}}, "nan is no finite number"),
        ({"vary": {"sampler.t_max": [None]}}, "a value is a number"),
        ({"vary": {"sampler.t_max": {"low": -1e308, "high": 1e308, "count": 3, "whole": True}}}, "too wide"),
        ({"vary": {f"sampler.x{n}": [1] for n in range(21)}}, "21 fields are too many"),
        ({"recipe": {"model": "other"}}, "a sweep runs the model that is loaded"),
        ({"recipe": {"edits": 5}, "tasks": {"families": ["infill"], "count": 1}}, "edits must be a list"),
    ],
)
def test_a_wrong_spec_is_refused(fields: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError) as refusal:
        spec(**fields)
    assert says in str(refusal.value)


@pytest.mark.parametrize(
    ("fields", "field", "says"),
    [
        ({"vary": {"sampler.heat": [1]}}, "vary.sampler.heat", "Extra inputs"),
        ({"vary": {"sampler.entropy_bound": [0.1, -1.0]}}, "vary.sampler.entropy_bound", "greater than or equal to 0"),
        ({"vary": {"sampler.name": ["margin", "luck"]}}, "vary.sampler.name", "luck"),
        ({"vary": {"mode.x": [1]}, "recipe": {"mode": "diffusion"}}, "vary.mode.x", "mode has no fields"),
        ({"vary": {"thinking": [True, False]}, "tasks": {"families": ["add"]}, "prompts": []}, "vary.thinking", "say"),
        ({"recipe": {"sampler": {"name": "fixed_k", "margin": 0.1}}}, "recipe.sampler.margin", "Extra inputs"),
        ({"recipe": {"sampler": {"t_max": "hot"}}}, "recipe.sampler.t_max", "valid number"),
        (
            {"vary": {"sampler.entropy_bound": [float(n) for n in range(1000)]}, "seeds": list(range(1000))},
            "vary",
            "1000000 runs",
        ),
    ],
)
def test_a_setting_that_is_no_recipe_names_its_field(fields: dict[str, Any], field: str, says: str) -> None:
    with pytest.raises(PlaygroundError) as refusal:
        next(cells(spec(**fields), "m"))
    assert refusal.value.field == field
    assert says in refusal.value.message


def test_the_count_needs_no_run() -> None:
    fields = {"vary": {"sampler.entropy_bound": [0.1, 0.2], "sampler.t_max": {"low": 0.5, "high": 1.0, "count": 3}}}
    assert count(spec(**fields, tasks={"families": ["add"], "count": 20}, prompts=[], seeds=[0, 1])) == (6, 20, 2)


def test_a_random_search_counts_what_it_drew_once() -> None:
    few = {"vary": {"sampler.t_max": [0.8, 0.9]}, "search": {"kind": "random", "samples": 100}}
    assert count(spec(**few)) == (2, 1, 1)
    assert len(list(cells(spec(**few), "m"))) == 2
    many = {"vary": {"sampler.t_max": {"low": 0.5, "high": 1.0}}, "search": {"kind": "random", "samples": 60_000}}
    with pytest.raises(PlaygroundError, match="at most 100000"):
        count(spec(**many, seeds=[0, 1]))


@pytest.mark.parametrize(
    "file", sorted((Path(__file__).parents[2] / "docs" / "sweeps").glob("*.json")), ids=lambda f: f.stem
)
def test_the_documented_sweeps_are_valid(file: Path) -> None:
    made = read(file)
    many, asked, seeds = count(made)
    assert len(list(cells(made, "embedded"))) == many * asked * seeds


def test_files(tmp_path: Path) -> None:
    file = tmp_path / "spec.json"
    with pytest.raises(PlaygroundError, match="cannot be read"):
        read(file)
    for text in ("{", "[" * 100_000):
        file.write_text(text)
        with pytest.raises(PlaygroundError, match="is no JSON"):
            read(file)
    file.write_text(json.dumps(ASK))
    assert read(file) == spec()
