"""Text to ids and back with the embedded model's tokenizer, markers and plain text kept apart. Imports no torch."""

from pathlib import Path

from tokenizers import Tokenizer

from playground.tiny.prompting import Piece, encode_pieces


class TextCodec:
    """A tokenizer that keeps plain text and markers apart.

    `encode` never gives a special token, whatever the text spells; `decode` shows special tokens as text.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._plain = Tokenizer.from_str(tokenizer.to_str())
        self._plain.encode_special_tokens = True

    @classmethod
    def load(cls, folder: Path) -> "TextCodec":
        """From a checkpoint folder's tokenizer.json."""
        return cls(Tokenizer.from_file(str(folder / "tokenizer.json")))

    @classmethod
    def from_json(cls, text: str) -> "TextCodec":
        """From the text of a tokenizer.json."""
        return cls(Tokenizer.from_str(text))

    def to_json(self) -> str:
        """The text of its tokenizer.json."""
        return str(self._plain.to_str())

    @property
    def vocab_size(self) -> int:
        """Number of token ids."""
        return int(self._plain.get_vocab_size())

    def encode(self, text: str) -> list[int]:
        """Ids of plain text."""
        return list(self._plain.encode(text, add_special_tokens=False).ids)

    def marker_id(self, marker: str) -> int:
        """The id of a special token.

        Raises:
            KeyError: when there is no such token.
        """
        token = self._plain.token_to_id(marker)
        if token is None:
            raise KeyError(marker)
        return int(token)

    def encode_pieces(self, pieces: list[Piece]) -> list[int]:
        """Ids of markers and plain text."""
        return encode_pieces(pieces, self.encode, self.marker_id)

    def decode(self, ids: list[int]) -> str:
        """Text of a whole sequence, special tokens shown. Bytes that are not UTF-8 become U+FFFD."""
        return str(self._plain.decode(ids, skip_special_tokens=False))
