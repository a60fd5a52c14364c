"""A compiled step is the eager one: before and after the window is full, over canvases, with a bound that changes.

Most tests trace only, without a compiler behind: that settles what is in the graph, and how many of them there are. One
model goes through inductor as well.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch._inductor import config as inductor
from torch._inductor.compile_fx import compile_fx

from playground.engine import placement
from playground.engine.models import Model
from playground.engine.verify import DoesNotFollow
from playground.errors import ModelError
from playground.parameters import SamplerChange
from playground.settings import Settings
from tests.engine.traces import Trace, check, made

SHORT = "Hi!"
LONG = "Tell a long story about Mia the fox and a friend named Hugo, who lives beside the river."
COLUMNS = ("predicted", "sampled", "accepted", "canvas_ids", "entropy_bound", "ids", "text", "stop_reason", "steps")
WINDOW = 24

Graphs = list[Any]

pytestmark = pytest.mark.timeout(1500)
"""A compiler takes its time where the machine is busy."""


def again(model: Model, how: Any, backend: Callable[..., Any], **options: Any) -> Model:
    """The same weights, compiled."""
    twin = Model(model._network, model._tokenizer, model.name, model.revision)
    twin.compile(how, backend=backend, **options)
    return twin


@pytest.fixture(scope="module", params=["traced", "filled", "inductor"])
def both(request: pytest.FixtureRequest, random_model: Model) -> Iterator[tuple[Model, Model, Graphs]]:
    """The eager model, the compiled one, and the graphs that were compiled, which grow if there are more."""
    graphs: Graphs = []

    def backend(graph: Any, inputs: Any, **_: Any) -> Any:
        graphs.append(graph)
        return compile_fx(graph, inputs) if request.param == "inductor" else graph.forward

    torch._dynamo.reset()
    how, options = ("graphs", {"filled_to": 16}) if request.param == "filled" else ("step", {})
    with inductor.patch(compile_threads=1):
        yield random_model, again(random_model, how, backend, **options), graphs
    torch._dynamo.reset()


def prefixed(model: Model, tokens: int) -> Any:
    cache = model.cache()
    chance = torch.Generator().manual_seed(tokens)
    model.encode_pass(cache, torch.randint(12, 250, (tokens,), generator=chance).tolist())
    return cache


@pytest.mark.parametrize("tokens", [2, WINDOW - 1, WINDOW, WINDOW + 1, 32, 100])
def test_logits_are_the_eager_ones(both: tuple[Model, Model, Graphs], tokens: int) -> None:
    eager, compiled, graphs = both
    cache = prefixed(eager, tokens)
    chance = torch.Generator().manual_seed(tokens)
    for _ in range(2):  # canvases: the prefix grows, past the window too
        canvas_ids = torch.randint(12, 250, (eager.canvas_length,), generator=chance)
        conditioning = None
        for _ in range(2):
            theirs = eager.decode_pass(cache, canvas_ids, conditioning)
            ours = compiled.decode_pass(cache, canvas_ids, conditioning)
            assert theirs.std() > 0.3
            torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-4)
            conditioning = theirs / 0.7
        eager.encode_pass(cache, canvas_ids.tolist())
    assert len(graphs) == 1


def columns(trace: Trace) -> list[dict[str, Any]]:
    return [{name: event[name] for name in COLUMNS if name in event} for event in trace]


@pytest.mark.parametrize("prompt", [SHORT, LONG])
def test_whole_runs_have_the_same_tokens(both: tuple[Model, Model, Graphs], prompt: str) -> None:
    eager, compiled, graphs = both
    fields: dict[str, Any] = {"max_new_tokens": 64, "sampler": {"max_denoising_steps": 4, "entropy_bound": 4.0}}
    theirs, ours = made(eager, prompt, **fields), made(compiled, prompt, **fields)
    assert (theirs[0]["compiled"], ours[0]["compiled"]) == (False, True)
    assert (len(ours[0]["prompt_ids"]) > WINDOW) == (prompt == LONG)
    assert len([event for event in ours if event["type"] == "canvas_committed"]) > 1
    assert columns(ours) == columns(theirs)
    assert check(eager, ours, 1e-3).passes == check(compiled, theirs, 1e-3).passes > 4
    assert len(graphs) == 1


def test_a_bound_that_changes_in_mid_run_is_obeyed(both: tuple[Model, Model, Graphs]) -> None:
    eager, compiled, graphs = both
    fields: dict[str, Any] = {
        "max_new_tokens": 16,
        "sampler": {"max_denoising_steps": 6, "entropy_bound": 0.0, "confidence_threshold": 0.0},
        "changes": {3: SamplerChange(entropy_bound=1e4), 5: SamplerChange(entropy_bound=0.0)},
    }
    theirs, ours = made(eager, LONG, **fields), made(compiled, LONG, **fields)
    steps = [event for event in ours if event["type"] == "step"]
    assert [step["entropy_bound"] for step in steps] == [0.0, 0.0, 1e4, 1e4, 0.0, 0.0]
    assert [sum(step["accepted"]) for step in steps] == [1, 1, 16, 16, 1, 1]
    assert columns(ours) == columns(theirs)
    assert len(graphs) == 1


def test_a_fault_says_that_the_step_was_compiled(both: tuple[Model, Model, Graphs]) -> None:
    eager, compiled, _ = both
    trace = made(compiled, SHORT, max_new_tokens=16, sampler={"max_denoising_steps": 2})
    trace[2]["entropy"][5] += 0.1
    with pytest.raises(DoesNotFollow, match="recorded in float32 on cpu with a compiled step, checked in float32"):
        check(eager, trace, 1e-3)


def test_what_cannot_be_compiled_is_said_while_loading(random_model: Model) -> None:
    torch._dynamo.reset()
    twin = Model(random_model._network, random_model._tokenizer, "random", "0")
    nothing = {"cpp.cxx": ("no-such-compiler",), "force_disable_caches": True, "compile_threads": 1}
    with inductor.patch(nothing), pytest.raises(ModelError) as refusal:
        twin.compile("step")
    assert refusal.value.field == "compile"
    assert "PLAYGROUND_COMPILE asks for a compiled step, which could not be made here: " in refusal.value.message
    assert "C++ compiler" in refusal.value.message
    assert "\n" not in refusal.value.message
    assert not twin.compiled
    cache = prefixed(twin, 5)
    assert twin.decode_pass(cache, torch.arange(16), None).shape == (16, twin.vocab_size)
    torch._dynamo.reset()


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"compile": "graphs"}, "PLAYGROUND_COMPILE is 'graphs', which takes a CUDA device"),
        ({"compile": "step", "device_map": "auto"}, "takes all weights on one device"),
    ],
)
def test_what_does_not_go_together_is_refused(fields: dict[str, Any], says: str) -> None:
    with pytest.raises(ModelError, match=says) as refusal:
        placement.check(Settings(device="cpu", **fields))
    assert refusal.value.field == "compile"
