import json
from typing import Any

import pytest

from playground.bench.timeline import Frame, frames, percentile

MAIN, OTHER = (7, 1), (7, 2)


def work(name: str, start: float, length: float, thread: tuple[int, int] = MAIN, cpu: float | None = None) -> Any:
    """A piece of work; times in milliseconds."""
    event = {"ph": "X", "name": name, "ts": start * 1000, "dur": length * 1000, "pid": thread[0], "tid": thread[1]}
    return event if cpu is None else event | {"tdur": cpu * 1000}


def begin(start: float, thread: tuple[int, int] = MAIN) -> Any:
    return {"ph": "I", "name": "BeginMainThreadFrame", "ts": start * 1000, "pid": thread[0], "tid": thread[1]}


def trace(*events: Any) -> bytes:
    return json.dumps({"traceEvents": list(events)}).encode()


def test_a_frame_is_what_runs_until_the_next_one_begins() -> None:
    assert frames(
        trace(
            begin(16),
            begin(0),
            work("FireAnimationFrame", 1, 2),
            work("Paint", 4, 1.5),
            work("TimerFire", 15, 0.5),
            work("Layout", 17, 3),
            begin(33),
            work("Layout", 40, 9),
        )
    ) == [Frame(script=2.5, layout=0, paint=1.5, cpu=None), Frame(script=0, layout=3, paint=0, cpu=None)]


def test_work_inside_other_work_counts_once_and_as_what_it_is() -> None:
    (frame,) = frames(
        trace(
            begin(0),
            work("FireAnimationFrame", 1, 10, cpu=7),
            work("FunctionCall", 1, 9, cpu=6),
            work("Layout", 2, 4, cpu=3),
            work("UpdateLayoutTree", 3, 1, cpu=1),
            work("Paint", 12, 2, cpu=2),
            begin(16),
        )
    )
    assert frame == Frame(script=6, layout=4, paint=2, cpu=9)
    assert frame.total == 12


def test_other_threads_other_events_and_what_came_before_the_first_frame_are_left_out() -> None:
    events = (
        work("Layout", 0, 9),
        begin(10),
        begin(11, OTHER),
        work("Layout", 12, 5, OTHER),
        work("RunTask", 12, 5),
        work("Layout", 13, 1),
        begin(20),
    )
    assert frames(trace(*events)) == [Frame(script=0, layout=1, paint=0, cpu=None)]


def test_a_trace_without_frames_has_none() -> None:
    assert frames(trace(work("Layout", 0, 9))) == []


@pytest.mark.parametrize("junk", [b"", b"[]", b"{}", b"\xff"])
def test_what_is_no_trace_is_refused(junk: bytes) -> None:
    with pytest.raises(ValueError, match="no browser trace"):
        frames(junk)


@pytest.mark.parametrize(("share", "value"), [(0, 1), (0.5, 2), (0.51, 3), (0.75, 3), (0.95, 4), (1, 4)])
def test_a_percentile_is_a_value_that_was_measured(share: float, value: float) -> None:
    assert percentile([4, 1, 3, 2], share) == value


def test_there_is_no_percentile_of_nothing() -> None:
    with pytest.raises(ValueError, match="no values"):
        percentile([], 0.5)
