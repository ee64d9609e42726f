"""Predictions for nodes never seen: a table of any length in little memory, or a whole graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from metapn.data.tables import Tables, node_blocks
from metapn.deploy.ahead import ahead
from metapn.deploy.pipeline import Pipeline
from metapn.deploy.predictions import prediction_file, prediction_table
from metapn.errors import InputError
from metapn.graph import Features

#: Rows that are encoded and judged at a time: many enough for the matrix product, few enough for the cache.
_ROWS = 8192


@dataclass
class Labelled:
    """What was labelled.

    Parameters
    ----------
    n_nodes : int
    how : str
        By what.
    unknown : Counter
        Rows with a value that the model has no feature for, by column.
    """

    n_nodes: int = 0
    how: str = "by their features alone"
    unknown: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        lines = [f"{self.n_nodes:,} nodes labelled {self.how}"]
        lines += [
            f"{count:,} value{'s' if count > 1 else ''} of column {name!r} the model has never met and takes for none"
            for name, count in self.unknown.items()
        ]
        return "; ".join(lines)


def predict_rows(
    pipeline: Pipeline,
    nodes: Path,
    out: Path,
    *,
    id: str | None = None,
    on_rows: Callable[[int], None] | None = None,
) -> Labelled:
    """Judge each row of a node table by its features alone, and write the predictions as they come.

    Parameters
    ----------
    pipeline : Pipeline
    nodes, out : path
    id : str, optional
        Column with the ids.
    on_rows : callable, optional
        Called with the number of rows done so far.
    """
    encoder = pipeline.encoder
    if encoder is None:
        raise _not_columns(pipeline, str(nodes))
    labelled = Labelled()
    with prediction_file(out) as write:
        for ids, columns in ahead(node_blocks(nodes, encoder.types_, id=id)):
            for start in range(0, columns.num_rows, _ROWS):
                rows = columns.slice(start, _ROWS)
                try:
                    features = encoder.transform(rows)
                except InputError as error:
                    where = f" after row {labelled.n_nodes:,}" if labelled.n_nodes else ""
                    raise InputError(f"{nodes}{where}: {error}") from None
                probabilities = pipeline.judged(features)
                write(prediction_table(ids.slice(start, _ROWS), pipeline.classes, probabilities))
                labelled.n_nodes += rows.num_rows
                labelled.unknown.update(encoder.unknown(features))
                if on_rows is not None:
                    on_rows(labelled.n_nodes)
        if labelled.n_nodes == 0:
            raise InputError(f"{nodes} has a header and no rows; add a row for each node to label")
    return labelled


def predict_graph(pipeline: Pipeline, tables: Tables, out: Path, *, alone: bool = False) -> Labelled:
    """Judge all nodes at once, by their features and, unless ``alone``, by the edges between them.

    Parameters
    ----------
    pipeline : Pipeline
    tables : Tables
    out : path
    alone : bool
    """
    labelled = Labelled(tables.graph.n_nodes)
    features = _features(pipeline, tables)
    if pipeline.encoder is not None:
        labelled.unknown.update(pipeline.encoder.unknown(features))
    graph = None if alone or not tables.has_edges else tables.graph
    if graph is not None:
        labelled.how = "by features and edges"
    try:
        probabilities = pipeline.judged(features, graph)
    except InputError as error:
        raise InputError(f"{tables.name}: {error}") from None
    with prediction_file(out) as write:
        write(prediction_table(tables.ids, pipeline.classes, probabilities))
    return labelled


def _features(pipeline: Pipeline, tables: Tables) -> Features:
    if pipeline.encoder is None:
        if tables.graph.features is None or pipeline.structural:
            raise _not_columns(pipeline, tables.name)
        return tables.graph.features
    try:
        return pipeline.encoder.transform(tables.columns)
    except InputError as error:
        raise InputError(f"{tables.name}: {error}") from None


def _not_columns(pipeline: Pipeline, name: str) -> InputError:
    if pipeline.structural:
        return InputError(
            f"{name} cannot be labelled by this model, which knows nodes by their place in the graph of its fit; "
            "fit again with the new nodes and edges, or with columns that describe them"
        )
    return InputError(
        f"{name} holds no matrix of features, which the model was fitted on; give a file of the kind that it was "
        "fitted on, such as new.npz"
    )
