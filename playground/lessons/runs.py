"""What a lesson runs or shows: its recipes, its recordings, and the claims about them, read from their lines."""

import json
import re
from typing import Any

from pydantic import ValidationError

from playground.lessons import claims
from playground.lessons.lesson import Mistake, Run
from playground.recipe import Recipe

Lines = list[tuple[int, str]]
"""Lines with their numbers, from 1."""

RECORDING = re.compile(r"[^./\\\x00-\x1f][^/\\\x00-\x1f]{0,120}\.jsonl")
NOTHING_BESIDE = "a recording has no autoregressive run beside it."


def changed(block: Lines, base: dict[str, Any], first: Run, begun: int) -> Run:
    """A run of a part: what it changes in the lesson's recipe, and claims in lines `shows: …`."""
    if not block:
        raise Mistake(begun, "a part's recipe is empty.")
    text, shows = _apart(block)
    at = block[0][0]
    said = _merged(base, json_object(text or "{}", at))
    if "messages" not in said:
        raise Mistake(at, "the header has a recording and no recipe, so this recipe needs messages of its own.")
    run = Run(recipe=recipe(said, at), shows=claims_in(shows), line=at)
    if first.recording:
        forbid("base.ar.", run.shows, begun, NOTHING_BESIDE)
    return run


def shown(block: Lines, begun: int) -> Run:
    """A recording that a part shows: the name of its file, and claims in lines `shows: …`."""
    text, shows = _apart(block)
    return recording(text.strip(), shows, begun)


def recording(name: str, shows: Lines, line: int) -> Run:
    """A recording by the name of its file. Raises `Mistake`."""
    if not RECORDING.fullmatch(name):
        plain = "a recording is named by its file, such as story.jsonl, without its folder"
        raise Mistake(line, f"{plain}; not {name[:60]!r}.")
    run = Run(recipe=None, recording=name, shows=claims_in(shows), line=line)
    forbid("ar.", run.shows, line, NOTHING_BESIDE)
    return run


def forbid(start: str, found: tuple[claims.Claim, ...], line: int, why: str) -> None:
    """Raise `Mistake` for a claim about a measure of another run."""
    for claim in found:
        if any(start in name for name in claim.names):
            raise Mistake(line, f"{claim.text!r}: {why}")


def _apart(block: Lines) -> tuple[str, Lines]:
    """What a block says, its claims left blank so that lines keep their numbers; and the claims."""
    shows = [(at, line.partition(":")[2]) for at, line in block if line.startswith("shows:")]
    return "\n".join("" if line.startswith("shows:") else line for _, line in block).rstrip(), shows


def _merged(base: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for name, value in change.items():
        before = merged.get(name)
        merged[name] = before | value if isinstance(before, dict) and isinstance(value, dict) else value
    return merged


def json_object(text: str, line: int) -> dict[str, Any]:
    """What a recipe's text says, from the line where it begins. Raises `Mistake`."""
    try:
        said = json.loads(text)
    except json.JSONDecodeError as error:
        raise Mistake(line + error.lineno - 1, f"the recipe is not valid JSON: {error.msg}.") from None
    except ValueError:
        raise Mistake(line, "the recipe has a number with too many digits.") from None
    except RecursionError:
        raise Mistake(line, "the recipe has too many brackets within brackets.") from None
    if not isinstance(said, dict):
        raise Mistake(line, 'the recipe must be a JSON object, such as {"messages": […], "seed": 7}.')
    return said


def recipe(said: dict[str, Any], line: int) -> Recipe:
    """The recipe itself, with the report's defaults. Raises `Mistake` that names the field."""
    try:
        return Recipe.model_validate(said)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in ("recipe", *first["loc"]))
        reason = first["msg"].removeprefix("Value error, ")
        raise Mistake(line, f"{place}: {reason[:1].lower()}{reason[1:]}.") from None


def claims_in(lines: Lines) -> tuple[claims.Claim, ...]:
    """A claim a line. Raises `Mistake`."""
    found = []
    for at, line in lines:
        if not line.strip():
            continue
        try:
            found.append(claims.parse(line))
        except ValueError as error:
            raise Mistake(at, f"{error}.") from None
    return tuple(found)
