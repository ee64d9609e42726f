"""Nodes laid out in the plane by what a model makes of them."""

from __future__ import annotations

import numpy as np
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from metapn.graph import FloatArray, IntArray

#: Nodes that t-SNE lays out within a few seconds, and that a map has room for.
MOST = 1000


def sampled(n_nodes: int, kept: IntArray, most: int = MOST, seed: int = 0) -> IntArray:
    """Draw nodes to be shown, in order: some that are kept first, the rest at random.

    Examples
    --------
    >>> sampled(5, np.array([4]), most=9).tolist()
    [0, 1, 2, 3, 4]
    >>> 4 in sampled(1000, np.array([4]), most=3)
    True
    """
    others = np.setdiff1d(np.arange(n_nodes), kept)
    drawn = np.random.default_rng(seed).permutation(others)
    return np.sort(np.concatenate([kept, drawn])[:most])


def plane(hidden: FloatArray, seed: int = 0) -> FloatArray:
    """Lay out rows of shape (n, h) by t-SNE, n > 4, shape (n, 2)."""
    # One thread: the sums of several would be added in an order that changes from run to run.
    with threadpool_limits(limits=1):
        tsne = TSNE(init="random", perplexity=min(30.0, (len(hidden) - 1) / 3), random_state=seed, n_jobs=1)
        places: FloatArray = tsne.fit_transform(hidden).astype(np.float32)
    return places
