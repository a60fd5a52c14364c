"""All runs of a sweep as one table, a column for each varied field."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from playground.errors import PlaygroundError
from playground.lab.results import Row
from playground.trace.tables import cell

KINDS = (".csv", ".parquet")


def kind_of(file: Path) -> str:
    """The kind of file, by its name.

    Raises:
        PlaygroundError: for another kind than .csv and .parquet.
    """
    if file.suffix not in KINDS:
        raise PlaygroundError("bad_request", f"The name ends with {' or '.join(KINDS)}, not {file.suffix!r}.", "export")
    return file.suffix


def write(rows: Sequence[Row], file: Path) -> None:
    """Write the table. In a CSV a text that a spreadsheet would take for a formula gets an apostrophe in front.

    Raises:
        PlaygroundError: for another kind than .csv and .parquet.
        OSError: when the file cannot be written.
    """
    kind = kind_of(file)
    found = [_flat(row) for row in rows]
    if kind == ".csv":
        for values in found:
            values.update({name: cell(value) for name, value in values.items() if isinstance(value, str)})
    table = pa.Table.from_pylist(found)
    if kind == ".csv":
        pyarrow.csv.write_csv(table, file)
    else:
        pyarrow.parquet.write_table(table, file)


def _flat(row: Row) -> dict[str, Any]:
    values = asdict(row)
    return {**json.loads(values.pop("setting")), **values}
