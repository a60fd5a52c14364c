import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.engine.holes import DEFAULT_HOLE, Hole, Visible, parse_holes
from playground.tiny.infill import fill_holes, infill_pins


def test_holes_and_visible_text() -> None:
    assert parse_holes("The ___ sat___{3}.") == [
        Visible("The"),
        Hole(DEFAULT_HOLE),
        Visible(" sat"),
        Hole(3),
        Visible("."),
    ]
    assert parse_holes("no holes") == [Visible("no holes")]
    assert parse_holes("") == []


def test_pins_are_none_in_holes_and_end_with_the_turn() -> None:
    pins = infill_pins("ab ___{2}c", lambda text: [ord(c) for c in text], 5)
    assert pins == [97, 98, None, None, 99, 5]


def test_filling_brings_its_space() -> None:
    assert fill_holes("The ___ sat.", [" cat"]) == "The cat sat."
    assert fill_holes("The ___ sat.", [""]) == "The sat."


@pytest.mark.parametrize("text", ["___{0}", "___{65}", "___{999}"])
def test_impossible_holes(text: str) -> None:
    with pytest.raises(ValueError, match="a hole has 1 to 64 tokens"):
        parse_holes(text)


@pytest.mark.parametrize("fillings", [[], ["a", "b"]])
def test_wrong_number_of_fillings(fillings: list[str]) -> None:
    with pytest.raises(ValueError, match="fillings than holes"):
        fill_holes("a ___ b", fillings)


@given(st.text())
def test_any_text_without_holes_is_visible(text: str) -> None:
    if "___" not in text:
        assert "".join(part.text for part in parse_holes(text) if isinstance(part, Visible)) == text
