from collections.abc import Callable

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from playground.events import Event
from playground.trace.cursor import Cursor
from playground.trace.log import RunLog
from tests.trace.test_log import finish, milestone, token

KINDS: dict[str, Callable[[], Event]] = {"m": milestone, "s": lambda: token(0), "f": finish}
"""A milestone, a token (which may be overtaken), the end."""


def log_of(kinds: str) -> RunLog:
    log = RunLog("run")
    for kind in kinds:
        log.append(KINDS[kind]())
    return log


def drain(cursor: Cursor) -> list[int]:
    """Everything, acknowledged at once."""
    sent = []
    while (seq := cursor.take()) is not None:
        sent.append(seq)
        cursor.acknowledge(seq)
    return sent


def test_who_keeps_up_gets_events_in_order() -> None:
    log = RunLog("run")
    cursor = Cursor(log)
    sent = []
    for index in range(5):
        log.append(token(index))
        sent += drain(cursor)
    assert sent == [0, 1, 2, 3, 4]


def test_the_window_bounds_what_is_open() -> None:
    cursor = Cursor(log_of("mmmmm"), window=2)
    assert [cursor.take(), cursor.take(), cursor.take()] == [0, 1, None]
    cursor.acknowledge(1)
    assert [cursor.take(), cursor.take()] == [2, None]


def test_who_lags_gets_the_newest_step_first_and_the_missed_ones_later() -> None:
    log = log_of("ms")
    cursor = Cursor(log, window=2)
    assert [cursor.take(), cursor.take()] == [0, 1]
    for index in range(2, 7):
        log.append(token(index))
    cursor.acknowledge(0)
    assert cursor.take() == 6
    log.append(token(7))
    cursor.acknowledge(6)
    assert cursor.take() == 7
    cursor.acknowledge(1)
    cursor.acknowledge(7)
    assert drain(cursor) == [2, 3, 4, 5]


def test_milestones_go_in_order_before_anything_newer() -> None:
    assert drain(Cursor(log_of("mmsssmmsssmf"))) == [0, 1, 5, 6, 10, 11, 2, 3, 4, 7, 8, 9]


def test_joining_after_a_number_gives_the_rest() -> None:
    assert drain(Cursor(log_of("mssssf"), after=2)) == [5, 3, 4]
    assert drain(Cursor(log_of("mf"), after=1)) == []
    assert drain(Cursor(RunLog("run"))) == []


@pytest.mark.parametrize("after", [-2, 2, 100])
def test_joining_after_what_is_not_there_is_refused(after: int) -> None:
    with pytest.raises(ValueError, match="must be from -1"):
        Cursor(log_of("mf"), after=after)


def test_acknowledging_twice_is_fine_and_what_was_not_sent_is_not() -> None:
    cursor = Cursor(log_of("mssss"))
    assert [cursor.take(), cursor.take()] == [0, 4]
    cursor.acknowledge(0)
    cursor.acknowledge(0)
    for seq in (1, 3, 5, -1):
        with pytest.raises(ValueError, match="has not been sent yet"):
            cursor.acknowledge(seq)


def test_done_once_all_is_acknowledged() -> None:
    cursor = Cursor(log_of("mf"))
    assert not cursor.done
    assert [cursor.take(), cursor.take()] == [0, 1]
    cursor.acknowledge(1)
    assert not cursor.done
    cursor.acknowledge(0)
    assert cursor.done
    assert not Cursor(log_of("m"), after=0).done


class Delivery(RuleBasedStateMachine):
    """Any interleaving of a run that goes on, a sender, and a viewer that acknowledges in any order."""

    @initialize(before=st.integers(0, 6), window=st.integers(1, 4), data=st.data())
    def begin(self, before: int, window: int, data: st.DataObject) -> None:
        self.log = RunLog("run")
        self.kinds = ""
        for _ in range(before):
            self.grow(data.draw(st.sampled_from("ms")))
        self.after = data.draw(st.integers(-1, max(before - 1, -1)))
        self.window = window
        self.cursor = Cursor(self.log, self.after, window)
        self.sent: list[int] = []
        self.open: list[int] = []

    @precondition(lambda self: not self.log.finished)
    @rule(kind=st.sampled_from("msssssf"))
    def grow(self, kind: str) -> None:
        self.log.append(KINDS[kind]())
        self.kinds += kind

    @rule()
    def send(self) -> None:
        newest = len(self.log) - 1
        seq = self.cursor.take()
        if seq is None:
            assert len(self.open) == self.window or len(self.sent) == newest - self.after
            return
        if self.kinds[seq] == "s":
            waiting = [s for s in range(self.after + 1, newest + 1) if s not in self.sent]
            assert newest in (seq, *self.sent)
            assert seq in (newest, min(waiting))
        self.sent.append(seq)
        self.open.append(seq)

    @precondition(lambda self: self.open)
    @rule(data=st.data())
    def acknowledge(self, data: st.DataObject) -> None:
        seq = data.draw(st.sampled_from(self.open))
        self.open.remove(seq)
        self.cursor.acknowledge(seq)

    @invariant()
    def each_at_most_once_and_never_too_many_open(self) -> None:
        if hasattr(self, "cursor"):
            assert len(set(self.sent)) == len(self.sent)
            assert len(self.open) <= self.window
            assert all(seq > self.after for seq in self.sent)

    @invariant()
    def only_steps_are_overtaken(self) -> None:
        if hasattr(self, "cursor"):
            for place, seq in enumerate(self.sent):
                overtaken = [late for late in self.sent[place + 1 :] if late < seq]
                assert all(self.kinds[late] == "s" for late in overtaken)

    def teardown(self) -> None:
        if hasattr(self, "cursor"):
            for seq in self.open:
                self.cursor.acknowledge(seq)
            self.sent += drain(self.cursor)
            assert sorted(self.sent) == list(range(self.after + 1, len(self.log)))
            assert self.cursor.done == self.log.finished


Delivery.TestCase.settings = settings(max_examples=150, stateful_step_count=60, deadline=None)
TestDelivery = Delivery.TestCase
