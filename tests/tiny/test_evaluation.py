from collections.abc import Sequence

import pytest
import torch
from transformers import DiffusionGemmaForBlockDiffusion

from playground.sampling.rules.entropy_bound import accept
from playground.tiny.answers import Mode, Outcome, StopReason
from playground.tiny.batched import (
    BatchedAutoregressive,
    BatchedDiffusion,
    SamplerSettings,
    accepted_positions,
    pins_of_canvas,
)
from playground.tiny.codec import TextCodec
from playground.tiny.evaluation import evaluate, wilson_interval
from playground.tiny.examples import encode_task
from playground.tiny.markers import END_IDS
from playground.tiny.tasks import Task, held_out_set


@pytest.mark.parametrize(
    ("right", "total", "low", "high"),
    [(0, 0, 0.0, 1.0), (0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (160, 200, 0.7390, 0.8494)],
)
def test_wilson_interval(right: int, total: int, low: float, high: float) -> None:
    assert wilson_interval(right, total) == pytest.approx((low, high), abs=1e-3)


def test_accepted_positions_are_the_engines_and_pins_have_no_share() -> None:
    entropy = torch.tensor([[0.03, 0.05, 0.08, 2.0], [3.0, 4.0, 5.0, 0.0]])
    free = torch.tensor([[True] * 4, [True, True, True, False]])
    accepted = accepted_positions(entropy, free, 0.1)
    assert accepted.tolist() == [[True, True, True, False], [True, False, False, False]]
    many = torch.rand(20, 64, generator=torch.Generator().manual_seed(0)) * 0.1
    batch = accepted_positions(many, torch.ones_like(many, dtype=torch.bool), 0.5)
    assert all(torch.equal(batch[i], accept(many[i], 0.5)) for i in range(20))
    assert not accepted_positions(entropy, torch.zeros_like(free), 0.1).any()


def test_pins_go_over_the_edge_and_end_with_the_turn() -> None:
    pins: list[list[int | None]] = [[1, None, 3, 4, 5], []]
    assert pins_of_canvas(pins, 0, 4).tolist() == [[1, -1, 3, 4], [-1] * 4]
    assert pins_of_canvas(pins, 1, 4).tolist() == [[5, 5, 5, 5], [-1] * 4]


class Perfect:
    """Answers every task as its generator does, in one canvas."""

    def __init__(self, codec: TextCodec, mode: Mode = "diffusion", spoil: int | None = None) -> None:
        self.mode, self._codec, self._spoil = mode, codec, spoil

    def run(self, tasks: Sequence[Task]) -> list[Outcome]:
        """One outcome each."""
        outcomes = []
        for number, task in enumerate(tasks):
            ids = encode_task(task, self._codec).answer
            if number == self._spoil:
                ids = ids[:-1] * 9
            stop: StopReason = "max_new_tokens" if number == self._spoil else "end_of_turn"
            outcomes.append(Outcome(ids, stop, 3, [3], [len(ids)], ["stable_and_confident"], revised=number % 2))
        return outcomes


def test_a_perfect_runner_is_right_everywhere(small_codec: TextCodec) -> None:
    evaluation = evaluate([Perfect(small_codec), Perfect(small_codec, "autoregressive")], small_codec, count=4)
    assert evaluation.macro("diffusion") == evaluation.macro("autoregressive") == 1
    assert all(result.total == 4 and result.loops == 0 and result.similarity == 1 for result in evaluation.results)
    assert evaluation.macro_steps() == 3
    thinking = next(r for r in evaluation.results if r.family == "think_add")
    assert thinking.closed == 1
    plain = evaluation.as_json()
    assert plain["macro_accuracy"] == {"autoregressive": 1, "diffusion": 1}
    assert plain["families"][0]["canvas_stops"] == {"stable_and_confident": 4}


def test_a_loop_is_wrong_and_counted(small_codec: TextCodec) -> None:
    (result,) = evaluate([Perfect(small_codec, spoil=2)], small_codec, count=4, families=["opposites"]).results
    assert (result.right, result.stops) == (3, {"end_of_turn": 3, "max_new_tokens": 1})
    assert result.revised == pytest.approx(2 / 3)
    assert 0.75 <= result.similarity < 1


def test_diffusion_in_a_batch_keeps_pins_and_gives_whole_outcomes(
    small_model: DiffusionGemmaForBlockDiffusion, small_codec: TextCodec
) -> None:
    tasks = [*held_out_set("infill", 2), *held_out_set("long_story", 1)]
    runner = BatchedDiffusion(small_model, small_codec, SamplerSettings(max_denoising_steps=3), max_new_tokens=96)
    outcomes = runner.run(tasks)
    assert outcomes == runner.run(tasks)
    for task, outcome in zip(tasks[:2], outcomes[:2], strict=True):
        example = encode_task(task, small_codec)
        held = [i for i, pinned in enumerate(example.pinned) if pinned and i < len(outcome.ids)]
        assert all(outcome.ids[i] == example.answer[i] for i in held)
    for outcome in outcomes:
        assert outcome.passes == sum(outcome.canvas_steps) + len(outcome.canvas_steps) - 1
        assert sum(outcome.canvas_tokens) == len(outcome.ids)
        assert (outcome.ids[-1] in END_IDS) == (outcome.stop_reason == "end_of_turn")


def test_a_batch_equals_single_runs_in_ar_mode(
    small_model: DiffusionGemmaForBlockDiffusion, small_codec: TextCodec
) -> None:
    tasks = [*held_out_set("spell", 2), *held_out_set("json", 2)]
    runner = BatchedAutoregressive(small_model, small_codec, max_new_tokens=12)
    together = runner.run(tasks)
    assert together == [runner.run([task])[0] for task in tasks]
    assert all(len(outcome.ids) <= 12 for outcome in together)
