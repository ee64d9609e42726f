"""Write the tables and the figure of docs/learned-propagation.md, from the runs of learned_propagation.py.

    python docs/experiments/learned_propagation_tables.py docs/experiments/learned_propagation docs

What stands in the page between its two marks is replaced; runs that are not complete are left out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from learned_propagation import N_RUNS, SITUATIONS, VARIANTS, Situation
from matplotlib.figure import Figure

from metapn.experiments import ledger
from metapn.experiments.statistics import bootstrap_interval, holm, paired_p_value

#: Meta learning rates among which the accuracy on the early-stopping nodes chooses.
RATES = ("learned", "learned 0.05", "learned 0.5")
TITLES = {
    "learned": "learned, default rate",
    "learned 0.05": "learned, rate 0.05",
    "learned 0.5": "learned, rate 0.5",
    "chosen": "learned, rate chosen",
    "equal": "equal weights",
    "paper": "eq. 3, default rate",
    "paper 0.05": "eq. 3, rate 0.05",
}
COLOURS = {"learned": "#0072b2", "learned 0.05": "#d55e00", "equal": "#000000", "paper 0.05": "#009e73"}

BEGIN, END = "<!-- tables: begin -->", "<!-- tables: end -->"

Place = tuple[Situation, int]
Runs = dict[str, list[ledger.Record]]


class Row(NamedTuple):
    """A variant against Static-LP where both have all their runs: means, mean difference, its interval, and p."""

    place: Place
    static: float
    ours: float
    difference: float
    low: float
    high: float
    p: float
    moved: float


def complete(folder: Path) -> dict[Place, Runs]:
    """The runs of every situation and number of hops, by variant, of those variants that have them all."""
    found: dict[ledger.CellKey, list[ledger.Record]] = {}
    for record in ledger.read(folder):
        found.setdefault(record.key, []).append(record)
    places: dict[Place, Runs] = {}
    for situation in SITUATIONS:
        for n_hops in sorted(situation.hops):
            keys = {variant: situation.key(variant, n_hops) for variant in VARIANTS}
            runs = {variant: found[key] for variant, key in keys.items() if len(found.get(key, ())) == N_RUNS}
            if set(RATES) <= set(runs):
                runs["chosen"] = max((runs[rate] for rate in RATES), key=validation)
            if "static" in runs:
                places[situation, n_hops] = runs
    return places


def validation(runs: list[ledger.Record]) -> float:
    """Mean accuracy on the early-stopping nodes."""
    return float(np.mean([run.validation for run in runs]))


def accuracies(runs: list[ledger.Record]) -> list[float]:
    """In the order of the seeds."""
    return [run.accuracy for run in sorted(runs, key=lambda run: run.seed)]


def compared(places: dict[Place, Runs], variant: str, base: str = "static") -> list[Row]:
    """A row for each place that has the variant and the base; p corrected for the number of them."""
    rows = []
    for place, runs in places.items():
        if {variant, base} <= set(runs):
            static, ours = accuracies(runs[base]), accuracies(runs[variant])
            difference = np.subtract(ours, static)
            low, high = bootstrap_interval(difference)
            moved = float(np.mean([run.observations["moved"] for run in runs[variant]]))
            p = paired_p_value(ours, static)
            rows.append(Row(place, np.mean(static), np.mean(ours), difference.mean(), low, high, p, moved))
    corrected = holm([row.p for row in rows])
    return [row._replace(p=p) for row, p in zip(rows, corrected, strict=True)]


def table(variant: str, rows: list[Row]) -> Iterator[str]:
    """Markdown, accuracies in per cent."""
    yield f"\n**{TITLES[variant]}**\n"
    yield "| graph | K | Static-LP | ours | difference | 95 % interval | p (Holm) | moved |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|"
    for row in rows:
        situation, n_hops = row.place
        mark = "**" if row.p < 0.05 else ""
        yield (
            f"| {situation.title} | {n_hops} | {100 * row.static:.2f} | {100 * row.ours:.2f} | "
            f"{mark}{100 * row.difference:+.2f}{mark} | {100 * row.low:+.2f} to {100 * row.high:+.2f} | "
            f"{row.p:.2g} | {row.moved:.3f} |"
        )


def verdict(rows: list[Row]) -> str:
    """Count where it is better and worse than chance allows."""
    better = sum(row.p < 0.05 and row.difference > 0 for row in rows)
    worse = sum(row.p < 0.05 and row.difference < 0 for row in rows)
    mean = 100 * float(np.mean([row.difference for row in rows]))
    return f"better at {better} of {len(rows)} places, worse at {worse} (p < 0.05), by {mean:+.2f} points on average"


def draw(path: Path, compared_rows: dict[str, list[Row]]) -> None:
    """Differences with their intervals, a line for each place."""
    places = [row.place for row in compared_rows["learned"]]
    figure = Figure(figsize=(8.5, 0.6 + 0.34 * len(places)), layout="constrained")
    axes: Any = figure.subplots()
    for i, (variant, colour) in enumerate(COLOURS.items()):
        rows = {row.place: row for row in compared_rows.get(variant, [])}
        for y, place in enumerate(places):
            if place in rows:
                row, at = rows[place], y + 0.17 * (i - 1.5)
                axes.plot([100 * row.low, 100 * row.high], [at, at], color=colour, linewidth=1.2)
                axes.plot(100 * row.difference, at, "osD^"[i], color=colour, markersize=4, label=TITLES[variant])
    axes.axvline(0, color="grey", linewidth=0.8)
    axes.set_yticks(range(len(places)), [f"{situation.title}, K = {n_hops}" for situation, n_hops in places])
    axes.invert_yaxis()
    axes.set_xlabel("accuracy minus that of Static-LP, in points")
    by_title = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    figure.legend(by_title.values(), by_title.keys(), loc="outside upper center", ncols=4, frameon=False)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.grid(axis="y", alpha=0.2)
    figure.savefig(path, metadata={"Date": None})


def report(places: dict[Place, Runs]) -> Iterator[str]:
    """The summary, then a table for each variant."""
    tables = {variant: rows for variant in TITLES if (rows := compared(places, variant))}
    yield "Against Static-LP:\n"
    for variant, rows in tables.items():
        yield f"- {TITLES[variant]}: {verdict(rows)}"
    yield "\nLearning itself, against the equal weights that attention starts from:\n"
    for variant in ("learned", "learned 0.05", "chosen"):
        if rows := compared(places, variant, base="equal"):
            yield f"- {TITLES[variant]}: {verdict(rows)}"
    for variant, rows in tables.items():
        yield from table(variant, rows)


def main(folder: Path, docs: Path) -> None:
    """Put the tables into the page, and draw the figure."""
    places, page = complete(folder), docs / "learned-propagation.md"
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    page.write_text(f"{before}{BEGIN}\n\n" + "\n".join(report(places)) + f"\n\n{END}{rest.partition(END)[2]}")
    draw(docs / "learned-propagation.svg", {variant: compared(places, variant) for variant in COLOURS})


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
