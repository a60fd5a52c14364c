"""Every trace passes, and each way of spoiling one is found and named."""

import json
from collections.abc import Callable
from typing import Any

import pytest
import torch

from playground.engine.models import Model
from playground.engine.verify import DoesNotFollow
from playground.errors import PlaygroundError
from playground.parameters import DecodingChange, SamplerChange
from playground.recipe import Infill, Pin, Renoise, SetCanvas, SetDecoding, SetSampler, Unpin
from tests.engine.traces import LONG, Trace, check, made

EDITED: list[tuple[str, dict[str, Any]]] = [
    ("plain", {}),
    ("two canvases", {"prompt": LONG, "seed": 2}),
    ("cap", {"sampler": {"max_denoising_steps": 3}}),
    ("top probability", {"sampler": {"name": "top_probability"}}),
    ("margin", {"sampler": {"name": "margin", "max_denoising_steps": 20}}),
    ("fixed k", {"sampler": {"name": "fixed_k", "k": 12}}),
    ("euler", {"sampler": {"name": "euler", "max_denoising_steps": 16}}),
    ("cosine", {"sampler": {"name": "euler", "kappa": "cosine", "max_denoising_steps": 9}}),
    ("fixed k and a pin", {"sampler": {"name": "fixed_k"}, "edits": [Pin(canvas=0, step=2, start=3, text=" wolf")]}),
    ("live k", {"sampler": {"name": "fixed_k"}, "changes": {4: SamplerChange(k=30)}}),
    ("greedy tokens", {"mode": "autoregressive", "decoding": {"temperature": 0.0}}),
    ("tokens", {"mode": "autoregressive"}),
    ("few tokens", {"mode": "autoregressive", "max_new_tokens": 5}),
    ("trimmed", {"max_new_tokens": 10}),
    ("set", {"edits": [SetSampler(canvas=0, step=3, sampler=SamplerChange(entropy_bound=2.0, t_max=1.0))]}),
    ("cap lowered", {"edits": [SetSampler(canvas=0, step=5, sampler=SamplerChange(max_denoising_steps=2))]}),
    (
        "pin",
        {"edits": [Pin(canvas=0, step=4, start=5, text=" purple wolf"), Unpin(canvas=0, step=6, start=6, length=9)]},
    ),
    ("pinned at once", {"edits": [Pin(canvas=0, step=1, start=0, text="Once Tom")]}),
    ("all pinned", {"edits": [Pin(canvas=0, step=1, start=0, ids=[25, *[1] * 63])]}),
    ("renoise", {"edits": [Renoise(canvas=0, step=6, start=10, length=20)]}),
    ("canvas", {"edits": [SetCanvas(canvas=0, step=1, text="Mia was a clever fox.", noise=0.5)]}),
    ("canvas later", {"edits": [SetCanvas(canvas=0, step=3, text="Mia was a clever fox.", noise=0.5)]}),
    ("infill", {"edits": [Infill(text="Once there was a ___{1} fox named Mia. One day Mia found a ___{2} there.")]}),
    ("set tokens", {"mode": "autoregressive", "edits": [SetDecoding(index=4, decoding=DecodingChange(temperature=0))]}),
    ("live change", {"changes": {4: SamplerChange(entropy_bound=3.0), 7: SamplerChange(t_min=0.1)}}),
    ("live cap", {"changes": {4: SamplerChange(max_denoising_steps=2)}}),
    ("live change of tokens", {"mode": "autoregressive", "changes": {4: DecodingChange(top_k=3)}}),
    ("cancelled", {"cancel_after": 5}),
    ("cancelled at once", {"cancel_after": 0}),
    ("cancelled tokens", {"mode": "autoregressive", "cancel_after": 5}),
    ("cancelled at the last", {"cancel_after": 1000}),
]


@pytest.mark.parametrize("fields", [fields for _, fields in EDITED], ids=[name for name, _ in EDITED])
def test_every_trace_follows_with_the_same_bits(embedded: Model, fields: dict[str, Any]) -> None:
    trace = made(embedded, **fields)
    verdict = check(embedded, trace)
    assert (verdict.events, verdict.differing, verdict.largest) == (len(trace), 0, 0.0)
    assert verdict.sentence().startswith(f"all {len(trace)} events follow")


def test_a_failed_run_follows(embedded: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    passes = iter(range(100))
    whole = Model.decode_pass

    def fails(*arguments: Any) -> torch.Tensor:
        if next(passes) == 3:
            raise RuntimeError("CUDA out of memory")
        return whole(*arguments)

    with monkeypatch.context() as broken:
        broken.setattr(Model, "decode_pass", fails)
        trace = made(embedded)
    assert [event["type"] for event in trace[-2:]] == ["error", "run_finished"]
    assert check(embedded, trace).passes == 3


def test_experts_and_a_sliding_window_follow(random_model: Model) -> None:
    trace = made(random_model, max_new_tokens=64, sampler={"max_denoising_steps": 4, "entropy_bound": 4.0})
    assert check(random_model, trace).differing == 0
    assert check(random_model, made(random_model, mode="autoregressive", max_new_tokens=40)).differing == 0


@pytest.fixture(scope="module")
def story(embedded: Model) -> Trace:
    """run_started, canvas_started, steps from seq 2 on, a commit, and the same for a second canvas."""
    return made(embedded, LONG, seed=2)


def first(trace: Trace, kind: str, number: int = 0) -> dict[str, Any]:
    return [event for event in trace if event["type"] == kind][number]


def bump(event: dict[str, Any], column: str, at: int, by: float) -> None:
    event[column][at] += by


def flip(event: dict[str, Any], column: str, at: int) -> None:
    event[column][at] = not event[column][at]


def other(event: dict[str, Any], column: str, at: int) -> None:
    """Another token of the vocabulary, with its text, so that only the decision is wrong."""
    event[column][at] = (event[column][at] + 7) % 1024


def renumber(trace: Trace) -> None:
    for seq, event in enumerate(trace):
        event["seq"] = seq


def without(trace: Trace, kind: str, number: int) -> None:
    trace.remove(first(trace, kind, number))
    renumber(trace)


SPOILT: list[tuple[str, Callable[[Trace], object], str, str]] = [
    ("temperature", lambda t: first(t, "step", 2).update(temperature=0.79), "temperature", "step 3"),
    ("noise level", lambda t: first(t, "step", 2).update(t=0.5), "t", "step 3"),
    ("bound", lambda t: first(t, "step", 2).update(entropy_bound=0.2), "entropy_bound", "step 3"),
    ("entropy", lambda t: bump(first(t, "step", 1), "entropy", 9, 0.01), "entropy", "position 9"),
    ("mask", lambda t: flip(first(t, "step", 1), "accepted", 9), "accepted", "entry 9"),
    ("draft", lambda t: other(first(t, "step", 1), "predicted", 3), "predicted", "position 3"),
    ("sample", lambda t: other(first(t, "step", 1), "sampled", 3), "sampled", "position 3"),
    ("no token", lambda t: first(t, "step", 1)["sampled"].__setitem__(0, 99999), "sampled", "not a token"),
    ("renoised", lambda t: other(first(t, "step", 1), "canvas_ids", 63), "canvas_ids", "entry 63"),
    ("noise", lambda t: other(first(t, "canvas_started"), "canvas_ids", 5), "canvas_ids", "entry 5"),
    ("second noise", lambda t: other(first(t, "canvas_started", 1), "canvas_ids", 5), "canvas_ids", "canvas 1"),
    ("mean entropy", lambda t: first(t, "step", 1).update(mean_entropy=1.0), "mean_entropy", "step 2"),
    ("stability", lambda t: first(t, "step", 1).update(stable_steps=4), "stable_steps", "step 2"),
    ("a step less", lambda t: without(t, "step", 4), "step", "where 5 follows"),
    ("the last step less", lambda t: without(t, "step", -1), "type", "step comes here"),
    ("commit left out", lambda t: without(t, "canvas_committed", 0), "type", "canvas_committed comes here"),
    ("committed ids", lambda t: other(first(t, "canvas_committed"), "ids", 2), "ids", "entry 2"),
    ("committed text", lambda t: first(t, "canvas_committed").update(text="so"), "text", "canvas 0"),
    (
        "commit's reason",
        lambda t: first(t, "canvas_committed").update(stop_reason="max_denoising_steps"),
        "stop_reason",
        "c",
    ),
    ("alternatives", lambda t: first(t, "step", 1)["top_ids"][4].reverse(), "top_ids", "position 4"),
    ("probabilities", lambda t: bump(first(t, "step", 1)["top_probabilities"], 4, 0, 0.1), "top_probabilities", "pos"),
    ("top texts", lambda t: first(t, "step", 1)["top_texts"].update({"1": "no"}), "top_texts", "entry 1"),
    ("texts", lambda t: first(t, "step", 1)["texts"].update({"1": "no"}), "texts", "entry 1"),
    ("edit out of nowhere", lambda t: first(t, "step", 1).update(pinned=[True] * 64), "pinned", "step 2"),
    ("fed ids", lambda t: first(t, "step", 1).update(fed_ids=[1] * 64), "fed_ids", "step 2"),
    ("prompt", lambda t: t[0]["prompt_ids"].reverse(), "prompt_ids", "run_started"),
    ("seed", lambda t: (t[0]["recipe"].update(seed=3), t[-1]["recipe"].update(seed=3)), "canvas_ids", "canvas 0"),
    ("seed at the end", lambda t: t[-1]["recipe"].update(seed=3), "recipe", "run_finished"),
    ("clock", lambda t: first(t, "step", 1).update(device_ms=0.0), "device_ms", "step 2"),
    ("tokens", lambda t: t[-1]["metrics"].update(total_tokens=1), "metrics.total_tokens", "run_finished"),
    ("rate", lambda t: t[-1]["metrics"].update(tokens_per_second=1e6), "metrics.tokens_per_second", "run_finished"),
    ("text", lambda t: t[-1].update(text="something else"), "text", "run_finished"),
    ("reason", lambda t: t[-1].update(stop_reason="cancelled"), "stop_reason", "'end_of_turn' follows"),
    ("vocabulary", lambda t: t[0].update(vocab_size=7), "vocab_size", "run_started"),
]


@pytest.mark.parametrize("tolerance", [0.0, 1e-3])
@pytest.mark.parametrize(("spoil", "field", "says"), [row[1:] for row in SPOILT], ids=[row[0] for row in SPOILT])
def test_a_spoilt_trace_is_found_and_named(
    embedded: Model, story: Trace, spoil: Callable[[Trace], object], field: str, says: str, tolerance: float
) -> None:
    trace: Trace = json.loads(json.dumps(story))
    spoil(trace)
    with pytest.raises(DoesNotFollow) as fault:
        check(embedded, trace, tolerance)
    assert fault.value.name == field
    assert says in fault.value.message


@pytest.mark.parametrize(
    ("spoil", "field"),
    [
        (lambda t: other(t[3], "ids", 0), "id"),
        (lambda t: t[3].update(entropy=9.0), "entropy"),
        (lambda t: t[3].update(logprob=-9.0), "logprob"),
        (lambda t: t[3].update(temperature=0.5), "temperature"),
        (lambda t: t[3].update(text="x"), "text"),
        (lambda t: t[3].update(index=9), "index"),
        (lambda t: t[3].update(ms=-1.0), "ms"),
        (lambda t: t[3]["top_ids"].reverse(), "top_ids"),
        (lambda t: (t.pop(-2), renumber(t)), "stop_reason"),
        (lambda t: t[-1]["metrics"].update(tokens_per_second=1e6), "metrics.tokens_per_second"),
    ],
)
def test_a_spoilt_autoregressive_trace_is_found(embedded: Model, spoil: Callable[[Trace], object], field: str) -> None:
    trace = made(embedded, "What is 47 + 38?", mode="autoregressive")
    for event in trace:
        event["ids"] = [event.pop("id")] if "id" in event else event.get("ids")
    spoil(trace)
    for event in trace:
        ids = event.pop("ids")
        event |= {"id": ids[0]} if event["type"] == "token" else {}
    with pytest.raises(DoesNotFollow) as fault:
        check(embedded, trace, 1e-3)
    assert fault.value.name == field


def test_another_revision_is_refused_in_a_sentence(embedded: Model, story: Trace) -> None:
    trace: Trace = json.loads(json.dumps(story))
    trace[0]["model_revision"] = "0123456789abcdef"
    with pytest.raises(PlaygroundError, match="revision 0123456789abcdef") as refusal:
        check(embedded, trace)
    assert not isinstance(refusal.value, DoesNotFollow)
    assert refusal.value.field == "model"


def test_a_fault_in_another_dtype_says_so(embedded: Model, story: Trace) -> None:
    trace: Trace = json.loads(json.dumps(story))
    trace[0]["dtype"] = "bfloat16"
    bump(first(trace, "step", 1), "entropy", 9, 0.1)
    with pytest.raises(DoesNotFollow, match="recorded in bfloat16 on cpu, checked in float32 on cpu"):
        check(embedded, trace, 1e-3)


def test_steps_without_alternatives_follow_too(embedded: Model, story: Trace) -> None:
    trace: Trace = json.loads(json.dumps(story))
    for event in trace:
        if event["type"] == "step":
            event["top_ids"] = event["top_probabilities"] = None
    assert check(embedded, trace).differing == 0
