"""The page's examples: valid recipes, and what the model was trained on."""

import pytest

from playground.recipe import Recipe
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


def test_names_tell_examples_apart() -> None:
    for shown in (examples.EMBEDDED, examples.GENERAL):
        names = [group.name for group in shown]
        assert len(names) == len(set(names))
        for group in shown:
            assert len({example.name for example in group.examples}) == len(group.examples)


def test_holes_are_asked_for_as_in_training() -> None:
    assert examples.INFILL_PROMPT == INFILL_PROMPT
