"""Figures, Pareto fronts, pairs and presets, from rows made by hand."""

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from playground.events import CanvasCommitted, Step
from playground.lab import figures, preset
from playground.lab import rows as making
from playground.lab.results import Row
from playground.lab.summary import agreeing, lines, paired, pareto
from playground.parameters import EntropyBoundSampler, FixedKSampler


def row(number: int, setting: dict[str, Any], right: int | None, steps: float, **more: Any) -> Row:
    """A row of one's own."""
    values: dict[str, Any] = {
        "key": f"{number}", "setting": json.dumps(setting, sort_keys=True), "question": number, "family": "add",
        "prompt": "p", "seed": 0, "mode": "diffusion", "right": right, "text": "", "stop_reason": "end_of_turn",
        "tokens": 10, "passes": 5, "steps": int(steps), "effective_denoising_steps": steps,
        "tokens_per_forward": 10 / steps, "canvases": 1, "capped": 0, "revised": 0, "loops": 0, "seconds": 0.1,
        "settled": "[0.5, 1.0]", "recipe": "{}",
    }  # fmt: skip
    return Row(**values | more)


CAP = figures.CAP
ROWS = [
    *(row(n, {CAP: 8}, int(n < 5), 4.0) for n in range(10)),
    *(row(n, {CAP: 24}, int(n < 8), 8.0, family="sort", settled="[0.2, 0.4, 1.0]") for n in range(10)),
    *(row(n, {CAP: 48}, int(n < 7), 10.0) for n in range(10)),
]


def test_the_front_has_what_nothing_beats() -> None:
    found = lines(ROWS)
    assert [line.accuracy for line in found] == [0.5, 0.8, 0.7]
    assert [line.setting[CAP] for line in pareto(found, "effective_denoising_steps", more=False)] == [8, 24]
    assert [line.setting[CAP] for line in pareto(found, "tokens_per_forward", more=True)] == [8, 24]
    assert [line.setting[CAP] for line in pareto(found, "effective_denoising_steps", more=True)] == [24, 48]


def test_the_front_is_that_of_every_comparison() -> None:
    """Against the definition, one by one, with ties of all kinds."""
    rng = random.Random(3)
    rows = [row(n, {CAP: n // 4}, rng.randint(0, 1), rng.choice([2.0, 4.0, 5.0, 10.0])) for n in range(4 * 60)]
    found = lines(rows)
    places = [(line.accuracy or 0, line.tokens_per_forward or 0) for line in found]
    beaten = [any(a >= c and b >= d and (a, b) != (c, d) for a, b in places) for c, d in places]
    expected = [line for line, lost in zip(found, beaten, strict=True) if not lost]
    assert pareto(found, "tokens_per_forward", more=True) == expected


def test_pairs_take_the_same_questions_and_seeds() -> None:
    mean, error, count = paired(ROWS, {CAP: 24}, {CAP: 8})
    assert (mean, count) == (pytest.approx(0.3), 10)
    assert error == pytest.approx((0.21 * 10 / 9 / 10) ** 0.5)
    with pytest.raises(ValueError, match="no question"):
        paired(ROWS, {CAP: 24}, {CAP: 99})


def test_every_figure_names_its_axes(tmp_path: Path) -> None:
    drawn = figures.all_of(ROWS)
    assert list(drawn) == [
        "Correctness against tokens per forward pass",
        "Correctness against steps",
        "Correctness against the step cap",
        "Steps by family",
        "How positions settle",
    ]
    for name, figure in drawn.items():
        assert figure.layout.xaxis.title.text, name
        assert figure.layout.yaxis.title.text or name == "Steps by family"
    file = tmp_path / "figures.html"
    figures.write(drawn, "a <b> sweep", file)
    text = file.read_text()
    assert "a &lt;b&gt; sweep" in text
    assert "<script src=" not in text
    assert text.count("plotly-graph-div") >= 5


def test_settling_is_a_mean_in_which_stopped_runs_stay() -> None:
    figure = figures.commitment([*ROWS[:1], row(3, {CAP: 8}, 1, 4.0, settled="[0.1, 0.2, 0.6, 1.0]")])
    assert list(figure.data[0].y) == pytest.approx([0.3, 0.6, 0.8, 1.0])


def test_points_say_their_setting() -> None:
    figure = figures.correctness_against(lines(ROWS), "tokens_per_forward")
    points = figure.data[1]
    assert list(points.text) == ["max_denoising_steps 8", "max_denoising_steps 24", "max_denoising_steps 48"]
    assert [json.loads(each)[CAP] for each in points.customdata] == [8, 24, 48]
    assert figures.setting_name({"sampler.entropy_bound": 0.10}) == "entropy_bound 0.1"


def test_two_sweeps_side_by_side() -> None:
    figure = figures.compared(ROWS[:10], ROWS[10:20], ("ours", "theirs"))
    assert [bar.name for bar in figure.data] == ["ours", "theirs"]
    assert list(figure.data[0].y) == [0.5]
    assert list(figure.data[1].x) == ["sort"]


def test_without_checks_agreement_is_drawn() -> None:
    """Where nothing tells right from wrong: the share of answers that the released settings gave too."""
    texts = {8: ["a", "x", "x", "c"], 48: ["a", "b", "c", "c"]}
    unknown = [
        row(n, {CAP: cap}, None, cap / 4, text=text) for cap, found in texts.items() for n, text in enumerate(found)
    ]
    drawn = figures.all_of(unknown, {CAP: 48})
    assert list(drawn) == [
        "Agreement against tokens per forward pass",
        "Agreement against steps",
        "Agreement against the step cap",
        "Steps by family (released settings)",
        "How positions settle (released settings)",
    ]
    figure = drawn["Agreement against steps"]
    assert figure.layout.yaxis.title.text == "same answer as the released settings, % of runs"
    assert list(figure.data[1].y) == [0.5, 1.0]
    slow = figures.all_of(unknown)["Agreement against steps"]
    assert slow.layout.yaxis.title.text == "same answer as max_denoising_steps 48, % of runs"


def test_agreement_leaves_out_what_has_no_partner_or_failed() -> None:
    rows = [row(0, {CAP: 48}, None, 9, text="a"), row(1, {CAP: 48}, None, 9, text="no", stop_reason="error")]
    rows += [row(n, {CAP: 8}, None, 3, text="a") for n in range(3)]
    assert [each.right for each in agreeing(rows, {CAP: 48})] == [1, None, 1, None, None]


def test_two_sweeps_on_one_map_have_a_front_each() -> None:
    figure = figures.overlaid(lines(ROWS[:10]), lines(ROWS[10:]), ("ours", "theirs"))
    assert [trace.name for trace in figure.data if trace.mode == "markers"] == ["ours", "theirs"]
    assert list(figure.data[2].y) == [0.8]


def test_the_caps_are_named_on_their_axis() -> None:
    axis = figures.correctness_against_cap(ROWS).layout.xaxis
    assert (axis.type, list(axis.tickvals)) == ("log", [8, 24, 48])


def test_without_checks_and_without_a_choice_cost_alone_is_drawn() -> None:
    unknown = [row(n, {}, None, 4.0) for n in range(3)]
    assert list(figures.all_of(unknown)) == ["Steps by family", "How positions settle"]
    in_ar = [row(n, {}, None, 4.0, effective_denoising_steps=None, settled="[]") for n in range(3)]
    assert figures.all_of(in_ar) == {}


def test_a_preset_is_transformers_own_configuration() -> None:
    """The snippet is run, and its configuration has the sampler's values."""
    sampler = EntropyBoundSampler(entropy_bound=0.25, t_max=0.9, t_min=0.3, max_denoising_steps=20)
    assert preset.as_json("mine", sampler)["sampler"] == sampler.model_dump()
    program = preset.as_transformers(sampler) + "import json; print(json.dumps([config.sampler_config.entropy_bound, "
    program += "config.t_max, config.t_min, config.max_denoising_steps, config.confidence_threshold, "
    program += "config.stability_threshold]))"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
    assert json.loads(result.stdout.splitlines()[-1]) == [0.25, 0.9, 0.3, 20, 0.005, 1]
    with pytest.raises(ValueError, match="not fixed_k"):
        preset.as_transformers(FixedKSampler(name="fixed_k"))
    with pytest.raises(ValueError, match="above 0"):
        preset.as_transformers(EntropyBoundSampler(entropy_bound=0))


def step(number: int, sampled: list[int], accepted: list[bool]) -> Step:
    """A denoising step of a canvas of two."""
    return Step.model_construct(canvas=0, step=number, sampled=sampled, accepted=accepted, predicted=sampled)


def test_revised_is_what_was_accepted_as_something_else_on_the_way() -> None:
    steps = [step(1, [5, 7], [True, True]), step(2, [6, 7], [True, False]), step(3, [5, 8], [True, False])]
    committed = CanvasCommitted.model_construct(canvas=0, ids=[5, 7])
    assert making._revised([*steps, committed]) == 1
    assert making._revised([steps[2], CanvasCommitted.model_construct(canvas=0, ids=[5, 9])]) == 0
    assert making.settled([*steps, committed]) == [1.0, 0.5, 0.5]
