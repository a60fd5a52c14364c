"""Long prompts in chunks, and beginnings that are kept between runs: the same logits, the same bits, bounded memory."""

import random
from pathlib import Path
from typing import Any

import pytest
import torch

from playground.engine import models, prefill, runs
from playground.engine.models import Model
from playground.engine.prefill import CHUNK
from playground.engine.prefixes import Prefixes
from playground.engine.prompts import Picture, Prompt
from playground.engine.steering import Steering
from playground.engine.verify import DoesNotFollow, verify
from playground.events import Event, Prefill, RunFinished, RunStarted
from playground.parameters import EntropyBoundSampler
from playground.recipe import Message, Mode, Recipe
from playground.settings import Settings
from playground.trace.log import RunLog
from tests import released

TIMES = {"ms", "device_ms", "created", "metrics"}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    folder = released.save(tmp_path_factory.mktemp("released") / "small")
    return models.load(Settings(model=str(folder), device="cpu"))


@pytest.fixture(autouse=True)
def _nothing_kept(model: Model) -> None:
    model.prefixes = Prefixes(1 << 30)


def text(number: int, length: int) -> str:
    chance = random.Random(number)
    return "".join(chance.choice("abcdefghijklmnop") for _ in range(length))


def made(model: Model, *turns: str, **fields: Any) -> list[Event]:
    messages = [Message(role="assistant" if at % 2 else "user", content=turn) for at, turn in enumerate(turns)]
    sampler = EntropyBoundSampler(entropy_bound=1.0, max_denoising_steps=6)
    recipe = Recipe(**{"messages": messages, "max_new_tokens": 32, "sampler": sampler} | fields)
    recipe = runs.prepare(model, recipe, Settings())
    return list(runs.events(model, recipe, Steering(recipe)))


def without_times(events: list[Event]) -> list[dict[str, Any]]:
    return [event.model_dump(exclude=TIMES) for event in events]


def reused(events: list[Event]) -> int:
    finished = events[-1]
    assert isinstance(finished, RunFinished)
    return finished.metrics.reused_tokens


@pytest.mark.parametrize("length", [300, 512, 513, 1700, 5000])
def test_chunks_give_the_logits_of_a_full_encode(model: Model, length: int) -> None:
    ids = model.encode_text(text(length, length))
    whole, parts = model.cache(), model.cache()
    full = model.encode_pass(whole, ids)
    start = 0
    for end in prefill.ends(Prompt(ids)):
        logits = model.encode_pass(parts, ids[start:end])
        start = end
    torch.testing.assert_close(logits, full, atol=1e-4, rtol=0)
    canvas = torch.arange(model.canvas_length) % model.vocab_size
    torch.testing.assert_close(
        model.decode_pass(parts, canvas, None), model.decode_pass(whole, canvas, None), atol=1e-4, rtol=0
    )


def test_a_long_prompt_tells_how_far_it_is(model: Model) -> None:
    events = made(model, text(1, 1500))
    started = events[0]
    assert isinstance(started, RunStarted)
    told = [event for event in events if isinstance(event, Prefill)]
    total = len(started.prompt_ids)
    assert [(event.tokens, event.total) for event in told] == [(CHUNK, total), (2 * CHUNK, total)]
    assert events[1:3] == told
    assert told[0].device_ms == told[0].ms > 0
    assert told[1].device_ms == pytest.approx(told[0].ms + told[1].ms)
    assert not [event for event in made(model, text(2, 400)) if isinstance(event, Prefill)]


@pytest.mark.parametrize("mode", ["diffusion", "autoregressive"])
def test_it_can_be_cancelled_between_two_chunks(model: Model, mode: Mode) -> None:
    recipe = Recipe(messages=[Message(role="user", content=text(3, 1500))], mode=mode, max_new_tokens=32)
    steering = Steering(recipe)
    events = runs.events(model, runs.prepare(model, recipe, Settings()), steering)
    seen = [next(events), next(events)]
    steering.cancel()
    seen += events
    assert [event.type for event in seen] == ["run_started", "prefill", "run_finished"]
    finished = seen[-1]
    assert isinstance(finished, RunFinished)
    assert finished.stop_reason == "cancelled"
    assert finished.metrics.seconds == pytest.approx(finished.metrics.prefill_seconds)
    assert finished.metrics.seconds > 0


@pytest.mark.parametrize("mode", ["diffusion", "autoregressive"])
def test_turns_of_a_conversation_take_up_what_is_encoded_and_give_the_same_bits(model: Model, mode: Mode) -> None:
    turns = [text(4, 700)]
    taken = []
    for turn in range(3):
        kept = made(model, *turns, mode=mode, seed=turn)
        model.prefixes, others = Prefixes(0), model.prefixes
        afresh = made(model, *turns, mode=mode, seed=turn)
        model.prefixes = others
        assert without_times(kept) == without_times(afresh)
        assert reused(afresh) == 0
        taken.append(reused(kept))
        turns += [text(5 + turn, 600), text(6 + turn, 600)]
    assert taken == [0, CHUNK, 3 * CHUNK]


def test_an_edited_turn_cuts_it_back_to_what_is_the_same(model: Model) -> None:
    first, answer, second = text(7, 1300), text(8, 600), text(9, 600)
    made(model, first, answer, second)
    assert reused(made(model, first, answer, second, seed=1)) == 4 * CHUNK
    model.prefixes.clear()
    made(model, first)
    made(model, first, answer, second)
    assert reused(made(model, first, "!" + answer, second)) == 2 * CHUNK
    assert reused(made(model, "!" + first)) == 0


def test_other_models_of_the_prompt_s_beginning_are_not_taken(model: Model) -> None:
    long = text(10, 1300)
    made(model, long)
    assert reused(made(model, long, thinking=True)) == 0


def test_kept_beginnings_are_bounded_and_hold_no_more_than_their_own(model: Model) -> None:
    made(model, text(11, 5000))
    window = released.WINDOW - 1
    full = 9 * CHUNK
    each = 4 * 2  # bytes of a number, keys and values
    assert model.prefixes.bytes == each * (5 * window * 2 * 16 + full * 1 * 32)
    one = model.prefixes.bytes
    model.prefixes = Prefixes(2 * one)
    for number in range(4):
        made(model, text(20 + number, 5000))
    assert len(model.prefixes) == 2
    assert model.prefixes.bytes == 2 * one
    assert reused(made(model, text(23, 5000), seed=1)) == full
    assert reused(made(model, text(20, 5000), seed=1)) == 0
    model.prefixes = Prefixes(one - 1)
    made(model, text(11, 5000))
    assert (len(model.prefixes), model.prefixes.bytes) == (0, 0)


def test_the_cache_of_a_long_prompt_grows_as_reckoned(model: Model) -> None:
    ids = model.encode_text(text(12, 5000))
    cache = model.cache()
    start = 0
    for end in prefill.ends(Prompt(ids)):
        model.encode_pass(cache, ids[start:end])
        start = end
    held = sum(layer.keys.untyped_storage().nbytes() * 2 for layer in cache.layers)
    logits = 3 * model.canvas_length * model.vocab_size * 4
    assert held <= model.memory_of(5000, CHUNK) - logits <= 1.1 * held


def test_what_does_not_fit_is_refused_before_it_is_tried(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    made(model, text(13, 1300))
    monkeypatch.setattr(model, "free_memory", lambda: 2_000_000)
    with pytest.raises(Exception, match=r"A run of \d+ tokens takes about .* and 2.0 MB are free on cpu") as raised:
        made(model, text(14, 4000))
    assert getattr(raised.value, "code", None) == "out_of_memory"
    assert len(model.prefixes) == 0
    assert made(model, "hello")[-1].type == "run_finished"


@pytest.mark.parametrize("mode", ["diffusion", "autoregressive"])
def test_a_long_run_verifies_and_a_wrong_progress_does_not(model: Model, mode: Mode) -> None:
    log = RunLog()
    events = [log.append(event) for event in made(model, text(15, 1300), mode=mode)]
    verify(model, events)
    for change in ({"tokens": 511}, {"ms": -1.0}, {"device_ms": 0.0}):
        spoilt = [events[0], events[1].model_copy(update=change), *events[2:]]
        with pytest.raises(DoesNotFollow, match=rf"event 1 \(prefill\), {next(iter(change))}"):
            verify(model, spoilt)
    with pytest.raises(DoesNotFollow, match="tokens: it is 1024 where 512 follows"):
        verify(model, [events[0], *events[2:]])


@pytest.mark.parametrize(
    ("pictures", "expected"),
    [
        ([], [10, 20, 25]),
        ([(2, 8)], [10, 20, 25]),
        ([(8, 13)], [8, 18, 25]),
        ([(0, 13)], [13, 23, 25]),
        ([(5, 10), (11, 25)], [10, 11, 25]),
        ([(18, 21), (21, 22)], [10, 18, 25]),
    ],
)
def test_chunks_do_not_cut_pictures(pictures: list[tuple[int, int]], expected: list[int]) -> None:
    places: list[Any] = [Picture(start, end, None) for start, end in pictures]  # type: ignore[arg-type]
    assert prefill.ends(Prompt(list(range(25)), places), chunk=10) == expected


def test_a_folder_for_text_only_takes_no_pictures(model: Model, tmp_path: Path) -> None:
    assert model.supports_images
    for file in released.save(tmp_path / "text").glob("*processor*"):
        file.unlink()
    assert not models.load(Settings(model=str(tmp_path / "text"), device="cpu")).supports_images
