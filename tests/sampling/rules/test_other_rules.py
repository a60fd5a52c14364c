"""Top probability, margin, fixed k, and the Euler step: worked values, limits, and diffusers where it has the same."""

import math

import pytest
import torch
from diffusers import BlockRefinementScheduler
from hypothesis import given
from hypothesis import strategies as st

from playground.sampling import draws
from playground.sampling.rules.entropy_bound import EntropyBound
from playground.sampling.rules.euler import Euler, Kappa, jump_probability
from playground.sampling.rules.fixed_k import FixedK
from playground.sampling.rules.margin import Margin
from playground.sampling.rules.rule import Draws, Rule, Step
from playground.sampling.rules.top_probability import TopProbability
from playground.sampling.statistics import Statistics, summarise

ROWS, VOCABULARY = 24, 90


def statistics_of(top: list[list[float]], entropy: list[float] | None = None) -> Statistics:
    """Statistics with these top probabilities; position i samples token 100 + i."""
    rows = len(top)
    return Statistics(
        predicted=torch.arange(rows),
        sampled=torch.arange(100, 100 + rows),
        entropy=torch.tensor(entropy or [1.0] * rows),
        top_ids=torch.zeros(rows, len(top[0]), dtype=torch.int64),
        top_probabilities=torch.tensor(top),
    )


def taken(rule: Rule, statistics: Statistics) -> list[int]:
    """The positions that the rule accepts."""
    rows = len(statistics.sampled)
    chance = Draws(torch.arange(500, 500 + rows), torch.zeros(rows, dtype=torch.float64))
    step = rule.step(torch.arange(rows), statistics, chance)
    assert step.canvas_ids.tolist() == [100 + i if a else 500 + i for i, a in enumerate(step.accepted.tolist())]
    return step.accepted.nonzero()[:, 0].tolist()


def random_step(rule: Rule, seed: int, scale: float = 3.0) -> tuple[Step, Statistics, Draws, torch.Tensor]:
    """One step on random logits: decision, statistics, draws, and the canvas before."""
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(ROWS, VOCABULARY, generator=generator) * scale
    statistics = summarise(logits, draws.uniforms(seed, 0, 1, "sample", ROWS))
    chance = Draws(draws.tokens(seed, 0, 1, "renoise", ROWS, VOCABULARY), draws.uniforms(seed, 0, 1, "jump", ROWS))
    canvas = torch.randint(VOCABULARY, (ROWS,), generator=generator)
    return rule.step(canvas, statistics, chance), statistics, chance, canvas


@pytest.mark.parametrize(
    ("threshold", "accepted"), [(0.9, [0, 2]), (0.95, [0]), (1.0, [0]), (0.5, [0, 1, 2]), (0.0, [0, 1, 2, 3])]
)
def test_top_probability(threshold: float, accepted: list[int]) -> None:
    assert taken(TopProbability(threshold), statistics_of([[0.96], [0.5], [0.9], [0.3]])) == accepted


@pytest.mark.parametrize(("threshold", "accepted"), [(0.5, [0, 3]), (0.61, [0]), (1.0, [0]), (0.0, [0, 1, 2, 3])])
def test_margin(threshold: float, accepted: list[int]) -> None:
    """Position 1 has a high top probability and a close second: the margin tells them apart."""
    top = [[0.9, 0.05], [0.51, 0.49], [0.3, 0.2], [0.7, 0.1]]
    assert taken(Margin(threshold), statistics_of(top)) == accepted


def test_a_vocabulary_of_one_token_has_no_second() -> None:
    assert taken(Margin(1.0), statistics_of([[1.0], [1.0]])) == [0, 1]


@pytest.mark.parametrize(
    ("k", "accepted"), [(1, [2]), (2, [0, 2]), (3, [0, 2, 3]), (4, [0, 1, 2, 3]), (9, [0, 1, 2, 3])]
)
def test_fixed_k(k: int, accepted: list[int]) -> None:
    """Positions 0, 2 and 3 are as probable; entropy, then place, says which comes first. k more come in each step."""
    assert (
        k > 2
        or taken(FixedK(1, number=k), statistics_of([[0.9], [0.8], [0.9], [0.9]], [0.4, 0.1, 0.3, 0.4])) == accepted
    )
    assert taken(FixedK(k), statistics_of([[0.9], [0.8], [0.9], [0.9]], [0.4, 0.1, 0.3, 0.4])) == accepted


@pytest.mark.parametrize("rule", [TopProbability(0.0), Margin(0.0), FixedK(ROWS), EntropyBound(1e6), Euler(0.25, 0.25)])
def test_limits_accept_everything(rule: Rule) -> None:
    step, statistics, _, _ = random_step(rule, 3)
    assert step.accepted.all()
    assert torch.equal(step.canvas_ids, statistics.sampled)


@pytest.mark.parametrize("rule", [TopProbability(1.0), Margin(1.0), FixedK(1), EntropyBound(0.0)])
def test_the_other_limits_accept_the_surest_alone(rule: Rule) -> None:
    step, statistics, _, _ = random_step(rule, 3)
    assert step.accepted.sum() == 1
    if not isinstance(rule, EntropyBound | Margin):
        assert int(statistics.top_probabilities[:, 0].argmax()) == int(step.accepted.nonzero())


@given(st.integers(0, 2**31), st.floats(0, 1), st.floats(0, 1))
def test_a_lower_threshold_accepts_more(seed: int, first: float, second: float) -> None:
    low, high = sorted((first, second))
    for rule in (TopProbability, Margin):
        loose, tight = random_step(rule(low), seed)[0].accepted, random_step(rule(high), seed)[0].accepted
        assert (loose | ~tight).all()
        assert tight.any()


@given(st.integers(0, 2**31), st.integers(1, ROWS))
def test_renoising_rules_feed_sampled_and_fresh_tokens(seed: int, k: int) -> None:
    for rule in (FixedK(k), TopProbability(k / ROWS), Margin(k / ROWS)):
        step, statistics, chance, _ = random_step(rule, seed)
        assert torch.equal(step.canvas_ids, torch.where(step.accepted, statistics.sampled, chance.random_ids))
    assert random_step(FixedK(k), seed)[0].accepted.sum() == k


@pytest.mark.parametrize("seed", range(40))
def test_diffusers_accepts_the_same_above_a_threshold(seed: int) -> None:
    """Its block refinement, all masked, greedy, at least one: the same positions as top probability."""
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(1, ROWS, VOCABULARY, generator=generator) * torch.empty(1, ROWS, 1).uniform_(
        0.5, 9, generator=generator
    )
    threshold = float(torch.rand(1, generator=generator)) * 0.98 + 0.01
    scheduler = BlockRefinementScheduler(block_length=ROWS, minimal_topk=1)
    scheduler.set_timesteps(ROWS)
    theirs = scheduler.step(
        logits, 0, torch.full((1, ROWS), VOCABULARY), mask_token_id=VOCABULARY, threshold=threshold, temperature=0.0
    )
    statistics = summarise(logits[0], torch.full((ROWS,), 0.5))
    step = TopProbability(threshold).step(
        torch.zeros(ROWS, dtype=torch.int64),
        statistics,
        Draws(torch.zeros(ROWS, dtype=torch.int64), torch.zeros(ROWS)),
    )
    assert torch.equal(step.accepted, theirs.transfer_index[0])


@pytest.mark.parametrize("k", [1, 3, 8, 24])
def test_diffusers_accepts_the_same_k(k: int) -> None:
    """Its block refinement with a threshold that nothing reaches transfers the k most probable."""
    logits = torch.randn(1, ROWS, VOCABULARY, generator=torch.Generator().manual_seed(k)) * 3
    scheduler = BlockRefinementScheduler(block_length=ROWS)
    scheduler.set_timesteps(ROWS // k)
    theirs = scheduler.step(
        logits, 0, torch.full((1, ROWS), VOCABULARY), mask_token_id=VOCABULARY, threshold=2.0, temperature=0.0
    )
    statistics = summarise(logits[0], torch.full((ROWS,), 0.5))
    step = FixedK(k).step(
        torch.zeros(ROWS, dtype=torch.int64),
        statistics,
        Draws(torch.zeros(ROWS, dtype=torch.int64), torch.zeros(ROWS)),
    )
    assert torch.equal(step.accepted, theirs.transfer_index[0])


@pytest.mark.parametrize(
    ("t", "dt", "kappa", "expected"),
    [
        (1.0, 0.125, "linear", 0.125),
        (0.5, 0.125, "linear", 0.25),
        (0.125, 0.125, "linear", 1.0),
        (1.0, 0.125, "cosine", 0.0),
        (0.5, 0.125, "cosine", math.pi * 0.125),
        (0.125, 0.125, "cosine", 1.0),
    ],
)
def test_how_likely_an_euler_step_jumps(t: float, dt: float, kappa: Kappa, expected: float) -> None:
    """By hand: linear κ gives Δt/t; cosine gives Δt·π·cot(πt/2), cut at 1."""
    assert jump_probability(t, dt, kappa) == pytest.approx(expected)


@pytest.mark.parametrize("kappa", ["linear", "cosine"])
@pytest.mark.parametrize("t", [0.07, 0.3, 0.62, 0.999])
def test_the_rate_is_the_schedules_derivative(t: float, kappa: Kappa) -> None:
    """−κ̇/(1 − κ) from the schedule itself, by a central difference."""

    def schedule(time: float) -> float:
        return 1 - time if kappa == "linear" else math.cos(math.pi * time / 2) ** 2

    step = 1e-6
    slope = (schedule(t + step) - schedule(t - step)) / (2 * step)
    assert jump_probability(t, 1e-3, kappa) == pytest.approx(-1e-3 * slope / (1 - schedule(t)), rel=1e-6)


def test_an_euler_step_keeps_what_does_not_jump() -> None:
    jumped = 0
    for seed in range(200):
        step, statistics, chance, canvas = random_step(Euler(0.5, 0.125), seed)
        assert torch.equal(step.accepted, chance.uniforms < 0.25)
        assert torch.equal(step.canvas_ids, torch.where(step.accepted, statistics.sampled, canvas))
        jumped += int(step.accepted.sum())
    assert jumped / (200 * ROWS) == pytest.approx(0.25, abs=0.03)


def test_all_jump_once_over_the_whole_schedule() -> None:
    """With linear κ, the chance to have kept the first token after n of N steps is 1 − n/N = κ's complement."""
    kept, steps = 1.0, 8
    for number in range(steps):
        kept *= 1 - jump_probability((steps - number) / steps, 1 / steps, "linear")
        assert kept == pytest.approx(1 - (number + 1) / steps)
