"""From tables to what a method is fitted on, in one place, so that every command does the same."""

from __future__ import annotations

from dataclasses import dataclass

from metapn.data.columns import ColumnEncoder, told_together
from metapn.data.neighbours import nearest_neighbour_graph
from metapn.data.structure import structural_features
from metapn.data.tables.tables import Tables
from metapn.errors import InputError
from metapn.graph import Features, Graph


@dataclass(frozen=True, eq=False)
class Prepared:
    """Features and graph of some tables.

    Parameters
    ----------
    X : array or sparse array, shape (n, f)
    graph : Graph
        That of the tables, or the nearest neighbours in X where no edges were given.
    encoder : ColumnEncoder or None
        What has made X from columns; None if X came as a matrix or from the graph.
    structural : bool
        Whether X was made from the graph alone: then a model is of use on this graph only.
    notes : tuple of str
        All that was done, a sentence each.
    """

    X: Features
    graph: Graph
    encoder: ColumnEncoder | None
    structural: bool
    notes: tuple[str, ...]


def prepared(tables: Tables, encoder: ColumnEncoder | None = None, *, n_neighbors: int = 10) -> Prepared:
    """Make features and graph of tables: features from columns, a matrix, or else the graph itself.

    Parameters
    ----------
    tables : Tables
    encoder : ColumnEncoder, optional
        One that is fitted already; by default one is fitted to the columns, if there are any.
    n_neighbors : int
        Of each node, where no edges were given.
    """
    notes = list(tables.notes)
    structural = False
    if tables.graph.features is not None:
        X = tables.graph.features
    elif encoder is not None or tables.columns.num_columns:
        try:
            if encoder is None:
                encoder = ColumnEncoder().fit(tables.columns)
                notes += told_together(encoder.plan_)
            X = encoder.transform(tables.columns)
        except InputError as error:
            raise InputError(f"{tables.name}: {error}") from None
    elif tables.has_edges:
        structural, X = True, structural_features(tables.graph)
        notes.append(f"there are no features: {X.shape[1]} are made from each node's place in the graph")
    else:
        raise InputError(f"{tables.name} has neither columns to learn from nor edges; add columns, or give --edges")
    graph = tables.graph
    if not tables.has_edges:
        neighbours = nearest_neighbour_graph(X, n_neighbors)
        graph = Graph(neighbours.adjacency, labels=graph.labels, class_names=graph.class_names, name=graph.name)
        notes.append(f"no edges are given: each node is joined to its {n_neighbors} nearest neighbours by features")
    return Prepared(X, graph, encoder, structural, tuple(notes))
