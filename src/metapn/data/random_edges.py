"""Random edges between nodes of classes, in time and memory that grow with the edges."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy import sparse

from metapn.graph import IntArray

_ROUNDS = 50


def random_edges(
    labels: IntArray,
    weights: npt.NDArray[np.float64],
    n_edges: int,
    homophily: float,
    random: np.random.Generator,
) -> sparse.csr_array:
    """Draw different edges, each within a class with probability `homophily`, else between two classes.

    Parameters
    ----------
    labels : int array, shape (n,)
        Every class from 0 to the largest has a node.
    weights : array, shape (n,)
        How readily a node is drawn as the end of an edge, above 0.
    n_edges : int
        Fewer are drawn where there are not so many pairs.
    homophily : float
    random : generator

    Returns
    -------
    sparse array, shape (n, n)
        Symmetric, weights one.
    """
    n_inside = int(random.binomial(n_edges, homophily)) if labels.max() > 0 else n_edges
    ends = _Ends(labels, weights, random)
    keys = np.concatenate([distinct(ends.inside, n_inside), distinct(ends.between, n_edges - n_inside)])
    low, high = np.divmod(keys, len(labels))
    upper = sparse.coo_array((np.ones(len(keys), np.float32), (low, high)), shape=(len(labels), len(labels)))
    return (upper + upper.T).tocsr()


class _Ends:
    """Draws pairs of different nodes, each as a key low · n + high, at most as many as asked for."""

    def __init__(self, labels: IntArray, weights: npt.NDArray[np.float64], random: np.random.Generator) -> None:
        self.n_nodes, self.labels, self.random = len(labels), labels, random
        # The nodes of a class lie side by side, so that one table of running sums serves every class.
        self.order = np.argsort(labels, kind="stable")
        self.sums = np.concatenate([[0.0], np.cumsum(weights[self.order])])
        self.bounds = np.searchsorted(labels[self.order], np.arange(labels.max() + 2))

    def inside(self, count: int) -> IntArray:
        """Pairs within a class."""
        first = self._draw(count, np.int64(0), np.int64(self.n_nodes))
        label = self.labels[first]
        return self._keys(first, self._draw(count, self.bounds[label], self.bounds[label + 1]))

    def between(self, count: int) -> IntArray:
        """Pairs of two classes: others are drawn and dropped."""
        first, second = (self._draw(count, np.int64(0), np.int64(self.n_nodes)) for _ in range(2))
        differ = self.labels[first] != self.labels[second]
        return self._keys(first[differ], second[differ])

    def _draw(self, count: int, start: IntArray | np.int64, stop: IntArray | np.int64) -> IntArray:
        """Nodes at places start to stop of the order, in proportion to their weights."""
        low, high = self.sums[start], self.sums[stop]
        mark = low + (high - low) * self.random.random(count)
        place = np.searchsorted(self.sums, mark, side="right") - 1
        drawn: IntArray = self.order[np.clip(place, start, stop - 1)]
        return drawn

    def _keys(self, first: IntArray, second: IntArray) -> IntArray:
        differ = first != second
        first, second = first[differ], second[differ]
        keys: IntArray = np.minimum(first, second) * self.n_nodes + np.maximum(first, second)
        return keys


def distinct(draw: Callable[[int], IntArray], count: int) -> IntArray:
    """Draw until there are `count` different keys, or until it is clear that there are not so many."""
    keys = np.unique(draw(count))
    for _ in range(_ROUNDS):
        if len(keys) == count:
            break
        more = np.unique(draw(count - len(keys)))
        place = np.searchsorted(keys, more)
        fresh = np.append(keys, -1)[place] != more
        keys = np.insert(keys, place[fresh], more[fresh])
    return keys
