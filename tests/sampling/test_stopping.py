import pytest
import torch
from transformers.models.diffusion_gemma.generation_diffusion_gemma import StableAndConfidentStoppingCriteria

from playground.sampling import stopping


def stop_step(canvases: list[list[int]], threshold: int, entropy: float = 0.0, confidence: float = 0.005) -> int | None:
    previous, stable = None, 0
    for number, canvas in enumerate(canvases, start=1):
        predicted = torch.tensor(canvas)
        stable = stopping.stable_steps(stable, previous, predicted)
        if stopping.stable_and_confident(entropy, stable, confidence, threshold):
            return number
        previous = predicted
    return None


@pytest.mark.parametrize(("threshold", "step"), [(0, 1), (1, 2), (3, 4)])
def test_a_constant_confident_canvas_stops_at_step(threshold: int, step: int) -> None:
    assert stop_step([[1, 2, 3]] * 8, threshold) == step


def test_confident_means_strictly_below() -> None:
    assert stop_step([[1]] * 4, 1, entropy=0.005) is None
    assert stop_step([[1]] * 4, 1, entropy=0.004999) == 2
    assert stop_step([[1]] * 4, 0, entropy=0.0, confidence=0.0) is None


def test_mean_entropy_counts_every_position() -> None:
    assert stopping.mean_entropy(torch.tensor([0.0, 0.0, 0.0, 2.0])) == 0.5


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("threshold", [0, 1, 2, 5])
def test_the_reference_stops_at_the_same_step(seed: int, threshold: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    canvases = [[int(torch.randint(0, 2, (1,), generator=generator))] for _ in range(30)]
    criteria = StableAndConfidentStoppingCriteria(stability_threshold=threshold, confidence_threshold=0.005)
    theirs = None
    for number, canvas in enumerate(canvases, start=1):
        confident = torch.zeros(1, 1, 8)
        confident[..., canvas[0]] = 1e4
        if bool(criteria(torch.tensor([canvas]), confident)):
            theirs = number
            break
    assert stop_step(canvases, threshold) == theirs
