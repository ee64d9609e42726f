"""A graph with a handful of labels in, every node's label out, and a model that needs no graph."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metapn import datasets as datasets
    from metapn.baselines import method as method
    from metapn.baselines import methods as methods
    from metapn.data.interop import as_graph as as_graph
    from metapn.data.tables import read_tables as read_tables
    from metapn.deploy.pipeline import Pipeline as Pipeline
    from metapn.errors import InputError as InputError
    from metapn.graph import Graph as Graph
    from metapn.model.metapn import MetaPN as MetaPN
    from metapn.model.storage import load as load
    from metapn.model.storage import save as save

__version__ = "0.1.0"

# Loaded when first asked for: `metapn --help` must not wait for torch.
_WHERE = {
    "Graph": "metapn.graph",
    "InputError": "metapn.errors",
    "MetaPN": "metapn.model.metapn",
    "Pipeline": "metapn.deploy.pipeline",
    "as_graph": "metapn.data.interop",
    "datasets": "metapn",
    "load": "metapn.model.storage",
    "method": "metapn.baselines",
    "methods": "metapn.baselines",
    "read_tables": "metapn.data.tables",
    "save": "metapn.model.storage",
}

__all__ = [
    "Graph",
    "InputError",
    "MetaPN",
    "Pipeline",
    "__version__",
    "as_graph",
    "datasets",
    "load",
    "method",
    "methods",
    "read_tables",
    "save",
]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'metapn' has no attribute {name!r}")
    if name == "datasets":
        return import_module("metapn.datasets")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
