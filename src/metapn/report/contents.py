"""The report on a folder of results: what is in it, in the order in which it is read."""

from __future__ import annotations

from metapn import __version__
from metapn.experiments.plan import SHOTS
from metapn.report import words
from metapn.report.blocks import Block, Page, Section
from metapn.report.calibration import calibration_blocks
from metapn.report.cost import cost_blocks
from metapn.report.figures import map_blocks, ratio_blocks, step_blocks
from metapn.report.learning import learning_blocks
from metapn.report.origin import elsewhere_blocks, origin_blocks
from metapn.report.propagator import propagator_blocks
from metapn.report.results import Results
from metapn.report.summary import summary_blocks
from metapn.report.tables import accuracy_blocks, statistics_table


def contents(results: Results) -> Page:
    """Write the report; parts of which nothing is there are left out, and the first section names them."""
    parts: list[tuple[str, list[Block]]] = [
        ("Verdict", summary_blocks(results)),
        (words.TITLES["table1"], [statistics_table(results)] if results.statistics else []),
        *((words.TITLES[artefact], accuracy_blocks(results, artefact)) for artefact in SHOTS),
        (words.TITLES["figure2"], ratio_blocks(results)),
        (words.TITLES["figure3"], step_blocks(results)),
        (words.TITLES["figure4"], map_blocks(results)),
        ("Learning curves", learning_blocks(results)),
        ("What the propagator learned", propagator_blocks(results)),
        ("Calibration", calibration_blocks(results)),
        ("Cost", cost_blocks(results)),
        ("Other runs", elsewhere_blocks(results)),
        ("Environment", origin_blocks(results)),
    ]
    return Page(
        "The paper, reproduced",
        "Meta Propagation Networks for Graph Few-shot Semi-supervised Learning (AAAI 2022): its tables and figures, "
        "computed anew and set beside the paper's own",
        [Section(title, inside) for title, inside in parts if inside],
        f"Written by metapn report, version {__version__}.",
    )
