"""A folder of recordings: what is listed, what is refused and why, and that it is read again when it changes."""

import json
import os
from pathlib import Path

import pytest

from playground.trace import recordings as module
from playground.trace.log import RunLog
from playground.trace.recordings import Recordings
from tests.terminal import runs

MOST = 1 << 20


def trace(run: str = "abc", prompt: str = "hello") -> bytes:
    log = RunLog(run)
    for event in runs.whole():
        if event.type in ("run_started", "run_finished"):
            recipe = runs.started(prompt=prompt).recipe.model_copy(update={"model": "large"})
            event = event.model_copy(update={"recipe": recipe})
        log.append(event)
    return b"".join(log.line(seq) + b"\n" for seq in range(len(log)))


def put(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def test_a_recording_has_a_label(tmp_path: Path) -> None:
    put(tmp_path, "b.jsonl", trace("b", "second " * 100))
    put(tmp_path, "a.jsonl", trace("a"))
    put(tmp_path, "notes.txt", b"no trace")
    found, refused = Recordings(tmp_path, MOST).look()
    assert refused == []
    assert [each.file for each in found] == ["a.jsonl", "b.jsonl"]
    assert found[0].label() == {
        "file": "a.jsonl",
        "run": "a",
        "created": "2026-01-01T00:00:00+00:00",
        "model": "large",
        "revision": "0123456789abcdef",
        "mode": "diffusion",
        "device": "cpu",
        "prompt": "hello",
        "stop_reason": "end_of_turn",
        "steps": 2,
        "tokens": 3,
    }
    assert len(found[1].prompt) == module.PROMPT_CHARACTERS


def test_what_is_no_recording_is_named_and_skipped(tmp_path: Path) -> None:
    whole = trace("good")
    put(tmp_path, "good.jsonl", whole)
    put(tmp_path, "cut.jsonl", whole[: len(whole) // 2])
    put(tmp_path, "empty.jsonl", b"")
    put(tmp_path, "picture.jsonl", b"\x89PNG\r\n\x1a\n" * 9)
    put(tmp_path, "large.jsonl", whole + b" " * MOST)
    put(tmp_path, "twice.jsonl", whole)
    put(tmp_path, "named.jsonl", trace("a/../b"))
    put(tmp_path, "number.jsonl", trace("number").replace(b'"mean_entropy":1.0', b'"mean_entropy":NaN'))
    failed = [json.loads(line) for line in trace("failed").splitlines()]
    failed[0] = {"type": "error", "run": "failed", "seq": 0, "code": "busy", "message": "no"}
    failed[1] = failed[-1] | {"seq": 1}
    put(tmp_path, "failed.jsonl", b"".join(json.dumps(event).encode() + b"\n" for event in failed[:2]))
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "nowhere.jsonl").symlink_to(tmp_path / "gone")
    os.mkfifo(tmp_path / "pipe.jsonl")
    found, refused = Recordings(tmp_path, MOST).look()
    assert [each.file for each in found] == ["good.jsonl"]
    why = {each.file: each.message for each in refused}
    assert all(message.startswith(name) and message.endswith(".") for name, message in why.items())
    for name, words in {
        "cut.jsonl": "is cut off",
        "empty.jsonl": "is empty",
        "picture.jsonl": "line 1: is not UTF-8",
        "large.jsonl": "grows beyond",
        "twice.jsonl": "has the same run as good.jsonl",
        "named.jsonl": "a run id that no link can name",
        "number.jsonl": "has NaN where JSON has a number",
        "failed.jsonl": "failed before it began",
        "folder.jsonl": "is not a file",
        "nowhere.jsonl": "is not a file",
        "pipe.jsonl": "is not a file",
    }.items():
        assert words in why.pop(name), name
    assert why == {}


def test_lines_are_those_of_the_file(tmp_path: Path) -> None:
    content = trace()
    put(tmp_path, "a.jsonl", content)
    folder = Recordings(tmp_path, MOST)
    lines = content.splitlines()
    assert list(folder.lines("abc") or ()) == lines
    assert list(folder.lines("abc", 3) or ()) == lines[4:]
    assert list(folder.lines("abc", 99) or ()) == []
    assert [folder.line("abc", seq) for seq in (-1, 0, 5, 6)] == [None, lines[0], lines[5], None]
    assert [event.type for event in folder.events("abc") or ()][-1] == "run_finished"
    assert folder.lines("other") is folder.events("other") is folder.line("other", 0) is None


def test_what_changes_is_seen(tmp_path: Path) -> None:
    path = put(tmp_path, "a.jsonl", trace("one"))
    folder = Recordings(tmp_path, MOST)
    assert [each.run for each in folder.look()[0]] == ["one"]
    put(tmp_path, "b.jsonl", trace("two"))
    path.write_bytes(trace("three", "longer than before"))
    assert folder.get("one") is None, "its file is another one by now"
    assert [each.run for each in folder.look()[0]] == ["three", "two"]
    path.unlink()
    assert [each.run for each in folder.look()[0]] == ["two"]


def test_what_stays_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "a.jsonl", trace("one"))
    put(tmp_path, "bad.jsonl", b"no")
    folder = Recordings(tmp_path, MOST)
    first = folder.look()
    monkeypatch.setattr(module.file, "stream", lambda *_: pytest.fail("read again"))
    assert folder.look() == first


def test_there_is_an_end_to_the_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_FILES", 1)
    put(tmp_path, "a.jsonl", trace("one"))
    put(tmp_path, "b.jsonl", trace("two"))
    found, refused = Recordings(tmp_path, MOST).look()
    assert [each.run for each in found] == ["one"]
    assert refused[0].message == "b.jsonl is not read: at most 1 files are."


def test_a_folder_that_went_away_is_empty(tmp_path: Path) -> None:
    assert Recordings(tmp_path / "gone", MOST).look() == ([], [])
