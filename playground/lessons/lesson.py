"""What a lesson is: a header, and parts with text, a run to make, something to see, a question to check."""

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from playground.lessons.claims import Claim
from playground.recipe import Recipe

Mode = Literal["diffusion", "autoregressive", "side_by_side"]

CONTROLS = (
    "prompt",
    "mode",
    "start",
    "examples",
    "rule",
    "t_max",
    "t_min",
    "confidence_threshold",
    "stability_threshold",
    "max_denoising_steps",
    "temperature",
    "top_k",
    "top_p",
    "max_new_tokens",
    "seed",
    "inspector",
    "edits",
    "map",
    "figures",
)
"""What a lesson's page may keep or leave out; `rule` is the rule of acceptance with its parameter."""


class Mistake(Exception):
    """What is wrong with a lesson file, in a sentence, and in which line (from 1)."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")
        self.line = line
        self.message = message


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Run(_Model):
    """A run that the page sets up, and what a test holds about it."""

    recipe: Recipe
    shows: tuple[Claim, ...]
    line: int
    """Where it stands in the file."""


class Choice(_Model):
    """One answer to the question of a part."""

    text: list[Any]
    right: bool


class Part(_Model):
    """One page of the tour. Texts are trees, see `playground.lessons.markdown`."""

    title: str
    text: list[Any]
    run: Run | None
    seen: tuple[Claim, ...]
    """What the page ticks off once the run that is shown has it."""
    then: list[Any]
    """The text behind the run and what is to be seen: as a rule a question."""
    choices: tuple[Choice, ...]
    because: list[Any]
    """Why the right answer is right."""


class Lesson(_Model):
    """A whole lesson."""

    name: str
    """That of its file, without the ending."""
    title: str
    order: int
    minutes: int
    mode: Mode
    controls: tuple[str, ...]
    """What a trimmed page keeps."""
    summary: list[Any]
    run: Run
    parts: tuple[Part, ...]

    def as_json(self) -> dict[str, Any]:
        """The lesson as the page takes it: claims as text, and of runs the recipe alone."""
        return {
            "name": self.name,
            "title": self.title,
            "minutes": self.minutes,
            "mode": self.mode,
            "controls": self.controls,
            "summary": self.summary,
            "recipe": self.run.recipe.model_dump(mode="json"),
            "parts": [
                {
                    "title": part.title,
                    "text": part.text,
                    "recipe": part.run and part.run.recipe.model_dump(mode="json"),
                    "seen": [claim.as_json() for claim in part.seen],
                    "then": part.then,
                    "choices": [choice.model_dump() for choice in part.choices],
                    "because": part.because,
                }
                for part in self.parts
            ],
        }


FOLDER = Path(__file__).parent / "texts"
"""The lessons that come with the package."""
