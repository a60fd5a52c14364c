"""Batches of training examples: drawn, grouped by length, padded; made ahead by worker processes if there are any."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import count
from random import Random
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from playground.tiny.codec import TextCodec
from playground.tiny.examples import CanvasExample, Example, FillingTooLong, encode_task, pick_canvas
from playground.tiny.markers import END_OF_TURN_ID
from playground.tiny.tasks import Task, sample_mixture

POOL = 12  # batches drawn at a time, so that rows of like length can go together
SHORT = 60  # characters of an answer that may stand in an earlier turn
ROUND = 8  # clean sequences are padded to a multiple of this, and short canvases are as long as one


@dataclass(frozen=True, slots=True)
class Batch:
    """What one training step works on, B rows.

    clean: (B, L) ids, padded on the right. canvas: (B, C) clean canvas ids. pinned: (B, C), never corrupted.
    context: (B,) clean tokens that the canvas sees. next_from: (N,) flat indices into (B·L) of the positions that
    predict an answer token, and next_ids: (N,) those tokens. family: (B,) index of each row's family.
    """

    clean: Tensor
    canvas: Tensor
    pinned: Tensor
    context: Tensor
    next_from: Tensor
    next_ids: Tensor
    family: Tensor

    def to(self, device: torch.device) -> "Batch":
        """The same batch on a device."""
        return Batch(**{f.name: getattr(self, f.name).to(device, non_blocking=True) for f in fields(self)})


def collate(rows: Sequence[CanvasExample]) -> Batch:
    """Rows as tensors."""
    longest = -(-max(len(row.clean) for row in rows) // ROUND) * ROUND
    next_from: list[int] = []
    next_ids: list[int] = []
    for i, row in enumerate(rows):
        next_from.extend(range(i * longest + row.prompt_length - 1, i * longest + len(row.clean) - 1))
        next_ids.extend(row.clean[row.prompt_length :])
    return Batch(
        clean=torch.tensor([row.clean + [END_OF_TURN_ID] * (longest - len(row.clean)) for row in rows]),
        canvas=torch.tensor([row.canvas for row in rows]),
        pinned=torch.tensor([row.pinned for row in rows]),
        context=torch.tensor([row.context for row in rows]),
        next_from=torch.tensor(next_from),
        next_ids=torch.tensor(next_ids),
        family=torch.tensor([row.family for row in rows]),
    )


@dataclass(frozen=True, slots=True)
class BatchSettings:
    """How batches are made.

    `batch_size` rows go to each of `ranks` training processes; all ranks draw the same rows and `rank` takes its own,
    so that their work is equal. A batch of answers shorter than a canvas is given a canvas that just holds them in
    `short_share` of all cases, which saves the time that would go into the ends of turn behind them. `think_share` of
    the plain tasks are asked in thinking mode with a word of thought. `later_share` of all stand in a conversation,
    behind a turn about something else with a short answer.
    """

    batch_size: int
    canvas_length: int
    rank: int = 0
    ranks: int = 1
    seed: int = 0
    short_share: float = 0.65
    think_share: float = 0.05
    later_share: float = 0.1
    weights: Mapping[str, float] | None = None


def with_short_thought(task: Task) -> Task:
    """The task in thinking mode, with a thought that only names it, so that thinking works for any prompt."""
    kind = task.family.replace("_", " ")
    return replace(task, thought=f"This is about: {kind}.")


class BatchStream(IterableDataset[Batch]):
    """An endless stream of batches. With workers, each has its own seed."""

    def __init__(self, codec_json: str, settings: BatchSettings) -> None:
        super().__init__()
        self._codec_json = codec_json
        self._settings = settings

    def __iter__(self) -> Iterator[Batch]:
        info = get_worker_info()
        codec = TextCodec.from_json(self._codec_json)
        settings = self._settings
        for number in count():
            rng = Random(f"{settings.seed}:{0 if info is None else info.id}:{number}")
            yield from _pool(codec, settings, rng)


def _draw(settings: BatchSettings, rng: Random) -> Task:
    task = sample_mixture(rng, settings.weights)
    plain = task.thought is None and task.template is None
    return with_short_thought(task) if plain and rng.random() < settings.think_share else task


def _turns_before(settings: BatchSettings, rng: Random) -> list[Task]:
    if rng.random() >= settings.later_share:
        return []
    while len((task := sample_mixture(rng, settings.weights)).answer) > SHORT:
        pass
    return [task]


def _encoded(codec: TextCodec, settings: BatchSettings, rng: Random) -> Example:
    """An example; one with a filling too long for its hole, as under a tokenizer of few merges, is drawn again."""
    while True:
        try:
            task = _draw(settings, rng)
            return encode_task(task, codec, _turns_before(settings, rng))
        except FillingTooLong:
            continue


def _pool(codec: TextCodec, settings: BatchSettings, rng: Random) -> Iterator[Batch]:
    size = settings.batch_size * settings.ranks
    examples = [_encoded(codec, settings, rng) for _ in range(size * POOL)]
    examples.sort(key=lambda e: (len(e.answer) // (2 * ROUND), len(e.prompt) + len(e.answer) + 4 * rng.random()))
    groups = [examples[i : i + size] for i in range(0, len(examples), size)]
    rng.shuffle(groups)
    for group in groups:
        length = _canvas_length(max(len(e.answer) for e in group), settings, rng)
        rows = [pick_canvas(e, length, rng) for e in group]
        rng.shuffle(rows)
        yield collate(rows[settings.rank :: settings.ranks])


def _canvas_length(longest: int, settings: BatchSettings, rng: Random) -> int:
    """The canvas for answers of up to `longest` tokens: in `short_share` of all cases no longer than they need, give
    or take a few ends of turn."""
    short = -(-(longest + rng.randrange(ROUND)) // ROUND) * ROUND
    return min(short, settings.canvas_length) if rng.random() < settings.short_share else settings.canvas_length


def batch_loader(codec: TextCodec, settings: BatchSettings, workers: int) -> Iterator[Batch]:
    """Batches without end. `workers` processes make them ahead; with 0 each is made when it is asked for."""
    stream = BatchStream(codec.to_json(), settings)
    ahead: dict[str, Any] = {"prefetch_factor": 8, "multiprocessing_context": "spawn"} if workers else {}
    return iter(DataLoader(stream, batch_size=None, num_workers=workers, **ahead))
