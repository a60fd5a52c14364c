"""A run's own device time: its passes and its sampling, never its waiting."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Clock:
    """Adds up the time spent inside `running`. What runs inside ends by reading results on the host."""

    def __init__(self) -> None:
        self.total_ms = 0.0
        self.last_ms = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count the time spent in the block."""
        began = time.perf_counter()
        yield
        self.last_ms = round((time.perf_counter() - began) * 1000, 3)
        self.total_ms = round(self.total_ms + self.last_ms, 3)
