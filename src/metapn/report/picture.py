"""The demo's picture: a map of the nodes as the model sees them, and how the methods did."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from metapn.data.files import whole_file
from metapn.graph import FloatArray, IntArray


def draw_demo(
    path: Path,
    places: FloatArray,
    predicted: IntArray,
    right: npt.NDArray[np.bool_],
    labelled: IntArray,
    accuracies: Mapping[str, list[float]],
) -> None:
    """Write a PNG.

    Parameters
    ----------
    path : path
    places : array, shape (n, 2)
        Where each node is on the map.
    predicted : int array, shape (n,)
        Its class, by colour and by the digit printed at the middle of the class.
    right : bool array, shape (n,)
        Wrong ones are circled.
    labelled : int array, shape (g,)
        The labelled nodes, drawn as stars.
    accuracies : mapping of method to accuracies
        Drawn as bars of the means, with a dot for each draw.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 6), layout="constrained")
    nodes, bars = figure.subplots(1, 2, width_ratios=(3, 2))
    colours = mpl.colormaps["tab10"](predicted % 10)
    nodes.scatter(*places.T, c=colours, s=10, linewidths=0)
    nodes.scatter(*places[~right].T, s=45, facecolors="none", edgecolors="black", linewidths=0.8, label="wrong")
    nodes.scatter(*places[labelled].T, marker="*", s=170, c="gold", edgecolors="black", label="labelled")
    for c in np.unique(predicted):
        middle = np.median(places[predicted == c], axis=0)
        nodes.annotate(str(c), middle, fontsize=16, fontweight="bold", ha="center", va="center", bbox=_paper())
    nodes.set_title(f"{len(labelled)} labels in, {len(predicted):,} out: digits as the model sees them (t-SNE)")
    nodes.set_axis_off()
    nodes.legend(loc="lower right", frameon=True)
    _bars(bars, accuracies)
    with whole_file(path) as handle:
        figure.savefig(handle, format="png", dpi=110)


def _bars(axes: Any, accuracies: Mapping[str, list[float]]) -> None:
    names = list(accuracies)
    means = [100 * float(np.mean(accuracies[name])) for name in names]
    axes.barh(names, means, color=["#9aa5b1"] * (len(names) - 1) + ["#1f77b4"])
    for row, name in enumerate(names):
        axes.plot(100 * np.array(accuracies[name]), np.full(len(accuracies[name]), row), "k|", markersize=12)
        axes.text(means[row] - 1, row + 0.25, f"{means[row]:.1f} %", ha="right", va="center", color="white", size=12)
    axes.set_xlim(max(0, min(min(a) for a in accuracies.values()) * 100 - 15), 100)
    axes.set_xlabel("accuracy on the unlabelled nodes, %\n(a stroke for each draw of labels)")
    axes.spines[["top", "right"]].set_visible(False)


def _paper() -> dict[str, Any]:
    return {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
