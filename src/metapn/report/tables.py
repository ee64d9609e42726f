"""The paper's tables: ours, the paper's and the difference, under both protocols."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from metapn.experiments.cell import PROTOCOLS, Cell
from metapn.experiments.paper import METHODS, STATISTICS
from metapn.experiments.verdict import PairedTest
from metapn.report import blocks, words
from metapn.report.blocks import Block, Column, Table
from metapn.report.drawing.axes import Key
from metapn.report.drawing.intervals import Point, Row, interval_chart
from metapn.report.drawing.scale import Axis
from metapn.report.results import Results
from metapn.report.scores import Contest, Score, paper_mark

#: What an interval chart shows in each row.
_KINDS = (
    Key("ours", 0, lined=False),
    Key("ours, no validation nodes", 1, lined=False, hollow=True),
    Key("the paper's", 10, lined=False, hollow=True),
)


def statistics_table(results: Results) -> Table:
    """Table 1."""
    rows = []
    for name, found in results.statistics.items():
        printed = STATISTICS.get(name)
        same = "not in the paper" if printed is None else "the same" if printed == found else str(printed)
        numbers = (found.nodes, found.edges, found.features, found.classes)
        rows.append((words.dataset(name), *(f"{number:,}" for number in numbers), same))
    columns = ("Data set", "Nodes", "Edges", "Features", "Classes", Column("In the paper", left=True))
    return Table("The data sets as they are used, each undirected edge counted once", columns, rows)


def accuracy_blocks(results: Results, artefact: str) -> list[Block]:
    """Table 2, 3 or 4: a picture of all of it, then a table for each data set and shot."""
    found = results.contests[artefact]
    places = list(dict.fromkeys((dataset, shot) for dataset, shot, _ in found))
    panels, tables = [], []
    for dataset, shot in places:
        both = {name: found[dataset, shot, name] for name in PROTOCOLS if (dataset, shot, name) in found}
        title = f"{words.dataset(dataset)}, {words.shot(shot)}"
        panels.append(_panel(title, both))
        tables.append(_table(title, both))
    if not panels:
        return []
    figure = blocks.Figure(
        "Mean accuracy in per cent with its 95 % interval. The paper's interval is the one that it prints.", panels
    )
    return [figure, *tables]


def _cells(both: dict[str, Contest]) -> list[Cell]:
    """List the rows: cells that differ in their protocol only are one."""
    rows = {(s.cell.method, str(s.cell.settings)): s.cell for contest in both.values() for s in contest.scores}
    order = list(METHODS)
    return sorted(rows.values(), key=lambda cell: (order.index(cell.method), bool(cell.settings)))


def _find(contest: Contest, row: Cell) -> Score | None:
    same = (s for s in contest.scores if (s.cell.method, s.cell.settings) == (row.method, row.settings))
    return next(same, None)


def _panel(title: str, both: dict[str, Contest]) -> blocks.Panel:
    rows, told = [], []
    for cell in _cells(both):
        points, printed = [], None
        for kind, protocol in enumerate(PROTOCOLS):
            score = _find(both[protocol], cell) if protocol in both else None
            if score is not None:
                summary, printed = score.summary, score.published
                points.append(Point(kind, *(100 * value for value in (summary.mean, summary.low, summary.high))))
                told.append(f"{words.method(cell)} {words.interval(summary)} ({words.PROTOCOLS[protocol]})")
        if printed is not None and not cell.settings:
            mean, half = 100 * printed.mean, 100 * printed.half_width
            points.append(Point(2, mean, mean - half, mean + half))
        rows.append(Row(_short(cell), points, strong=cell.method == "metapn" and not cell.settings))
    kinds = sorted({point.kind for row in rows for point in row.points})
    shown = [
        Row(row.name, [replace(point, kind=kinds.index(point.kind)) for point in row.points], row.strong)
        for row in rows
    ]
    svg = interval_chart(shown, [_KINDS[kind] for kind in kinds], Axis("accuracy, %"))
    return blocks.Panel(title, svg, "; ".join(told))


def _short(cell: Cell) -> str:
    return "transformer" if cell.settings else METHODS[cell.method]


def _table(title: str, both: dict[str, Contest]) -> Table:
    tests = {protocol: contest.tests for protocol, contest in both.items()}
    columns: list[Column | str] = [Column("Method", left=True)]
    for protocol in both:
        group = f"{words.PROTOCOLS[protocol].capitalize()}: {_runs(both[protocol].scores)}"
        columns.append(Column("ours", group))
        if protocol == PROTOCOLS[0]:
            columns.append(Column("the paper's", group))
        columns.append(Column("difference", group, left=True))
        if tests[protocol]:
            columns.append(Column("Meta-PN ahead by", group, left=True))
    cells = _cells(both)
    rows = []
    for cell in cells:
        row: list[blocks.Cell | str] = [words.method(cell)]
        for protocol, contest in both.items():
            row.extend(_entries(contest, _find(contest, cell), tests[protocol], cell))
        rows.append(row)
    ours = [i for i, cell in enumerate(cells) if cell.method == "metapn" and not cell.settings]
    return Table(f"{title}: accuracy in per cent", columns, rows, highlight=ours)


def _entries(
    contest: Contest, score: Score | None, tests: dict[str, PairedTest], cell: Cell
) -> Iterable[blocks.Cell | str]:
    """List a row's part of one protocol."""
    compared = contest.scores[0].cell.protocol == PROTOCOLS[0]
    if score is None:
        return [words.NONE] * (2 + compared + bool(tests))
    entries: list[blocks.Cell | str] = [blocks.Cell(words.interval(score.summary), mark=contest.mark(score))]
    if compared:
        entries.append(_printed(score))
    entries.append(_verdict(score))
    if tests:
        entries.append(_ahead(tests.get(cell.method) if score.plain else None))
    return entries


def _printed(score: Score) -> blocks.Cell:
    if score.published is None:
        return blocks.Cell(words.NONE)
    cell, (mean, half) = score.cell, score.published
    return blocks.Cell(
        f"{words.percent(mean)} ± {words.percent(half)}",
        mark=paper_mark(cell.method, cell.dataset, cell.shot) if score.plain else "",
    )


def _verdict(score: Score) -> blocks.Cell:
    if score.verdict.difference is None:
        return blocks.Cell(score.verdict.word)
    return blocks.Cell(f"{words.signed(score.verdict.difference)} {score.verdict.word}", word=score.verdict.word)


def _ahead(test: PairedTest | None) -> blocks.Cell | str:
    if test is None:
        return words.NONE
    return blocks.Cell(f"{words.signed(test.difference)}, {words.p_value(test.p_corrected)}")


def _runs(scores: Iterable[Score]) -> str:
    sizes = sorted({score.summary.n for score in scores})
    return words.count(sizes[0], "run") if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]} runs"
