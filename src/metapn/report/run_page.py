"""The page of one's own run: how sure it is, a map, which nodes to doubt, and which to label next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from metapn.graph import FloatArray, IntArray
from metapn.report import blocks
from metapn.report.blocks import Block, Column, Page, Section, Tile
from metapn.report.drawing.lines import Series, line_chart
from metapn.report.drawing.scale import Axis
from metapn.report.drawing.scatter import scatter
from metapn.report.layout import plane, sampled

_DOUBTFUL, _FEWEST = 20, 5


@dataclass(frozen=True, eq=False)
class RunView:
    """What the page shows of a run.

    Parameters
    ----------
    name : str
    summary : sequence of str
        What was done, a sentence each.
    ids : sequence of str
        Id of each node.
    classes : sequence of str
    probabilities : array, shape (n, c)
    hops : int array, shape (n,)
        Edges to the nearest label, -1 where there is no way.
    hidden : array, shape (n, h)
        What the model makes of each node: near each other on the map if alike in this.
    hop_weights : array, shape (n, K + 1)
        How much each node has listened to labels k hops away.
    suggested : int array, shape (s,)
        Nodes whose labels would help most, the most helpful first.
    """

    name: str
    summary: Sequence[str]
    ids: Sequence[str]
    classes: Sequence[str]
    probabilities: FloatArray
    hops: IntArray
    hidden: FloatArray
    hop_weights: FloatArray
    suggested: IntArray

    @property
    def predicted(self) -> IntArray:
        """Most probable class of each node, shape (n,)."""
        best: IntArray = self.probabilities.argmax(axis=1)
        return best

    @property
    def confidence(self) -> FloatArray:
        """Its probability, shape (n,)."""
        highest: FloatArray = self.probabilities.max(axis=1)
        return highest


def run_page(view: RunView) -> Page:
    """Lay out the page of a run; `metapn.report.page.html` writes it."""
    return Page(
        title=f"Labels for {view.name}",
        subtitle=f"{len(view.ids):,} nodes, {len(view.classes):,} classes",
        sections=[
            Section("At a glance", [_tiles(view), blocks.Items(list(view.summary))]),
            Section("How sure it is", _confidence(view)),
            Section("The map", _map(view)),
            Section("Least certain", [_least_certain(view)]),
            *([Section("Worth labelling next", [_suggested(view)])] if len(view.suggested) else []),
            Section("Where labels come from", [_hop_weights(view)]),
        ],
        footer="Written by metapn. All of it is in this file: it may be sent as it is.",
    )


def _tiles(view: RunView) -> Block:
    unreached = int((view.hops < 0).sum())
    tiles = [
        Tile(f"{int((view.hops == 0).sum()):,}", "nodes with a label"),
        Tile(f"{int((view.hops != 0).sum()):,}", "nodes labelled"),
        Tile(f"{view.confidence.mean():.0%}", "mean probability of the label given"),
        Tile(f"{unreached:,}", "nodes that no label can reach", "bad" if unreached else "good"),
    ]
    return blocks.Tiles(tiles)


def _confidence(view: RunView) -> list[Block]:
    levels = np.linspace(0, 100, 101, dtype=np.float32)
    series = [
        _share_above(name, view.confidence[view.predicted == c], levels, c) for c, name in enumerate(view.classes)
    ]
    svg = line_chart(
        [line for line in series if line is not None],
        Axis("probability of the label given, %", 0, 100),
        Axis("nodes with at least that, %", 0, 100),
        marked=False,
    )
    told = f"Half of all nodes have a probability of {np.median(view.confidence):.0%} or more."
    rows = [
        (
            name,
            f"{int((view.predicted == c).sum()):,}",
            *(f"{(view.confidence[view.predicted == c] >= level).mean():.0%}" for level in (0.5, 0.8, 0.95)),
        )
        for c, name in enumerate(view.classes)
        if (view.predicted == c).any()
    ]
    columns = ("class", "nodes", Column("50 %", "at least"), Column("80 %", "at least"), Column("95 %", "at least"))
    return [
        blocks.Figure("Nodes that were given a class, by how probable it is.", [blocks.Panel("By class", svg, told)]),
        blocks.Table("Share of the nodes of a class that have at least some probability", columns, rows),
    ]


def _share_above(name: str, confidence: FloatArray, levels: FloatArray, style: int) -> Series | None:
    if not len(confidence):
        return None
    shares = [100 * float((100 * confidence >= level).mean()) for level in levels]
    return Series(name, levels.tolist(), shares, style=style)


def _map(view: RunView) -> list[Block]:
    if len(view.ids) < _FEWEST:
        return [blocks.Text(f"{len(view.ids)} nodes are too few for a map.")]
    shown = sampled(len(view.ids), view.suggested)
    svg = scatter(plane(view.hidden[shown]), view.predicted[shown], view.classes)
    all_or_some = "All nodes" if len(shown) == len(view.ids) else f"{len(shown):,} of the nodes"
    caption = f"{all_or_some}, near each other if the model sees them alike (t-SNE of its hidden layer)."
    counts = ", ".join(f"{name} {int((view.predicted[shown] == c).sum()):,}" for c, name in enumerate(view.classes))
    return [
        blocks.Figure(caption, [blocks.Panel("By the class given", svg, f"Nodes on the map by class: {counts}.")])
    ]


def _least_certain(view: RunView) -> Block:
    order = np.argsort(view.confidence, kind="stable")
    doubtful = order[view.hops[order] != 0][:_DOUBTFUL]
    return _nodes(view, doubtful, "Nodes whose label is the least probable")


def _suggested(view: RunView) -> Block:
    return _nodes(view, view.suggested, "Nodes whose labels would tell most about the others, the most helpful first")


def _nodes(view: RunView, nodes: IntArray, caption: str) -> Block:
    rows = []
    for node in nodes.tolist():
        second, first = np.argsort(view.probabilities[node], kind="stable")[-2:].tolist()
        given, other = (f"{view.probabilities[node, c]:.1%}" for c in (first, second))
        hops = "no way" if view.hops[node] < 0 else f"{view.hops[node]:,}"
        rows.append((view.ids[node], view.classes[first], given, view.classes[second], other, hops))
    columns = (
        "node",
        Column("class", "given", left=True),
        Column("probability", "given"),
        Column("class", "second", left=True),
        Column("probability", "second"),
        "hops to a label",
    )
    return blocks.Table(caption, columns, rows)


def _hop_weights(view: RunView) -> Block:
    mean = view.hop_weights.mean(axis=0)
    low, high = np.quantile(view.hop_weights, [0.1, 0.9], axis=0)
    hops = np.arange(len(mean), dtype=float)
    top = max(1.0, float(high.max()))
    series = Series("mean", hops.tolist(), mean.tolist(), low.tolist(), high.tolist(), strong=True)
    svg = line_chart([series], Axis("hops", 0, float(hops[-1])), Axis("weight", 0, top))
    told = ", ".join(f"{hop}: {weight:.2f}" for hop, weight in enumerate(mean))
    caption = (
        "How much labels so many hops away count in the pseudo labels: mean over the nodes, and where the middle "
        "80 % of them are. A node's own label always counts fully."
    )
    return blocks.Figure(caption, [blocks.Panel("Weight of each hop", svg, f"Mean weight by hops: {told}.")])
