"""The calculation on paper, held against what small runs really take."""

import numpy as np
import pytest
import torch

from metapn.bench.disk import RandomEdges, disk_run
from metapn.bench.estimate import Size, Speeds
from metapn.propagation.engines.contract import Seeds
from metapn.propagation.engines.disk import DiskEngine


@pytest.mark.parametrize("half", [False, True])
def test_the_disk_is_as_full_as_estimated(tmp_path, half):
    n, m, c, hops = 20_000, 60_000, 5, 3
    engine = DiskEngine(RandomEdges(n, m), tmp_path)
    seeds = Seeds(np.arange(c), np.arange(c), c)
    dtype = torch.float16 if half else torch.float32
    engine.hop_stack(seeds, hops, order=torch.arange(n), block_size=1000, dtype=dtype)
    size = Size(n, engine.graph.n_entries // 2, c, hops, half=half)
    files = {file.name: file.stat().st_size for file in tmp_path.rglob("*") if file.is_file()}
    assert files["values"] == size.stack
    graph = sum(files[name] for name in ("columns", "row_starts", "scale"))
    assert graph + files["values"] + 8 * n * size.features == pytest.approx(size.disk, rel=1e-3)


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_workers_need_as_many_rows_of_others_as_estimated(workers):
    n, m = 10_000, 30_000
    ends = np.random.default_rng(0).integers(0, n, (m, 2))
    rows, columns = np.concatenate([ends, ends[:, ::-1]]).T
    part = rows * workers // n
    needed = [np.unique(columns[(part == w) & (columns * workers // n != w)]).size for w in range(workers)]
    size = Size(n, m, 4, workers=workers)
    assert np.mean(needed) == pytest.approx(size.foreign_rows, rel=0.02)
    assert size.network_a_hop == pytest.approx(sum(needed) * 4 * 4, rel=0.02)


def test_the_memory_of_a_real_run_is_below_the_estimate():
    found = disk_run(100_000, 300_000, memory=1.5e9)
    assert found.holds
    assert found.details["blocks_of_columns"] == 1
    assert found.details["mass"] > 0


def test_more_workers_take_less_memory_and_time_but_more_network():
    few, many = (Size(10**9, 10**10, 16, workers=workers) for workers in (4, 16))
    assert few.memory > many.memory
    assert few.network_a_hop < many.network_a_hop
    assert few.hop_seconds(Speeds()) > many.hop_seconds(Speeds())
    assert Size(10**9, 10**10, 16, workers=16, half=True).network_a_hop == many.network_a_hop / 2
