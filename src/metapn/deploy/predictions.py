"""The table of predictions: one row a node, in Parquet or CSV.

==================  ===================================================================  ===============
column              what                                                                 type
==================  ===================================================================  ===============
``id``              the node, as it was given                                            as given
``label``           the most probable class                                              that of labels
``p_<class>``       probability of each class, in the order of ``classes_``              float32
``margin``          by how much the most probable class leads the second                 float32
``hops``            edges to the nearest labelled node; 0: labelled itself, null: there  int32
                    is no way
``reached``         whether there is a way                                               bool
==================  ===================================================================  ===============

``hops`` and ``reached`` are of the graph that was fitted: predictions for new nodes have neither.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from metapn.data.files import whole_file
from metapn.data.tables.source import arrow
from metapn.errors import InputError
from metapn.graph import FloatArray, IntArray

if TYPE_CHECKING:
    import pyarrow as pa

FORMATS = ("parquet", "csv")
#: Rows that are written at a time, and that a reader of Parquet has in memory at least.
_GROUP = 65_536


class Writer(Protocol):
    """Takes tables of predictions one after another."""

    def __call__(self, table: pa.Table) -> None:
        """Write some rows."""


def prediction_table(
    ids: pa.Array, classes: npt.NDArray[Any], probabilities: FloatArray, hops: IntArray | None = None
) -> pa.Table:
    """Table of predictions, n rows.

    Parameters
    ----------
    ids : array, shape (n,)
    classes : array, shape (c,)
    probabilities : array, shape (n, c)
    hops : int array, shape (n,), optional
        Edges to the nearest labelled node, -1 where there is no way.

    Examples
    --------
    >>> import pyarrow as pa
    >>> P = np.array([[0.75, 0.25], [0.5, 0.5]], dtype=np.float32)
    >>> prediction_table(pa.array(["x", "y"]), np.array(["a", "b"]), P, np.array([0, -1])).to_pylist()[0]
    {'id': 'x', 'label': 'a', 'p_a': 0.75, 'p_b': 0.25, 'margin': 0.5, 'hops': 0, 'reached': True}
    """
    pa = arrow()
    columns: dict[str, Any] = {"id": ids, "label": pa.array(classes).take(pa.array(probabilities.argmax(axis=1)))}
    columns |= {f"p_{name}": np.ascontiguousarray(probabilities[:, c]) for c, name in enumerate(classes.tolist())}
    columns["margin"] = margins(probabilities)
    if hops is not None:
        columns["hops"] = pa.array(hops.astype(np.int32), mask=hops < 0)
        columns["reached"] = hops >= 0
    return pa.table(columns)


def margins(probabilities: FloatArray) -> FloatArray:
    """By how much the most probable class leads the second, shape (n,)."""
    second, first = np.partition(probabilities, -2, axis=1)[:, -2:].T
    lead: FloatArray = first - second
    return lead


def format_of(path: Path) -> str:
    """Format that a file's name asks for.

    Examples
    --------
    >>> format_of(Path("labels.csv"))
    'csv'
    """
    wanted = path.suffix.lower().lstrip(".")
    if wanted not in FORMATS:
        raise InputError(f"{path} names no format that can be written; end it in .parquet or .csv")
    return wanted


@contextmanager
def prediction_file(path: Path) -> Iterator[Writer]:
    """Open a Parquet or CSV file, by its name, that appears once all tables are written to it."""
    csv = format_of(path) == "csv"
    with whole_file(path) as handle, ExitStack() as open_writers:
        writer: Any = None
        waiting: list[pa.Table] = []

        def write(table: pa.Table, *, most: int = _GROUP) -> None:
            nonlocal writer
            waiting.append(table)
            if sum(each.num_rows for each in waiting) < most:
                return
            rows = arrow().concat_tables(waiting)
            waiting.clear()
            if writer is None:
                # Probabilities hardly repeat: a dictionary of them is work for nothing.
                parquet = partial(arrow("pyarrow.parquet").ParquetWriter, use_dictionary=["label"])
                new = arrow("pyarrow.csv").CSVWriter if csv else parquet
                # Closed after an error too, while the file is open: otherwise it tries once that is closed.
                writer = open_writers.enter_context(new(handle, rows.schema))
            writer.write_table(rows)

        yield write
        if waiting:
            write(waiting.pop(), most=0)
