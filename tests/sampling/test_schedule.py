import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers.models.diffusion_gemma.generation_diffusion_gemma import LinearTemperatureScheduleLogitsProcessor

from playground.sampling.schedule import temperature, tempered


def test_first_and_last_step_of_48() -> None:
    assert temperature(48, 48, 0.8, 0.4) == pytest.approx(0.8)
    assert temperature(1, 48, 0.8, 0.4) == pytest.approx(0.408333, abs=1e-6)


@given(
    st.integers(1, 192).flatmap(lambda steps: st.tuples(st.integers(1, steps), st.just(steps))),
    st.floats(0, 1),
    st.floats(0.01, 1),
)
def test_the_reference_divides_by_the_same_number(place: tuple[int, int], t_min: float, spread: float) -> None:
    remaining, steps = place
    t_max = t_min + spread
    logits = torch.linspace(-30, 30, 101)
    theirs = LinearTemperatureScheduleLogitsProcessor(t_min, t_max, steps)(
        None, logits, cur_step=torch.tensor(remaining, dtype=torch.int32)
    )
    assert torch.equal(logits / torch.tensor(temperature(remaining, steps, t_max, t_min)), theirs)


def test_tempered_logits_are_a_true_division() -> None:
    logits = torch.randn(4, 1000, generator=torch.Generator().manual_seed(0)) * 9
    for value in (0.8, 0.408333, 1.0, 1 / 3):
        assert torch.equal(tempered(logits, value), logits / torch.tensor(value))
