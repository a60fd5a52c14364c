import pytest

from playground.terminal.glyphs import piece, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text, déjà vu, 日本語, 👩\u200d💻", "plain text, déjà vu, 日本語, 👩\u200d💻"),
        ("\x1b[2J\x07\x00", "␛[2J␇␀"),
        ("\x7f\x9b31m", "␡⟨U+009B⟩31m"),
        ("a\u202eb\u2028c\ufeff", "a⟨U+202E⟩b⟨U+2028⟩c⟨U+FEFF⟩"),
        ("\ud800", "⟨U+D800⟩"),
        ("line\n\ttab\r", "line\n\ttab␍"),
    ],
)
def test_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_nothing_is_kept_where_nothing_may_be() -> None:
    assert visible("a\nb\t", keep="") == "a␊b␉"


def test_a_piece_shows_its_line_break_and_tab() -> None:
    assert piece(".\n\tNext\x1b") == ".⏎\n⇥Next␛"
