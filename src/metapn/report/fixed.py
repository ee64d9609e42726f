"""Figure 3's question, whether a propagation that is learned is better than one that is fixed."""

from __future__ import annotations

from collections.abc import Iterator

from metapn.experiments.cell import Cell
from metapn.experiments.plan import DEPTH
from metapn.experiments.statistics import holm
from metapn.experiments.verdict import PairedTest, paired_tests
from metapn.report import blocks, words
from metapn.report.blocks import Block
from metapn.report.results import Results


def depth(cell: Cell) -> float:
    """Return K of a cell of figure 3."""
    return float(cell.settings[DEPTH[cell.method]])


def learned_against_fixed(results: Results) -> Iterator[Block]:
    """Test Meta-PN against Static-LP at each K, the same but for its fixed weights."""
    cells: dict[tuple[str, str], dict[tuple[str, float], Cell]] = {}
    for cell in results.cells["figure3"]:
        cells.setdefault((cell.dataset, cell.protocol), {})[cell.method, depth(cell)] = cell
    found = {place: tests for place, inside in cells.items() if (tests := _tests(results, inside))}
    if not found:
        return
    steps = sorted({k for tests in found.values() for k in tests})
    rows = []
    for (dataset, protocol), tests in found.items():
        corrected = dict(zip(tests, holm([test.p_value for test in tests.values()]), strict=True))
        row: list[blocks.Cell | str] = [blocks.Cell(words.dataset(dataset), note=words.PROTOCOLS[protocol])]
        for k in steps:
            if k not in tests:
                row.append(words.NONE)
                continue
            difference, p = tests[k].difference, corrected[k]
            word = "" if p >= 0.05 else "above" if difference > 0 else "below"
            row.append(blocks.Cell(words.signed(difference), word=word, note=words.p_value(p)))
        rows.append(row)
    yield blocks.Heading("Is what is learned better than what is fixed?")
    yield blocks.Text(
        "Static-LP is Meta-PN with the weights of personalised PageRank in place of learned ones. Meta-PN's mean "
        "accuracy minus Static-LP's on the same splits, in points of per cent; paired t-test, p after Holm's "
        "correction for the number of K in the row. A sign stands where p < 0.05."
    )
    yield blocks.Table("Meta-PN minus Static-LP", ("Data set", *(f"K = {k:g}" for k in steps)), rows)


def _tests(results: Results, cells: dict[tuple[str, float], Cell]) -> dict[float, PairedTest]:
    """Test at each K that both have."""
    found = {}
    for k in sorted({k for _, k in cells}):
        if ("metapn", k) in cells and ("static-lp", k) in cells:
            ours, fixed = (results.records[cells[name, k].key()] for name in ("metapn", "static-lp"))
            for test in paired_tests(ours, {"static-lp": fixed}).values():
                found[k] = test
    return found
