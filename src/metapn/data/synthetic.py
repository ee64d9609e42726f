"""Synthetic graphs of any size: the contextual stochastic block model.

Nodes of a class are joined more often, and their features lie around the class's centre. Time and memory
grow with the number of edges and features, never with the square of the nodes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from metapn.data.random_edges import random_edges
from metapn.errors import InputError
from metapn.graph import FloatArray, Graph, IntArray


def contextual_sbm(
    n_nodes: int = 1000,
    n_classes: int = 4,
    n_features: int = 16,
    mean_degree: float = 10.0,
    homophily: float = 0.8,
    separation: float = 1.0,
    degree_exponent: float | None = None,
    class_exponent: float = 0.0,
    seed: int = 0,
) -> Graph:
    """Draw a graph with classes: features separation · u_c(i) + noise, |u_c| = 1, noise ~ N(0, 1).

    An edge joins two nodes of one class with probability `homophily`, else of two classes; within that
    choice its ends are drawn in proportion to the weights w_i ~ rank_i^(-1 / (degree_exponent - 1)), or to
    equal ones. A graph too small to hold as many edges has fewer.

    Parameters
    ----------
    n_nodes, n_classes, n_features : int
    mean_degree : float
        Twice the number of edges, divided by the number of nodes.
    homophily : float
        Expected share of the edges that join nodes of the same class.
    separation : float
        Distance of the class centres from the origin, in standard deviations of the noise.
    degree_exponent : float, optional
        Degrees follow a power law of this exponent, above 2. By default they vary by chance only.
    class_exponent : float
        The class of rank r is as large as r^(-class_exponent): 0 makes all classes equally large.
    seed : int
        The same seed gives the same graph, bit for bit.

    Returns
    -------
    Graph
        Features of shape (n_nodes, n_features), labels of every node.

    Examples
    --------
    >>> contextual_sbm(n_nodes=500, seed=1)
    Graph(sbm-500: 500 nodes, 2,500 edges, 16 features, 4 classes)
    """
    _check(n_nodes, n_classes, n_features, mean_degree, homophily, degree_exponent)
    random = np.random.default_rng(seed)
    labels = random.permutation(_class_sizes(n_nodes, n_classes, class_exponent))
    weights = np.ones(n_nodes)
    if degree_exponent is not None:
        weights = random.permutation(np.arange(1.0, n_nodes + 1)) ** (-1 / (degree_exponent - 1))
    adjacency = random_edges(labels, weights, round(n_nodes * mean_degree / 2), homophily, random)
    features = _features(labels, n_features, separation, random)
    return Graph(adjacency, features=features, labels=labels, name=f"sbm-{n_nodes}")


def arxiv_like(seed: int = 0) -> Graph:
    """Draw a graph of ogbn-arxiv's shape: its counts, its homophily, its hubs and the sizes of its split.

    Returns
    -------
    Graph
        169,343 nodes, 1,166,243 edges, 128 features, 40 classes of uneven size, and an `official_split`
        of as many nodes as the published one, at random.
    """
    n_nodes, n_edges = 169343, 1166243
    graph = contextual_sbm(
        n_nodes=n_nodes,
        n_classes=40,
        n_features=128,
        mean_degree=2 * n_edges / n_nodes,
        homophily=0.65,
        separation=2.0,
        degree_exponent=2.5,
        class_exponent=1.0,
        seed=seed,
    )
    shuffled = np.random.default_rng([seed, 1]).permutation(n_nodes)
    train, valid, test = np.split(shuffled, [90941, 90941 + 29799])
    return replace(graph, name="arxiv-like", official_split={"train": train, "valid": valid, "test": test})


def _check(
    n_nodes: int,
    n_classes: int,
    n_features: int,
    mean_degree: float,
    homophily: float,
    degree_exponent: float | None,
) -> None:
    if not 1 <= n_classes <= n_nodes:
        raise InputError(f"{n_nodes} nodes cannot have {n_classes} classes; give at least one node for each")
    if n_features < 1:
        raise InputError(f"n_features is {n_features}; give at least one")
    if not 0 <= mean_degree < np.inf:
        raise InputError(f"mean_degree is {mean_degree}; give a number of edges for each node, from 0 upwards")
    if not 0 <= homophily <= 1:
        raise InputError(f"homophily is {homophily}, but it is a share of the edges; give 0 to 1")
    if degree_exponent is not None and degree_exponent <= 2:
        raise InputError(f"degree_exponent is {degree_exponent}, but up to 2 degrees have no mean; give more")


def _class_sizes(n_nodes: int, n_classes: int, exponent: float) -> IntArray:
    """Labels in rising order, shape (n_nodes,): one node for each class, the others by the law of sizes."""
    share = np.arange(1.0, n_classes + 1) ** -exponent
    others = n_nodes - n_classes
    marks = (np.arange(others) + 0.5) / max(others, 1)
    by_law = np.searchsorted(np.cumsum(share / share.sum())[:-1], marks, side="right")
    return np.sort(np.concatenate([np.arange(n_classes), by_law]))


def _features(labels: IntArray, n_features: int, separation: float, random: np.random.Generator) -> FloatArray:
    centres = random.standard_normal((int(labels.max()) + 1, n_features))
    centres *= separation / np.linalg.norm(centres, axis=1, keepdims=True)
    features = random.standard_normal((len(labels), n_features), dtype=np.float32)
    features += centres.astype(np.float32)[labels]
    return features
