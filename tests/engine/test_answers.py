from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from playground.engine.answers import Channel, Growing, read, valid

CHANNEL = Channel(open=300, close=301)


def decode(ids: Sequence[int]) -> str:
    """A byte is a token; markers show as themselves."""
    parts = [bytes([token]) if token < 256 else f"<{token}>".encode() for token in ids]
    return b"".join(parts).decode(errors="replace")


def ids(text: str) -> list[int]:
    return list(text.encode())


def test_valid_ends_with_the_first_end_token() -> None:
    assert valid([5, 6, 1, 7, 1], [1, 2]) == [5, 6, 1]
    assert valid([5, 6], [1]) == [5, 6]
    assert valid([], [1]) == []


def test_thought_and_answer_are_apart() -> None:
    answer = read([300, *ids("thought\nhm\n"), 301, *ids("\nyes"), 1, *ids("junk")], [1], CHANNEL, decode)
    assert (answer.thought, answer.text) == ("hm", "yes")


def test_a_channel_that_is_never_closed_is_all_thought() -> None:
    answer = read([300, *ids("thought\nand so on")], [1], CHANNEL, decode)
    assert (answer.thought, answer.text) == ("and so on", "")


def test_no_other_token_is_hidden() -> None:
    assert read([*ids("a"), 302, *ids("b"), 301], [1], CHANNEL, decode).text == "a<302>b<301>"
    assert read([*ids("a"), 300], [1], None, decode).text == "a<300>"


@given(st.text(), st.lists(st.integers(1, 5), min_size=1))
def test_what_a_sequence_gains_is_the_whole_in_the_end(text: str, sizes: list[int]) -> None:
    growing, rest, gained, turn = Growing(decode), ids(text), "", 0
    while rest:
        size = sizes[turn % len(sizes)]
        gained += growing.add(rest[:size])
        rest, turn = rest[size:], turn + 1
    if not text.endswith("\ufffd"):
        assert gained == text
