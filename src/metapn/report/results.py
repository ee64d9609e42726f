"""A folder of results, as `metapn.experiments.reproduce` leaves it, whole or half made."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from metapn.baselines import methods
from metapn.data.registry import Counts
from metapn.datasets import canonical
from metapn.errors import InputError
from metapn.experiments import environment, ledger
from metapn.experiments.cell import Cell
from metapn.experiments.json_file import read_object
from metapn.experiments.ledger import CellKey, Record
from metapn.experiments.map import Map, read_maps
from metapn.experiments.paper import DATASETS
from metapn.experiments.plan import ARTEFACTS, cells
from metapn.experiments.reproduce import STATISTICS
from metapn.experiments.verdict import Summary, summarise
from metapn.report.scores import Contest, Place, Score


@dataclass(frozen=True)
class Results:
    """What is in a folder of results.

    Parameters
    ----------
    records : dict
        The runs of each cell, by seed.
    statistics : dict
        What each data set holds; table 1.
    maps : list of Map
        Figure 4.
    environment : dict
        Versions, machine and command, see `metapn.experiments.environment`.
    """

    records: dict[CellKey, list[Record]]
    statistics: dict[str, Counts]
    maps: list[Map]
    environment: dict[str, Any]

    @classmethod
    def read(cls, *folders: Path) -> Results:
        """Read a folder, or several as if they were one.

        Raises
        ------
        InputError
            If one holds no results, or damaged ones, or a run that went otherwise in another.
        """
        runs: dict[tuple[CellKey, int], tuple[Record, Path]] = {}
        statistics: dict[str, Counts] = {}
        maps: dict[CellKey, Map] = {}
        known: list[dict[str, Any]] = []
        for folder in folders:
            found, counted, drawn = ledger.read(folder), _counts(folder), read_maps(folder)
            known.append(read_object(folder / environment.FILE))
            if not (found or counted or drawn):
                raise InputError(f"{folder} holds no results; make some: metapn reproduce --out {folder}")
            for run in found:
                before, first = runs.setdefault((run.key, run.seed), (run, folder))
                if before.accuracy != run.accuracy:
                    what = f"{run.method} on {run.dataset}, seed {run.seed}"
                    raise InputError(f"{first} and {folder} differ in the run of {what}; leave one of them out")
            statistics |= counted
            maps |= {each.key: each for each in drawn}
        return cls.of((run for run, _ in runs.values()), statistics, maps.values(), environment.together(known))

    @classmethod
    def of(
        cls,
        runs: Iterable[Record],
        statistics: dict[str, Counts] | None = None,
        maps: Iterable[Map] = (),
        environment: dict[str, Any] | None = None,
    ) -> Results:
        """Sort runs by their cell."""
        records: dict[CellKey, list[Record]] = {}
        for run in sorted(runs, key=lambda run: run.seed):
            records.setdefault(run.key, []).append(run)
        return cls(records, statistics or {}, list(maps), environment or {})

    @cached_property
    def cells(self) -> dict[str, list[Cell]]:
        """The cells of each table and figure of which there are runs, also those of other data sets."""
        others = sorted(name for name in {key.dataset for key in self.records} - set(DATASETS) if _is_known(name))
        planned = {each: cells(each, datasets=[*DATASETS, *others], methods=methods()) for each in ARTEFACTS}
        return {each: [cell for cell in inside if cell.key() in self.records] for each, inside in planned.items()}

    @cached_property
    def scores(self) -> dict[str, list[Score]]:
        """What the runs of these cells come to."""
        known: dict[CellKey, Summary] = {key: summarise(runs) for key, runs in self.records.items()}
        return {
            each: [Score.of(cell, self.records[cell.key()], known[cell.key()]) for cell in inside]
            for each, inside in self.cells.items()
        }

    @cached_property
    def contests(self) -> dict[str, dict[Place, Contest]]:
        """The same by data set, shot and protocol."""
        found: dict[str, dict[Place, list[Score]]] = {}
        for artefact, scores in self.scores.items():
            places = found.setdefault(artefact, {})
            for score in scores:
                places.setdefault((score.cell.dataset, score.cell.shot, score.cell.protocol), []).append(score)
        return {each: {place: Contest(inside) for place, inside in places.items()} for each, places in found.items()}

    def elsewhere(self) -> list[CellKey]:
        """List what is in no table or figure: runs with other settings than those of this version."""
        known = {cell.key() for inside in self.cells.values() for cell in inside}
        return [key for key in self.records if key not in known]


def _is_known(dataset: str) -> bool:
    try:
        return canonical(dataset) == dataset
    except InputError:
        return False


def _counts(folder: Path) -> dict[str, Counts]:
    file = folder / STATISTICS
    try:
        return {name: Counts(**numbers) for name, numbers in read_object(file).items()}
    except TypeError:
        raise InputError(f"{file} is damaged: it does not count data sets; remove it, and it is made again") from None
