"""ogbn-arxiv as OGB publishes it: gzipped tables of numbers, in a zip or in the folder it unpacks to.

====================================  =====================================  ============
member                                what                                   shape
====================================  =====================================  ============
``raw/edge.csv.gz``                   citing paper, cited paper              (m, 2)
``raw/node-feat.csv.gz``              features                               (n, f)
``raw/node-label.csv.gz``             class numbers                          (n, 1)
``raw/num-node-list.csv.gz``          n                                      (1, 1)
``raw/num-edge-list.csv.gz``          m                                      (1, 1)
``split/time/{train,valid,test}...``  node numbers of the published split    (., 1)
====================================  =====================================  ============

A zip is read in place: nothing is unpacked, so no member can be written anywhere.
"""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from metapn.errors import InputError
from metapn.graph import Graph, IntArray

SPLIT = ("train", "valid", "test")
_DAMAGE = (OSError, EOFError, ValueError, KeyError, RuntimeError, zipfile.BadZipFile, zlib.error)

_AGAIN = "remove it to have it downloaded again"

_Table = Callable[[str, type], npt.NDArray[Any]]


def read_ogb(path: str | Path) -> Graph:
    """Read a graph of the Open Graph Benchmark, each citation as an edge in both directions.

    Parameters
    ----------
    path : path
        The published zip, or the folder it unpacks to.

    Returns
    -------
    Graph
        With labels, dense features, and the published split as its `official_split`.
    """
    place = Path(path)
    try:
        if place.is_dir():
            return _graph(lambda member, kind: _parsed((place / member).open("rb"), kind, member))
        with zipfile.ZipFile(place) as archive:
            root = _root(archive.namelist())
            return _graph(lambda member, kind: _parsed(archive.open(root + member), kind, member))
    except InputError as error:
        raise InputError(f"{place}: {error}") from None
    except _DAMAGE as error:
        raise InputError(f"{place} is not what OGB publishes, or was cut short ({error}); {_AGAIN}") from None


def _root(members: list[str]) -> str:
    """Folder inside the zip that holds everything else."""
    edges = "raw/edge.csv.gz"
    return next((name.removesuffix(edges) for name in members if name.endswith(edges)), "")


def _graph(table: _Table) -> Graph:
    n_nodes = int(table("raw/num-node-list.csv.gz", np.int64).sum())
    n_rows = int(table("raw/num-edge-list.csv.gz", np.int64).sum())
    edges = table("raw/edge.csv.gz", np.int64)
    if len(edges) != n_rows:
        raise InputError(f"{len(edges):,} edges where num-edge-list says {n_rows:,}; {_AGAIN}")
    split = {part: table(f"split/time/{part}.csv.gz", np.int64).ravel() for part in SPLIT}
    _check_split(split, n_nodes)
    return Graph.from_edges(
        edges,
        n_nodes,
        features=table("raw/node-feat.csv.gz", np.float32),
        labels=table("raw/node-label.csv.gz", np.int64).ravel(),
        official_split=split,
    )


def _parsed(packed: IO[bytes], kind: type, member: str) -> npt.NDArray[Any]:
    """Parse one gzipped table of numbers as it streams by, shape (rows, columns)."""
    with packed, gzip.open(packed) as plain, io.TextIOWrapper(plain, encoding="ascii") as text:
        try:
            return np.loadtxt(text, dtype=kind, delimiter=",", ndmin=2)
        except ValueError as error:
            raise InputError(f"{member} is no table of numbers ({error}); {_AGAIN}") from None


def _check_split(split: dict[str, IntArray], n_nodes: int) -> None:
    nodes = np.concatenate(list(split.values()))
    if nodes.min() < 0 or nodes.max() >= n_nodes or len(np.unique(nodes)) != len(nodes):
        raise InputError(f"the published split names a node twice, or one not among the {n_nodes:,}; {_AGAIN}")
