import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from playground.recipe import MAX_SEED
from playground.web.messages import Acknowledge, Cancel, Join, Pace, Refused, Start, Update, parse

USER = {"role": "user", "content": "hi"}


def start(**recipe: Any) -> str:
    return json.dumps({"type": "start", "ref": "r", "recipe": {"messages": [USER]} | recipe})


def refused(text: str) -> Refused:
    with pytest.raises(Refused) as refusal:
        parse(text)
    assert refusal.value.code == "bad_request"
    return refusal.value


def test_messages_as_a_page_sends_them() -> None:
    assert isinstance(parse(start()), Start)
    assert parse('{"type":"ack","run":"r","seq":3}') == Acknowledge(type="ack", run="r", seq=3)
    assert parse('{"type":"join","run":"r"}') == Join(type="join", run="r", after=-1)
    assert parse('{"type":"cancel","run":"r","control":"t","ref":7}') == Cancel(
        type="cancel", run="r", control="t", ref=7
    )
    assert parse('{"type":"pace","run":"r","steps_per_second":null}') == Pace(
        type="pace", run="r", steps_per_second=None
    )
    update = parse('{"type":"update","run":"r","sampler":{"t_max":1}}')
    assert isinstance(update, Update)
    assert update.sampler is not None
    assert update.sampler.model_dump() == {"t_max": 1}


@pytest.mark.parametrize(
    "sampler",
    [
        {"t_max": 1},
        {"t_max": 1, "t_min": 1},
        {"confidence_threshold": 0, "stability_threshold": 0},
        {"entropy_bound": 0},
    ],
)
def test_what_is_merely_unusual_is_allowed(sampler: dict[str, object]) -> None:
    assert isinstance(parse(start(sampler=sampler)), Start)


@pytest.mark.parametrize(
    ("recipe", "field", "allowed"),
    [
        ({"sampler": {"t_max": float("nan")}}, "sampler.t_max", "a number from 0.01 to 100, not NaN"),
        ({"sampler": {"entropy_bound": float("inf")}}, "sampler.entropy_bound", "a number from 0 to 1000000, not Inf"),
        ({"sampler": {"entropy_bound": -0.1}}, "sampler.entropy_bound", "a number from 0 to 1000000, not -0.1"),
        ({"sampler": {"t_min": "0.4"}}, "sampler.t_min", 'a number from 0 to 100, not "0.4"'),
        ({"sampler": {"t_max": True}}, "sampler.t_max", "a number from 0.01 to 100, not true"),
        ({"sampler": {"t_min": 0.9}}, "sampler", "t_min (0.9) must not be above t_max (0.8)"),
        ({"sampler": {"max_denoising_steps": 1.5}}, "sampler.max_denoising_steps", "a whole number from 1 to 1024"),
        ({"sampler": {"name": "other"}}, "sampler.name", 'one of "entropy_bound", "top_probability", "margin"'),
        ({"sampler": {"name": 3}}, "sampler.name", '"euler", not 3'),
        ({"sampler": {"heat": 1}}, "sampler.heat", "is not known; allowed here: t_max, t_min"),
        (
            {"sampler": {"name": "margin", "entropy_bound": 1}},
            "sampler.entropy_bound",
            "threshold, name, margin",
        ),
        ({"sampler": {"name": "margin", "margin": 2}}, "sampler.margin", "a number from 0 to 1, not 2"),
        ({"sampler": {"name": "fixed_k", "k": 0}}, "sampler.k", "a whole number from 1 to 1000000, not 0"),
        ({"sampler": {"name": "euler", "kappa": "cubic"}}, "sampler.kappa", 'one of "linear", "cosine", not "cubic"'),
        ({"sampler": []}, "sampler", "an object with the fields t_max"),
        ({"decoding": {"top_p": 0}}, "decoding.top_p", "a number above 0 and up to 1, not 0"),
        ({"decoding": {"top_k": -1}}, "decoding.top_k", "a whole number from 0 to 2147483647, not -1"),
        ({"mode": "ar"}, "mode", 'one of "diffusion", "autoregressive", not "ar"'),
        ({"thinking": 1}, "thinking", "true or false, not 1"),
        ({"seed": -1}, "seed", "a whole number from 0 to 9007199254740991, not -1"),
        ({"seed": 1e300}, "seed", "a whole number"),
        ({"max_new_tokens": 0}, "max_new_tokens", "a whole number from 1 to 1000000, not 0"),
        ({"model": ""}, "model", "text of 1 to 256 characters"),
        ({"messages": []}, "messages", "a list of 1 to 256 entries, not a list of 0"),
        ({"messages": "hi"}, "messages", 'a list of 1 to 256 entries, not "hi"'),
        ({"messages": [USER | {"content": " \n"}]}, "messages", "the prompt is empty"),
        ({"messages": [{"role": "user"}]}, "messages.0.content", "is missing; it must be text"),
        ({"messages": [USER, USER]}, "messages", "must take turns"),
        ({"messages": [USER | {"role": "robot"}]}, "messages.0.role", 'one of "system", "user", "assistant"'),
        (
            {"messages": [USER | {"content": 3}]},
            "messages.0.content",
            "text of at most 200000 characters or a list of 1 to 64 entries, not 3",
        ),
        ({"messages": [USER | {"content": "\ud800"}]}, "messages.0.content", "half of a surrogate pair"),
        ({"edits": [3]}, "edits.0", "an object with the fields type, canvas, step"),
        ({"edits": [{"canvas": 0, "step": 0, "sampler": {"t_max": 1}}]}, "edits.0.step", "at least 1, not 0"),
        ({"edits": [{"canvas": 0, "step": 1, "sampler": {"t_max": 0}}]}, "edits.0.sampler.t_max", "not 0"),
        ({"prompt": "hi"}, "prompt", "is not known; allowed here: model, mode, messages"),
    ],
)
def test_a_mistake_in_a_recipe_names_the_field_and_what_is_allowed(
    recipe: dict[str, object], field: str, allowed: str
) -> None:
    refusal = refused(start(**recipe))
    assert refusal.field == f"recipe.{field}"
    assert refusal.ref == "r"
    assert allowed in refusal.message
    assert refusal.message.startswith(f"recipe.{field}")


@pytest.mark.parametrize(
    ("text", "field", "part"),
    [
        ("", None, "not valid JSON"),
        ("{", None, "not valid JSON"),
        ("hello", None, "not valid JSON"),
        ("null", None, "must be a JSON object, not null"),
        ("[1, 2]", None, "must be a JSON object, not a list of 2"),
        ("{}", "type", "must be one of"),
        ('{"type":"dance","ref":1}', "type", 'not "dance"'),
        ('{"type":["start"]}', "type", "not a list of 1"),
        ('{"type":"start"}', "recipe", "is missing"),
        ('{"type":"start","recipe":null}', "recipe", "not null"),
        ('{"type":"ack","run":"r"}', "seq", "is missing; it must be a whole number of at least 0"),
        ('{"type":"ack","run":"r","seq":"1"}', "seq", 'not "1"'),
        ('{"type":"ack","run":1,"seq":1}', "run", "text of 1 to 64 characters, not 1"),
        ('{"type":"update","run":"r"}', None, "either sampler (diffusion) or decoding (autoregressive)"),
        ('{"type":"update","run":"r","sampler":{}}', "sampler", "names no parameter"),
        ('{"type":"update","run":"r","sampler":{"t_max":null}}', "sampler", "t_max is null"),
        ('{"type":"pace","run":"r"}', "steps_per_second", "a number from 0.05 to 1000 or null"),
        ('{"type":"pace","run":"r","steps_per_second":0}', "steps_per_second", "not 0"),
        ('{"type":"join","run":"r","after":-2}', "after", "at least -1, not -2"),
        ('{"type":"join","run":"r","run":"s"}', "run", "stands twice"),
        ('{"type":"start","recipe":{"seed":1,"seed":2}}', "recipe.seed", "stands twice"),
        ('{"type":"cancel","run":"r","ref":{}}', "ref", "text"),
        ('{"type":"cancel","run":"r","ref":true}', "ref", "text"),
        ("[" * 20_000, None, "too deep"),
        ('{"type":"start","recipe":' + "[" * 100 + "]" * 100 + "}", "recipe", "nested more than 32 levels deep"),
        ('{"type":"ack","run":"r","seq":' + "9" * 5000 + "}", None, "a number too long"),
    ],
)
def test_a_mistake_in_a_message_is_told_in_a_sentence(text: str, field: str | None, part: str) -> None:
    refusal = refused(text)
    assert refusal.field == field
    assert part in refusal.message
    assert refusal.message.endswith((".", ".)"))


def test_further_mistakes_are_counted() -> None:
    assert refused(start(seed=-1, mode="x", thinking=3)).message.endswith("(2 more mistakes in this message.)")
    assert refused(start(seed=-1, mode="x")).message.endswith("(1 more mistake in this message.)")


@pytest.mark.parametrize("ref", ["x", 0, -3, MAX_SEED])
def test_the_clients_mark_is_kept(ref: str | int) -> None:
    assert refused(json.dumps({"type": "dance", "ref": ref})).ref == ref


@pytest.mark.parametrize("ref", [None, True, 1.5, [], {}, "x" * 257, "\ud800", 2**60])
def test_what_is_no_mark_is_not_echoed(ref: object) -> None:
    assert refused(json.dumps({"type": "dance", "ref": ref})).ref is None


def test_long_values_are_cut() -> None:
    assert len(refused(start(mode="x" * 1000)).message) < 200
    assert len(refused(json.dumps({"type": "join", "run": "r", "x" * 1000: 1})).message) < 200


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
fields = st.sampled_from(["recipe", "run", "seq", "sampler", "ref", "after", "control", "steps_per_second", "messages"])
kinds = st.sampled_from(["start", "ack", "join", "update", "pause", "resume", "cancel", "pace"])


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(type=kinds, rest=st.dictionaries(fields, anything, max_size=4))
def test_any_message_is_understood_or_refused(type: str, rest: dict[str, object]) -> None:
    sentence = ""
    try:
        parse(json.dumps({"type": type} | rest))
    except Refused as refusal:
        sentence = refusal.message
    assert len(sentence.encode()) < 600


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=st.text() | anything.map(json.dumps))
def test_any_text_is_understood_or_refused(text: str) -> None:
    with pytest.raises(Refused):
        parse(text)
