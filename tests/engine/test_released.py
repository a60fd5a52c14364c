"""A checkpoint of the released shape, loaded from its folder as a user would: the engine agrees with transformers."""

import random
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoTokenizer

from playground.engine import models, runs
from playground.engine.models import Model
from playground.engine.steering import Steering
from playground.events import CanvasCommitted, Event, RunStarted
from playground.parameters import EntropyBoundSampler
from playground.recipe import Message, Recipe
from playground.settings import Settings
from tests import released
from tests.engine.reference import agree


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return released.save(tmp_path_factory.mktemp("released") / "small")


@pytest.fixture(scope="module")
def model(folder: Path) -> Model:
    return models.load(Settings(model=str(folder), device="cpu"))


def words(number: int, length: int) -> str:
    """So many characters, each a token."""
    chance = random.Random(number)
    return "".join(chance.choice("abcdefgh ijklmnop") for _ in range(length - 2)).join("<>")


def recipe_of(*turns: str, **fields: Any) -> Recipe:
    """A conversation, the user first."""
    messages = [Message(role="assistant" if at % 2 else "user", content=turn) for at, turn in enumerate(turns)]
    sampler = EntropyBoundSampler(entropy_bound=1.5, max_denoising_steps=16, confidence_threshold=0.05)
    return Recipe(**{"messages": messages, "seed": 3, "max_new_tokens": 90, "sampler": sampler} | fields)


def made(model: Model, recipe: Recipe) -> list[Event]:
    recipe = runs.prepare(model, recipe, Settings())
    return list(runs.events(model, recipe, Steering(recipe)))


def test_the_checkpoint_is_loaded_with_all_its_parts(model: Model) -> None:
    config = model._network.config
    text = config.text_config
    assert (text.num_experts, text.sliding_window, config.canvas_length) == (8, 512, 32)
    assert text.layer_types == [*["sliding_attention"] * 5, "full_attention"]
    assert model.supports_thinking
    assert model.end_ids == [1, 5]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("thinking", [False, True])
@pytest.mark.parametrize("length", [20, 600])
def test_text_and_thinking(
    model: Model, seed: int, thinking: bool, length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = made(model, recipe_of(words(seed, length), seed=seed, thinking=thinking))
    agree(model, events, monkeypatch)


@pytest.mark.parametrize("thinking", [False, True])
def test_the_prompt_is_what_the_chat_template_says(model: Model, folder: Path, thinking: bool) -> None:
    recipe = recipe_of("Name a colour.", "Red.", "Another one?", thinking=thinking)
    theirs = AutoTokenizer.from_pretrained(folder).apply_chat_template(
        [message.model_dump() for message in recipe.messages],
        enable_thinking=thinking,
        add_generation_prompt=True,
        return_dict=False,
    )
    started = made(model, recipe.model_copy(update={"max_new_tokens": 1}))[0]
    assert isinstance(started, RunStarted)
    assert started.prompt_ids == theirs
    assert (6 in theirs) == thinking


def test_five_thousand_tokens_of_prompt(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    events = made(model, recipe_of(words(5, 5000)))
    started = events[0]
    assert isinstance(started, RunStarted)
    assert len(started.prompt_ids) > 5000
    agree(model, events, monkeypatch)


def test_three_turns(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    turns = [words(7, 300)]
    for turn in range(3):
        events = made(model, recipe_of(*turns, seed=turn))
        agree(model, events, monkeypatch)
        text = "".join(event.text for event in events if isinstance(event, CanvasCommitted))
        turns += [text.replace("\ufffd", "?") or "-", words(8 + turn, 250)]


def test_the_released_vocabulary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = models.load(Settings(model=str(released.save(tmp_path / "wide", vocab_size=262_144)), device="cpu"))
    assert model.vocab_size == 262_144
    sampler = EntropyBoundSampler(entropy_bound=2.0, max_denoising_steps=3)
    agree(model, made(model, recipe_of("Hello", max_new_tokens=32, sampler=sampler)), monkeypatch)
    assert torch.get_num_threads() == 1
