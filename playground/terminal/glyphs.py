"""Model text made safe and visible for a terminal."""

import unicodedata

_HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
_JOINERS = "\u200c\u200d"  # they shape scripts and emoji, and move nothing


def visible(text: str, keep: str = "\n\t") -> str:
    """`text` with every character that a terminal would obey instead of show replaced by a visible sign.

    Control characters become their control pictures (ESC is ␛), other invisible ones (bidirectional overrides, line
    separators, lone surrogates) their code point, as in ⟨U+202E⟩. Those in `keep` stay as they are.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(character if character in keep else _glyph(character) for character in text)


def _glyph(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if unicodedata.category(character) in _HIDDEN and character not in _JOINERS:
        return f"⟨U+{code:04X}⟩"
    return character


def piece(text: str) -> str:
    """One token of a canvas: a line break stays one but is seen, a tab is seen, the rest as in `visible`."""
    return visible(text.replace("\n", "⏎\n").replace("\t", "⇥"), keep="\n")
