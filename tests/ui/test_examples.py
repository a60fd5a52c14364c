"""The page's examples: valid recipes, and what the model was trained on."""

import itertools

import pytest

from playground.engine import models, runs
from playground.engine.steering import Steering
from playground.events import Step
from playground.recipe import Recipe
from playground.settings import Settings
from playground.tiny.infill import INFILL_PROMPT
from playground.ui import examples

GROUPS = [*examples.EMBEDDED, *examples.GENERAL]


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.name)
def test_every_example_is_the_start_of_a_recipe(group: examples.Group) -> None:
    (props,) = examples.as_props((group,))
    assert props["teaches"].endswith(".")
    for example, sent in zip(group.examples, props["examples"], strict=True):
        recipe = Recipe.model_validate(sent["recipe"])
        assert recipe.messages[0].content == example.prompt
        assert recipe.seed == example.seed


def test_examples_of_a_changed_mind_have_revised_tokens() -> None:
    model = models.load(Settings(device="cpu"))
    (group,) = (group for group in examples.EMBEDDED if group.name == "Change of mind")
    for sent in examples.as_props((group,))[0]["examples"]:
        recipe = Recipe.model_validate(sent["recipe"])
        events = runs.events(model, runs.prepare(model, recipe, Settings()), Steering(recipe))
        steps = [event for event in events if isinstance(event, Step)]
        revised = [
            (step.step, at)
            for before, step in itertools.pairwise(steps)
            for at, accepted in enumerate(step.accepted)
            if accepted and before.accepted[at] and step.sampled[at] != before.sampled[at]
        ]
        assert revised, sent["name"]


def test_names_tell_examples_apart() -> None:
    for shown in (examples.EMBEDDED, examples.GENERAL):
        names = [group.name for group in shown]
        assert len(names) == len(set(names))
        for group in shown:
            assert len({example.name for example in group.examples}) == len(group.examples)


def test_holes_are_asked_for_as_in_training() -> None:
    assert examples.INFILL_PROMPT == INFILL_PROMPT
