import contextlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from playground.errors import PlaygroundError
from playground.terminal import trace_file
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
        file.write("\n".join(lines) + "\n")
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
        file.write("half")
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
        (lambda lines: [lines[0], lines[2], lines[1], *lines[3:]], "line 2: seq is 2 where 1 was expected"),
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
    with pytest.raises(PlaygroundError, match="cannot be read as UTF-8"):
        trace_file.read(tmp_path / "binary")
