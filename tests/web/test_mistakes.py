"""Which field a refusal names and what it says, where fields, tags and numbers of mistakes are tricky."""

import json
import time
from typing import Any

import pytest

from playground.web.messages import MOST_EDITS, Refused
from tests.web.test_messages import refused, start

CANVAS = {"type": "canvas", "canvas": 0, "step": 1, "text": "x"}
PIN = {"type": "pin", "canvas": 0, "step": 1, "start": 0, "ids": [1]}
SET = {"canvas": 0, "step": 1, "sampler": {"t_max": 1}}
KINDS = '"set", "pin", "unpin", "renoise", "canvas", "infill"'


@pytest.mark.parametrize(
    ("edit", "field", "part"),
    [
        (CANVAS | {"step": 0}, "step", "must be a whole number of at least 1, not 0"),
        (CANVAS | {"canvas": -1}, "canvas", "must be a whole number of at least 0, not -1"),
        (CANVAS | {"noise": 2}, "noise", "must be a number from 0 to 1, not 2"),
        (CANVAS | {"start": 2}, "start", "allowed here: canvas, step, text, ids, type, noise"),
        ({"type": "canvas", "text": "x", "step": 1}, "canvas", "is missing; it must be a whole number of at least 0"),
        (PIN | {"ids": [1, -1]}, "ids.1", "must be a whole number of at least 0, not -1"),
        (PIN | {"start": -1}, "start", "must be a whole number of at least 0, not -1"),
        (PIN | {"text": "x"}, None, "takes either text or ids"),
        ({"type": "infill", "text": ""}, "text", "must be text of 1 to 200000 characters, not"),
        (SET | {"step": 0}, "step", "must be a whole number of at least 1, not 0"),
        ({"type": "boom"}, "type", f'must be one of {KINDS}, not "boom"'),
        ({"type": 5}, "type", f"must be one of {KINDS}, not 5"),
        ({"type": ["set"]}, "type", f"must be one of {KINDS}, not a list of 1"),
        (SET | {"type": "set_sampler"}, "type", f'must be one of {KINDS}, not "set_sampler"'),
        ({}, "canvas", "is missing; it must be a whole number of at least 0"),
    ],
)
@pytest.mark.parametrize("before", [0, 1])
def test_a_mistake_in_an_edit_names_its_field(edit: dict[str, Any], field: str | None, part: str, before: int) -> None:
    refusal = refused(start(edits=[SET] * before + [edit]))
    name = f"recipe.edits.{before}" + (f".{field}" if field else "")
    assert refusal.field == name
    assert refusal.message.startswith(name)
    assert part in refusal.message


def test_a_field_may_have_the_name_of_its_message() -> None:
    assert refused('{"type":"pause","run":1,"pause":{"run":1}}').field == "run"


def quickly(text: str) -> Refused:
    """Far below a second even on a busy machine; all mistakes told took more."""
    began = time.process_time()
    refusal = refused(text)
    assert time.process_time() - began < 0.5
    return refusal


def test_a_key_that_stands_twice_among_many_is_found_at_once() -> None:
    keys = ",".join(f'"{number:x}":1' for number in range(40_000))
    assert quickly('{"type":"ack",' + keys + ',"9":1}').message.startswith("9 stands twice")


def test_too_many_edits_are_refused() -> None:
    refusal = quickly(start(edits=[{}] * 9990))
    assert (refusal.field, refusal.ref) == ("recipe.edits", "r")
    assert refusal.message == f"recipe.edits has 9990 entries; a run may start with at most {MOST_EDITS} edits."


@pytest.mark.parametrize(
    ("recipe", "field", "more"),
    [
        ({"edits": [SET] * 3 + [{}] * 900}, "edits.3.canvas", 2699),
        ({"edits": [SET, {}, PIN | {"ids": [""] * 20_000}]}, "edits.1.canvas", 20_002),
        ({"edits": [SET, PIN | {"ids": [7] + [""] * 20_000}]}, "edits.1.ids.1", 19_999),
        ({"edits": [{"z" * 2 + str(n): 1 for n in range(30)} for _ in range(200)]}, "edits.0.canvas", 6599),
        ({"messages": [{"role": "robot"}] * 250}, "messages.0.role", 499),
        ({"seed": -1, "edits": [1] * 1000}, "seed", 1000),
    ],
)
def test_of_many_mistakes_the_first_is_told_and_the_others_counted(
    recipe: dict[str, Any], field: str, more: int
) -> None:
    refusal = quickly(start(**recipe))
    assert refusal.field == f"recipe.{field}"
    assert refusal.message.endswith(f"({more} more mistakes in this message.)")


def test_an_object_has_so_many_fields() -> None:
    many = {f"k{number}": 1 for number in range(6500)}
    assert quickly(start(**many)).message.startswith("recipe has 6501 fields; no object here has more than 32")
    assert quickly(json.dumps({"type": "ack"} | many)).message.startswith("The message has 6501 fields")
