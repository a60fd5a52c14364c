from random import Random

import pytest
import torch

from playground.tiny.batches import BatchSettings, batch_loader, with_short_thought
from playground.tiny.codec import TextCodec
from playground.tiny.corruption import corrupt, noise_levels
from playground.tiny.examples import Example, encode_task, infill_answer, pick_canvas
from playground.tiny.infill import infill_pins
from playground.tiny.markers import END_OF_TURN_ID, FILL_ID
from playground.tiny.prompting import read_reply
from playground.tiny.tasks import FAMILIES, check, sample


@pytest.mark.parametrize("family", FAMILIES)
def test_encoded_answers_read_back_as_right(family: str, small_codec: TextCodec) -> None:
    rng = Random(4)
    for _ in range(10):
        task = sample(family, rng)
        example = encode_task(task, small_codec)
        reply = read_reply(example.answer, small_codec.decode)
        assert check(task, reply.text)
        assert reply.thought == task.thought
        assert reply.ended


@pytest.mark.parametrize("family", ["infill", "chain"])
def test_what_is_pinned_in_training_is_what_a_run_pins(family: str, small_codec: TextCodec) -> None:
    rng = Random(4)
    for _ in range(30):
        task = sample(family, rng)
        assert task.template is not None
        example = encode_task(task, small_codec)
        pins = infill_pins(task.template, small_codec.encode, END_OF_TURN_ID)
        expected = [token if pinned else None for token, pinned in zip(example.answer, example.pinned, strict=True)]
        assert pins == expected


def test_short_fillings_are_padded_and_long_ones_refused(small_codec: TextCodec) -> None:
    ids, pinned = infill_answer("1___{3}2", ["7"], small_codec)
    assert ids[2:4] == [FILL_ID, FILL_ID]
    assert pinned == [True, False, False, False, True]
    with pytest.raises(ValueError, match="a filling of 4 tokens for a hole of 3"):
        infill_answer("1___{3}2", ["7777"], small_codec)


def test_canvases_of_a_long_answer() -> None:
    example = Example(0, [2, 3], [*range(20, 29), END_OF_TURN_ID], [False] * 10)
    seen = {}
    for seed in range(20):
        row = pick_canvas(example, 4, Random(seed))
        seen[row.context] = row
    assert sorted(seen) == [2, 6, 10]
    assert seen[6].canvas == [24, 25, 26, 27]
    assert seen[6].clean == [2, 3, *range(20, 28)]
    assert seen[10].canvas == [28, END_OF_TURN_ID, END_OF_TURN_ID, END_OF_TURN_ID]
    assert not any(seen[10].pinned)


def test_batches_repeat_for_a_seed_and_ranks_share_them(small_codec: TextCodec) -> None:
    def first(rank: int = 0, ranks: int = 1) -> torch.Tensor:
        return next(batch_loader(small_codec, BatchSettings(4, 32, rank=rank, ranks=ranks), 0)).canvas

    assert torch.equal(first(), first())
    whole = next(batch_loader(small_codec, BatchSettings(8, 32), 0)).canvas
    left, right = first(rank=0, ranks=2), first(rank=1, ranks=2)
    assert torch.equal(whole[0::2], left)
    assert torch.equal(whole[1::2], right)


def test_next_tokens_are_the_answers(small_codec: TextCodec) -> None:
    batch = next(batch_loader(small_codec, BatchSettings(6, 32), 0))
    flat = batch.clean.flatten()
    assert torch.equal(flat[batch.next_from + 1], batch.next_ids)
    assert batch.canvas.shape == batch.pinned.shape
    assert int(batch.context.max()) <= batch.clean.shape[1]


def test_any_prompt_may_be_asked_in_thinking_mode() -> None:
    task = with_short_thought(sample("spell", Random(0)))
    assert task.thinking
    assert task.thought == "This is about: spell."


def test_noise_levels_are_stratified() -> None:
    levels = noise_levels(1000, 1.0, torch.Generator().manual_seed(0))
    assert torch.allclose(levels.sort().values, torch.linspace(0, 1, 1000), atol=2e-3)
    assert noise_levels(1000, 0.7, torch.Generator().manual_seed(0)).mean() > levels.mean()


def test_corruption_replaces_a_share_t_uniformly_and_spares_pins() -> None:
    canvas = torch.full((3, 20_000), 7)
    pinned = torch.zeros_like(canvas, dtype=torch.bool)
    pinned[:, :1000] = True
    noisy = corrupt(canvas, torch.tensor([0.0, 0.5, 1.0]), pinned, 100, torch.Generator().manual_seed(0))
    assert torch.equal(noisy[0], canvas[0])
    assert (noisy[:, :1000] == 7).all()
    changed = (noisy[:, 1000:] != 7).float().mean(1)
    assert changed.tolist() == pytest.approx([0, 0.495, 0.99], abs=0.02)
    counts = noisy[2, 1000:].bincount(minlength=100).float()
    assert counts.min() > 130
    assert counts.max() < 250


def test_later_turns_stand_behind_an_answered_one(small_codec: TextCodec) -> None:
    """The conversation is what the engine would make of it, and the answer is that of the last turn."""
    before, task = sample("opposites", Random(1), "train"), sample("add", Random(2), "train")
    alone, later = encode_task(task, small_codec), encode_task(task, small_codec, [before])
    assert later.answer == alone.answer
    assert small_codec.decode(later.prompt).count(before.answer) == 1
    assert later.prompt[-len(alone.prompt) + 1 :] == alone.prompt[1:]
