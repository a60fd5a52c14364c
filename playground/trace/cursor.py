"""Where one viewer stands in a log: which event to send next, given what was sent and acknowledged."""

from collections import deque

from playground.trace.log import RunLog


class Cursor:
    """Delivers every event behind `after` exactly once, with at most `window` of them unacknowledged.

    A viewer who keeps up gets events in order. To one who lags the newest step goes first and the missed ones,
    oldest first, when nothing newer is left. Only steps and tokens are overtaken: all other events go in order, and
    before anything that is newer. What was missed is held as ranges, so a cursor stays small.
    """

    def __init__(self, log: RunLog, after: int = -1, window: int = 2) -> None:
        if not -1 <= after < max(len(log), 1):
            raise ValueError(f"must be from -1, for all events, to {len(log) - 1}, the newest")
        self.log = log
        self._window = window
        self._head = after + 1
        self._missed: deque[range] = deque()
        self._open: set[int] = set()

    def take(self) -> int | None:
        """The number of the event to send now, counted as sent; none while the window is full or nothing is left."""
        if len(self._open) >= self._window:
            return None
        seq = self._next()
        if seq is not None:
            self._open.add(seq)
        return seq

    def acknowledge(self, seq: int) -> None:
        """The viewer has this event; once more is fine. Raises `ValueError` if it was never sent."""
        if seq in self._open:
            self._open.remove(seq)
        elif not 0 <= seq < self._head or any(seq in gap for gap in self._missed):
            raise ValueError(f"{seq} has not been sent yet")

    @property
    def done(self) -> bool:
        """Whether the run is finished and the viewer has acknowledged all of it."""
        return self.log.finished and self._head == len(self.log) and not self._missed and not self._open

    def _next(self) -> int | None:
        if self._head < len(self.log):
            milestone = self.log.next_milestone(self._head)
            seq = len(self.log) - 1 if milestone is None else milestone
            if seq > self._head:
                self._missed.append(range(self._head, seq))
            self._head = seq + 1
            return seq
        if not self._missed:
            return None
        gap = self._missed.popleft()
        if len(gap) > 1:
            self._missed.appendleft(gap[1:])
        return gap[0]
