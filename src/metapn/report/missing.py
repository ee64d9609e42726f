"""What the paper has and a folder of results does not have, or not yet."""

from __future__ import annotations

from collections.abc import Sequence

from metapn.experiments.cell import Cell
from metapn.experiments.paper import METHODS
from metapn.experiments.plan import ARTEFACTS, cells
from metapn.report import words
from metapn.report.results import Results


def missing(results: Results) -> list[str]:
    """Say in sentences what is missing; nothing if all of the paper is there."""
    items = []
    if results.environment and results.environment.get("finished") is None:
        items.append("The last command has not ended, or was stopped: run it again to go on.")
    for artefact in ARTEFACTS:
        lacking = _lacking(results, artefact)
        if lacking:
            items.append(f"{words.TITLES[artefact].partition(':')[0]}: {lacking}.")
    sizes = [len(runs) for runs in results.records.values()]
    fewer = sum(size < max(sizes) for size in sizes)
    if fewer:
        items.append(f"{fewer} of {words.count(len(sizes), 'cell')} have fewer than {max(sizes)} runs.")
    return items


def _lacking(results: Results, artefact: str) -> str:
    """Say what is missing of a table or a figure; empty if nothing is."""
    nothing = f"nothing is there; make it with metapn reproduce {artefact}"
    if artefact == "table1":
        absent = [name for name in ARTEFACTS[artefact] if name not in results.statistics]
        everything = len(absent) == len(ARTEFACTS[artefact])
        return nothing if everything else f"without {words.listed([*map(words.dataset, absent)])}" if absent else ""
    planned = cells(artefact)
    there = {found.key for found in results.maps} if artefact == "figure4" else set(results.records)
    absent_cells = [cell for cell in planned if cell.key() not in there]
    if len(absent_cells) == len(planned):
        return nothing
    return f"without {', '.join(_described(absent_cells, planned))}" if absent_cells else ""


def _described(absent: Sequence[Cell], planned: Sequence[Cell]) -> list[str]:
    """Name the data sets, protocols and methods of which there is no cell, and count what else is absent."""
    found: list[str] = []
    for attribute, titles in (("dataset", words.dataset), ("protocol", _protocol), ("method", METHODS.get)):
        there = {getattr(cell, attribute) for cell in planned if cell not in absent}
        gone = [value for value in dict.fromkeys(getattr(cell, attribute) for cell in absent) if value not in there]
        absent = [cell for cell in absent if getattr(cell, attribute) not in gone]
        planned = [cell for cell in planned if getattr(cell, attribute) not in gone]
        found.extend(str(titles(value)) for value in gone)
    return [*found, words.count(len(absent), "other cell" if found else "cell")] if absent else found


def _protocol(name: str) -> str:
    return f"the protocol {name}"
