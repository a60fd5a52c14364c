import pytest

from playground import metrics


def test_equations_7_to_10_on_two_canvases() -> None:
    steps, valid = [24, 8], [64, 39]
    assert metrics.total_tokens(valid) == 103
    assert metrics.total_denoising_steps(steps) == 32
    assert metrics.effective_denoising_steps(steps, valid) == pytest.approx((24 * 64 + 8 * 39) / 103)
    assert metrics.tokens_per_forward(steps, valid) == pytest.approx(103 / 33)


def test_without_adaptive_stopping_effective_steps_are_the_budget() -> None:
    assert metrics.effective_denoising_steps([48, 48, 48], [64, 64, 3]) == pytest.approx(48)


def test_one_canvas_needs_no_pass_in_between() -> None:
    assert metrics.forward_passes([12]) == 12
    assert metrics.forward_passes([]) == 0


def test_nothing_generated_has_no_rate() -> None:
    assert metrics.tokens_per_forward([], []) is None
    assert metrics.effective_denoising_steps([], []) is None
