"""What a user asks to have reproduced, and whether the data for it can be had."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace

from metapn.baselines import method
from metapn.data.registry import Counts
from metapn.errors import InputError
from metapn.experiments.cell import PROTOCOLS, Cell
from metapn.experiments.plan import cells, data_sets
from metapn.experiments.run import load


@dataclass(frozen=True)
class Request:
    """What is to be made, see `metapn.experiments.plan.cells`, how many runs of each cell, and Meta-PN's engine."""

    artefacts: Sequence[str]
    datasets: Sequence[str] | None = None
    methods: Sequence[str] | None = None
    protocols: Sequence[str] = PROTOCOLS
    n_runs: int = 100
    engine: str = "memory"

    def data_sets(self) -> dict[str, list[str]]:
        """List the data sets, each with the tables and figures that have it."""
        where: dict[str, list[str]] = {}
        for artefact in self.artefacts:
            for name in data_sets(artefact, self.datasets):
                where.setdefault(name, []).append(artefact)
        if not where:
            raise InputError(self._nothing("data sets", self.datasets))
        return where

    def cells(self, available: Container[str]) -> dict[str, list[Cell]]:
        """List the cells of each table and figure, on the data sets that are available."""
        planned = {}
        for artefact in self.artefacts:
            found = cells(artefact, datasets=self.datasets, methods=self.methods, protocols=self.protocols)
            planned[artefact] = [self._with_engine(cell) for cell in found if cell.dataset in available]
        if self.methods is not None and not any(planned.values()):
            raise InputError(self._nothing("methods", self.methods))
        return planned

    def _with_engine(self, cell: Cell) -> Cell:
        """Return the cell, with the engine if its method has a choice and it is not the usual one."""
        if self.engine == "memory" or "engine" not in method(cell.method)().get_params():
            return cell
        return replace(cell, settings=cell.settings | {"engine": self.engine})

    def _nothing(self, kind: str, wanted: Sequence[str] | None) -> str:
        return (
            f"{', '.join(self.artefacts)} of the paper has none of the {kind} {', '.join(wanted or ())}; "
            f"leave out --{kind.replace(' ', '')} to have all that it has"
        )


def look_up(request: Request) -> tuple[dict[str, Counts], dict[str, InputError]]:
    """Load every data set once, fetching it if need be: what each holds, or why it cannot be had.

    Raises
    ------
    InputError
        If none can be had.
    """
    counts, errors = {}, {}
    for name in request.data_sets():
        try:
            counts[name] = Counts.of(load(name))
        except InputError as error:
            errors[name] = error
    if not counts:
        raise next(iter(errors.values()))
    return counts, errors
