"""Which cells make each table and each figure of the paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from metapn import baselines
from metapn import datasets as graphs
from metapn.experiments.cell import PROTOCOLS, Cell
from metapn.experiments.paper import DATASETS, METHODS

#: What can be made, and the data sets that the paper has in it.
ARTEFACTS: dict[str, tuple[str, ...]] = {
    "table1": ("cora_ml", "citeseer", "pubmed", "ms_academic", "ogbn-arxiv"),
    "table2": ("cora_ml", "citeseer", "pubmed", "ms_academic"),
    "table3": ("cora_ml", "citeseer", "pubmed", "ms_academic"),
    "table4": ("cora_ml", "citeseer", "pubmed", "ms_academic"),
    "figure2": ("ogbn-arxiv",),
    "figure3": ("cora_ml", "citeseer", "pubmed", "ogbn-arxiv"),
    "figure4": ("cora_ml",),
}
#: Labels a class in each table.
SHOTS: dict[str, tuple[int, ...]] = {"table2": (3, 5), "table3": (20,), "table4": (10,)}
#: Share of the nodes that is labelled in figure 2; figure 3 has the first.
RATIOS = (0.01, 0.015, 0.02, 0.025)
#: K in figure 3, and which setting of a method it is.
HOPS = (1, 2, 4, 6, 8, 10, 15, 20)
DEPTH = {"gcn": "n_layers", "static-lp": "n_hops", "metapn": "n_hops"}
#: Labels a class in figure 3, and in figure 4, where the paper does not say how many.
FIGURE_SHOT = 5
#: Meta-PN's other prediction, which the tables have besides its default.
OTHER_FINAL = {"final": "transformer"}

# Labelled by a ratio, from their published split.
_LARGE = ("ogbn-arxiv", "arxiv-like")


def cells(
    artefact: str,
    *,
    datasets: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    protocols: Sequence[str] = PROTOCOLS,
) -> list[Cell]:
    """List the cells of a table or a figure, data set by data set.

    Table 1, the counts of the data sets, has none. A cell of figure 4 is a picture, for the first protocol
    alone; any other is an accuracy.

    Parameters
    ----------
    artefact : str
        One of `ARTEFACTS`.
    datasets, methods : sequence of str, optional
        Those that are wanted, by any of their names. See `data_sets` for data sets that the paper does not have.
    protocols : sequence of {"paper", "no-validation"}

    Examples
    --------
    >>> len(cells("table3", protocols=["paper"]))  # 12 methods on 4 data sets, Meta-PN with two predictions
    52
    >>> [cell.settings for cell in cells("figure3", datasets=["citeseer"], methods=["gcn"], protocols=["paper"])][:3]
    [{'n_layers': 1}, {'n_layers': 2}, {'n_layers': 4}]
    """
    chosen = _methods(artefact, methods)
    return [
        Cell(dataset, method, shot, protocol, settings)
        for dataset in data_sets(artefact, datasets)
        for protocol in (protocols[:1] if artefact == "figure4" else protocols)
        for method in chosen
        for shot, settings in _rows(artefact, dataset, method)
    ]


def data_sets(artefact: str, wanted: Sequence[str] | None = None) -> list[str]:
    """List the data sets of a table or a figure, in the order of the paper.

    Of the paper's data sets these are never more than the paper has there. Any other that is wanted is taken
    in, but by ratio only where the paper labels by ratio.

    Examples
    --------
    >>> data_sets("figure3", ["sbm-200", "MS-CS", "pubmed"])
    ['pubmed', 'sbm-200']
    """
    if wanted is None:
        return list(ARTEFACTS[artefact])
    names = dict.fromkeys(graphs.canonical(name) for name in wanted)
    others = [name for name in names if name not in DATASETS and _fits(artefact, name)]
    return [name for name in ARTEFACTS[artefact] if name in names] + others


def _fits(artefact: str, dataset: str) -> bool:
    return artefact in ("table1", "figure3") or (dataset in _LARGE) == (artefact == "figure2")


def _methods(artefact: str, wanted: Sequence[str] | None) -> list[str]:
    """Methods of a table or a figure; Static-LP is in a table when it is asked for."""
    only = {"table1": (), "figure3": tuple(DEPTH), "figure4": ("appnp", "metapn")}.get(artefact, tuple(METHODS))
    if wanted is not None:
        names = {baselines.canonical(name) for name in wanted}
        return [name for name in METHODS if name in names and name in only]
    # The paper leaves the MLP out of figure 2, as far below all others.
    left_out = {"figure2": ("static-lp", "mlp"), "figure3": ()}.get(artefact, ("static-lp",))
    return [name for name in METHODS if name in only and name not in left_out]


def _rows(artefact: str, dataset: str, method: str) -> Iterator[tuple[float, dict[str, Any]]]:
    """Shot and settings of each cell of a method on a data set."""
    if artefact == "figure3":
        for n_hops in HOPS:
            yield RATIOS[0] if dataset in _LARGE else FIGURE_SHOT, {DEPTH[method]: n_hops}
    elif artefact == "figure4":
        yield FIGURE_SHOT, {}
    elif artefact == "figure2":
        yield from ((ratio, {}) for ratio in RATIOS)
    else:
        for shot in SHOTS[artefact]:
            yield shot, {}
            if method == "metapn":
                yield shot, dict(OTHER_FINAL)
