"""The paper's figures: accuracy by label ratio and by propagation steps, and maps of the representations."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from metapn.experiments.cell import Cell
from metapn.experiments.paper import METHODS
from metapn.experiments.plan import HOPS, RATIOS
from metapn.report import blocks, words
from metapn.report.blocks import Block
from metapn.report.drawing.lines import Series, line_chart
from metapn.report.drawing.scale import Axis
from metapn.report.drawing.scatter import scatter
from metapn.report.fixed import depth, learned_against_fixed
from metapn.report.results import Results
from metapn.report.scores import Score

#: Methods by how they look in every chart: the paper's own first.
STYLES = {name: i for i, name in enumerate(dict.fromkeys(["metapn", "static-lp", "gcn", *METHODS]))}

_EACH = "A panel for each data set and protocol."


def ratio_blocks(results: Results) -> list[Block]:
    """Figure 2."""
    panels = _panels(
        results, "figure2", lambda cell: 100 * cell.shot, Axis("labelled nodes, %", ticks=[100 * r for r in RATIOS])
    )
    if not panels:
        return []
    figure = blocks.Figure(f"Mean accuracy in per cent, and its 95 % interval. {_EACH}", panels)
    return [figure, _numbers(results, "figure2", lambda cell: words.shot(cell.shot))]


def step_blocks(results: Results) -> list[Block]:
    """Figure 3, and whether what is learned is better than what is fixed."""
    panels = _panels(results, "figure3", depth, Axis("propagation steps K; layers of GCN", ticks=HOPS))
    if not panels:
        return []
    figure = blocks.Figure(
        f"Mean accuracy in per cent, and its 95 % interval as a band. {_EACH} K of GCN is the number of its layers.",
        panels,
    )
    return [
        figure,
        _numbers(results, "figure3", lambda cell: f"K = {depth(cell):g}"),
        *learned_against_fixed(results),
    ]


def map_blocks(results: Results) -> list[Block]:
    """Figure 4."""
    panels = []
    for found in results.maps:
        classes = sorted({int(label) for label in found.labels if label >= 0})
        names = [f"class {c}" for c in range(classes[-1] + 1)] if classes else []
        title = f"{METHODS.get(found.key.method, found.key.method)} on {words.dataset(found.key.dataset)}"
        svg = scatter(found.places, found.labels, names)
        right = f"accuracy {words.percent(found.accuracy)} %"
        panels.append(
            blocks.Panel(f"{title}, {right}", svg, f"map of {len(found.labels):,} nodes by their true class")
        )
    if not panels:
        return []
    caption = (
        "Each node's hidden representation, laid out in the plane by t-SNE; colour and shape are its true class. "
        f"One fit of seed 0 with {words.shot(results.maps[0].key.shot)}; accuracy on its test nodes."
    )
    return [blocks.Figure(caption, panels)]


def _panels(results: Results, artefact: str, at: Callable[[Cell], float], axis: Axis) -> list[blocks.Panel]:
    """Draw a panel for each data set and protocol of which there is more than a single point."""
    groups: dict[tuple[str, str], dict[str, list[Score]]] = {}
    for score in results.scores[artefact]:
        cell = score.cell
        groups.setdefault((cell.dataset, cell.protocol), {}).setdefault(cell.method, []).append(score)
    panels = []
    for (dataset, protocol), inside in groups.items():
        if max(len(scores) for scores in inside.values()) > 1:
            series = [_series(method, scores, at) for method, scores in inside.items()]
            svg = line_chart(series, axis, Axis("accuracy, %"), whiskers=len(series) > 4, height=240)
            panels.append(blocks.Panel(f"{words.dataset(dataset)}, {words.PROTOCOLS[protocol]}", svg, _told(series)))
    return panels


def _numbers(results: Results, artefact: str, at: Callable[[Cell], str]) -> blocks.Fold:
    """List what a figure shows."""
    scores = results.scores[artefact]
    columns = list(dict.fromkeys(at(score.cell) for score in scores))
    tables: dict[tuple[str, str], dict[str, dict[str, str]]] = {}
    for score in scores:
        inside = tables.setdefault((score.cell.dataset, score.cell.protocol), {})
        inside.setdefault(METHODS[score.cell.method], {})[at(score.cell)] = words.interval(score.summary)
    return blocks.Fold(
        "The figure's numbers",
        [
            blocks.Table(
                f"{words.dataset(dataset)}, {words.PROTOCOLS[protocol]}: accuracy in per cent",
                ("Method", *columns),
                [(name, *(found.get(column, words.NONE) for column in columns)) for name, found in inside.items()],
            )
            for (dataset, protocol), inside in tables.items()
        ],
    )


def _series(method: str, scores: Sequence[Score], at: Callable[[Cell], float]) -> Series:
    scores = sorted(scores, key=lambda score: at(score.cell))
    return Series(
        METHODS[method],
        [at(score.cell) for score in scores],
        [100 * score.summary.mean for score in scores],
        [100 * score.summary.low for score in scores],
        [100 * score.summary.high for score in scores],
        style=STYLES[method],
        strong=method == "metapn",
    )


def _told(series: Sequence[Series]) -> str:
    return "; ".join(
        f"{each.name} {', '.join(f'{y:.2f} at {x:g}' for x, y in zip(each.x, each.y, strict=True))}"
        for each in series
    )
