"""`metapn fit --engine disk` on Parquet files: nothing is read into memory as a whole."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from metapn.cli.console import console, progress

if TYPE_CHECKING:
    from metapn.data.prepared import Prepared
    from metapn.data.tables.labels import Labels
    from metapn.model.metapn import MetaPN


def is_parquet(file: Path) -> bool:
    """Whether this is a Parquet file, or a folder of them."""
    return file.suffix == ".parquet" or (file.is_dir() and any(file.glob("*.parquet")))


def refuse(options: Mapping[str, object]) -> None:
    """Tell of options that a fit of files does not have, if any is given."""
    from metapn.errors import InputError

    given = [name for name, value in options.items() if value]
    if given:
        raise InputError(f"{' and '.join(given)} cannot be had with --engine disk on Parquet files; leave them out")


def propose_engine(model: MetaPN, data: Prepared, labels: Labels) -> None:
    """Propose another engine where a fit in memory would need more than there is."""
    from metapn.errors import InputError
    from metapn.propagation.engines.available import available_memory

    known = [label for label in labels if label is not None]
    n_nodes, n_features = data.X.shape
    stored = int(data.X.nnz) if hasattr(data.X, "nnz") else None
    needed = model.estimate_memory(
        n_nodes, data.graph.n_edges, n_features, len(set(known)), model.n_hops, g=len(known), stored=stored
    )
    free = available_memory()
    if needed > free:
        raise InputError(
            f"this fit would need about {needed / 1e9:.0f} GB of memory, and {free / 1e9:.0f} GB are free: "
            "use --engine disk (or --engine memory, to try all the same)"
        )


def fit_files(
    model: MetaPN,
    edges: Path,
    nodes: Path,
    out: Path,
    *,
    id: str | None = None,
    label: str | None = None,
    features: str | None = None,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    overwrite: bool = False,
    quiet: bool = False,
) -> None:
    """Fit to Parquet files, and write model and predictions; the work is kept beside ``out`` until it is done.

    The columns are those of docs/scale.md unless they are named: node, label, source, target.
    """
    from metapn.deploy.run_folder import whole_folder
    from metapn.model.storage import save
    from metapn.model.streaming.fit import fit_stored, write_parquet
    from metapn.model.streaming.nodes import ParquetNodes
    from metapn.propagation.engines.sources import ParquetEdges

    chosen = None if features is None else [name.strip() for name in features.split(",") if name.strip()]
    table = ParquetNodes(nodes, node=id or "node", label=label or "label", features=chosen)
    ends = ParquetEdges(edges, table.n_nodes, source=source or "source", target=target or "target", weight=weight)
    work = out.with_name(f"{out.name}.work")
    with whole_folder(out, overwrite=overwrite) as folder, progress("fitting", quiet=quiet) as advance:
        found = fit_stored(model, ends, table, work, on_progress=lambda what, done, total: advance(done, total, what))
        save(model, folder)
        write_parquet(found, model, folder / "predictions.parquet")
    shutil.rmtree(work)
    console().print(f"{found.report}\nmodel and predictions are in {out}", markup=False)
