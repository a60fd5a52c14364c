from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from playground.engine.answers import Apart, Channel, Growing, read, thinking_tokens, valid

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


ANY = st.lists(
    st.sampled_from([300, 301, 302, *ids("\nthoug"), *ids("é")]) | st.sampled_from([10, 300, 301]), max_size=40
)


@given(ANY, st.lists(st.integers(0, 5), min_size=1).filter(any), st.booleans())
def test_however_the_ids_come_thought_and_answer_are_the_same(
    tokens: list[int], sizes: list[int], headed: bool
) -> None:
    if headed:
        tokens = [300, *ids("thought\n"), *tokens]
    apart, rest, text, thought, turn = Apart(CHANNEL, decode), list(tokens), "", "", 0
    while rest:
        size = sizes[turn % len(sizes)]
        gained = apart.add(rest[:size])
        text, thought = text + gained.text, thought + gained.thought
        rest, turn = rest[size:], turn + 1
    gained = apart.finish()
    whole = read(tokens, [1], CHANNEL, decode)
    assert (text + gained.text, thought + gained.thought) == (whole.text, whole.thought)
    shown = whole.text + whole.thought
    assert "<300>" not in shown
    assert shown.count("<302>") == tokens.count(302)


def test_nothing_that_was_shown_is_taken_back_and_no_marker_is_shown() -> None:
    apart = Apart(CHANNEL, decode)
    gains = [
        apart.add([token]) for token in [300, *ids("thought\nhm\n\nso\n"), 301, *ids("\nyes\n"), 300, *ids("more")]
    ]
    assert [gain.thought for gain in gains if gain.thought] == ["h", "m", "\n\ns", "o", "\nm", "o", "r", "e"]
    assert [gain.text for gain in gains if gain.text] == ["y", "e", "s", "\n"]
    assert apart.finish() == read([], [], CHANNEL, decode)


def test_a_thought_that_is_only_its_first_line_is_none() -> None:
    for head in ("", "tho", "thought", "thought\n", "thought\n\n"):
        assert read([300, *ids(head)], [1], CHANNEL, decode).thought == ""
        answer = read([300, *ids(head), 301, *ids("\n\nyes")], [1], CHANNEL, decode)
        assert (answer.text, answer.thought) == ("yes", "")


def test_line_breaks_before_an_answer_without_thought_stay() -> None:
    assert read(ids("\n\n"), [1], CHANNEL, decode).text == "\n\n"
    assert read(ids("\nyes"), [1], CHANNEL, decode).text == "\nyes"


def test_thinking_tokens_count_the_markers() -> None:
    assert thinking_tokens([300, 7, 301, 8], CHANNEL) == 3
    assert thinking_tokens([8, 301, 8], CHANNEL) == 0
    assert thinking_tokens([8, 300, 7, 300, 7], CHANNEL) == 4
    assert thinking_tokens([300, 7], None) == 0
