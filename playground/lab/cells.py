"""From a spec to its runs: settings, questions, seeds, and a key for each run that outlives the process."""

import hashlib
import itertools
import json
import math
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pydantic import ValidationError

from playground.errors import PlaygroundError
from playground.lab.spec import MOST_RUNS, Grid, Random, Range, SweepSpec
from playground.parameters import Sampler
from playground.recipe import Recipe
from playground.tiny.tasks import Task, held_out_set

Setting = dict[str, Any]
"""Values of the varied fields, by dotted name."""


@dataclass(frozen=True)
class Question:
    """What is asked, and what tells a right answer. `family` is "" for prompts of one's own."""

    number: int
    prompt: str
    family: str = ""
    task: Task | None = None
    expect: str | None = None
    pattern: str | None = None


@dataclass(frozen=True)
class Cell:
    """One run: a setting, a question and a seed, and the recipe that follows."""

    setting: Setting
    question: Question
    recipe: Recipe

    @property
    def key(self) -> str:
        """A name for the run that depends on its recipe and question alone: 32 hex digits."""
        parts = [self.recipe.model_dump(mode="json"), self.question.number, self.question.expect, self.question.pattern]
        text = json.dumps(parts, sort_keys=True, ensure_ascii=False)
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def settings(spec: SweepSpec) -> list[Setting]:
    """All settings of a spec, in order; one that is empty where nothing varies."""
    if isinstance(spec.search, Grid):
        columns = [values.grid() if isinstance(values, Range) else values for values in spec.vary.values()]
        return [dict(zip(spec.vary, values, strict=True)) for values in itertools.product(*columns)]
    rng = random.Random(spec.search.seed)
    drawn: dict[tuple[Any, ...], None] = {}
    for _ in range(spec.search.samples):
        values = [each.at(rng.random()) if isinstance(each, Range) else rng.choice(each) for each in spec.vary.values()]
        drawn.setdefault(tuple(values))
    return [dict(zip(spec.vary, values, strict=True)) for values in drawn]


def questions(spec: SweepSpec) -> list[Question]:
    """What a spec asks: its tasks by family, then its own prompts."""
    found: list[Question] = []
    if spec.tasks is not None:
        for family in spec.tasks.families:
            for task in _tasks(family, spec.tasks.count, spec.tasks.seed):
                found.append(Question(len(found), task.prompt, family, task))
    for prompt in spec.prompts:
        found.append(Question(len(found), prompt.prompt, expect=prompt.expect, pattern=prompt.pattern))
    return found


@lru_cache(maxsize=64)
def _tasks(family: str, count: int, seed: int) -> tuple[Task, ...]:
    """A sweep is checked, begun and run: some puzzles take long to make."""
    return tuple(held_out_set(family, count, seed))


def count(spec: SweepSpec) -> tuple[int, int, int]:
    """How many settings, questions and seeds, without making the runs.

    Raises:
        PlaygroundError: when they make more runs than `MOST_RUNS`.
    """
    if isinstance(spec.search, Grid):
        many = math.prod(
            len(values.grid()) if isinstance(values, Range) else len(values) for values in spec.vary.values()
        )
    else:
        most = math.prod(MOST_RUNS if isinstance(values, Range) else len(values) for values in spec.vary.values())
        many = min(most, spec.search.samples)
    asked = len(spec.prompts) + (len(spec.tasks.families) * spec.tasks.count if spec.tasks else 0)
    runs = many * asked * len(spec.seeds)
    if runs > MOST_RUNS:
        message = f"{many} settings × {asked} questions × {len(spec.seeds)} seeds are {runs} runs; at most {MOST_RUNS}."
        raise PlaygroundError("bad_request", message, "vary")
    if isinstance(spec.search, Random):
        many = len(settings(spec))  # some may have been drawn twice
    return many, asked, len(spec.seeds)


def cells(spec: SweepSpec, model: str) -> Iterator[Cell]:
    """All runs, so ordered that every setting has had its turn before a question or a seed comes a second time.

    Raises:
        PlaygroundError: naming the field, for a setting that is no recipe.
    """
    count(spec)
    all_settings, all_questions = settings(spec), questions(spec)
    for setting in all_settings:
        _recipe(spec, setting, all_questions[0], spec.seeds[0], model)
    for seed in spec.seeds:
        for question in all_questions:
            for setting in all_settings:
                yield Cell(setting, question, _recipe(spec, setting, question, seed, model))


def wanted(spec: SweepSpec, model: str) -> dict[str, Cell]:
    """All different runs by key, in order.

    Raises:
        PlaygroundError: naming the field, for a setting that is no recipe.
    """
    found: dict[str, Cell] = {}
    for cell in cells(spec, model):
        found.setdefault(cell.key, cell)
    return found


def sampler_of(spec: SweepSpec, setting: Setting) -> Sampler:
    """The sampler that runs of a setting have."""
    recipe = _recipe(spec, setting, Question(0, "-"), 0, "any")
    return recipe.sampler


def _recipe(spec: SweepSpec, setting: Setting, question: Question, seed: int, model: str) -> Recipe:
    fields: dict[str, Any] = json.loads(json.dumps(spec.recipe))
    for name, value in setting.items():
        _put(fields, name, value)
    task = question.task
    if task is not None:
        if "thinking" in setting:
            message = "vary.thinking: the tasks say themselves whether the model thinks; vary it on prompts alone."
            raise PlaygroundError("bad_request", message, "vary.thinking")
        fields["thinking"] = task.thinking
        if task.template is not None and fields.get("mode", "diffusion") == "diffusion":
            fields["edits"] = [{"type": "infill", "text": task.template}, *fields.get("edits", [])]
    fields |= {"model": model, "messages": [{"role": "user", "content": question.prompt}], "seed": seed}
    try:
        return Recipe.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        loc = first["loc"]
        if loc[:1] == ("sampler",):
            loc = ("sampler", *loc[2:])  # without the rule's name, which stands between
        where = _named(setting, ".".join(map(str, loc)))
        reason = first["msg"].removeprefix("Value error, ")
        raise PlaygroundError("bad_request", f"{where}: {reason}.", where) from None


def _named(setting: Mapping[str, Any], place: str) -> str:
    """The spec's own name for a field of the recipe: under `vary` if it is varied, else under `recipe`."""
    for name in setting:
        if name == place or (place and name.startswith(f"{place}.")):
            return f"vary.{name}"
    return f"recipe.{place}".rstrip(".")


def _put(fields: dict[str, Any], name: str, value: Any) -> None:
    *groups, last = name.split(".")
    place = fields
    for group in groups:
        place = place.setdefault(group, {})
        if not isinstance(place, dict):
            raise PlaygroundError("bad_request", f"vary.{name}: {group} has no fields.", f"vary.{name}")
    place[last] = value
