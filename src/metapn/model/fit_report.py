"""What a fit has to say for itself."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class FitReport:
    """What a fit did, in numbers; ``as_dict`` for JSON. ``n_unreached`` is None where it was not counted."""

    method: str
    final: str
    n_nodes: int
    n_edges: int
    n_labelled: int
    n_classes: int
    n_isolated: int
    n_unreached: int | None
    stopping: str
    epochs: int
    best_epoch: int
    stopped_because: str
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        """Plain dictionary."""
        return asdict(self)

    def __str__(self) -> str:
        lines = [
            f"{self.method} on {self.n_nodes:,} nodes, {self.n_edges:,} edges; "
            f"{self.n_labelled:,} labels of {self.n_classes} classes",
            f"final prediction: {self.final}",
            f"{self.epochs} epochs in {self.seconds:.1f} s, the weights of epoch {self.best_epoch} kept "
            f"(stopping: {self.stopping}; {self.stopped_because})",
        ]
        if self.n_unreached:
            lines.append(
                f"{self.n_unreached:,} nodes are in a component without any label ({self.n_isolated:,} nodes have no "
                "edge at all): they are labelled by their features alone, see reached_"
            )
        return "\n".join(lines)
