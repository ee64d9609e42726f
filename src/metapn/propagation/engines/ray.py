"""The engine ``ray``: the graph by parts with the workers of a Ray cluster; only rows of label matrices move.

A worker keeps consecutive rows of A and knows which rows of the other parts its columns name. In a hop it sends
each other worker the rows that one needs, averages, and writes its rows of the hop to the folder of work. So a
worker that is killed is started again, by Ray and on any node, reads its last hop and repeats the call that was
lost; and a driver that is killed goes on, in its next run, after the last hop of which all parts are there.

On more than one machine the folder of work must be one that all of them see.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import shutil
import weakref
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from metapn.errors import InputError
from metapn.graph import IntArray
from metapn.propagation.engines.cluster import cluster, results
from metapn.propagation.engines.contract import EdgeSource, OnHop, RowBlocks, Seeds
from metapn.propagation.engines.parted_stack import PartedStack, positions
from metapn.propagation.engines.routing import parts_of
from metapn.propagation.engines.row_files import RowFiles
from metapn.propagation.engines.work_folder import WorkFolder
from metapn.propagation.engines.workers import Workers


class PartedEngine:
    """Propagation by workers that are there already; it can be sent to whoever is to have it done.

    Parameters
    ----------
    key : str
        Changes when the edges do.
    folder : path
        The folder of work, with the parts.
    bounds : int array, shape (parts + 1,)
        First node of each part, and n.
    workers : Workers
    """

    def __init__(self, key: str, folder: Path, bounds: IntArray, workers: Workers) -> None:
        self.key, self.folder, self.bounds, self.workers = key, folder, bounds, workers
        self.n_nodes = int(bounds[-1])

    def hop_stack(
        self,
        seeds: Seeds,
        n_hops: int,
        *,
        order: Tensor,
        block_size: int,
        dtype: torch.dtype = torch.float32,
        on_hop: OnHop | None = None,
    ) -> PartedStack:
        """Make Y(0)..Y(K), or what of it is not in the folder yet; float16 also halves what is sent in a hop."""
        digest = hashlib.sha256(f"{self.key} {seeds.n_columns} {n_hops} {dtype} {self.bounds.tolist()}".encode())
        for values in (seeds.nodes, seeds.columns, order.numpy()):
            digest.update(np.ascontiguousarray(values, np.int64).data)
        place = self._part("stack", digest.hexdigest())
        actors = self.workers.actors
        if not PartedStack.complete(place, len(actors)):
            half, hops = dtype == torch.float16, place / "hops"
            self.workers.propagate(hops, [seeds] * len(actors), n_hops, half=half, on_hop=on_hop)
            own = np.split(positions(order), self.bounds[1:-1])
            calls = zip(actors, own, strict=True)
            results([actor.deal.remote(place, hops, n_hops, part, half) for actor, part in calls])
        shutil.rmtree(place / "hops", ignore_errors=True)
        return PartedStack(place, self.bounds, order, block_size)

    def pagerank(
        self, P: RowBlocks, alpha: float, n_hops: int, *, name: str = "pagerank", on_hop: OnHop | None = None
    ) -> RowFiles:
        """Make K steps of personalised PageRank from P, shape (n, d), in the part of the folder of this name."""
        place = self._part(name, f"{self.key} {alpha} {n_hops} {P.shape[1]} {self.bounds.tolist()}")
        ends = itertools.pairwise(self.bounds.tolist())
        starts = [P if isinstance(P, RowFiles) else P.rows(first, last).numpy() for first, last in ends]
        hops = place / "hops"
        self.workers.propagate(hops, starts, n_hops, alpha=alpha, keep=False, on_hop=on_hop)
        results([actor.unscale.remote(hops, n_hops, place) for actor in self.workers.actors])
        return RowFiles(place, self.bounds, P.shape[1])

    def _part(self, name: str, key: str) -> Path:
        """Find a part of the folder of work, or begin it; what is complete in it can be seen from its files."""
        work = WorkFolder(self.folder)
        place, noted = work.part(name, key)
        if not noted:
            work.note(place, key, begun=True)
        return place


class RayEngine:
    """Propagation by the workers of a cluster, see `metapn.propagation.engines.contract.Engine`.

    Parameters
    ----------
    edges : EdgeSource
        Parquet files are read by the workers; what else there is, here.
    folder : path, optional
        Where the parts, the hops and the stack are; a temporary folder by default, in TMPDIR.
    address : str, optional
        Of the cluster, see `metapn.propagation.engines.cluster.cluster`.
    n_workers : int, optional
        Parts of the graph; by default one for each CPU of the cluster.
    """

    def __init__(
        self,
        edges: EdgeSource,
        folder: Path | None = None,
        *,
        address: str | None = None,
        n_workers: int | None = None,
    ) -> None:
        self.n_nodes = edges.n_nodes
        with ExitStack() as opened:
            ray = opened.enter_context(cluster(address))
            n_machines = sum(node["Alive"] for node in ray.nodes())
            if n_machines > 1 and folder is None and "TMPDIR" not in os.environ:
                raise InputError(
                    f"the cluster has {n_machines} nodes, which need a folder that all can write to; set TMPDIR "
                    "to one, or name a folder for the work"
                )
            work = WorkFolder(None if folder is None else folder.absolute())
            opened.callback(work.close)
            n_parts = min(n_workers or int(ray.cluster_resources().get("CPU", 1)), self.n_nodes)
            bounds = parts_of(edges, work, n_parts)
            workers = Workers(work.path / "parts", bounds)
            opened.callback(workers.stop)
            self.parted = PartedEngine(edges.fingerprint(), work.path, bounds, workers)
            self._opened = opened.pop_all()
        self._names = itertools.count()

    @property
    def workers(self) -> Workers:
        """The workers, one for each part."""
        return self.parted.workers

    def hop_stack(
        self,
        seeds: Seeds,
        n_hops: int,
        *,
        order: Tensor,
        block_size: int,
        dtype: torch.dtype = torch.float32,
        on_hop: OnHop | None = None,
    ) -> PartedStack:
        """Make Y(0)..Y(K), see `PartedEngine.hop_stack`."""
        return self.parted.hop_stack(seeds, n_hops, order=order, block_size=block_size, dtype=dtype, on_hop=on_hop)

    def pagerank(self, P: RowBlocks, alpha: float, n_hops: int, *, on_hop: OnHop | None = None) -> RowFiles:
        """Make K steps of personalised PageRank from P, shape (n, d); the files go with what is returned."""
        name = f"pagerank-{next(self._names)}"
        found = self.parted.pagerank(P, alpha, n_hops, name=name, on_hop=on_hop)
        weakref.finalize(found, shutil.rmtree, found.folder, ignore_errors=True)
        return found

    def close(self) -> None:
        """End the workers, leave or stop the cluster, and remove a temporary folder."""
        self._opened.close()
