"""What a sweep is: recipe fields to vary, the prompts or tasks to run them on, and seeds. A small JSON document."""

import json
import math
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, field_validator, model_validator

from playground.errors import PlaygroundError
from playground.lab import pattern as patterns
from playground.parameters import Finite, Strict
from playground.recipe import MAX_SEED
from playground.tiny.tasks import FAMILIES

MOST_RUNS = 100_000
"""A sweep of more runs is refused."""
MOST_FIELDS = 20


def _scalar(value: Any) -> Any:
    if not isinstance(value, bool | int | float | str):
        raise ValueError("a value is a number, a text, true or false")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is no finite number")
    return value


Scalar = Annotated[bool | int | Finite | str, BeforeValidator(_scalar)]
Scale = Literal["linear", "log"]


class Range(Strict):
    """Values from `low` to `high`, both ends included; `count` of them in a grid, any between them at random."""

    low: Finite
    high: Finite
    count: Annotated[int, Field(ge=2, le=1000)] | None = None
    scale: Scale = "linear"
    whole: bool = False

    @model_validator(mode="after")
    def _forwards(self) -> Self:
        if self.low >= self.high:
            raise ValueError(f"low ({self.low:g}) must be below high ({self.high:g})")
        if self.scale == "log" and self.low <= 0:
            raise ValueError(f"a log scale begins above 0, not at {self.low:g}")
        if not math.isfinite(self.high / self.low if self.scale == "log" else self.high - self.low):
            raise ValueError(f"{self.low:g} to {self.high:g} is too wide a range")
        return self

    def at(self, share: float) -> float | int:
        """The value at a share of the way, 0 to 1."""
        if self.scale == "log":
            value = float(self.low * (self.high / self.low) ** share)
        else:
            value = float(self.low + (self.high - self.low) * share)
        if self.whole:
            return round(value)
        return float(f"{value:.6g}")

    def grid(self) -> list[float | int]:
        """The values of a grid.

        Raises:
            ValueError: without a count.
        """
        if self.count is None:
            raise ValueError("a range in a grid needs a count")
        values = [self.at(number / (self.count - 1)) for number in range(self.count)]
        return list(dict.fromkeys(values))


def _different(values: list[Scalar]) -> list[Scalar]:
    for at, value in enumerate(values):
        if value in values[:at]:  # 1 and 1.0 make the same run
            raise ValueError(f"{json.dumps(value)} stands there twice")
    return values


Values = Annotated[
    Annotated[list[Scalar], Field(min_length=1, max_length=1000), AfterValidator(_different), Tag("values")]
    | Annotated[Range, Tag("range")],
    Discriminator(lambda given: "range" if isinstance(given, dict | Range) else "values"),
]
"""What a field takes: a list of values, or a range of them."""


class TaskSet(Strict):
    """Held-out tasks of the embedded model's families, `count` of each, the same for the same `seed`."""

    families: Annotated[list[str], Field(min_length=1, max_length=100)]
    count: Annotated[int, Field(ge=1, le=10_000)] = 20
    seed: Annotated[int, Field(ge=0, le=MAX_SEED)] = 0

    @field_validator("families")
    @classmethod
    def _known(cls, families: list[str]) -> list[str]:
        for name in families:
            if name not in FAMILIES:
                raise ValueError(f"no family {name!r}; there are {', '.join(FAMILIES)}")
        if len(set(families)) < len(families):
            raise ValueError("a family stands there twice")
        return families


class Prompt(Strict):
    """A prompt of one's own. An answer is right if it is `expect`, or has a match of `pattern`; with neither it counts
    for agreement and cost only."""

    prompt: Annotated[str, Field(min_length=1, max_length=200_000)]
    expect: Annotated[str, Field(max_length=200_000)] | None = None
    pattern: Annotated[str, Field(max_length=patterns.MOST_CHARACTERS)] | None = None

    @model_validator(mode="after")
    def _one_check(self) -> Self:
        if self.expect is not None and self.pattern is not None:
            raise ValueError("takes expect or pattern, not both")
        if self.pattern is not None:
            patterns.check(self.pattern)
        return self


class Grid(Strict):
    """Every combination."""

    kind: Literal["grid"] = "grid"


class Random(Strict):
    """`samples` combinations drawn at random, the same for the same `seed`."""

    kind: Literal["random"]
    samples: Annotated[int, Field(ge=1, le=MOST_RUNS)]
    seed: Annotated[int, Field(ge=0, le=MAX_SEED)] = 0


class SweepSpec(Strict):
    """A sweep: settings × (tasks and prompts) × seeds.

    `recipe`: fields that all runs share, without messages and seed. `vary`: dotted recipe fields, e.g.
    `sampler.entropy_bound`, each with a list of values or a range.
    """

    name: Annotated[str, Field(max_length=200)] = "sweep"
    recipe: dict[str, Any] = Field(default_factory=dict)
    vary: dict[str, Values] = Field(default_factory=dict)
    search: Annotated[Grid | Random, Field(discriminator="kind")] = Grid()
    tasks: TaskSet | None = None
    prompts: Annotated[list[Prompt], Field(max_length=10_000)] = Field(default_factory=list)
    seeds: Annotated[list[Annotated[int, Field(ge=0, le=MAX_SEED)]], Field(min_length=1, max_length=10_000)] = Field(
        default_factory=lambda: [0]
    )

    @field_validator("recipe")
    @classmethod
    def _shared_fields(cls, recipe: dict[str, Any]) -> dict[str, Any]:
        for name in ("messages", "seed"):
            if name in recipe:
                raise ValueError(f"{name} is not for recipe: prompts, tasks and seeds say it")
        if "model" in recipe:
            raise ValueError("model is not for recipe: a sweep runs the model that is loaded")
        if not isinstance(recipe.get("edits", []), list):
            raise ValueError("edits must be a list")
        return recipe

    @field_validator("vary", mode="before")
    @classmethod
    def _few_fields(cls, vary: Any) -> Any:
        if isinstance(vary, dict) and len(vary) > MOST_FIELDS:
            raise ValueError(f"{len(vary)} fields are too many; at most {MOST_FIELDS} can be varied together")
        return vary

    @field_validator("prompts", mode="before")
    @classmethod
    def _patterns_are_few_or_small(cls, prompts: Any) -> Any:
        """Before any is compiled."""
        given = [each.get("pattern") for each in prompts if isinstance(each, dict)] if isinstance(prompts, list) else []
        if sum(patterns.cost(each) for each in given if isinstance(each, str)) > 10 * patterns.MOST_COST:
            raise ValueError("the patterns repeat too much all together")
        return prompts

    @field_validator("seeds")
    @classmethod
    def _no_seed_twice(cls, seeds: list[int]) -> list[int]:
        if len(set(seeds)) < len(seeds):
            raise ValueError("a seed stands there twice")
        return seeds

    @model_validator(mode="after")
    def _something_to_run(self) -> Self:
        if self.tasks is None and not self.prompts:
            raise ValueError("tasks or prompts: one of them must say what to run")
        for field, values in self.vary.items():
            if field.split(".")[0] in ("messages", "seed", "model", "edits"):
                raise ValueError(f"vary.{field}: this field cannot be varied")
            if isinstance(values, Range) and values.count is None and isinstance(self.search, Grid):
                raise ValueError(f"vary.{field}: a range in a grid needs a count")
        return self


def read(file: Path) -> SweepSpec:
    """A spec from a JSON file.

    Raises:
        PlaygroundError: for a file that cannot be read or is no JSON.
        pydantic.ValidationError: for one that says something wrong.
    """
    try:
        data = json.loads(file.read_text())
    except OSError as error:
        raise PlaygroundError("bad_request", f"{file} cannot be read: {error.strerror}.", "spec") from None
    except (ValueError, RecursionError) as error:
        raise PlaygroundError("bad_request", f"{file} is no JSON: {error}.", "spec") from None
    return SweepSpec.model_validate(data)
