import contextlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from playground.errors import PlaygroundError
from playground.trace import file as trace_file
from playground.trace.log import RunLog
from tests.terminal import runs


@pytest.fixture
def lines() -> list[str]:
    log = RunLog("r")
    for event in runs.whole():
        log.append(event)
    return [log.line(seq).decode() for seq in range(len(log))]


def test_what_is_written_is_read_back(tmp_path: Path, lines: list[str]) -> None:
    path = tmp_path / "run.jsonl"
    with trace_file.writing(path) as file:
        file.write(("\n".join(lines) + "\n").encode())
        assert not path.exists()
    trace = trace_file.read(path)
    assert [event.type for event in trace] == [event.type for event in runs.whole()]
    assert trace[2].top_ids == [[1, 2]] * 4
    assert list(tmp_path.iterdir()) == [path]


def test_a_line_separator_inside_a_text_breaks_no_line(tmp_path: Path) -> None:
    log = RunLog("r")
    for event in [runs.started(prompt="a\u2028b\x85c"), runs.finished("\u2029")]:
        log.append(event)
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"".join(log.line(seq) + b"\n" for seq in range(len(log))))
    assert len(trace_file.read(path)) == 2


def test_a_trace_that_failed_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text("old")
    with contextlib.suppress(RuntimeError), trace_file.writing(path) as file:
        file.write(b"half")
        raise RuntimeError
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["", "missing/run.jsonl"])
def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(PlaygroundError) as refused, trace_file.writing(tmp_path / name):
        pass
    assert refused.value.field == "trace"


def change(line: str, **fields: object) -> str:
    return json.dumps(json.loads(line) | fields)


@pytest.mark.parametrize(
    ("spoil", "complaint"),
    [
        (lambda lines: [*lines[:2], lines[2][:50], *lines[3:]], "line 3: is cut off or not JSON"),
        (lambda lines: [*lines[:2], "[]", *lines[3:]], "line 3: is not a JSON object"),
        (lambda lines: [*lines[:2], "", *lines[2:]], "line 3: is cut off or not JSON"),
        (lambda lines: [lines[0], lines[2], lines[1], *lines[3:]], "line 2: seq is 2 where 1 was expected: lines are"),
        (
            lambda lines: [*lines[:3], lines[2], *lines[3:]],
            "line 4: seq 2 stands twice or out of order; 3 was expected",
        ),
        (
            lambda lines: [*lines[:2], change(lines[2], step=40_000_000), *lines[3:]],
            "line 3: step of step is 40000000 where 1 was expected",
        ),
        (
            lambda lines: [lines[0], change(lines[1], canvas=7), *lines[2:]],
            "line 2: canvas of canvas_started is 7 where 0 was expected",
        ),
        (lambda lines: [*lines[:3], *lines[4:]], "line 4: seq is 4 where 3 was expected: lines are missing"),
        (lambda lines: [lines[0], change(lines[0], seq=1), *lines[2:]], "line 2: run_started stands a second time"),
        (lambda lines: ["once upon a time", *lines], "line 1: is cut off or not JSON; a trace has one event"),
        (lambda lines: ["[" * 100_000, *lines], "line 1: is cut off or not JSON; a trace has one event"),
        (lambda lines: ["{}", *lines], "line 1: has the type null, which no event has"),
        (lambda lines: [change(lines[0], type="of_tomorrow"), *lines], 'line 1: has the type "of_tomorrow", which no'),
        (lambda lines: [change(lines[0], version="99.0.0", more=1), *lines[1:]], "line 1: is from playground 99.0.0"),
        (lambda lines: [*lines[:2], change(lines[2], fed_ids=[1]), *lines[3:]], "line 3: fed_ids has 1 entries for a"),
        (lambda lines: [*lines[:2], change(lines[2], top_ids=[[1]]), *lines[3:]], "line 3: top_ids has 1 entries for"),
        (lambda lines: [*lines[:4], change(lines[4], ids=[1] * 5), *lines[5:]], "line 5: ids has 5 entries for a can"),
        (lambda lines: [lines[0], change(lines[1], canvas_ids=[]), *lines[2:]], "line 2: canvas_ids has 0 entries"),
        (lambda lines: lines[:-1], "line 5: the trace breaks off here"),
        (lambda lines: lines[1:], "line 1: seq is 1 where 0 was expected"),
        (lambda lines: [*lines, change(lines[-1], seq=6)], "line 7: stands after run_finished"),
        (lambda lines: [change(lines[0], version="99.0.0"), *lines[1:]], "line 1: is from playground 99.0.0, newer"),
        (lambda lines: [change(lines[0], version="new"), *lines[1:]], "line 1: version 'new' is not a version"),
        (lambda lines: [lines[0], change(lines[1], run="s"), *lines[2:]], "line 2: belongs to run s"),
        (lambda lines: [lines[0], change(lines[1], extra=1), *lines[2:]], "line 2: extra: Extra inputs"),
        (lambda lines: [lines[0], change(lines[1], seq=None), *lines[2:]], "line 2: has no run or seq"),
        (lambda lines: [*lines[:2], change(lines[2], accepted=[True]), *lines[3:]], "line 3: accepted has 1 entries"),
        (lambda lines: [change(lines[1], seq=0)], "line 1: a trace starts with run_started"),
        (lambda lines: [], "is empty"),  # noqa: ARG005
    ],
)
def test_a_spoilt_trace_is_refused_with_its_line(
    tmp_path: Path, lines: list[str], spoil: Callable[[list[str]], list[str]], complaint: str
) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text("".join(line + "\n" for line in spoil(lines)))
    with pytest.raises(PlaygroundError) as refused:
        trace_file.read(path)
    assert complaint in str(refused.value)
    assert refused.value.field == "file"


def test_what_is_no_text_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PlaygroundError, match="is not a file"):
        trace_file.read(tmp_path)
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(PlaygroundError, match=r"line 1: is not UTF-8 text \(byte 1 of the line\)"):
        trace_file.read(tmp_path / "binary")


def test_a_line_that_is_not_text_is_named(tmp_path: Path, lines: list[str]) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes("\n".join(lines[:2]).encode() + b"\n" + lines[2].encode().replace(b" red", b"\xff red", 1))
    with pytest.raises(PlaygroundError, match="line 3: is not UTF-8 text"):
        trace_file.read(path)


class Endless(io.RawIOBase):
    """A trace that never ends, of which only what is asked for is made; counts it."""

    def __init__(self, start: bytes, piece: bytes) -> None:
        self.rest, self.piece, self.given = start, piece, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while len(self.rest) < len(buffer):
            self.rest += self.piece
        buffer[:] = self.rest[: len(buffer)]
        self.rest = self.rest[len(buffer) :]
        self.given += len(buffer)
        return len(buffer)


def test_a_trace_beyond_the_limit_is_refused_where_it_passes_it() -> None:
    log = RunLog("r")
    log.append(runs.started())
    log.append(runs.canvas_started())
    for number in range(1, 200):
        log.append(runs.step(number, [1, 2, 1, 0], [1, 2, 2, 0], "1110"))
    source = io.BytesIO(b"".join(log.line(seq) + b"\n" for seq in range(len(log))))
    with pytest.raises(PlaygroundError, match=r"line 1\d\d: here the trace grows beyond 100000 bytes.*MAX_TRACE_BYTES"):
        for _ in trace_file.stream(source, "it", 100_000):
            pass
    assert source.tell() <= 100_001


def test_a_hundred_megabytes_without_a_line_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_file, "MOST_LINE_BYTES", 1 << 20)
    source = Endless(b"", b"x" * 65536)
    with pytest.raises(PlaygroundError, match="it, line 1: has more than 1048576 bytes; no event is that long"):
        list(trace_file.stream(io.BufferedReader(source), "it"))
    assert source.given < 2 << 20


def test_a_hundred_megabytes_of_something_else_end_at_line_1() -> None:
    source = Endless(b"", b"time,value\n" * 1000)
    with pytest.raises(PlaygroundError, match="line 1: is cut off or not JSON"):
        list(trace_file.stream(io.BufferedReader(source), "it"))
    assert source.given < 2 << 20


def test_every_refusal_is_a_sentence(tmp_path: Path, lines: list[str]) -> None:
    path = tmp_path / "run.jsonl"
    for text in ("", "x", lines[0], lines[0] + "\n" + lines[0]):
        path.write_text(text)
        with pytest.raises(PlaygroundError) as refused:
            trace_file.read(path)
        assert refused.value.message.endswith(".")
        assert "\n" not in refused.value.message
