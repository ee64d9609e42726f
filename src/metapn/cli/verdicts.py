"""The results of `metapn reproduce` on a terminal: ours, the paper's, and what to say of the difference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from metapn.cli.console import console

if TYPE_CHECKING:
    from rich.table import Table

    from metapn.data.registry import Counts
    from metapn.experiments.cell import Cell
    from metapn.experiments.ledger import CellKey, Record

TITLES = {
    "table2": "Table 2, 3 and 5 labels a class",
    "table3": "Table 3, 20 labels a class",
    "table4": "Table 4, 10 labels a class",
    "figure2": "Figure 2, by the share of the nodes that is labelled",
    "figure3": "Figure 3, by the number of propagation steps",
}
STYLES = {"reproduced": "green", "above": "green", "below": "yellow"}


def show_statistics(counts: dict[str, Counts]) -> None:
    """Print table 1: what the data sets hold."""
    from metapn.experiments.paper import DATASETS, STATISTICS

    table = _table(("", "nodes", "edges", "features", "classes"), "in the paper")
    for name, found in counts.items():
        printed = STATISTICS.get(name)
        same = "not there" if printed is None else "the same" if printed == found else str(printed)
        numbers = (found.nodes, found.edges, found.features, found.classes)
        table.add_row(DATASETS.get(name, name), *(f"{number:,}" for number in numbers), same)
    out = console()
    out.print("\n[bold]Table 1, the data sets[/bold]")
    out.print(table)


def show_accuracies(artefact: str, cells: list[Cell], records: dict[CellKey, list[Record]]) -> None:
    """Print a table or a figure of the paper in per cent, a block for each data set, shot and protocol."""
    from metapn.experiments.paper import DATASETS

    out = console()
    out.print(f"\n[bold]{TITLES[artefact]}[/bold]; mean accuracy in per cent and its 95 % interval")
    blocks: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in cells:
        blocks.setdefault((cell.dataset, cell.shot, cell.protocol), []).append(cell)
    compared = artefact.startswith("table")  # the paper's figures have no numbers
    for (dataset, shot, protocol), inside in blocks.items():
        labels = f"{shot:.1%} labelled" if shot < 1 else f"{shot}-shot"
        out.print(f"\n{DATASETS.get(dataset, dataset)}, {labels}, protocol {protocol}")
        table = _table(("", "runs", "mean", "interval", *(["paper"] if compared else [])), "")
        for cell in inside:
            table.add_row(*_row(cell, records[cell.key()], compared=compared))
        out.print(table)


def _row(cell: Cell, runs: list[Record], *, compared: bool) -> tuple[str, ...]:
    """Show a cell, if need be compared with the paper's."""
    from metapn.experiments.paper import METHODS, published
    from metapn.experiments.verdict import summarise, verdict

    name = " ".join([METHODS[cell.method], *(f"{setting}={value}" for setting, value in cell.settings.items())])
    ours = summarise(runs)
    row = (name, f"{ours.n}", f"{100 * ours.mean:.2f}", f"{100 * ours.low:.2f}-{100 * ours.high:.2f}")
    printed = published(cell.method, cell.dataset, cell.shot)
    found = verdict(ours, printed)
    if not compared or printed is None or found.difference is None:
        return row
    word = f"[{STYLES[found.word]}]{found.word}[/] {100 * found.difference:+.2f}"
    return (*row, f"{100 * printed.mean:.2f} ±{100 * printed.half_width:.2f}", word)


def _table(columns: tuple[str, ...], last: str) -> Table:
    """Set the first and the last column to the left, and the numbers between them to the right."""
    from rich.table import Table

    first, *numbers = columns
    table = Table(box=None, header_style="dim", pad_edge=False)
    table.add_column(first, no_wrap=True, min_width=25)
    for column in numbers:
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column(last, no_wrap=True)
    return table
