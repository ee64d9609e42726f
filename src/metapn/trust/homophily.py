"""Whether neighbours are of one class: what propagation lives on, as far as the few labels tell."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from metapn.graph import Graph, IntArray
from metapn.trust.intervals import wilson_interval


@dataclass(frozen=True)
class Homophily:
    """Homophily of the edges whose both ends are labelled.

        h = share of them that join one class,   h_adj = (h - chance) / (1 - chance),   chance = Σ_c (D_c / D)²

    D_c is the number of their ends in class c (Platonov et al. 2023). h alone misleads: with 90 % of the
    nodes in one class most edges join equal ends whatever they mean; h_adj is then 0.

    Parameters
    ----------
    n_edges : int
        Edges between labelled nodes; with none of them nothing is known.
    same, low, high : float
        h and its 95 % interval (Wilson's; edges that share a node are not independent, so it is rather narrow).
    chance : float
        What h would be if edges did not care for classes.
    adjusted, adjusted_low, adjusted_high : float
        h_adj, 0 by chance and 1 at best, for h and for the two ends of its interval.
    """

    n_edges: int
    same: float
    low: float
    high: float
    chance: float
    adjusted: float
    adjusted_low: float
    adjusted_high: float

    def as_dict(self) -> dict[str, Any]:
        """Plain dictionary."""
        return asdict(self)


def labelled_homophily(graph: Graph, codes: IntArray) -> Homophily:
    """Estimate the homophily from the labels there are.

    Parameters
    ----------
    graph : Graph
    codes : int array, shape (n,)
        Class indices, -1 where there is no label.

    Examples
    --------
    >>> path = Graph.from_edges([(0, 1), (1, 2), (2, 3)], n_nodes=4)
    >>> found = labelled_homophily(path, np.array([0, 0, 1, -1]))
    >>> found.n_edges, found.same, found.chance, found.adjusted
    (2, 0.5, 0.625, -0.3333333333333333)
    """
    labelled = np.flatnonzero(codes >= 0)
    among = graph.adjacency[labelled][:, labelled].tocoo()
    one_way = among.row < among.col
    ends = np.stack([codes[labelled][among.row[one_way]], codes[labelled][among.col[one_way]]])
    n_edges = int(ends.shape[1])
    same = float((ends[0] == ends[1]).mean()) if n_edges else 0.0
    shares = np.bincount(ends.ravel()) / max(1, 2 * n_edges)
    chance = float((shares**2).sum())
    low, high = wilson_interval(same, n_edges)
    adjusted = [(value - chance) / (1 - chance) if chance < 1 else 0.0 for value in (same, low, high)]
    return Homophily(n_edges, same, low, high, chance, *adjusted)
