"""What a lesson is: a header, and parts with text, a run to make, something to see, a question to check."""

from collections.abc import Mapping
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
    """A run that the page sets up, or a recording that it shows; and what a test holds about it."""

    recipe: Recipe | None
    """None of a recording."""
    recording: str | None = None
    """The name of a trace in the server's folder of recordings."""
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

    @property
    def recordings(self) -> tuple[tuple[int, str], ...]:
        """The recordings that it shows, each with the line that names it."""
        runs = (self.run, *(part.run for part in self.parts))
        return tuple((run.line, run.recording) for run in runs if run and run.recording)

    def as_json(self, recorded: Mapping[str, str]) -> dict[str, Any]:
        """The lesson as the page takes it: claims as text, and of runs the recipe or the recording's run id.

        recorded: the run id of each recording, by the name of its file.
        """
        return {
            "name": self.name,
            "title": self.title,
            "minutes": self.minutes,
            "mode": self.mode,
            "controls": self.controls,
            "summary": self.summary,
            **_set_up(self.run, recorded),
            "parts": [
                {
                    "title": part.title,
                    "text": part.text,
                    **_set_up(part.run, recorded),
                    "seen": [claim.as_json() for claim in part.seen],
                    "then": part.then,
                    "choices": [choice.model_dump() for choice in part.choices],
                    "because": part.because,
                }
                for part in self.parts
            ],
        }


def _set_up(run: Run | None, recorded: Mapping[str, str]) -> dict[str, Any]:
    """What the page does for a part: it runs a recipe, shows a recording, or neither."""
    return {
        "recipe": run.recipe.model_dump(mode="json") if run and run.recipe else None,
        "recording": recorded[run.recording] if run and run.recording else None,
    }


FOLDER = Path(__file__).parent / "texts"
"""The lessons that come with the package."""
