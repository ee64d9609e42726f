"""What the runs cost: seconds, epochs and memory."""

from __future__ import annotations

from metapn.experiments.cell import PROTOCOLS
from metapn.experiments.paper import METHODS
from metapn.report import blocks, words
from metapn.report.blocks import Block, Column
from metapn.report.results import Results
from metapn.report.usual import usual_contests


def cost_blocks(results: Results) -> list[Block]:
    """List what a fit of each method takes on each data set."""
    tables: list[Block] = []
    found = usual_contests(results)
    for dataset, shot in dict.fromkeys((dataset, shot) for dataset, shot, _ in found):
        both = [found[dataset, shot, name] for name in PROTOCOLS if (dataset, shot, name) in found]
        columns: list[Column | str] = [Column("Method", left=True)]
        for contest in both:
            group = words.PROTOCOLS[contest.scores[0].cell.protocol].capitalize()
            columns.extend(Column(title, group) for title in ("seconds", "epochs", "megabytes"))
        rows = []
        for name, title in METHODS.items():
            runs = [[r for s in contest.scores if s.cell.method == name for r in s.records] for contest in both]
            row = [title]
            for records in runs:
                n = len(records)
                row.extend(
                    (
                        f"{sum(run.seconds for run in records) / n:.2f}",
                        f"{sum(run.epochs for run in records) / n:,.0f}",
                        f"{max(run.megabytes for run in records):,.0f}",
                    )
                    if records
                    else [words.NONE] * 3
                )
            if any(runs):
                rows.append(row)
        tables.append(blocks.Table(f"{words.dataset(dataset)}, {words.shot(shot)}", columns, rows))
    if not tables:
        return []
    return [
        blocks.Text(
            "Seconds and epochs of a fit, mean over the runs; of runs that are fitted together, the share of each. "
            "Megabytes are the most that the process held during a fit, the graph and the libraries included, and "
            "all runs that were fitted together. What else the machine did meanwhile is in the seconds."
        ),
        *tables,
    ]
