"""The engine on disk: little memory, faults, and the choice of float16."""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from metapn.data.synthetic import contextual_sbm
from metapn.errors import InputError
from metapn.propagation.engines import disk, stored_graph
from metapn.propagation.engines.contract import Seeds
from metapn.propagation.engines.disk import DiskEngine
from metapn.propagation.engines.memory import MemoryEngine, RowsInMemory
from metapn.propagation.engines.sources import GraphEdges
from metapn.propagation.engines.stored_stack import StoredStack

N, D, K = 400, 6, 4


@pytest.fixture
def edges():
    return GraphEdges(contextual_sbm(n_nodes=N, mean_degree=8, degree_exponent=2.5, seed=3))


@pytest.fixture
def parameters():
    order = torch.randperm(N, generator=torch.Generator().manual_seed(1))
    seeds = Seeds(np.arange(0, N, 20), np.arange(N // 20) % D, D)
    return {"seeds": seeds, "n_hops": K, "order": order, "block_size": 64}


def blocks(stack):
    return [stack.block(i) for i in range(len(stack))]


def memory_for(columns):
    return disk._BASE + 20 * N + 4 * N * columns


@pytest.mark.parametrize("columns", [1, 4])
def test_with_little_memory_the_columns_come_in_blocks(edges, parameters, columns, monkeypatch):
    monkeypatch.setattr(stored_graph, "_ENTRIES", 50)  # and rows of neighbours by the dozen
    little, plenty = DiskEngine(edges, memory=memory_for(columns)), MemoryEngine.of(edges)
    assert len(little.graph.bounds) > 50
    stack = little.hop_stack(**parameters)
    for ours, theirs in zip(blocks(stack), blocks(plenty.hop_stack(**parameters)), strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-6, rtol=1e-6)
    P = RowsInMemory(torch.rand(N, D))
    found, expected = (engine.pagerank(P, 0.1, K).rows(0, N) for engine in (little, plenty))
    torch.testing.assert_close(found, expected, atol=1e-6, rtol=1e-6)
    assert max(part.stop - part.start for part in little.label_files(D).blocks) <= columns


def test_too_little_memory_is_told(edges):
    with pytest.raises(InputError, match=r"400 nodes need 0\.7 GB of memory"):
        DiskEngine(edges, memory=memory_for(0))


def test_nothing_temporary_is_left_behind(edges, parameters, tmp_path):
    engine = DiskEngine(edges, tmp_path / "work")
    engine.hop_stack(**parameters)
    result = engine.pagerank(RowsInMemory(torch.rand(N, D)), 0.1, K)
    assert len(list(engine.work.path.glob("labels-*"))) == 1
    del result
    left = {file.relative_to(engine.work.path).as_posix() for file in engine.work.path.rglob("*") if file.is_file()}
    assert left == {
        *(f"graph/{name}" for name in ("manifest.json", "row_starts", "columns", "scale")),
        "stack/manifest.json",
        "stack/values",
    }
    passing = DiskEngine(edges)
    passing.close()
    assert not passing.work.path.exists()


class KilledError(Exception):
    pass


def killed_after(hop):
    def on_hop(done, total):
        assert total == K
        if done == hop:
            raise KilledError

    return on_hop


@pytest.mark.parametrize("hop", range(1, K + 1))
def test_an_ended_run_goes_on_from_the_last_hop(edges, parameters, tmp_path, hop):
    expected = blocks(DiskEngine(edges).hop_stack(**parameters))
    with pytest.raises(KilledError):
        DiskEngine(edges, tmp_path).hop_stack(**parameters, on_hop=killed_after(hop))
    steps = []
    stack = DiskEngine(edges, tmp_path).hop_stack(**parameters, on_hop=lambda done, total: steps.append(done))
    assert steps == list(range(hop + 1, K + 1))
    assert all(torch.equal(ours, theirs) for ours, theirs in zip(blocks(stack), expected, strict=True))
    whole = DiskEngine(edges).hop_stack(**parameters)
    assert torch.equal(stack.mass(), whole.mass())


def test_a_complete_stack_is_reused_whatever_the_memory(edges, parameters, tmp_path):
    DiskEngine(edges, tmp_path).hop_stack(**parameters)
    values = tmp_path / "stack" / "values"
    before = values.stat().st_mtime_ns
    DiskEngine(edges, tmp_path, memory=memory_for(2)).hop_stack(**parameters, on_hop=killed_after(1))
    assert values.stat().st_mtime_ns == before


@pytest.mark.parametrize("change", ["seeds", "n_hops", "order", "block_size", "dtype", "edges"])
def test_a_changed_input_is_never_mixed_with_old_parts(edges, parameters, tmp_path, change):
    with pytest.raises(KilledError):
        DiskEngine(edges, tmp_path).hop_stack(**parameters, on_hop=killed_after(2))
    seeds = parameters["seeds"]
    other = {
        "seeds": seeds._replace(columns=(seeds.columns + 1) % D),
        "n_hops": 3,
        "order": torch.arange(N),
        "block_size": 50,
        "dtype": torch.float16,
    }
    if change == "edges":
        edges = GraphEdges(contextual_sbm(n_nodes=N, mean_degree=8, seed=4))
    else:
        parameters[change] = other[change]
    found = blocks(DiskEngine(edges, tmp_path).hop_stack(**parameters))
    expected = blocks(DiskEngine(edges).hop_stack(**parameters))
    assert all(torch.equal(ours, theirs) for ours, theirs in zip(found, expected, strict=True))


def test_a_damaged_file_is_told(edges, parameters, tmp_path):
    DiskEngine(edges, tmp_path).hop_stack(**parameters)
    os.truncate(tmp_path / "stack" / "values", 1000)
    stack = DiskEngine(edges, tmp_path).hop_stack(**parameters)
    with pytest.raises(InputError, match=r"values is shorter than it should be; remove its folder"):
        blocks(stack)


FULL = """
import resource, signal, sys
import numpy as np, torch
from pathlib import Path
from metapn.errors import InputError
from metapn.propagation.engines.contract import Seeds
from metapn.propagation.engines.disk import DiskEngine
from metapn.propagation.engines.sources import ArrayEdges

ends = np.random.default_rng(0).integers(0, 3000, (4000, 2))
engine = DiskEngine(ArrayEdges(ends, 3000), Path(sys.argv[1]))
def limit(done, total):
    print(done, flush=True)
    if done == int(sys.argv[2]):  # from now on no file may grow any more
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    stack = engine.hop_stack(Seeds(np.arange(9), np.arange(9), 9), 4, order=torch.arange(3000), block_size=100,
                             on_hop=limit)
    print("sum", float(sum(stack.block(i).double().sum() for i in range(30))))
except InputError as error:
    print("Error:", error)
"""


def test_a_full_disk_says_so_and_what_is_complete_is_gone_on_from(tmp_path):
    def run(folder, full_after):
        command = [sys.executable, "-c", FULL, str(folder), str(full_after)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()

    first = run(tmp_path / "a", 2)
    assert first[:2] == ["1", "2"]
    assert first[2].startswith(f"Error: there is no room left on the disk of {tmp_path / 'a' / 'stack'}")
    assert first[2].endswith("what is complete is kept: make room, and run the same command again")
    second, whole = run(tmp_path / "a", -1), run(tmp_path / "b", -1)
    assert second == ["3", "4", whole[-1]]


def test_work_that_the_disk_cannot_hold_is_refused_before_it_starts(edges, parameters, monkeypatch):
    engine = DiskEngine(edges)
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=1000))
    with pytest.raises(InputError, match=r"the hop stack needs 0[.]0 GB on the disk of"):
        engine.hop_stack(**parameters)


def test_a_place_that_is_no_folder_is_told(edges, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be made a folder"):
        DiskEngine(edges, tmp_path / "file")


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**31), st.integers(-15, 0))
def test_float16_keeps_the_stated_error(seed, exponent):
    random = np.random.default_rng(seed)
    n, d = 50, 3
    order = torch.from_numpy(random.permutation(n))
    folders = [tempfile.TemporaryDirectory() for _ in range(2)]
    exact, half = (
        StoredStack(Path(folder.name), d, 0, order=order, block_size=16, dtype=dtype)
        for folder, dtype in zip(folders, (torch.float32, torch.float16), strict=True)
    )
    values = torch.from_numpy(random.random((n, d)) ** 5 * 10.0**exponent).float()
    for stack in (exact, half):
        stack.deal(0, slice(0, d), values)
    for i in range(len(exact)):
        theirs, ours = exact.block(i), half.block(i)
        largest = theirs.amax(dim=2, keepdim=True)
        assert bool(((ours - theirs).abs() <= torch.maximum(theirs * 2**-11, largest * 2**-39)).all())


def test_float16_halves_the_stack(edges, parameters, tmp_path):
    sizes = {}
    for dtype in (torch.float32, torch.float16):
        engine = DiskEngine(edges, tmp_path / str(dtype))
        stack = engine.hop_stack(**parameters, dtype=dtype)
        sizes[dtype] = (engine.work.path / "stack" / "values").stat().st_size
        rows = stack.rows(parameters["order"][:70])
        assert torch.equal(torch.cat([stack.block(0), stack.block(1)], dim=2)[:, :, :70], rows)
    assert sizes[torch.float32] == 4 * N * D * (K + 1) == 2 * sizes[torch.float16]


def test_the_memory_does_not_grow_with_the_edges():
    """A process held to 450 MB of data beyond its start sorts and propagates edges that take 960 MB as they come."""
    soft = resource.RLIMIT_DATA
    script = f"""
import resource, re
import numpy as np, torch
from pathlib import Path
from metapn.propagation.engines.contract import EdgeBlock, Seeds
from metapn.propagation.engines.disk import DiskEngine
class Many:
    n_nodes, weighted = 100_000, False
    def blocks(self):
        random = np.random.default_rng(0)
        for _ in range(40):
            ends = random.integers(0, self.n_nodes, (2, 250_000))
            yield EdgeBlock(ends[0], ends[1], None)
    def fingerprint(self):
        return "many"
torch.set_num_threads(1)
used = int(re.search(r"VmData:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) * 1024
resource.setrlimit({soft}, (used + 450_000_000,) * 2)
engine = DiskEngine(Many(), memory=800_000_000)
stack = engine.hop_stack(Seeds(np.arange(8), np.arange(8), 8), 2, order=torch.randperm(100_000), block_size=1000)
print(engine.graph.n_entries)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) > 19_000_000
