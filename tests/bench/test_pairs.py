from playground.bench.pairs import Pairs, measure, spread


def test_both_are_called_in_turns_and_the_first_calls_do_not_count() -> None:
    calls: list[str] = []
    pairs = measure(lambda: calls.append("ours"), lambda: calls.append("theirs"), 3)
    assert calls == ["ours", "theirs", "ours", "theirs", "theirs", "ours", "ours", "theirs"]
    assert len(pairs.ours) == len(pairs.reference) == 3


def test_ratios_are_taken_pair_by_pair() -> None:
    assert Pairs(ours=[1.0, 2.0], reference=[3.0, 2.0]).ratios == [3.0, 1.0]


def test_spread_tells_median_and_extremes() -> None:
    assert spread([1.0, 9.0, 2.0]) == "2.00 (1.00 to 9.00)"
