"""Which nodes are labelled, which stop the training, and which judge it.

The few-shot protocol is that of klicperajo/ppnp, bit for bit: one partition into known and test nodes that
never changes, and within the known nodes a draw for each seed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from metapn.errors import InputError
from metapn.graph import Graph, IntArray

PARTITION_SEED = 4143496719


@dataclass(frozen=True, eq=False)
class Split:
    """Node numbers of one run.

    Parameters
    ----------
    train : int array, shape (l,)
        Labelled nodes.
    stopping : int array, shape (s,)
        Nodes whose labels decide when training stops, and nothing else.
    test : int array, shape (t,)
    """

    train: IntArray
    stopping: IntArray
    test: IntArray

    def masked(self, labels: IntArray) -> IntArray:
        """Copy the labels, shape (n,), and hide all but those of the labelled nodes as -1.

        Examples
        --------
        >>> nobody = np.array([], dtype=np.int64)
        >>> Split(np.array([2, 0]), nobody, nobody).masked(np.array([5, 6, 7]))
        array([ 5, -1,  7])
        """
        y = np.full(len(labels), -1, dtype=np.int64)
        y[self.train] = labels[self.train]
        return y


def paper_split(labels: IntArray, shot: int, seed: int, n_known: int = 1500, n_stopping: int = 500) -> Split:
    """Draw a few-shot split as the paper does.

    The known nodes are always the same; all others are the test set. The seed draws, from the known nodes,
    `shot` of each class in the order of the classes, and then the early-stopping nodes from the rest.

    Parameters
    ----------
    labels : int array, shape (n,)
        Class numbers; a node of unknown class (-1) is in no part of the split.
    shot : int
        Labelled nodes of each class.
    seed : int
    n_known, n_stopping : int
        The paper: 1,500 known nodes (5,000 for MS-CS), and 500 for early stopping.

    Returns
    -------
    Split

    Examples
    --------
    >>> split = paper_split(np.arange(4000) % 7, shot=5, seed=0)
    >>> len(split.train), len(split.stopping), len(split.test)
    (35, 500, 2500)
    """
    labelled = np.flatnonzero(labels >= 0)
    if not 0 < n_known < len(labelled):
        raise InputError(
            f"n_known is {n_known:,}, but {len(labelled):,} nodes have a label and some are to be tested on; "
            f"choose n_known above 0 and below {len(labelled):,}"
        )
    if shot < 1:
        raise InputError(f"the shot is {shot}; label at least one node of each class")
    known = _random(PARTITION_SEED).choice(labelled, n_known, replace=False)
    random = _random(seed)
    of_class = labels[known]
    drawn = []
    for label in np.unique(labels[labelled]):
        pool = known[of_class == label]
        if len(pool) < shot:
            raise InputError(
                f"class {label} has {len(pool)} of the {n_known:,} known nodes, too few for {shot} shots; "
                "lower the shot, or raise n_known"
            )
        drawn.append(random.choice(pool, shot, replace=False))
    train = np.concatenate(drawn)
    rest = known[~np.isin(known, train)]
    if len(rest) < n_stopping:
        raise InputError(
            f"{len(rest):,} known nodes are left for early stopping, too few for {n_stopping:,}; "
            "lower n_stopping or the shot, or raise n_known"
        )
    stopping = random.choice(rest, n_stopping, replace=False)
    return Split(train, stopping, labelled[~np.isin(labelled, known)])


def ratio_split(graph: Graph, ratio: float, seed: int) -> Split:
    """Label a share of all nodes, drawn from the published training nodes without regard to class.

    The paper's "label ratio" is a share of all nodes: it calls the whole training split of ogbn-arxiv
    54 %, which is 90,941 of 169,343. So 1.0 % are 1,693 nodes. A rare class may go without a label. The
    published validation nodes stop the training, the published test nodes judge it.

    Parameters
    ----------
    graph : Graph
        With an `official_split`.
    ratio : float
        Above 0, at most the share of the training split.
    seed : int

    Returns
    -------
    Split
    """
    if graph.official_split is None:
        raise InputError(
            f"{graph.name or 'the graph'} has no published split to take a ratio of; "
            "give a shot instead, a whole number"
        )
    pool = graph.official_split["train"]
    share = len(pool) / graph.n_nodes
    n_labelled = round(ratio * graph.n_nodes) if 0 < ratio <= share else 0
    if n_labelled == 0:
        raise InputError(
            f"a ratio of {ratio} cannot be drawn from the {len(pool):,} published training nodes; give a share of "
            f"all {graph.n_nodes:,} nodes above 0 and at most {share:.3f} that labels at least one"
        )
    train = _random(seed).choice(pool, n_labelled, replace=False)
    return Split(train, graph.official_split["valid"], graph.official_split["test"])


def _random(seed: int) -> np.random.RandomState:
    """Make the generator that ppnp draws with; a newer one would draw other nodes."""
    if not 0 <= seed < 2**32:
        raise InputError(f"the seed is {seed}; give a whole number from 0 to {2**32 - 1}")
    return np.random.RandomState(seed)
