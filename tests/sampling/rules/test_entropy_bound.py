import pytest
import torch
from diffusers import EntropyBoundScheduler
from hypothesis import example, given
from hypothesis import strategies as st

from playground.sampling import draws
from playground.sampling.rules.entropy_bound import EntropyBound, accept
from playground.sampling.rules.rule import Draws
from playground.sampling.statistics import summarise

entropies = st.lists(st.floats(0, 12, width=32), min_size=1, max_size=80).map(torch.tensor)
bounds = st.floats(0, 20)


@pytest.mark.parametrize(
    ("entropy", "accepted"),
    [([0.03, 0.05, 0.08, 2.0], [1, 1, 1, 0]), ([3.0, 4.0, 5.0], [1, 0, 0]), ([5.0, 4.0, 3.0], [0, 0, 1])],
)
def test_worked_values(entropy: list[float], accepted: list[int]) -> None:
    assert accept(torch.tensor(entropy), 0.1).int().tolist() == accepted


def test_ties_at_the_edge_go_by_position() -> None:
    assert accept(torch.full((4,), 0.06), 0.1).tolist() == [True, True, False, False]


@given(entropies, bounds)
def test_at_least_one_is_accepted_and_the_budget_is_kept(entropy: torch.Tensor, bound: float) -> None:
    taken = entropy.double()[accept(entropy, bound)]
    assert len(taken) >= 1
    assert taken.sum() - taken.max() <= bound + 1e-9


@given(entropies, bounds)
@example(torch.tensor([4.0, 2.2e-16, 2.2e-16]), 0.0)
def test_nothing_that_would_have_fitted_is_left_out(entropy: torch.Tensor, bound: float) -> None:
    accepted = accept(entropy, bound)
    if not accepted.all():
        assert entropy.double()[accepted].sum() > bound * (1 - 1e-12)
        assert entropy[~accepted].min() >= entropy[accepted].max()


@given(entropies, bounds, bounds)
def test_a_looser_bound_accepts_more(entropy: torch.Tensor, first: float, second: float) -> None:
    tight, loose = sorted([first, second])
    assert (accept(entropy, loose) | ~accept(entropy, tight)).all()


def test_a_huge_bound_accepts_all() -> None:
    assert accept(torch.rand(64) * 7, 1e6).all()


@given(st.integers(0, 2**31), st.floats(0, 30))
def test_accepted_positions_carry_the_sampled_token_and_others_fresh_draws(seed: int, bound: float) -> None:
    rows, vocabulary = 24, 90
    logits = torch.randn(rows, vocabulary, generator=torch.Generator().manual_seed(seed)) * 4
    statistics = summarise(logits, draws.uniforms(seed, 0, 1, "sample", rows))
    fresh = draws.tokens(seed, 0, 1, "renoise", rows, vocabulary)
    chance = Draws(fresh, torch.zeros(rows))
    step = EntropyBound(bound).step(torch.zeros(rows, dtype=torch.int64), statistics, chance)
    assert torch.equal(step.canvas_ids[step.accepted], statistics.sampled[step.accepted])
    assert torch.equal(step.canvas_ids[~step.accepted], fresh[~step.accepted])


@pytest.mark.parametrize("seed", range(60))
def test_diffusers_accepts_the_same_positions(seed: int) -> None:
    """diffusers' scheduler is a second oracle for one step: same logits, same bound, same mask."""
    generator = torch.Generator().manual_seed(seed)
    rows, vocabulary = 64, 300
    bound = 10 ** float(torch.empty(1).uniform_(-2, 1.3, generator=generator))
    logits = torch.randn(1, rows, vocabulary, generator=generator) * torch.empty(1, rows, 1).uniform_(
        0.5, 40, generator=generator
    )
    scheduler = EntropyBoundScheduler(entropy_bound=bound, t_max=1.0, t_min=1.0)
    scheduler.set_timesteps(8)
    theirs = scheduler.step(
        logits, scheduler.timesteps[0], torch.randint(0, vocabulary, (1, rows), generator=generator), return_dict=True
    )
    ours = accept(summarise(logits[0], torch.full((rows,), 0.5)).entropy, bound)
    assert torch.equal(ours, theirs.accepted_index[0])


def test_no_position_to_decide_on_is_no_mistake() -> None:
    assert accept(torch.tensor([]), 0.1).tolist() == []
