import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from playground.events import adapter
from playground.parameters import (
    EntropyBoundSampler,
    EulerSampler,
    FixedKSampler,
    MarginSampler,
    TopProbabilitySampler,
)
from playground.recipe import Recipe
from playground.settings import Settings
from playground.ui import controls, page
from playground.ui.pieces import HEAD, MOUNT

STATIC = Path(__file__).parents[2] / "static"
LARGEST_RECORDING = 300_000


@pytest.fixture(scope="module")
def config() -> dict[str, Any]:
    """What the browser gets to build the page from; from another process, since Gradio leaves an event loop open."""
    script = "import json; from playground.settings import Settings; from playground.ui.page import build; "
    script += "print(json.dumps(build(Settings())[0].get_config_file(), default=str))"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True)
    built: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return built


def test_controls_go_to_javascript_and_not_to_python(config: dict[str, Any]) -> None:
    with_python = [event for event in config["dependencies"] if event["backend_fn"]]
    assert [event["targets"][0][1] for event in with_python] == ["finished"]


def test_every_parameter_has_a_control(config: dict[str, Any]) -> None:
    ids = {component["props"].get("elem_id") for component in config["components"]}
    recipe = Recipe.model_validate({"messages": [{"role": "user", "content": "-"}]})
    names = {*type(recipe.sampler).model_fields, *type(recipe.decoding).model_fields, "seed", "max_new_tokens"}
    assert names - {"name", "entropy_bound"} | {"rule"} <= ids


def test_the_page_knows_every_rule_and_its_parameter() -> None:
    """static/run/rules.js has each rule of the recipe under its name, with the field that only this rule has."""
    text = (STATIC / "run" / "rules.js").read_text()
    known = re.findall(r'^  (\w+): \{\n    title: .*\n    field: "(\w+)"', text, re.MULTILINE)
    common = re.search(r"COMMON = (\[.*\]);", text)
    assert common is not None
    rules = (EntropyBoundSampler, TopProbabilitySampler, MarginSampler, FixedKSampler, EulerSampler)
    expected = []
    for rule in rules:
        names = set(rule.model_fields) - {"name", *json.loads(common[1])}
        assert len(names) == 1
        expected.append((rule.model_fields["name"].annotation.__args__[0], *names))  # type: ignore[union-attr]
    assert known == expected
    for rule, (_, field) in zip(rules, known, strict=True):
        usual = rule.model_fields[field].default
        assert f"usual: {json.dumps(usual)}," in text


@pytest.mark.parametrize("knob", [*controls.SAMPLER, *controls.DECODING], ids=lambda knob: knob.name)
def test_ends_and_default_of_a_slider_are_allowed(knob: controls.Knob) -> None:
    group, name = knob.path.split(".")
    for value in (knob.minimum, knob.default, knob.maximum):
        value = int(value) if isinstance(knob.default, int) else float(value)
        fields: dict[str, Any] = {name: value} | ({"t_max": 100.0} if name == "t_min" else {})
        fields |= {"t_min": 0.0} if name == "t_max" else {}
        Recipe.model_validate({"messages": [{"role": "user", "content": "-"}], group: fields})


def test_page_starts_from_the_reports_values() -> None:
    recipe = Recipe.model_validate({"messages": [{"role": "user", "content": "-"}]})
    defaults = controls.defaults(Settings())
    assert defaults["sampler"] == recipe.sampler.model_dump()
    assert defaults["decoding"] == recipe.decoding.model_dump()
    assert defaults["max_new_tokens"] == recipe.max_new_tokens
    assert controls.defaults(Settings(max_new_tokens=100))["max_new_tokens"] == 100


def test_pieces_keep_model_text_out_of_markup(config: dict[str, Any]) -> None:
    props = [component["props"] for component in config["components"] if component["props"].get("js_on_load") == MOUNT]
    assert [each["elem_id"] for each in props] == [
        "head",
        "start",
        "examples",
        "stage",
        "inspector",
        "rule",
        "lab",
    ]
    for each in props:
        assert each["html_template"] == "<div class='piece'></div>"
    assert "'finished'" in MOUNT


def test_styles_are_relative_and_there() -> None:
    for line in HEAD.splitlines():
        href = line.split('href="')[1].split('"')[0]
        assert href.startswith("page/")
        assert (STATIC / href.removeprefix("page/")).is_file()


@pytest.mark.parametrize("mode", ["diffusion", "autoregressive"])
def test_recordings_are_whole_traces(mode: str) -> None:
    path = STATIC / page.recordings()[mode].removeprefix("page/")
    assert path.stat().st_size <= LARGEST_RECORDING
    events = [adapter.validate_json(line) for line in path.read_text().splitlines()]
    assert [event.seq for event in events] == list(range(len(events)))
    assert events[0].type == "run_started"
    assert events[0].recipe.mode == mode
    assert events[-1].type == "run_finished"
    assert events[-1].stop_reason == "end_of_turn"
    assert any(json.loads(line).get("top_ids") for line in path.read_text().splitlines())


def test_events_wait_for_their_turn_where_the_gpu_is_lent() -> None:
    """Gradio's own choice there is one that may wait, so a figure that is drawn would have the next run refused."""
    script = "from playground.settings import Settings; from playground.ui.page import build; "
    script += "blocks, _ = build(Settings(), lambda text: iter([text])); print(blocks._queue.max_size)"
    environment = {**os.environ, "SPACES_ZERO_GPU": "true"}
    command = [sys.executable, "-c", script]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True, env=environment)
    assert int(result.stdout) == Settings().max_waiting
