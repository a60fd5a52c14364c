"""Two ways of doing one thing, timed in turns in one process, so that the machine's mood falls on both alike."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Pairs:
    """Times in milliseconds, pair by pair."""

    ours: list[float]
    reference: list[float]

    @property
    def ratios(self) -> list[float]:
        """Reference over ours, pair by pair: how many times faster ours is."""
        return [theirs / own for own, theirs in zip(self.ours, self.reference, strict=True)]


def measure(
    ours: Callable[[], object], reference: Callable[[], object], repeats: int, until: float | None = None
) -> Pairs:
    """Time both `repeats` times, after one unmeasured call of each; the order alternates from pair to pair.

    until: the time of `time.perf_counter` after which no pair but the first is begun.
    """
    ours()
    reference()
    pairs = Pairs([], [])
    for number in range(repeats):
        if number and until is not None and time.perf_counter() > until:
            break
        turns = [(ours, pairs.ours), (reference, pairs.reference)]
        for call, times in turns if number % 2 == 0 else turns[::-1]:
            began = time.perf_counter()
            call()
            times.append((time.perf_counter() - began) * 1000)
    return pairs


def spread(values: list[float], digits: int = 2) -> str:
    """Median with least and largest, as in `3.10 (2.95 to 3.40)`."""
    least, middle, largest = min(values), statistics.median(values), max(values)
    return f"{middle:.{digits}f} ({least:.{digits}f} to {largest:.{digits}f})"
