import json

import pytest
from pydantic import ValidationError

from playground.parameters import EntropyBoundSampler, FixedKSampler, SamplerChange
from playground.recipe import Recipe

PROMPT = {"messages": [{"role": "user", "content": "Hi"}]}


def parse(**fields: object) -> Recipe:
    return Recipe.model_validate_json(json.dumps(PROMPT | fields))


def test_all_but_the_messages_has_the_defaults_of_the_report() -> None:
    sampler = parse().sampler
    assert (sampler.entropy_bound, sampler.t_max, sampler.t_min) == (0.1, 0.8, 0.4)
    assert (sampler.max_denoising_steps, sampler.confidence_threshold, sampler.stability_threshold) == (48, 0.005, 1)


def test_a_recipe_survives_json() -> None:
    recipe = parse(
        seed=2**53 - 1,
        edits=[
            {"type": "set", "canvas": 1, "step": 2, "sampler": {"t_max": 1}},
            {"type": "set", "canvas": 0, "step": 1, "sampler": {"entropy_bound": 0.5, "stability_threshold": 0}},
        ],
    )
    assert Recipe.model_validate_json(recipe.model_dump_json()) == recipe


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"messages": []}, ("messages",)),
        ({"messages": [{"role": "user", "content": " \n"}]}, ("messages",)),
        ({"messages": [{"role": "assistant", "content": "x"}]}, ("messages",)),
        ({"messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]}, ("messages",)),
        ({"messages": [{"role": "user", "content": "x" * 200_001}]}, ("messages", 0, "content", "text")),
        ({"messages": [{"role": "user", "content": 3}]}, ("messages", 0, "content", "text")),
        ({"messages": [{"role": "king", "content": "x"}]}, ("messages", 0, "role")),
        ({"seed": -1}, ("seed",)),
        ({"seed": 2**53}, ("seed",)),
        ({"seed": True}, ("seed",)),
        ({"seed": 1.5}, ("seed",)),
        ({"max_new_tokens": 0}, ("max_new_tokens",)),
        ({"temperature": 1}, ("temperature",)),
        ({"sampler": {"temperature": 1}}, ("sampler", "temperature")),
        ({"sampler": {"name": "other"}}, ("sampler",)),
        ({"sampler": {"entropy_bound": -0.1}}, ("sampler", "entropy_bound")),
        ({"sampler": {"entropy_bound": "0.1"}}, ("sampler", "entropy_bound")),
        ({"sampler": {"entropy_bound": None}}, ("sampler", "entropy_bound")),
        ({"sampler": {"entropy_bound": True}}, ("sampler", "entropy_bound")),
        ({"sampler": {"t_max": float("nan")}}, ("sampler", "t_max")),
        ({"sampler": {"t_max": float("inf")}}, ("sampler", "t_max")),
        ({"sampler": {"t_max": 0}}, ("sampler", "t_max")),
        ({"sampler": {"t_max": 0.3, "t_min": 0.4}}, ("sampler",)),
        ({"sampler": {"max_denoising_steps": 0}}, ("sampler", "max_denoising_steps")),
        ({"sampler": {"max_denoising_steps": 4.5}}, ("sampler", "max_denoising_steps")),
        ({"sampler": {"stability_threshold": -1}}, ("sampler", "stability_threshold")),
        ({"decoding": {"top_p": 0}}, ("decoding", "top_p")),
        ({"decoding": {"top_k": -1}}, ("decoding", "top_k")),
        (
            {"edits": [{"type": "set", "canvas": -1, "step": 1, "sampler": {"t_max": 1}}]},
            ("edits", 0, "set_sampler", "canvas"),
        ),
        ({"edits": [{"type": "set", "canvas": 0, "step": 1, "sampler": {}}]}, ("edits", 0, "set_sampler", "sampler")),
        ({"edits": [{"type": "set", "canvas": 0, "step": 1, "sampler": {"t_min": 0.9}}]}, ()),
        ({"edits": [{"type": "set", "index": 0, "decoding": {"top_k": 1}}]}, ()),
        ({"edits": [{"type": "pin", "canvas": 0, "step": 1, "start": 0}]}, ("edits", 0, "pin")),
        ({"edits": [{"type": "dance"}]}, ("edits", 0)),
        ({"edits": [7]}, ("edits", 0)),
    ],
)
def test_what_is_wrong_is_refused_where_it_is(fields: dict[str, object], place: tuple[str | int, ...]) -> None:
    with pytest.raises(ValidationError) as refusal:
        parse(**fields)
    found = refusal.value.errors()[0]["loc"]
    if place[:1] == ("sampler",) and found[1:2] == ("entropy_bound",):
        found = ("sampler", *found[2:])  # pydantic puts the rule's name in between
    assert found == place


def test_a_recipe_names_its_rule_or_has_the_released_one() -> None:
    assert parse(sampler={}).sampler == EntropyBoundSampler()
    assert parse(sampler={"name": "fixed_k"}).sampler == FixedKSampler(name="fixed_k", k=8)
    assert parse(sampler={"name": "euler", "kappa": "cosine"}).sampler.name == "euler"
    with pytest.raises(ValidationError) as refusal:
        parse(sampler={"name": "margin", "entropy_bound": 1.0})
    assert refusal.value.errors()[0]["loc"] == ("sampler", "margin", "entropy_bound")


@pytest.mark.parametrize("edit", [{"entropy_bound": 1.0}, {"kappa": "cosine"}])
def test_a_change_fits_the_rule(edit: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match="the rule margin has no"):
        parse(sampler={"name": "margin"}, edits=[{"type": "set", "canvas": 0, "step": 1, "sampler": edit}])


def test_half_a_surrogate_pair_is_no_text() -> None:
    with pytest.raises(ValidationError, match="unicode"):
        Recipe.model_validate({"messages": [{"role": "user", "content": "a\ud800"}]})


def test_integers_pass_for_floats() -> None:
    assert parse(sampler={"entropy_bound": 1, "t_max": 1, "t_min": 1}).sampler.t_max == 1.0


def test_a_change_keeps_what_it_does_not_name() -> None:
    changed = EntropyBoundSampler(t_min=0.2).changed(SamplerChange(t_max=0.9))
    assert (changed.t_min, changed.t_max, changed.entropy_bound) == (0.2, 0.9, 0.1)
