"""What has been read from someone's tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from metapn.data.tables.labels import Labels
from metapn.errors import InputError
from metapn.graph import Graph


@dataclass(frozen=True, eq=False)
class Tables:
    """A graph with the names of its nodes and what the tables say of them.

    Parameters
    ----------
    graph : Graph
        Adjacency, and labels as class numbers with ``class_names``. ``features`` only where the file holds a
        matrix (npz), not columns.
    ids : pyarrow array, shape (n,)
        Id of each node: int64 or string.
    columns : pyarrow table, n rows
        The feature columns as they were read, perhaps none.
    labels : object array, shape (n,), or None
        Label of each node as it was read, None where it has none; None if there is no such column.
    notes : tuple of str
        What was chosen, and what was done to the input, a sentence each.
    name : str
        What messages call the place of the labels and features.
    has_edges : bool
        Whether edges were given. Without them the graph has none, and nearest neighbours are to be joined.
    """

    graph: Graph
    ids: Any
    columns: Any
    labels: Labels | None
    notes: tuple[str, ...]
    name: str
    has_edges: bool

    def known_labels(self) -> Labels:
        """Labels that something can be learnt from: of two classes at least."""
        if self.labels is None or self.graph.labels is None:
            raise InputError(f"{self.name} has no column of labels; name it with --label")
        n_labelled = sum(label is not None for label in self.labels)
        if n_labelled == 0:
            raise InputError(f"{self.name} labels no node; fill in the label of one node at least of each class")
        names = self.graph.class_names
        counts = np.bincount(self.graph.labels[self.graph.labels >= 0], minlength=len(names))
        if len(names) < 2:
            raise InputError(
                f"{self.name} labels {n_labelled:,} nodes, all of the class {names[0]!r}; "
                "label at least one node of a second class"
            )
        if counts.min() == 0:
            raise InputError(
                f"{self.name} names the class {names[int(counts.argmin())]!r} but labels no node with it; "
                "label one, or leave the name out"
            )
        return self.labels
