"""How long the engine disk takes for a graph of any size, and how much memory."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import torch

from metapn.bench.bandwidth import fitted_exponent
from metapn.bench.measure import Measure
from metapn.errors import InputError
from metapn.experiments.memory import peak_memory
from metapn.propagation.engines.contract import EdgeBlock, Seeds
from metapn.propagation.engines.disk import DiskEngine
from metapn.propagation.engines.work_folder import check_room

CLASSES, HOPS, LABELS, BATCH = 16, 10, 5, 1024


class RandomEdges:
    """Edges that are drawn block by block, the same each time: uniform ends, so that none is near the other.

    Such a graph is the worst case for a gather: every neighbour is another line of the memory.

    Parameters
    ----------
    n_nodes, n_edges : int
    """

    weighted = False
    _BLOCK = 1_000_000

    def __init__(self, n_nodes: int, n_edges: int) -> None:
        self.n_nodes, self.n_edges = n_nodes, n_edges

    def blocks(self) -> Iterator[EdgeBlock]:
        """Yield the edges."""
        for place, start in enumerate(range(0, self.n_edges, self._BLOCK)):
            random = np.random.default_rng([self.n_nodes, place])
            ends = random.integers(0, self.n_nodes, (2, min(self._BLOCK, self.n_edges - start)))
            yield EdgeBlock(ends[0], ends[1], None)

    def fingerprint(self) -> str:
        """Hash of the sizes, which tell all."""
        return hashlib.sha256(f"random {self.n_nodes} {self.n_edges}".encode()).hexdigest()


def disk_run(
    n_nodes: int,
    n_edges: int,
    *,
    memory: float,
    folder: Path | None = None,
    half: bool = False,
    on_hop: Callable[[int, int], None] | None = None,
) -> Measure:
    """Sort random edges and propagate 16 classes over 10 hops; the ratio is peak over allowed memory.

    Run it again to go on after it was stopped: the figures are then those of what was left to do.

    Parameters
    ----------
    n_nodes, n_edges : int
    memory : float
        Bytes that the process may have resident.
    folder : path, optional
        Where the work is kept; by default a temporary folder.
    half : bool
        Whether the stack is kept in float16.
    on_hop : callable, optional
    """
    place = Path(tempfile.mkdtemp(prefix="metapn-bench-")) if folder is None else folder
    hops: list[float] = []

    def hop(done: int, total: int) -> None:
        hops.append(time.perf_counter())
        if on_hop is not None:
            on_hop(done, total)

    try:
        place.mkdir(parents=True, exist_ok=True)
        copy_gb_s, (write_gb_s, read_gb_s) = _copy_speed(), _disk_speed(place)
        with peak_memory() as megabytes:
            start = time.perf_counter()
            engine = DiskEngine(RandomEdges(n_nodes, n_edges), place, memory=int(memory))
            sorted_at = time.perf_counter()
            order = torch.randperm(n_nodes, generator=torch.Generator().manual_seed(0))
            nodes = np.random.default_rng(0).choice(n_nodes, CLASSES * LABELS, replace=False)
            seeds = Seeds(nodes, np.arange(len(nodes)) % CLASSES, CLASSES)
            stack = engine.hop_stack(
                seeds, HOPS, order=order, block_size=BATCH, dtype=torch.float16 if half else torch.float32, on_hop=hop
            )
            ended, peak = time.perf_counter(), 1e6 * megabytes()
        mass = float(stack.mass().sum())
    finally:
        if folder is None:
            shutil.rmtree(place, ignore_errors=True)
    # The first hop starts with one-hot labels, and the last ends with a stack that is dealt: neither is typical.
    seconds = float(np.median(np.diff(hops))) if len(hops) > 1 else float("nan")
    n_entries, value = engine.graph.n_entries, 2 if half else 4
    gathered = n_entries * (4 * CLASSES + 8) + 4 * n_nodes * CLASSES
    moved = 8 * n_entries + 12 * n_nodes + n_nodes * CLASSES * (4 + 4 + value)
    return Measure(
        "disk/memory",
        f"peak / allowed memory, {n_nodes:,} nodes, {n_edges:,} edges, {CLASSES} classes, {HOPS} hops",
        peak / memory,
        1.0,
        details={
            "peak_gb": peak / 1e9,
            "sort_s": sorted_at - start,
            "hop_s": seconds,
            "all_s": ended - start,
            "read_and_written_gb_a_hop": moved / 1e9,
            "read_and_written_gb_s": moved / seconds / 1e9,
            "gathered_gb_s": gathered / seconds / 1e9,
            "disk_write_gb_s": write_gb_s,
            "disk_read_gb_s": read_gb_s,
            "share_of_disk": moved / seconds / 1e9 / read_gb_s,
            "memory_copy_gb_s": copy_gb_s,
            "share_of_memory": gathered / seconds / 1e9 / copy_gb_s,
            "blocks_of_columns": float(len(engine._column_blocks(CLASSES)) - 1),
            "mass": mass,
        },
    )


def disk_growth(sizes: list[int], *, memory: float, half: bool = False) -> list[Measure]:
    """Run graphs of these numbers of edges, five times as many as nodes; the last run, and the exponent of a hop."""
    runs = [disk_run(size // 5, size, memory=memory, half=half) for size in sizes]
    if len(runs) < 2:
        return runs
    seconds = [run.details["hop_s"] for run in runs]
    exponent = Measure(
        "disk/growth",
        f"exponent of seconds of a hop over edges, {sizes[0]:,} to {sizes[-1]:,}",
        fitted_exponent([float(size) for size in sizes], seconds),
        1.1,
        details={f"hop_s_{size}": value for size, value in zip(sizes, seconds, strict=True)},
    )
    return [runs[-1], exponent]


def _copy_speed() -> float:
    """Bytes in and out of a plain copy of memory, in GB/s."""
    source = torch.ones(2**25)
    target = torch.empty_like(source)
    target.copy_(source)
    start = time.perf_counter()
    for _ in range(4):
        target.copy_(source)
    return 4 * 2 * 4 * source.numel() / (time.perf_counter() - start) / 1e9


def _disk_speed(folder: Path) -> tuple[float, float]:
    """Write and read a file of 512 MB that the page cache is told to forget, in GB/s."""
    check_room(folder, 2**29, "the measurement of the disk")
    file, chunk = folder / "speed", os.urandom(2**24)
    try:
        start = time.perf_counter()
        with file.open("wb") as handle:
            for _ in range(32):
                handle.write(chunk)
            handle.flush()
            os.fsync(handle.fileno())
        write = 2**29 / (time.perf_counter() - start) / 1e9
        with file.open("rb", buffering=0) as handle:
            if hasattr(os, "posix_fadvise"):
                os.posix_fadvise(handle.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            start = time.perf_counter()
            while handle.read(2**24):
                pass
        return write, 2**29 / (time.perf_counter() - start) / 1e9
    except OSError as error:
        raise InputError(
            f"the disk of {folder} cannot be measured ({error.strerror}); choose another folder"
        ) from None
    finally:
        file.unlink(missing_ok=True)
