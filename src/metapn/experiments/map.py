"""Figure 4: the hidden representations of a method's nodes, laid out in the plane by t-SNE."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from metapn.data.files import whole_file
from metapn.errors import InputError
from metapn.experiments.cell import Cell
from metapn.experiments.ledger import CellKey
from metapn.experiments.run import fitted, load
from metapn.graph import FloatArray, IntArray

SEED = 0


@dataclass(frozen=True)
class Map:
    """A map as it is in a folder.

    Parameters
    ----------
    key : CellKey
        What was fitted.
    places : array, shape (n, 2)
    labels : int array, shape (n,)
        True classes, -1 where unknown.
    accuracy : float
        Of the fit, on its test nodes.
    """

    key: CellKey
    places: FloatArray
    labels: IntArray
    accuracy: float


def read_maps(folder: Path) -> list[Map]:
    """Read all maps of a folder, by name."""
    found = []
    for path in sorted(folder.glob("map-*.npz")):
        try:
            with np.load(path, allow_pickle=False) as members:
                key = CellKey(*json.loads(str(members["cell"])))
                found.append(Map(key, members["places"], members["labels"], float(members["accuracy"])))
        except (OSError, ValueError, KeyError, TypeError, BadZipFile):
            raise InputError(f"{path} is damaged: it does not hold a map; remove it, and it is made again") from None
    return found


def is_drawn(cell: Cell, folder: Path) -> bool:
    """Whether the map of a cell is in the folder, with the settings that the cell has now."""
    path = _path(cell, folder)
    if not path.exists():
        return False
    with np.load(path, allow_pickle=False) as before:
        return str(before["cell"]) == _signature(cell)


def draw_map(cell: Cell, folder: Path, *, threads: int = 1) -> None:
    """Write ``map-<dataset>-<method>.npz``.

    Members are ``places`` (n, 2), ``labels`` (n,), the ``accuracy`` of the fit on its test nodes, and the
    ``cell`` that was fitted, as JSON.
    """
    graph = load(cell.dataset)
    (model,), (split,), _ = fitted(cell, graph, [SEED], threads=threads)
    hidden = model.embed(graph.features, graph)
    # One thread: the sums of several would be added in an order that changes from run to run.
    with threadpool_limits(limits=1):
        places = TSNE(init="pca", random_state=SEED, n_jobs=1).fit_transform(hidden)
    assert graph.labels is not None
    right = model.transduction_[split.test] == graph.labels[split.test]
    with whole_file(_path(cell, folder)) as handle:
        np.savez_compressed(
            handle,
            allow_pickle=False,
            places=places.astype(np.float32),
            labels=graph.labels.astype(np.int64),
            accuracy=np.float64(right.mean()),
            cell=np.array(_signature(cell)),
        )


def _path(cell: Cell, folder: Path) -> Path:
    return folder / f"map-{cell.dataset}-{cell.method}.npz"


def _signature(cell: Cell) -> str:
    return json.dumps(cell.key())
