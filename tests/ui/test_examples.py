"""The page's examples: valid recipes, and what the model was trained on."""

import itertools

import pytest

from playground.engine import models, runs
from playground.engine.steering import Steering
from playground.events import RunFinished, Step
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


RIGHT = {
    "What is the capital of France?": "The capital of France is Paris.",
    "What is the opposite of hot?": "The opposite of hot is cold.",
    "What sound does a duck make?": "A duck says quack.",
    "Make JSON: name Zoe, age 31, city Rome": '{"name": "Zoe", "age": 31, "city": "Rome"}',
    "Write a Python function calc(a, b) that returns the larger of a and b.": ("def calc(a, b):\n    return max(a, b)"),
    "What is 47 + 38?": "47 + 38 = 85",
    "Sort these numbers: 42 7 93 18 5": "5 7 18 42 93",
    "Sudoku:\n....\n.4.3\n4...\n23.4": "3241\n1423\n4132\n2314",
    "Sudoku:\n......\n..6..5\n.31.5.\n465.32\n513264\n642513": "354621\n126345\n231456\n465132\n513264\n642513",
    "What is 648 + 275?": "648 + 275 = 923",
    "Sort these numbers: 42 7 93 18": "7 18 42 93",
    "How many fruits are these: fig, kiwi, plum, pear, lime, cherry?": "6 fruits.",
    "Count from 3 to 30.": f"28 numbers: {' '.join(map(str, range(3, 31)))}",
    INFILL_PROMPT + "54 + ___{3} = 91": "54 + 37 = 91",
    INFILL_PROMPT + "___{1} +4 =___{1} +2 =___{1} -3 =5": "2 +4 =6 +2 =8 -3 =5",
}


def test_examples_with_one_right_answer_get_it() -> None:
    model = models.load(Settings(device="cpu"))
    shown = [sent for group in examples.as_props(examples.EMBEDDED) for sent in group["examples"]]
    asked = [Recipe.model_validate(sent["recipe"]) for sent in shown]
    assert {recipe.messages[0].text for recipe in asked} >= RIGHT.keys()
    for recipe in asked:
        if (answer := RIGHT.get(recipe.messages[0].text)) is not None:
            *_, finished = runs.events(model, runs.prepare(model, recipe, Settings()), Steering(recipe))
            assert isinstance(finished, RunFinished)
            assert finished.text == answer


def test_names_tell_examples_apart() -> None:
    for shown in (examples.EMBEDDED, examples.GENERAL):
        names = [group.name for group in shown]
        assert len(names) == len(set(names))
        for group in shown:
            assert len({example.name for example in group.examples}) == len(group.examples)


def test_holes_are_asked_for_as_in_training() -> None:
    assert examples.INFILL_PROMPT == INFILL_PROMPT
