"""How much memory a piece of work needs, as the operating system counts it."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from scipy import sparse

from metapn.baselines import method
from metapn.experiments.cell import Cell
from metapn.graph import Graph
from metapn.model.memory import estimate_memory
from metapn.model.metapn import MetaPN


@contextmanager
def peak_memory() -> Iterator[Callable[[], float]]:
    """Yield a function that tells the most memory the process has held since, in megabytes.

    On Linux the kernel's high-water mark is set back first, so that earlier work does not count. Elsewhere
    the mark covers the whole life of the process.

    Examples
    --------
    >>> with peak_memory() as megabytes:
    ...     _ = bytes(50_000_000)
    >>> megabytes() > 50
    True
    """
    marks, status = Path("/proc/self/clear_refs"), Path("/proc/self/status")
    try:
        marks.write_text("5")
        resettable = True
    except OSError:  # not Linux, or a container that forbids it
        resettable = False

    def megabytes() -> float:
        if resettable and (found := re.search(r"VmHWM:\s+(\d+) kB", status.read_text())):
            return int(found[1]) / 1000
        import resource

        unit = 1e6 if sys.platform == "darwin" else 1e3
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit

    yield megabytes


def estimated_memory(cell: Cell, graph: Graph, *, runs: int) -> float | None:
    """Bytes that a process will need for so many runs of a cell at once; None where that is not known."""
    model = method(cell.method)(**cell.effective())
    if not isinstance(model, MetaPN):
        return None
    n, c, X = graph.n_nodes, graph.n_classes, graph.features
    return estimate_memory(
        n,
        graph.n_edges,
        1 if X is None else X.shape[1],
        c,
        model.n_hops,
        g=round(cell.shot * (c if cell.shot >= 1 else n)),
        stored=X.nnz if X is not None and sparse.issparse(X) else None,
        h=model.hidden,
        r=min(runs, model._at_once()),
    )
