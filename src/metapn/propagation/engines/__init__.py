"""Where the graph lies while labels travel over it: one contract, three engines.

- ``memory``: all in memory, the fastest (`memory.py`);
- ``disk``: edges and hop stack on disk, memory that does not grow with the edges (`disk.py`);
- ``ray``: edges and label matrices with the workers of a Ray cluster (`ray.py`).
"""

from __future__ import annotations

from pathlib import Path

from metapn.errors import InputError
from metapn.propagation.engines.contract import EdgeSource, Engine

#: Names of the engines.
ENGINES = ("memory", "disk", "ray")


def open_engine(name: str, edges: EdgeSource, folder: str | Path | None = None) -> Engine:
    """Open an engine over a graph.

    Parameters
    ----------
    name : {"memory", "disk", "ray"}
    edges : EdgeSource
        See `metapn.propagation.engines.sources`.
    folder : path, optional
        Where an engine keeps its work, to go on from it after an end that was not meant. By default a temporary
        folder, which goes when the engine is closed.

    Examples
    --------
    >>> import numpy as np, torch
    >>> from metapn.propagation.engines.contract import Seeds
    >>> from metapn.propagation.engines.sources import ArrayEdges
    >>> engine = open_engine("memory", ArrayEdges(np.array([[0, 1]]), n_nodes=3))
    >>> seeds = Seeds(np.array([0]), np.array([0]), n_columns=1)
    >>> engine.hop_stack(seeds, 1, order=torch.arange(3), block_size=3).block(0)[0]
    tensor([[1.0000, 0.0000, 0.0000],
            [0.5000, 0.5000, 0.0000]])
    """
    place = None if folder is None else Path(folder)
    if name == "memory":
        from metapn.propagation.engines.memory import MemoryEngine

        return MemoryEngine.of(edges)
    if name == "disk":
        from metapn.propagation.engines.disk import DiskEngine

        return DiskEngine(edges, place)
    if name == "ray":
        from metapn.propagation.engines.ray import RayEngine

        return RayEngine(edges, place)
    raise InputError(f"there is no engine {name!r}; choose from {', '.join(ENGINES)}")
