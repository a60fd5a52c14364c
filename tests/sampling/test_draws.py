import torch

from playground.sampling import draws


def test_a_draw_depends_on_its_key_alone() -> None:
    first = draws.uniforms(7, 1, 2, "sample", 64)
    torch.rand(10)
    draws.uniforms(8, 0, 0, "noise", 64)
    assert torch.equal(first, draws.uniforms(7, 1, 2, "sample", 64))


def test_every_part_of_the_key_counts() -> None:
    keys = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (2**53 - 1, 0, 0), (11, 0, 0), (1, 10, 0)]
    seen = {
        tuple(draws.uniforms(*key, purpose, 4).tolist()) for key in keys for purpose in ("noise", "sample", "renoise")
    }
    assert len(seen) == 3 * len(keys)


def test_the_global_state_is_left_alone() -> None:
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    draws.tokens(0, 0, 0, "noise", 64, 1024)
    assert torch.equal(torch.rand(3), expected)


def test_tokens_are_uniform_over_the_whole_vocabulary() -> None:
    count, vocabulary = 64_000, 16
    tokens = draws.tokens(3, 0, 0, "noise", count, vocabulary)
    frequency = torch.bincount(tokens, minlength=vocabulary)
    assert len(frequency) == vocabulary
    # Chi-square with 15 degrees of freedom: 37.7 is its 99.9 % point; the draws are fixed by the key.
    assert ((frequency - count / vocabulary) ** 2 / (count / vocabulary)).sum() < 37.7


def test_uniforms_lie_in_the_unit_interval() -> None:
    values = draws.uniforms(0, 0, 0, "token", 10_000)
    assert values.min() >= 0
    assert values.max() < 1
    assert abs(values.mean() - 0.5) < 0.01
