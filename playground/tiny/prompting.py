"""From a conversation to token ids, piece by piece, and from ids back to thought and answer.

A chat template's own markers become special tokens; what people write never does, even where it spells a marker.
That is why a prompt is a list of pieces, not one string. Nothing here imports torch.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from playground.tiny.markers import (
    BOS,
    END_OF_CHANNEL,
    END_OF_CHANNEL_ID,
    END_OF_TURN,
    END_OF_TURN_ID,
    EOS_ID,
    FILL_ID,
    START_OF_CHANNEL,
    START_OF_CHANNEL_ID,
    START_OF_TURN,
    THINK,
)

ROLES = {"assistant": "model"}  # what the template calls a role, where it differs
THOUGHT = "thought\n"


@dataclass(frozen=True, slots=True)
class Piece:
    """A marker (one special token) or a stretch of plain text."""

    text: str
    marker: bool = False


def chat_pieces(messages: Iterable[Mapping[str, str]], *, thinking: bool = False) -> list[Piece]:
    """The conversation in Gemma 4's form, up to where the model begins to write.

    `<bos>`, then a system turn if there is a system message or thinking is asked for (`<|think|>` opens it), then
    `<|turn>role\\n…<turn|>\\n` for each message, then `<|turn>model\\n`. Content is stripped of outer white space.
    """
    turns = [(ROLES.get(m["role"], m["role"]), m["content"].strip()) for m in messages]
    pieces = [Piece(BOS, marker=True)]
    system = turns.pop(0)[1] if turns and turns[0][0] == "system" else ""
    if thinking or system:
        pieces += [Piece(START_OF_TURN, marker=True), Piece("system\n")]
        pieces += [Piece(THINK, marker=True)] * thinking
        pieces += [Piece(system), Piece(END_OF_TURN, marker=True), Piece("\n")]
    for role, content in turns:
        pieces += [Piece(START_OF_TURN, marker=True), Piece(f"{role}\n"), Piece(content)]
        pieces += [Piece(END_OF_TURN, marker=True), Piece("\n")]
    return [*pieces, Piece(START_OF_TURN, marker=True), Piece("model\n")]


def answer_pieces(answer: str, thought: str | None = None) -> list[Piece]:
    """What the model writes: the thought in its channel, if there is one, the answer, the end of the turn."""
    pieces: list[Piece] = []
    if thought is not None:
        pieces += [Piece(START_OF_CHANNEL, marker=True), Piece(THOUGHT + thought), Piece(END_OF_CHANNEL, marker=True)]
    return [*pieces, Piece(answer), Piece(END_OF_TURN, marker=True)]


def encode_pieces(
    pieces: Iterable[Piece],
    encode: Callable[[str], list[int]],
    marker_id: Callable[[str], int],
) -> list[int]:
    """Token ids of the pieces.

    `encode` must give the ids of plain text, never a special token; `marker_id` the id of a marker.
    """
    ids: list[int] = []
    for piece in pieces:
        if piece.marker:
            ids.append(marker_id(piece.text))
        elif piece.text:
            ids.extend(encode(piece.text))
    return ids


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer read back. `closed` is false when a thought was begun and never ended."""

    text: str
    thought: str | None = None
    closed: bool = True
    ended: bool = True


def read_reply(ids: Sequence[int], decode: Callable[[list[int]], str]) -> Reply:
    """Thought and answer of the ids a model wrote.

    Cuts after the first end token, drops filler tokens, takes the thought channel out. `decode` must keep special
    tokens visible as text, so that a stray one makes an answer wrong instead of vanishing.
    """
    ended = next((i for i, token in enumerate(ids) if token in (EOS_ID, END_OF_TURN_ID)), None)
    written = [token for token in ids[:ended] if token != FILL_ID]
    if not written or written[0] != START_OF_CHANNEL_ID:
        return Reply(decode(written), ended=ended is not None)
    if END_OF_CHANNEL_ID not in written:
        return Reply("", decode(written[1:]).removeprefix(THOUGHT), closed=False, ended=ended is not None)
    edge = written.index(END_OF_CHANNEL_ID)
    thought = decode(written[1:edge]).removeprefix(THOUGHT)
    return Reply(decode(written[edge + 1 :]), thought, ended=ended is not None)
