"""Out of memory in the middle of a run: that run ends and says what to lower, and the next one works."""

import pytest
import torch

from playground.engine import runs
from playground.engine.models import Model
from playground.engine.steering import Steering
from playground.events import Error, Event, RunFinished, Step
from playground.parameters import EntropyBoundSampler
from playground.recipe import Message, Recipe
from playground.settings import Settings


def run(model: Model) -> list[Event]:
    messages = [Message(role="user", content="Tell a story about Mia the fox.")]
    wanted = Recipe(messages=messages, max_new_tokens=16, sampler=EntropyBoundSampler(max_denoising_steps=6))
    return list(runs.events(model, runs.prepare(model, wanted, Settings()), Steering(wanted)))


def finish(events: list[Event]) -> RunFinished:
    assert isinstance(events[-1], RunFinished)
    return events[-1]


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 9 GiB"),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9000 bytes."),
        MemoryError(),
    ],
)
def test_out_of_memory_says_what_to_lower_and_the_next_run_works(
    error: Exception, random_model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    released: list[bool] = []
    theirs, passes = random_model.decode_pass, iter(range(3))

    def fail(*given: object) -> torch.Tensor:
        if next(passes, None) is None:
            raise error
        return theirs(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(random_model, "release", lambda: released.append(True))
    with monkeypatch.context() as patch:
        patch.setattr(random_model, "decode_pass", fail)
        events = run(random_model)
    assert sum(isinstance(event, Step) for event in events) == 3
    assert released
    assert finish(run(random_model)).stop_reason in ("end_of_turn", "max_new_tokens")
    assert isinstance(events[-2], Error)
    assert events[-2].code == "out_of_memory"
    assert "max_new_tokens" in events[-2].message
    assert finish(events).stop_reason == "error"
