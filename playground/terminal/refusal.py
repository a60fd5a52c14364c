"""How a command says no: one sentence that names the value at fault, and exit code 2."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from pydantic import ValidationError

from playground.errors import ModelError, PlaygroundError
from playground.settings import Settings
from playground.terminal.glyphs import visible

NOT_OPTIONS = {
    "messages": "the prompt",
    "file": "FILE",
    "edits": "edits",
    "decoding": "decoding",
    "sampler_as_a_whole": "sampler",
}


@contextmanager
def in_a_sentence() -> Iterator[None]:
    """Turn a refusal raised inside into a sentence on standard error and an exit: 2 for a wrong value, else 1."""
    try:
        yield
    except ValidationError as error:
        for fault in error.errors(include_url=False):
            value = fault["input"]
            given = f", not {value!r}" if isinstance(value, str | int | float) and len(repr(value)) < 80 else ""
            message = fault["msg"].removeprefix("Value error, ").removeprefix("Input ")
            if fault["type"] == "extra_forbidden" and fault["loc"][0] == "sampler":
                message, given = f"the rule {fault['loc'][1]} has no such parameter", ""
            if fault["type"] == "union_tag_invalid":
                message, given = f"should be {fault['ctx']['expected_tags']}", f", not {fault['ctx']['tag']!r}"
            place = fault["loc"]
            if place[:1] == ("sampler",):
                place = ("sampler", *place[2:])  # without the rule's name, which stands between
                if fault["type"] == "value_error":
                    place = ("sampler_as_a_whole",)
            _say(f"{_name(place, error.title)}: {message}{given}")
        raise typer.Exit(2) from None
    except PlaygroundError as error:
        if error.field is None:
            _say(error.message)
            raise typer.Exit(1) from None
        if isinstance(error, ModelError):  # its sentence names the setting
            _say(error.message)
            raise typer.Exit(2) from None
        name = _name(tuple(error.field.removeprefix("recipe.").split(".")), "Recipe")
        _say(error.message if error.field == "file" else f"{name}: {error.message}")
        raise typer.Exit(2) from None
    except BrokenPipeError:
        raise
    except OSError as error:
        _say(f"cannot write or read: {error.strerror or error}")
        raise typer.Exit(1) from None


def settings(**given: Any) -> Settings:
    """The settings of the environment, with those of `given` that are not None in their place."""
    return Settings(**{name: value for name, value in given.items() if value is not None})


def _name(place: tuple[int | str, ...], model: str) -> str:
    """The option, or the environment variable, by which a person sets the field at this place."""
    if not place:
        return "recipe"
    if model == "Settings":
        return f"{place[0]} (PLAYGROUND_{str(place[0]).upper()})"
    if place == ("sampler",):
        return "--rule"
    if place[0] in NOT_OPTIONS and not (place[0] == "decoding" and len(place) > 1):
        return NOT_OPTIONS[str(place[0])]
    return "--" + str(place[-1]).replace("_", "-")


def _say(sentence: str) -> None:
    typer.echo("playground: " + visible(sentence, keep=""), err=True)
