"""From tasks to token ids: an example, and the one canvas of it that a training step denoises."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from playground.engine.holes import Hole, parse_holes
from playground.tiny.codec import TextCodec
from playground.tiny.markers import END_OF_TURN_ID, FILL_ID
from playground.tiny.prompting import answer_pieces, chat_pieces
from playground.tiny.tasks import FAMILIES, Task

FAMILY_NAMES = tuple(FAMILIES)


@dataclass(frozen=True, slots=True)
class Example:
    """A task as ids. `answer` ends with the end of the turn; `pinned` says which of it an infill run pins."""

    family: int
    prompt: list[int]
    answer: list[int]
    pinned: list[bool]


class FillingTooLong(ValueError):
    """A hole does not hold what should go into it, by this tokenizer's pieces."""


def infill_answer(template: str, fillings: list[str], codec: TextCodec) -> tuple[list[int], list[bool]]:
    """Ids of a filled text, each hole padded with filler tokens to its length, and which ids are visible text.

    Raises:
        FillingTooLong: when a filling is longer than its hole.
    """
    ids: list[int] = []
    pinned: list[bool] = []
    left = list(fillings)
    for part in parse_holes(template):
        if isinstance(part, Hole):
            filling = codec.encode(left.pop(0))
            if len(filling) > part.length:
                raise FillingTooLong(f"a filling of {len(filling)} tokens for a hole of {part.length}")
            ids += filling + [FILL_ID] * (part.length - len(filling))
            pinned += [False] * part.length
        else:
            visible = codec.encode(part.text)
            ids += visible
            pinned += [True] * len(visible)
    return ids, pinned


def encode_task(task: Task, codec: TextCodec, before: Sequence[Task] = ()) -> Example:
    """The task as ids. before: tasks that were asked and answered earlier in the same conversation."""
    turns = [turn for each in before for turn in (*each.messages, {"role": "assistant", "content": each.answer})]
    prompt = codec.encode_pieces(chat_pieces([*turns, *task.messages], thinking=task.thinking))
    family = FAMILY_NAMES.index(task.family)
    if task.template is not None:
        ids, pinned = infill_answer(task.template, list(task.data["fillings"]), codec)
        return Example(family, prompt, [*ids, END_OF_TURN_ID], [*pinned, True])
    answer = codec.encode_pieces(answer_pieces(task.answer, task.thought))
    return Example(family, prompt, answer, [False] * len(answer))


@dataclass(frozen=True, slots=True)
class CanvasExample:
    """One canvas of an example.

    `clean` is what the encoder sees in training: prompt, canvases before, and this canvas without its padding;
    `context` says how much of it stands before the canvas. `canvas` is the clean canvas, full length; after the answer
    it goes on with the end of the turn, because the pad token's embedding is fixed at zero.
    """

    family: int
    clean: list[int]
    prompt_length: int
    context: int
    canvas: list[int]
    pinned: list[bool]


def pick_canvas(example: Example, length: int, rng: Random, pin_share: float = 0.75) -> CanvasExample:
    """A random canvas of the example's answer; of an infill example its visible part is pinned in `pin_share` of all.

    Args:
        example: the example.
        length: the canvas length in tokens.
        rng: the source of chance.
        pin_share: how often an infill example is pinned. Else it is written out whole, as a run without pins would.
    """
    start = rng.randrange(-(-len(example.answer) // length)) * length
    block = example.answer[start : start + length]
    pinned = example.pinned[start : start + length]
    missing = length - len(block)
    pin = any(pinned) and rng.random() < pin_share
    return CanvasExample(
        family=example.family,
        clean=example.prompt + example.answer[: start + length],
        prompt_length=len(example.prompt),
        context=len(example.prompt) + start,
        canvas=block + [END_OF_TURN_ID] * missing,
        pinned=pinned + [True] * missing if pin else [False] * length,
    )
