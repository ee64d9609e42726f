"""Which labels are hidden together: stratified folds of a handful of gold labels."""

from __future__ import annotations

import numpy as np

from metapn.graph import IntArray


def label_folds(codes: IntArray, n_folds: int, seed: int = 0) -> list[IntArray]:
    """Deal the labelled nodes into folds that hide as many of each class, and leave every class a label.

    Three labels of each class make three folds, with one label of each class in every one, and not five of
    fewer: hiding a label of some classes only would have the model prefer the others, and what it makes of
    the hidden nodes would look worse than it is. A class with one label only is never hidden, for a model
    cannot know a class without a label.

    Parameters
    ----------
    codes : int array, shape (n,)
        Class of each node, -1 where it has no label.
    n_folds : int
        At the most; no more than the labels of the smallest class that can be hidden.
    seed : int

    Returns
    -------
    list of int array
        Node numbers, each in one fold at most.

    Examples
    --------
    >>> [fold.tolist() for fold in label_folds(np.array([0, 0, -1, 1, 1, 2]), n_folds=5)]
    [[0, 3], [1, 4]]
    """
    random = np.random.default_rng(seed)
    classes = [random.permutation(np.flatnonzero(codes == c)) for c in np.unique(codes[codes >= 0])]
    classes = [nodes for nodes in classes if len(nodes) > 1]
    if not classes:
        return []
    n_folds = min(n_folds, *map(len, classes))
    return [np.sort(np.concatenate([nodes[fold::n_folds] for nodes in classes])) for fold in range(n_folds)]
