"""What the paper prints: its data sets, its methods, and its numbers.

Accuracies are shares of one here, as everywhere in the code, and not per cent as in the paper.
"""

from __future__ import annotations

from typing import NamedTuple

from metapn.data.registry import SOURCES, Counts
from metapn.experiments.tuned import section

#: Name of each data set and its title in the paper, in the order of the paper's tables.
DATASETS: dict[str, str] = {source.name: source.title for source in SOURCES.values()}

#: Name of each method and its title in the paper, in the order of the paper's tables; Static-LP is in figure 3 only.
METHODS: dict[str, str] = {
    "mlp": "MLP",
    "lp": "LP",
    "gcn": "GCN",
    "sgc": "SGC",
    "glp": "GLP",
    "igcn": "IGCN",
    "m3s": "M3S",
    "appnp": "APPNP",
    "dagnn": "DAGNN",
    "cs": "C&S",
    "gpr-gnn": "GPR-GNN",
    "static-lp": "Static-LP",
    "metapn": "Meta-PN",
}

#: Table 1. The 15 features of ogbn-arxiv are a slip of the paper (there are 128), and its edges are OGB's count
#: of citations, of which 8,444 are the way back of another.
STATISTICS: dict[str, Counts] = {
    "cora_ml": Counts(nodes=2810, edges=7981, features=2879, classes=7),
    "citeseer": Counts(nodes=2110, edges=3668, features=3703, classes=6),
    "pubmed": Counts(nodes=19717, edges=44324, features=500, classes=3),
    "ms_academic": Counts(nodes=18333, edges=81894, features=6805, classes=15),
    "ogbn-arxiv": Counts(nodes=169343, edges=1166243, features=15, classes=40),
}


class Published(NamedTuple):
    """A cell of the paper's tables: mean accuracy and half the width of its 95 % interval, as shares of one."""

    mean: float
    half_width: float


def published(method: str, dataset: str, shot: float) -> Published | None:
    """Return what the paper prints for a cell; None for what is in none of its tables.

    Examples
    --------
    >>> published("metapn", "cora_ml", 5)
    Published(mean=0.7988, half_width=0.0015)
    >>> published("static-lp", "cora_ml", 5) is None
    True
    """
    found = section("paper", method, dataset).get(f"{shot:g}")
    if found is None:
        return None
    mean, half_width = found
    return Published(round(mean / 100, 6), round(half_width / 100, 6))
