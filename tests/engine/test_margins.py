"""What another machine may decide otherwise, and what it may not."""

import pytest
import torch

from playground.engine import runs
from playground.engine.margins import Margins
from playground.engine.models import Model
from playground.engine.steering import Steering
from playground.engine.verify import DoesNotFollow, verify
from playground.events import Event
from playground.recipe import Message, Recipe
from tests.engine.traces import LONG, check, made


def shaken(monkeypatch: pytest.MonkeyPatch, size: float) -> None:
    """Logits off by at most `size`, as on another machine, always in the same way."""
    whole = Model._logits

    def off(self: Model, hidden: torch.Tensor) -> torch.Tensor:
        logits = whole(self, hidden)
        generator = torch.Generator().manual_seed(logits.numel())
        return logits + (torch.rand(logits.shape, generator=generator) - 0.5) * 2 * size

    monkeypatch.setattr(Model, "_logits", off)


@pytest.mark.parametrize("mode", ["diffusion", "autoregressive"])
def test_another_machine_may_differ_inside_the_margin(
    embedded: Model, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    traces = [made(embedded, LONG, mode=mode, seed=seed, sampler={"t_max": 1.2}) for seed in range(3)]
    shaken(monkeypatch, 1e-5)
    for trace in traces:
        verdict = check(embedded, trace, 1e-3)
        assert 0 < verdict.largest < 1e-3
        with pytest.raises(DoesNotFollow):
            check(embedded, trace, 0.0)


def test_a_decision_inside_the_margin_breaks_no_later_step(random_model: Model) -> None:
    """Swap a draw with its neighbour where the random number falls near the edge between the two."""
    sampler = {"max_denoising_steps": 6, "entropy_bound": 4.0}
    trace = made(random_model, sampler=sampler, max_new_tokens=16)
    differing = 0
    for seed in range(30):
        recipe = Recipe(messages=[Message(role="user", content="Hi")], seed=seed, sampler=sampler, max_new_tokens=16)
        events: list[Event] = list(runs.events(random_model, recipe, Steering(recipe)))
        events = [event.model_copy(update={"run": "r", "seq": seq}) for seq, event in enumerate(events)]
        with pytest.MonkeyPatch.context() as patch:
            shaken(patch, 2e-4)
            differing += verify(random_model, events, 1e-2).differing
    assert differing > 0
    assert check(random_model, trace).differing == 0


def test_the_margin_of_an_argmax_is_in_nats() -> None:
    logits = torch.tensor([1.0, 1.0 - 5e-4, 0.0])
    assert Margins(1e-3).may_predict(logits, 1)
    assert not Margins(1e-4).may_predict(logits, 1)
    assert not Margins(1e-3).may_predict(logits, 2)


def test_the_margin_of_a_draw_is_at_the_edges_of_its_share() -> None:
    logits = torch.tensor([0.5, 0.25, 0.25]).log()
    assert Margins(1e-2).may_draw(logits, 0.498, 1)
    assert not Margins(1e-2).may_draw(logits, 0.48, 1)
    assert not Margins(0.0).may_draw(logits, 0.7, 1)
    assert not Margins(1e-2).may_draw(torch.tensor([0.0, -torch.inf]), 0.999, 1)


def test_the_margin_of_a_truncated_draw_knows_its_edges() -> None:
    logits = torch.tensor([0.4, 0.3, 0.2995, 0.0005]).log()
    assert Margins(1e-2).may_draw_truncated(logits, 2, 1.0, 0.6, 2)
    assert not Margins(1e-4).may_draw_truncated(logits, 2, 1.0, 0.6, 2)
    assert not Margins(1e-2).may_draw_truncated(logits, 2, 1.0, 0.6, 3)
