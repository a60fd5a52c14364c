"""A run as a table and as a page: what is in the files, and what text in them cannot do."""

import base64
import csv
import gzip
import io
import json
import re
from typing import Any
from urllib.parse import unquote

import numpy as np
import pyarrow.parquet as pq
import pytest

from playground.errors import PlaygroundError
from playground.events import Event, Token
from playground.parameters import SamplerChange
from playground.recipe import SetSampler
from playground.trace import export, replay_page
from playground.trace.log import RunLog
from tests.terminal import runs

FORMULAS = ("=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "\nx")


def logged(*events: Event) -> list[Event]:
    log = RunLog("-run")
    return [log.append(event) for event in events]


def a_run() -> list[Event]:
    return logged(*runs.whole())


def tokens() -> list[Event]:
    token = Token(
        index=0,
        id=1,
        temperature=1.0,
        entropy=0.5,
        logprob=-0.5,
        ms=1.0,
        device_ms=1.0,
        text=" red",
        texts=runs.TEXTS,
        top_ids=[1, 2],
        top_probabilities=[0.75, 0.25],
    )
    return logged(runs.started("autoregressive"), token, token.model_copy(update={"index": 1}), runs.finished())


def written(events: list[Event], kind: Any, table: Any = "positions") -> bytes:
    target = io.BytesIO()
    export.write(events, kind, table, target)
    return target.getvalue()


def sheet(events: list[Event], table: str = "positions") -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(written(events, "csv", table).decode(), newline="")))


def test_a_row_for_each_position_of_each_step() -> None:
    table = pq.read_table(io.BytesIO(written(a_run(), "parquet"))).to_pylist()
    assert [(row["canvas"], row["step"], row["position"]) for row in table] == [
        (0, s, p) for s in (1, 2) for p in range(4)
    ]
    assert table[5] == {
        "run": "-run",
        "seq": 3,
        "canvas": 0,
        "step": 2,
        "position": 1,
        "fed_id": 2,
        "fed_text": " fox",
        "predicted_id": 1,
        "predicted_text": " red",
        "sampled_id": 1,
        "sampled_text": " red",
        "accepted": True,
        "pinned": False,
        "entropy": 0.25,
        "canvas_id": 1,
        "canvas_text": " red",
        "top_ids": [1, 2],
        "top_texts": [" red", " fox"],
        "top_probabilities": [0.75, 0.25],
    }
    assert table[0]["fed_id"] == 3


def test_a_row_for_each_step() -> None:
    events = a_run()
    edit = SetSampler(canvas=0, step=2, sampler=SamplerChange(t_max=1.0))
    events[3] = events[3].model_copy(update={"edits": [edit]})
    table = pq.read_table(io.BytesIO(written(events, "parquet", "steps"))).to_pylist()
    assert [(row["step"], row["accepted"], row["mean_entropy"], row["pinned"]) for row in table] == [
        (1, 3, 1.0, 0),
        (2, 3, 0.1, 0),
    ]
    assert table[0]["edits"] is None
    assert json.loads(table[1]["edits"]) == [edit.model_dump(mode="json")]


@pytest.mark.parametrize("table", ["steps", "positions"])
def test_a_row_for_each_token(table: str) -> None:
    rows = pq.read_table(io.BytesIO(written(tokens(), "parquet", table))).to_pylist()
    assert [(row["index"], row["id"], row["logprob"]) for row in rows] == [(0, 1, -0.5), (1, 1, -0.5)]
    assert rows[0]["top_texts"] == [" red", " fox"]
    assert sheet(tokens(), table)[1]["logprob"] == "-0.5"


def test_a_sheet_has_the_alternatives_in_columns() -> None:
    row = sheet(a_run())[5]
    assert row["sampled_text"] == " red"
    assert [row[f"top_2_{part}"] for part in ("id", "text", "probability")] == ["2", " fox", "0.25"]
    assert len(sheet(a_run())) == 8


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_of_a_sheet_is_a_formula(text: str) -> None:
    events = [
        event.model_copy(update={"texts": dict.fromkeys(runs.TEXTS, text)}) if hasattr(event, "texts") else event
        for event in a_run()
    ]
    for row in sheet(events):
        assert not [cell for cell in row.values() if cell.startswith(export_formula())]
        assert row["sampled_text"] == f"'{text}"
        assert row["run"] == "'-run"
    assert pq.read_table(io.BytesIO(written(events, "parquet"))).to_pylist()[0]["sampled_text"] == text


def export_formula() -> tuple[str, ...]:
    return ("=", "+", "-", "@", "\t", "\r", "\n")


def test_a_failed_run_is_an_empty_table() -> None:
    events = logged(runs.started(), runs.finished(stop_reason="error"))
    assert sheet(events) == []
    assert pq.read_table(io.BytesIO(written(events, "parquet"))).num_rows == 0


def test_names_are_safe() -> None:
    first = a_run()[0]
    assert export.file_name(first, "-steps.csv") == "diffusion-20260101000000-run-steps.csv"
    assert export.file_name(first.model_copy(update={"run": '../"x\r\n'}), ".html") == "diffusion-20260101000000-x.html"
    assert export.file_name(runs.finished().model_copy(update={"run": "abc"}), ".html") == "run-abc.html"


def test_what_cannot_be_written_is_refused() -> None:
    with pytest.raises(PlaygroundError, match=r"\.html or \.csv or \.parquet"):
        export.kind_of(".pdf")
    with pytest.raises(PlaygroundError, match="positions or steps"):
        export.table_of("all")


def block(document: str, id: str) -> str:
    (packed,) = re.findall(rf'<script type="text/plain" id="{id}">([A-Za-z0-9+/=]*)</script>', document)
    return gzip.decompress(base64.b64decode(packed)).decode()


def test_the_page_holds_the_trace_and_no_text_of_it() -> None:
    text = "</script><script>alert(1)</script><img src=x onerror=alert(1)>${alert(1)}`\u2028"
    events = logged(runs.started(prompt=text), *runs.whole()[1:-1], runs.finished(text))
    document = written(events, "html").decode()
    assert "alert" not in document
    assert document.count("<script") == 3
    trace = [json.loads(line) for line in block(document, "trace").split("\n")]
    assert [event["seq"] for event in trace] == list(range(6))
    assert trace[0]["recipe"]["messages"][0]["content"] == text
    assert trace[0]["texts"]["3"] == "[bold]"
    assert trace[2]["texts"] == {}
    assert trace[2]["top_ids"] == [[1, 2]] * 4


def test_entropies_come_back_to_the_last_bit() -> None:
    entropy = np.random.default_rng(0).exponential(size=4).astype(np.float32).astype(float).tolist()
    events = a_run()
    events[2] = events[2].model_copy(update={"entropy": entropy})
    trace = block(written(events, "html").decode(), "trace").split("\n")
    recorded = json.loads(trace[2])["entropy"]
    assert [float(np.float32(value)) for value in recorded] == entropy
    assert len(str(recorded)) < len(str(entropy))


def test_the_page_asks_for_nothing() -> None:
    document = written(a_run(), "html").decode()
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', document)
    nonce = re.search(r"'nonce-([\w-]+)'", policy)
    assert nonce is not None
    assert policy.startswith("default-src 'none'; script-src 'nonce-")
    assert "connect-src" not in policy
    assert "http" not in re.sub(r"http-equiv|http://www\.w3\.org/2000/svg", "", document.split("<script type")[0])
    assert document.count(f'nonce="{nonce[1]}"') == 2
    assert nonce[1] not in written(a_run(), "html").decode()


def test_the_modules_import_each_other_by_bare_names() -> None:
    modules = json.loads(block(written(a_run(), "html").decode(), "modules"))["imports"]
    assert {"playground/replay.js", "playground/lane/lane.js", "playground/run/wire.js"} <= modules.keys()
    assert "playground/live/socket.js" not in modules
    assert all(url.startswith("data:text/javascript") for url in modules.values())
    assert "from%20%22playground/lane/lane.js%22" in modules["playground/replay.js"]
    for source in modules.values():
        assert not re.search(r'^(import|export)\b.*"\.', unquote(source), re.M)


def test_styles_that_would_end_their_element_are_refused(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in replay_page.STYLES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("a {}</style>")
    monkeypatch.setattr(replay_page, "static_folder", lambda: tmp_path)
    with pytest.raises(ValueError, match="style element"):
        replay_page.page(a_run())
