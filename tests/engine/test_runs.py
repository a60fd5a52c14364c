import itertools
import math
from collections.abc import Iterator

import pytest
import torch

from playground.engine import runs
from playground.engine.models import Model
from playground.engine.steering import Steering
from playground.errors import PlaygroundError
from playground.events import CanvasCommitted, CanvasStarted, Error, Event, RunFinished, Step, Token, adapter
from playground.parameters import Decoding, DecodingChange, EntropyBoundSampler, SamplerChange
from playground.recipe import Message, Recipe, SetDecoding, SetSampler
from playground.sampling import draws
from playground.settings import Settings

TIMES = {"ms", "device_ms", "created", "metrics"}


def recipe(prompt: str = "Tell a long story about Mia the fox and a friend named Hugo.", **fields: object) -> Recipe:
    return Recipe(messages=[Message(role="user", content=prompt)], **{"seed": 2, **fields})


def run(model: Model, wanted: Recipe, steering: Steering | None = None) -> list[Event]:
    return list(runs.events(model, runs.prepare(model, wanted, Settings()), steering or Steering(wanted)))


def timeless(events: list[Event]) -> list[dict[str, object]]:
    return [event.model_dump(exclude=TIMES) for event in events]


def finish(events: list[Event]) -> RunFinished:
    assert isinstance(events[-1], RunFinished)
    assert not any(isinstance(event, RunFinished) for event in events[:-1])
    return events[-1]


@pytest.mark.parametrize("mode", ["diffusion", "autoregressive"])
def test_the_same_recipe_gives_equal_events(embedded: Model, mode: str) -> None:
    wanted = recipe(mode=mode)
    first = run(embedded, wanted)
    torch.manual_seed(99)
    torch.rand(7)
    assert timeless(run(embedded, wanted)) == timeless(first)
    assert timeless(run(embedded, wanted.model_copy(update={"seed": 3}))) != timeless(first)


def test_interleaved_runs_do_not_disturb_each_other(embedded: Model) -> None:
    wanted = [
        recipe(seed=seed, mode=mode) for seed, mode in [(1, "diffusion"), (2, "autoregressive"), (3, "diffusion")]
    ]
    alone = [timeless(run(embedded, one)) for one in wanted]
    going: list[Iterator[Event]] = [
        runs.events(embedded, runs.prepare(embedded, one, Settings()), Steering(one)) for one in wanted
    ]
    together: list[list[Event]] = [[] for _ in wanted]
    for turn in itertools.zip_longest(*going):
        for events, event in zip(together, turn, strict=True):
            events += [event] if event is not None else []
    assert [timeless(events) for events in together] == alone


def test_what_a_diffusion_run_says(embedded: Model) -> None:
    events = run(embedded, recipe())
    assert [event.type for event in events[:3]] == ["run_started", "canvas_started", "step"]
    for event in events:
        assert adapter.validate_json(event.model_dump_json()) == event
    fed = None
    for event in events:
        if isinstance(event, CanvasStarted):
            fed = event.canvas_ids
            assert fed == draws.tokens(2, event.canvas, 0, "noise", 64, 1024).tolist()
        if isinstance(event, Step):
            columns = (event.predicted, event.sampled, event.accepted, event.entropy, event.canvas_ids)
            assert {len(column) for column in columns} == {64}
            for position, accepted in enumerate(event.accepted):
                if accepted:
                    assert event.canvas_ids[position] == event.sampled[position]
            assert {*event.predicted, *event.sampled, *event.canvas_ids} == set(event.texts)
            assert event.mean_entropy == pytest.approx(math.fsum(event.entropy) / 64, rel=1e-12)
            for predicted, best, share in zip(event.predicted, event.top_ids, event.top_probabilities, strict=True):
                assert predicted == best[0]
                assert share == sorted(share, reverse=True)
        if isinstance(event, CanvasCommitted):
            last = max((e for e in events if isinstance(e, Step) and e.canvas == event.canvas), key=lambda e: e.step)
            assert event.ids == last.predicted[: len(event.ids)]
            assert event.steps == last.step
    finished = finish(events)
    committed = [event for event in events if isinstance(event, CanvasCommitted)]
    assert len(committed) == 2
    assert "".join(event.text for event in committed) == finished.text
    assert finished.stop_reason == "end_of_turn"
    assert committed[-1].ids[-1] in embedded.end_ids
    metrics = finished.metrics
    assert metrics.total_tokens == sum(len(event.ids) for event in committed)
    assert metrics.tokens_per_forward == metrics.total_tokens / (metrics.total_denoising_steps + 1)


def test_the_browser_can_repeat_the_budget_sum(embedded: Model) -> None:
    for event in run(embedded, recipe()):
        if isinstance(event, Step):
            order = sorted(range(64), key=lambda position: (event.entropy[position], position))
            total, mask = 0.0, [False] * 64
            for position in order:
                mask[position] = total <= event.entropy_bound
                total += event.entropy[position]
            assert mask == event.accepted


def test_what_an_autoregressive_run_says(embedded: Model) -> None:
    events = run(embedded, recipe("Spell the word cloud.", mode="autoregressive", decoding=Decoding(temperature=0)))
    tokens = [event for event in events if isinstance(event, Token)]
    assert "".join(token.text for token in tokens) == finish(events).text == "c-l-o-u-d"
    assert [token.index for token in tokens] == list(range(len(tokens)))
    assert all(token.logprob <= 0 <= token.entropy for token in tokens)
    assert finish(events).metrics.tokens_per_forward == 1
    assert finish(events).metrics.total_denoising_steps is None


def test_max_new_tokens_is_rounded_up_and_trims_the_text(embedded: Model) -> None:
    finished = finish(run(embedded, recipe(max_new_tokens=10)))
    assert finished.stop_reason == "max_new_tokens"
    assert finished.metrics.total_tokens == 64
    assert finished.metrics.trimmed_tokens == 54
    assert len(embedded._tokenizer.encode(finished.text, add_special_tokens=False)) <= 10


def test_an_update_acts_on_the_next_step_and_becomes_an_edit(embedded: Model) -> None:
    wanted = runs.prepare(embedded, recipe(), Settings())
    steering = Steering(wanted)
    events: list[Event] = []
    for event in runs.events(embedded, wanted, steering):
        events.append(event)
        if isinstance(event, Step) and (event.canvas, event.step) == (0, 4):
            steering.change(SamplerChange(entropy_bound=3.5, t_max=0.6))
    steps = [event for event in events if isinstance(event, Step)]
    assert [step.entropy_bound for step in steps[:5]] == [0.1] * 4 + [3.5]
    edit = SetSampler(canvas=0, step=5, sampler=SamplerChange(entropy_bound=3.5, t_max=0.6))
    assert steps[4].edits == [edit]
    final = finish(events).recipe
    assert final.edits == [edit]
    again = run(embedded, Recipe.model_validate_json(final.model_dump_json()))
    assert timeless(again)[1:] == timeless(events)[1:]


def test_a_decoding_change_acts_on_the_next_token(embedded: Model) -> None:
    wanted = runs.prepare(embedded, recipe(mode="autoregressive"), Settings())
    steering = Steering(wanted)
    events: list[Event] = []
    for event in runs.events(embedded, wanted, steering):
        events.append(event)
        if isinstance(event, Token) and event.index == 2:
            steering.change(DecodingChange(temperature=0.1))
    tokens = [event for event in events if isinstance(event, Token)]
    assert [token.temperature for token in tokens[:4]] == [1, 1, 1, 0.1]
    assert finish(events).recipe.edits == [SetDecoding(index=3, decoding=DecodingChange(temperature=0.1))]
    assert timeless(run(embedded, finish(events).recipe))[1:] == timeless(events)[1:]


def test_changes_are_checked_when_they_are_asked_for() -> None:
    steering = Steering(recipe())
    with pytest.raises(ValueError, match="t_min"):
        steering.change(SamplerChange(t_min=0.9))
    with pytest.raises(ValueError, match="takes changes of its sampler"):
        steering.change(DecodingChange(top_k=1))
    assert steering.take() == []


def test_a_cap_lowered_below_the_present_step_commits_the_last_prediction(embedded: Model) -> None:
    change = SetSampler(canvas=0, step=6, sampler=SamplerChange(max_denoising_steps=3))
    events = run(embedded, recipe(max_new_tokens=64, edits=[change]))
    steps = [event for event in events if isinstance(event, Step)]
    committed = next(event for event in events if isinstance(event, CanvasCommitted))
    assert len(steps) == committed.steps == 5
    assert committed.stop_reason == "max_denoising_steps"
    assert committed.ids == steps[-1].predicted[: len(committed.ids)]


def test_a_changed_cap_changes_what_is_left_not_what_is_done(embedded: Model) -> None:
    change = SetSampler(canvas=0, step=3, sampler=SamplerChange(max_denoising_steps=10))
    steps = [event for event in run(embedded, recipe(edits=[change])) if isinstance(event, Step)]
    assert [round(step.t * step.max_denoising_steps) for step in steps[:4]] == [48, 47, 8, 7]


@pytest.mark.parametrize("mode", ["diffusion", "autoregressive"])
@pytest.mark.parametrize("after", [0, 1, 2, 5, 12])
def test_cancelling_ends_the_run_before_its_next_step(embedded: Model, mode: str, after: int) -> None:
    wanted = runs.prepare(embedded, recipe(mode=mode), Settings())
    steering = Steering(wanted)
    events: list[Event] = []
    for event in runs.events(embedded, wanted, steering):
        events.append(event)
        if len(events) == after + 1:
            steering.cancel()
    assert len(events) == after + 2
    finished = finish(events)
    assert finished.stop_reason == "cancelled"
    committed = [event for event in events if isinstance(event, CanvasCommitted)]
    if mode == "diffusion":
        assert finished.text == "".join(event.text for event in committed)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("mode", ["diffusion", "autoregressive"])
def test_logits_that_are_no_distribution_end_one_run(
    random_model: Model, monkeypatch: pytest.MonkeyPatch, mode: str, bad: float
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(
            random_model, "_logits", lambda hidden: torch.full((*hidden.shape[:-1], random_model.vocab_size), bad)
        )
        events = run(random_model, recipe(mode=mode))
    assert isinstance(events[-2], Error)
    assert events[-2].code == "bad_logits"
    assert finish(events).stop_reason == "error"
    assert finish(run(random_model, recipe(mode=mode, max_new_tokens=4))).stop_reason != "error"


@pytest.mark.parametrize(
    ("fields", "field", "says"),
    [
        ({"max_new_tokens": 9000}, "recipe.max_new_tokens", "8192"),
        ({"max_new_tokens": 2040}, "recipe.max_new_tokens", "room for"),
        ({"model": "other"}, "recipe.model", "embedded"),
    ],
)
def test_what_cannot_run_is_refused_before_it_starts(
    embedded: Model, fields: dict[str, object], field: str, says: str
) -> None:
    with pytest.raises(PlaygroundError, match=says) as refusal:
        runs.prepare(embedded, recipe(**fields), Settings())
    assert refusal.value.field == field


def test_a_prompt_over_the_context_is_refused(embedded: Model) -> None:
    with pytest.raises(PlaygroundError, match="at most 2048") as refusal:
        runs.prepare(embedded, recipe("word " * 2100), Settings())
    assert (refusal.value.code, refusal.value.field) == ("too_long", "recipe.messages")


@pytest.mark.parametrize(
    "sampler",
    [
        {"entropy_bound": 0, "max_denoising_steps": 5},
        {"t_max": 1, "t_min": 1},
        {"t_min": 0},
        {"t_max": 0.01, "t_min": 0},
        {"confidence_threshold": 0, "stability_threshold": 0, "max_denoising_steps": 3},
        {"entropy_bound": 1000000},
        {"max_denoising_steps": 1},
    ],
)
def test_what_is_merely_unusual_runs(embedded: Model, sampler: dict[str, float]) -> None:
    wanted = recipe("What is 2 + 3?", sampler=EntropyBoundSampler(**sampler))
    assert finish(run(embedded, wanted)).stop_reason == "end_of_turn"


def test_an_edit_beyond_the_end_of_its_canvas_applies_at_the_next_one(embedded: Model) -> None:
    late = SetSampler(canvas=0, step=48, sampler=SamplerChange(t_max=5.0))
    then = SetSampler(canvas=1, step=1, sampler=SamplerChange(t_min=3.0))
    events = run(embedded, recipe(edits=[late, then]))
    first = next(event for event in events if isinstance(event, Step) and event.canvas == 1)
    assert first.edits == [late, then]
    assert (first.temperature, finish(events).stop_reason) == (5.0, "end_of_turn")


def test_a_change_that_an_edit_to_come_forbids_is_refused() -> None:
    steering = Steering(recipe(edits=[SetSampler(canvas=0, step=10, sampler=SamplerChange(t_max=0.5))]))
    with pytest.raises(ValueError, match="t_min"):
        steering.change(SamplerChange(t_min=0.7))
    steering.change(SamplerChange(t_min=0.45))


@pytest.mark.parametrize("temperature", [1e-40, 5e-324, 1e-30])
def test_a_temperature_too_small_for_float32_is_refused_or_runs(embedded: Model, temperature: float) -> None:
    with pytest.raises(ValueError, match="temperature"):
        Decoding(temperature=temperature)
    assert finish(run(embedded, recipe("Hi", mode="autoregressive", decoding=Decoding(temperature=1e-4)))).text
