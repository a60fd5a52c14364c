"""A finished run as a file: a table, or a page that plays it with no server and no network."""

import re
from collections.abc import Sequence
from typing import Any, BinaryIO, Literal, get_args

from playground.errors import PlaygroundError
from playground.events import Event, RunStarted
from playground.trace.replay_page import page
from playground.trace.tables import Table, write_csv, write_parquet

Kind = Literal["html", "csv", "parquet"]
"""What a trace can be turned into; it is JSONL itself."""


def kind_of(suffix: str) -> Kind:
    """The kind of file that the end of its name, such as `.html`, asks for. Raises `PlaygroundError`."""
    kind: Kind = _one_of(suffix.removeprefix(".").lower(), Kind, "to", "the file's name must end with")
    return kind


def table_of(name: str) -> Table:
    """A table by its name. Raises `PlaygroundError`."""
    table: Table = _one_of(name, Table, "table", "must be")
    return table


def file_name(first: Event, ending: str) -> str:
    """A name that is safe everywhere, from a run's first event: its mode, its time and its id, and the ending."""
    parts = ["run", re.sub(r"[^A-Za-z0-9_]", "", first.run or "")[:8]]
    if isinstance(first, RunStarted):
        parts[:1] = [first.recipe.mode, re.sub(r"\D", "", first.created)[:14]]
    return "-".join(part for part in parts if part) + ending


def write(events: Sequence[Event], kind: Kind, table: Table, target: BinaryIO) -> None:
    """Write the events of a whole run as a file of this kind; `table` matters to tables alone."""
    match kind:
        case "html":
            target.write(page(events))
        case "csv":
            write_csv(events, table, target)
        case "parquet":
            write_parquet(events, table, target)


def _one_of(value: str, allowed: Any, field: str, says: str) -> Any:
    names = get_args(allowed)
    if value not in names:
        shown = " or ".join(f".{name}" if field == "to" else name for name in names)
        raise PlaygroundError("bad_request", f"{says} {shown}", field)
    return value
