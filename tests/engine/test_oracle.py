"""transformers' own `generate()`, fed the same random draws, is the oracle for the engine."""

import functools
import random

import pytest
import torch
from transformers import Gemma4ForCausalLM, Gemma4TextConfig

from playground.engine import runs
from playground.engine.models import Model
from playground.engine.steering import Steering
from playground.events import CanvasCommitted, Event, RunStarted, Token
from playground.parameters import Decoding, EntropyBoundSampler
from playground.recipe import Message, Recipe
from playground.sampling import draws
from playground.sampling.statistics import summarise
from playground.sampling.truncation import truncate
from playground.settings import Settings
from tests.engine.reference import agree

WORDS = [
    "Tell",
    "a",
    "story",
    "about",
    "Mia",
    "the",
    "fox",
    "and",
    "a",
    "red",
    "key",
    "near",
    "the",
    "old",
    "bridge",
    "while",
    "the",
    "owl",
    "slept",
]
NAMES = ["Mia", "Tom", "Ana", "Ben", "Lily", "Max", "Zoe"]
ANIMALS = ["fox", "owl", "bear", "wolf", "frog", "duck"]


def random_recipe(number: int, canvas_length: int, window: int) -> Recipe:
    """Bounds, temperatures, thresholds, caps up to 192, one to three canvases, short and long prompts."""
    chance = random.Random(number)
    t_min = chance.uniform(0.05, 0.9)
    cap = 192 if number % 13 == 5 else chance.choice([1, 2, 7, 24, 48])
    length = chance.choice([4, canvas_length // 2, canvas_length + 9, window + 30])
    prompt = " ".join(chance.choice(WORDS) for _ in range(length))
    if number % 2:
        prompt = f"Tell a long story about {chance.choice(NAMES)} the {chance.choice(ANIMALS)}."
    canvases = 1 if cap == 192 else 1 + number % 3
    return Recipe(
        messages=[Message(role="user", content=prompt)],
        seed=chance.randrange(2**53),
        max_new_tokens=canvases * canvas_length - chance.randrange(canvas_length),
        sampler=EntropyBoundSampler(
            entropy_bound=10 ** chance.uniform(-2.5, 1.2),
            t_min=t_min,
            t_max=t_min + chance.uniform(0.01, 0.6),
            max_denoising_steps=cap,
            confidence_threshold=10 ** chance.uniform(-4, 0.9),
            stability_threshold=chance.choice([0, 1, 1, 2, 4]),
        ),
    )


@functools.cache
def made(model: Model, number: int, window: int) -> list[Event]:
    recipe = runs.prepare(model, random_recipe(number, model.canvas_length, window), Settings())
    return list(runs.events(model, recipe, Steering(recipe)))


def compare(model: Model, number: int, window: int, monkeypatch: pytest.MonkeyPatch) -> None:
    agree(model, made(model, number, window), monkeypatch)


@pytest.mark.parametrize("number", range(26))
def test_the_embedded_model_denoises_as_generate_does(
    number: int, embedded: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    compare(embedded, number, 512, monkeypatch)


@pytest.mark.parametrize("number", range(100, 130))
def test_a_model_with_experts_and_a_short_window_denoises_as_generate_does(
    number: int, random_model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    compare(random_model, number, 24, monkeypatch)


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize("decoding", [Decoding(), Decoding(temperature=0), Decoding(temperature=1.7, top_k=0, top_p=1)])
def test_autoregressive_equals_a_plain_full_re_encode(
    number: int, decoding: Decoding, embedded: Model, random_model: Model
) -> None:
    model = embedded if number % 2 else random_model
    recipe = random_recipe(number, model.canvas_length, 24).model_copy(
        update={"mode": "autoregressive", "decoding": decoding, "max_new_tokens": 40}
    )
    recipe = runs.prepare(model, recipe, Settings())
    events = list(runs.events(model, recipe, Steering(recipe)))
    started = events[0]
    assert isinstance(started, RunStarted)
    ids = list(started.prompt_ids)
    tokens = [event for event in events if isinstance(event, Token)]
    assert tokens
    for event in tokens:
        logits = model.encode_pass(model.cache(), ids)
        if decoding.temperature:
            logits = truncate(logits / decoding.temperature, decoding.top_k, decoding.top_p)
            uniform = draws.uniforms(recipe.seed, 0, event.index, "token", 1)
            expected = int(summarise(logits[None], uniform).sampled)
        else:
            expected = int(logits.argmax())
        assert event.id == expected, f"token {event.index}"
        ids.append(event.id)


def test_autoregressive_logits_are_those_of_gemma_4_with_the_same_weights(embedded: Model) -> None:
    """Another road to the same numbers: transformers' own causal model, filled with the encoder's weights."""
    source = embedded._network
    config = source.config.text_config.to_dict()
    for key in ("model_type", "architectures", "per_layer_config"):
        config.pop(key, None)
    config |= {
        "global_head_dim": config["head_dim"],
        "num_global_key_value_heads": config["num_key_value_heads"],
        "attention_k_eq_v": True,
        "enable_moe_block": True,
        "hidden_size_per_layer_input": 0,
        "num_kv_shared_layers": 0,
        "final_logit_softcapping": 30.0,
        "vocab_size_per_layer_input": config["vocab_size"],
    }
    causal = Gemma4ForCausalLM(Gemma4TextConfig(**config)).eval()
    prefix = "model.encoder.language_model."
    weights = {
        "model." + name.removeprefix(prefix): value
        for name, value in source.state_dict().items()
        if name.startswith(prefix)
    }
    weights["lm_head.weight"] = source.lm_head.weight
    missing = causal.load_state_dict(weights, strict=False)
    assert not missing.unexpected_keys
    assert not missing.missing_keys
    ids = embedded.encode([Message(role="user", content="Count from 3 to 12.")], thinking=False)
    with torch.inference_mode():
        theirs = causal(torch.tensor([ids])).logits[0, -1].float()
    torch.testing.assert_close(embedded.encode_pass(embedded.cache(), ids), theirs, atol=1e-5, rtol=0)


def test_the_recipes_reach_over_canvas_window_and_both_ends(embedded: Model, random_model: Model) -> None:
    logs = [made(embedded, number, 512) for number in range(26)] + [
        made(random_model, number, 24) for number in range(100, 130)
    ]
    prompts = [len(events[0].prompt_ids) for events in logs if isinstance(events[0], RunStarted)]
    assert min(prompts[:26]) < 64
    assert max(prompts[:26]) > 512
    committed = [[event for event in events if isinstance(event, CanvasCommitted)] for events in logs]
    assert {len(canvases) for canvases in committed} >= {1, 2, 3}
    assert sum(len(canvases) > 1 for canvases in committed[:26]) >= 5
    ends = [canvas.stop_reason for canvases in committed[:26] for canvas in canvases]
    assert min(ends.count("stable_and_confident"), ends.count("max_denoising_steps")) >= 5
    assert max(canvas.steps for canvases in committed for canvas in canvases) > 48
