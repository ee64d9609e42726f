"""Graphs by name: the paper's benchmarks, one that needs no network, and synthetic ones of any size."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from metapn.data.download import find, locate
from metapn.data.neighbours import nearest_neighbour_graph
from metapn.data.npz import read_npz, standardise
from metapn.data.ogb import read_ogb
from metapn.data.registry import SOURCES, Counts, check_counts
from metapn.data.splits import Split, paper_split, ratio_split
from metapn.data.synthetic import arxiv_like, contextual_sbm
from metapn.errors import InputError
from metapn.graph import Graph

_DIGITS = Counts(nodes=1797, edges=12339, features=64, classes=10)
_ARXIV_LIKE = Counts(nodes=169343, edges=1166243, features=128, classes=40)
_SBM = re.compile(r"sbm-(\d+)")


@dataclass(frozen=True)
class Description:
    """One line of the list of data sets.

    Parameters
    ----------
    name, title : str
        The name for `load`, and the one the paper prints.
    counts : Counts, optional
        What is in it; None where the size is chosen by name.
    origin : str
        Address of the published file, or what makes the graph.
    path : path, optional
        Where the file is on this machine.
    ready : bool
        Whether `load` needs no network.
    """

    name: str
    title: str
    counts: Counts | None
    origin: str
    path: Path | None
    ready: bool


def names() -> list[str]:
    """List what `load` knows; besides these, ``sbm-<n>`` is a synthetic graph of n nodes.

    Examples
    --------
    >>> names()
    ['cora_ml', 'citeseer', 'pubmed', 'ms_academic', 'ogbn-arxiv', 'digits', 'arxiv-like']
    """
    return [*SOURCES, "digits", "arxiv-like"]


def describe() -> list[Description]:
    """Tell of every data set what is in it, where it comes from, and whether it is on this machine."""
    published = []
    for source in SOURCES.values():
        path = find(source)
        published.append(
            Description(source.name, source.title, source.counts, source.address, path, path is not None)
        )
    return [
        *published,
        Description("digits", "Digits", _DIGITS, "scikit-learn", None, True),
        Description("arxiv-like", "of ogbn-arxiv's shape", _ARXIV_LIKE, "synthetic", None, True),
        Description("sbm-<n>", "block model of n nodes", None, "synthetic", None, True),
    ]


def load(name: str, *, progress: bool = True) -> Graph:
    """Load a graph by its name, downloading it if it is not on this machine.

    A benchmark file is looked for in the folder METAPN_DATA names, then in the user's cache. What a graph
    of that name must hold is checked every time. The paper's four smaller graphs are standardised:
    unweighted, undirected, largest component.

    Parameters
    ----------
    name : str
        One of `names`, or ``sbm-<n>``. Upper case, hyphens and underscores make no difference, and the
        paper's own names will do.
    progress : bool
        Show a bar while downloading, on a terminal.

    Returns
    -------
    Graph
        Features as published: rows are not normalised.

    Examples
    --------
    >>> load("digits")
    Graph(digits: 1,797 nodes, 12,339 edges, 64 features, 10 classes)
    >>> load("SBM-200")
    Graph(sbm-200: 200 nodes, 1,000 edges, 16 features, 4 classes)
    """
    known = canonical(name)
    if known == "digits":
        graph, place, expected = _digits(), "scikit-learn's digits", _DIGITS
    elif known == "arxiv-like":
        graph, place, expected = arxiv_like(), "the synthetic graph", _ARXIV_LIKE
    elif known in SOURCES:
        path = locate(SOURCES[known], progress)
        graph = standardise(read_npz(path, either_way=True)) if path.suffix == ".npz" else read_ogb(path)
        place, expected = str(path), SOURCES[known].counts
    else:
        return contextual_sbm(n_nodes=int(known.removeprefix("sbm-")))
    graph = graph if graph.name == known else replace(graph, name=known)
    check_counts(graph, expected, place)
    return graph


def split(graph: Graph, shot: float, seed: int) -> Split:
    """Draw the paper's split for a graph.

    Parameters
    ----------
    graph : Graph
        With labels. One of the paper's graphs, by its name, has the paper's number of known nodes: 1,500,
        for MS-CS 5,000. Of any other six tenths of the labelled nodes are known, but at most 1,500. A third
        of the known nodes, but at most 500, stop the training; all nodes that are not known are the test set.
    shot : int or float
        A whole number: labelled nodes of each class. A ratio below 1: share of the published training
        split, for a graph that has one (ogbn-arxiv).
    seed : int

    Returns
    -------
    Split
    """
    if graph.labels is None:
        raise InputError(f"{graph.name or 'the graph'} has no labels to split; give labels, -1 where unknown")
    if 0 < shot < 1:
        return ratio_split(graph, shot, seed)
    if not float(shot).is_integer():
        raise InputError(f"the shot is {shot}; give a whole number, or a ratio below 1")
    if graph.name in SOURCES:
        n_known = SOURCES[graph.name].n_known
    else:
        n_known = min(1500, int((graph.labels >= 0).sum()) * 6 // 10)
    return paper_split(graph.labels, int(shot), seed, n_known, n_stopping=min(500, n_known // 3))


def canonical(name: str) -> str:
    """Find the name that is meant, as `names` spells it, or say which ones there are.

    Examples
    --------
    >>> canonical("Cora-ML"), canonical("MS-CS"), canonical("SBM-200")
    ('cora_ml', 'ms_academic', 'sbm-200')
    """
    plain = _plain(name)
    spellings = {_plain(known): known for known in names()}
    spellings |= {_plain(source.title): source.name for source in SOURCES.values()}
    if plain in spellings:
        return spellings[plain]
    if _SBM.fullmatch(plain):
        return plain
    close = difflib.get_close_matches(plain, spellings, n=1)
    hint = f"did you mean {spellings[close[0]]}?" if close else f"choose from {', '.join(names())}, sbm-<n>"
    raise InputError(f"there is no data set {name!r}; {hint}")


def _plain(name: str) -> str:
    return name.strip().lower().replace("_", "-")


def _digits() -> Graph:
    """Join each of 1,797 pictures, 8 by 8 grey levels from 0 to 1, to the ten most like it."""
    from sklearn.datasets import load_digits

    pictures, labels = load_digits(return_X_y=True)
    X = (pictures / 16).astype(np.float32)
    return replace(nearest_neighbour_graph(X), features=X, labels=labels.astype(np.int64))
