"""Patterns: what would take the compiler hours is refused in no time, and what people write is not."""

import time

import pytest
from pydantic import ValidationError

from playground.events import RunFinished
from playground.lab import judge, pattern
from playground.lab.cells import Question
from playground.lab.spec import SweepSpec


@pytest.mark.parametrize(
    "good", ["7", r"^\s*[a-z]{1,20}\.?$", "(?i)hello, (world|mum){2,3}!", "(a{100}){100}", "[]a]{3}|[^]]+", r"\{<b>\}"]
)
def test_what_people_write_is_taken(good: str) -> None:
    pattern.check(good)


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ("((((a{100}){100}){100}){100}){100}", "repeats too much"),
        ("(?:" * 20 + "a" + "){2}" * 20, "repeats too much"),
        ("(?:" * 20 + "a" + "+)+" * 20, "repeats too much"),
        ("a{99999999999999999999}", "repeats too much"),
        ("(" * 499 + ")" * 499, "no regular expression"),
        ("(?:" + "abc" * 200 + "){e<=50}", "approximate"),
        ("a" * 1001, "1001 characters"),
        ("(", "no regular expression"),
        ("[", "no regular expression"),
    ],
    ids=str,
)
def test_what_cannot_be_compiled_in_a_blink_is_refused(bad: str, says: str) -> None:
    began = time.monotonic()
    with pytest.raises(ValueError, match=says):
        pattern.check(bad)
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(("text", "cost"), [("abc", 3), ("a{10}", 10), ("(ab){3}c", 10), ("a*", 2), (r"\*[*+]", 2)])
def test_the_cost_is_that_of_what_is_written_out(text: str, cost: int) -> None:
    assert pattern.cost(text) == cost


def test_many_patterns_are_measured_together() -> None:
    prompts = [{"prompt": "x", "pattern": "(a{100}){150}"}] * 20
    with pytest.raises(ValidationError, match="all together"):
        SweepSpec.model_validate({"prompts": prompts})


@pytest.mark.parametrize("slow", ["(a|aa)+$", "(a+)+$", "(.*)*b"])
def test_a_pattern_that_takes_too_long_on_an_answer_is_not_found(slow: str) -> None:
    question = Question(0, "p", pattern=slow)
    finished = RunFinished.model_construct(text="a" * 5000 + "!", stop_reason="end_of_turn")
    began = time.monotonic()
    assert judge.right(question, finished) is False
    assert time.monotonic() - began < 20 * judge.LONGEST_SECONDS
