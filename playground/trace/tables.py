"""Tables of a run: one row a step, or one a position of every step. CSV for spreadsheets, Parquet for all else."""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from playground.events import CanvasStarted, Event, RunStarted, Step, Token

Table = Literal["positions", "steps"]
Row = dict[str, Any]

IDS, TEXTS, NUMBERS = pa.list_(pa.int32()), pa.list_(pa.string()), pa.list_(pa.float32())

ALTERNATIVES = {"top_ids": IDS, "top_texts": TEXTS, "top_probabilities": NUMBERS}

STEPS = pa.schema(
    {
        "run": pa.string(),
        "seq": pa.int32(),
        "canvas": pa.int32(),
        "step": pa.int32(),
        "t": pa.float64(),
        "temperature": pa.float64(),
        "entropy_bound": pa.float64(),
        "top_probability": pa.float64(),
        "margin": pa.float64(),
        "k": pa.int32(),
        "jump_probability": pa.float64(),
        "max_denoising_steps": pa.int32(),
        "confidence_threshold": pa.float64(),
        "stability_threshold": pa.int32(),
        "mean_entropy": pa.float64(),
        "stable_steps": pa.int32(),
        "accepted": pa.int32(),
        "pinned": pa.int32(),
        "ms": pa.float64(),
        "device_ms": pa.float64(),
        "edits": pa.string(),
    }
)

POSITIONS = pa.schema(
    {
        "run": pa.string(),
        "seq": pa.int32(),
        "canvas": pa.int32(),
        "step": pa.int32(),
        "position": pa.int32(),
        "fed_id": pa.int32(),
        "fed_text": pa.string(),
        "predicted_id": pa.int32(),
        "predicted_text": pa.string(),
        "sampled_id": pa.int32(),
        "sampled_text": pa.string(),
        "accepted": pa.bool_(),
        "pinned": pa.bool_(),
        "entropy": pa.float32(),
        "canvas_id": pa.int32(),
        "canvas_text": pa.string(),
        **ALTERNATIVES,
    }
)

TOKENS = pa.schema(
    {
        "run": pa.string(),
        "seq": pa.int32(),
        "index": pa.int32(),
        "id": pa.int32(),
        "piece": pa.string(),
        "text": pa.string(),
        "temperature": pa.float64(),
        "entropy": pa.float32(),
        "logprob": pa.float64(),
        "ms": pa.float64(),
        "device_ms": pa.float64(),
        "edits": pa.string(),
        **ALTERNATIVES,
    }
)
"""Of an autoregressive run: one row a token, whichever table is asked for."""

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""A cell that begins with one of these is a formula to some spreadsheets."""


def write_parquet(events: Sequence[Event], table: Table, target: BinaryIO) -> None:
    """The table as Parquet, its values exact: one row group a run, texts as they are."""
    schema = _schema(events, table)
    columns: dict[str, list[Any]] = {name: [] for name in schema.names}
    for row in _rows(events, table):
        for name, column in columns.items():
            column.append(row[name])
    pq.write_table(pa.table(columns, schema=schema), target, compression="zstd")


def write_csv(events: Sequence[Event], table: Table, target: BinaryIO) -> None:
    """The table as CSV in UTF-8; alternatives are numbered columns.

    A text that a spreadsheet would take for a formula gets an apostrophe in front.
    """
    schema = _schema(events, table)
    texts = {field.name for field in schema if field.type == pa.string()}
    plain = [name for name in schema.names if name not in ALTERNATIVES]
    ranks = range(_ranks(events) if "top_ids" in schema.names else 0)
    text = io.TextIOWrapper(target, encoding="utf-8", newline="", write_through=True)
    sheet = csv.writer(text)
    sheet.writerow([*plain, *(f"top_{rank + 1}_{part}" for rank in ranks for part in ("id", "text", "probability"))])
    for row in _rows(events, table):
        cells = [cell(row[name]) if name in texts else row[name] for name in plain]
        for rank in ranks:
            ids, pieces, shares = row["top_ids"] or [], row["top_texts"] or [], row["top_probabilities"] or []
            there = rank < len(ids)
            cells += [ids[rank], cell(pieces[rank]), shares[rank]] if there else [None, None, None]
        sheet.writerow(cells)
    text.detach()


def cell(text: str | None) -> str | None:
    """A text as a cell of a CSV file: no formula, whatever it begins with."""
    return f"'{text}" if text is not None and text.startswith(FORMULA) else text


def _schema(events: Sequence[Event], table: Table) -> pa.Schema:
    first = events[0]
    if isinstance(first, RunStarted) and first.recipe.mode == "autoregressive":
        return TOKENS
    return STEPS if table == "steps" else POSITIONS


def _ranks(events: Sequence[Event]) -> int:
    """The most alternatives that any position has."""
    steps = (row for event in events if isinstance(event, Step) for row in event.top_ids or [])
    tokens = (event.top_ids or [] for event in events if isinstance(event, Token))
    return max(map(len, (*steps, *tokens)), default=0)


def _rows(events: Sequence[Event], table: Table) -> Iterator[Row]:
    texts = texts_of(events)
    fed: list[int] = []
    for event in events:
        match event:
            case CanvasStarted():
                fed = event.canvas_ids
            case Step():
                fed = event.fed_ids or fed
                if table == "steps":
                    yield _step_row(event)
                else:
                    yield from _position_rows(event, fed, texts)
                fed = event.canvas_ids
            case Token():
                yield _token_row(event, texts)


def texts_of(events: Sequence[Event]) -> dict[int, str]:
    """The text of every token that the run names."""
    texts: dict[int, str] = {}
    for event in events:
        texts |= getattr(event, "texts", {})
        if isinstance(event, Step | Token):
            texts |= event.top_texts or {}
    return texts


def _edits(event: Step | Token) -> str | None:
    edits = [edit.model_dump(mode="json") for edit in event.edits]
    return json.dumps(edits, ensure_ascii=False) if edits else None


def _step_row(step: Step) -> Row:
    same = ("run", "seq", "canvas", "step", "t", "temperature", "max_denoising_steps")
    rule = ("entropy_bound", "top_probability", "margin", "k", "jump_probability")
    more = ("confidence_threshold", "stability_threshold", "mean_entropy", "stable_steps", "ms", "device_ms")
    return {name: getattr(step, name) for name in (*same, *rule, *more)} | {
        "accepted": sum(step.accepted),
        "pinned": sum(step.pinned or []),
        "edits": _edits(step),
    }


def _position_rows(step: Step, fed: list[int], texts: dict[int, str]) -> Iterator[Row]:
    for at in range(len(step.predicted)):
        top_ids = step.top_ids[at] if step.top_ids else None
        yield {
            "run": step.run,
            "seq": step.seq,
            "canvas": step.canvas,
            "step": step.step,
            "position": at,
            "fed_id": fed[at],
            "fed_text": texts.get(fed[at]),
            "predicted_id": step.predicted[at],
            "predicted_text": texts.get(step.predicted[at]),
            "sampled_id": step.sampled[at],
            "sampled_text": texts.get(step.sampled[at]),
            "accepted": step.accepted[at],
            "pinned": bool(step.pinned and step.pinned[at]),
            "entropy": step.entropy[at],
            "canvas_id": step.canvas_ids[at],
            "canvas_text": texts.get(step.canvas_ids[at]),
            "top_ids": top_ids,
            "top_texts": None if top_ids is None else [texts.get(token) for token in top_ids],
            "top_probabilities": step.top_probabilities[at] if step.top_probabilities else None,
        }


def _token_row(token: Token, texts: dict[int, str]) -> Row:
    same = ("run", "seq", "index", "id", "text", "temperature", "entropy", "logprob", "ms", "device_ms")
    ids = token.top_ids
    return {name: getattr(token, name) for name in same} | {
        "piece": texts.get(token.id),
        "edits": _edits(token),
        "top_ids": ids,
        "top_texts": None if ids is None else [texts.get(alternative) for alternative in ids],
        "top_probabilities": token.top_probabilities,
    }
