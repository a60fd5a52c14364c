"""The parts of the GPU benchmark, on a CPU."""

import time
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from playground.bench import shape as shapes
from playground.bench.pairs import measure
from playground.bench.parts import Stopwatch, counted, timed
from playground.recipe import Message

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def made() -> tuple[Any, Any]:
    return shapes.new_model(shapes.SMALL, CPU, torch.float32)


def test_weights_are_drawn_and_held_once(made: tuple[Any, Any]) -> None:
    model, network = made
    encoder, decoder = network.model.encoder.language_model, network.model.decoder
    assert network.lm_head.weight is decoder.embed_tokens.weight is encoder.embed_tokens.weight
    for one, other in zip(encoder.layers, decoder.layers, strict=True):
        for name, weight in one.named_parameters():
            assert other.get_parameter(name) is weight, name
    assert not any(each.is_meta for each in (*network.parameters(), *network.buffers()))
    assert shapes.bytes_needed(shapes.SMALL, torch.float32) == 4 * model.parameters


def test_the_released_shape_has_the_released_size() -> None:
    assert 25e9 < shapes.bytes_needed(shapes.RELEASED, torch.bfloat16) / 2 < 26e9


def test_random_weights_make_a_distribution(made: tuple[Any, Any]) -> None:
    model, _ = made
    ids = model.encode([Message(role="user", content=shapes.prompt(shapes.SMALL, 40))], False)
    assert len(ids) == 40, "longer than the window"
    cache = model.cache()
    model.encode_pass(cache, ids)
    logits = model.decode_pass(cache, torch.arange(shapes.SMALL.canvas_length), None)
    assert logits.shape == (32, 2048)
    assert 0.3 < float(logits.std()) < 3


def test_distinct_experts_are_counted() -> None:
    class Router(nn.Module):
        def forward(self, chosen: torch.Tensor) -> tuple[None, None, torch.Tensor]:
            return None, None, chosen

    layers = [SimpleNamespace(router=Router()), SimpleNamespace(router=Router())]
    counts: list[int] = []
    with counted(layers, counts):
        layers[0].router(torch.tensor([[0, 1], [1, 2]]))
        layers[1].router(torch.tensor([[5, 5], [5, 5]]))
    layers[0].router(torch.tensor([[0, 1]]))
    assert counts == [3, 1]


def test_parts_of_a_layer_are_timed(made: tuple[Any, Any]) -> None:
    model, network = made
    cache = model.cache()
    model.encode_pass(cache, [7, 8, 9])
    watch = Stopwatch(CPU)
    with timed(network.model.decoder.layers, watch), watch.span("all"):
        model.decode_pass(cache, torch.arange(32), None)
    taken = watch.take()
    assert set(taken) == {"all", "attention", "MoE"}
    assert 0 < taken["attention"] + taken["MoE"] < taken["all"]
    assert watch.take() == {}
    model.decode_pass(cache, torch.arange(32), None)
    assert watch.take() == {}, "the hooks are gone"


def test_spans_of_one_name_add_up() -> None:
    watch = Stopwatch(CPU)
    for _ in range(2):
        with watch.span("nap"):
            time.sleep(0.02)
    assert watch.take()["nap"] >= 40


def test_no_pair_is_begun_late() -> None:
    calls: list[str] = []
    pairs = measure(lambda: calls.append("o"), lambda: calls.append("r"), 5, until=time.perf_counter() - 1)
    assert len(pairs.ours) == len(pairs.reference) == 1
    assert calls == ["o", "r", "o", "r"]
