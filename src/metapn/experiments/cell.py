"""What is measured: everything that defines a run but its seed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from metapn import baselines, datasets
from metapn.errors import InputError
from metapn.experiments.ledger import CellKey
from metapn.experiments.tuned import tuned

PROTOCOLS = ("paper", "no-validation")


@dataclass(frozen=True)
class Cell:
    """A data set, a method and its settings, and what the method is shown.

    Parameters
    ----------
    dataset, method : str
        In any spelling that `metapn.datasets.load` and `metapn.baselines.method` take.
    shot : float
        Labels a class; below 1, the share of all nodes that is labelled.
    protocol : {"paper", "no-validation"}
        Whether the method is given the early-stopping nodes (500 in the paper), or nothing but its labels.
        The test nodes are the same.
    settings : dict
        Of the method, where they are to differ from those of `metapn.experiments.tuned`.
    """

    dataset: str
    method: str = "metapn"
    shot: float = 5
    protocol: str = "paper"
    settings: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.protocol not in PROTOCOLS:
            raise InputError(f"there is no protocol {self.protocol!r}; choose from {', '.join(PROTOCOLS)}")
        object.__setattr__(self, "dataset", datasets.canonical(self.dataset))
        object.__setattr__(self, "method", baselines.canonical(self.method))
        object.__setattr__(self, "shot", int(self.shot) if float(self.shot).is_integer() else self.shot)

    def effective(self) -> dict[str, Any]:
        """Return the settings that differ from the method's defaults: the tuned ones, then the cell's own.

        Examples
        --------
        >>> Cell("ms_academic", settings={"batch_size": 1024, "l2": 0.1}).effective()
        {'alpha': 0.2, 'l2': 0.1}
        """
        defaults = baselines.method(self.method)().get_params()
        settings = tuned(self.method, self.dataset) | self.settings
        return {name: value for name, value in settings.items() if defaults[name] != value}

    def key(self) -> CellKey:
        """Return the key under which the runs of the cell are in a ledger.

        The engine is no part of it: it decides how long a run takes, and not what comes out.
        """
        settings = {name: value for name, value in self.effective().items() if name != "engine"}
        return CellKey.of(self.dataset, self.method, self.shot, self.protocol, settings)
