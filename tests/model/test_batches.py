from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from metapn.graph import Graph
from metapn.model.batches import balance, deal
from metapn.propagation.hops import hop_blocks, hops, one_hot, transition

DOUBLE = torch.float64


def dealt(tasks, batch_size, n_hops=2):
    Y0 = torch.stack([one_hot(task.gold, task.gold_labels, task.n_nodes, 3) for task in tasks])
    X_gold = [task.X.rows(task.gold.numpy()) for task in tasks]
    return deal(tasks[0], Y0, X_gold, SimpleNamespace(n_hops=n_hops, batch_size=batch_size)), Y0


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("batch_size, sizes", [(50, [50, 50, 20]), (120, [120]), (500, [120]), (119, [119, 1])])
def test_every_node_is_in_one_batch_with_its_features_and_its_hops(small, task_of, form, batch_size, sizes):
    tasks = [task_of(seed, X=form(small.X)) for seed in (1, 2)]
    batches, Y0 = dealt(tasks, batch_size)
    assert [len(batch.nodes) for batch in batches] == sizes
    order = torch.cat([batch.nodes for batch in batches]).tolist()
    assert sorted(order) == list(range(120))
    assert order != sorted(order)
    stacks = [torch.stack(list(hops(tasks[0].T, own, 2))).permute(2, 0, 1) for own in Y0]
    for batch in batches:
        assert np.array_equal((batch.X @ torch.eye(8)).numpy(), small.X[batch.nodes.numpy()])
        for run, stack in enumerate(stacks):
            torch.testing.assert_close(batch.stack[run], stack[:, :, batch.nodes])
            D = torch.eye(9)
            expected = torch.from_numpy(small.X[batch.nodes.numpy()] @ small.X[tasks[run].gold].T)
            torch.testing.assert_close(batch.coupling.to_batch(torch.stack([D, D]))[run], expected)
        assert batch.labels is None


def test_the_deal_follows_the_generator_of_the_task(task_of):
    one, same, other = (dealt([task_of(seed)], 40)[0] for seed in (3, 3, 4))
    assert all(torch.equal(a.nodes, b.nodes) for a, b in zip(one, same, strict=True))
    assert not torch.equal(one[0].nodes, other[0].nodes)


def test_a_batch_that_keeps_some_runs_has_theirs_alone(task_of):
    (batch,), _ = dealt([task_of(seed) for seed in (1, 2, 3)], 120)
    batch.labels = torch.rand(3, 3, 120)
    before, labels = batch.stack, batch.labels
    coupled = batch.coupling.to_batch(torch.eye(9).expand(3, 9, 9))
    batch.keep([2, 0])
    assert torch.equal(batch.stack, before[[2, 0]])
    assert torch.equal(batch.labels, labels[[2, 0]])
    assert torch.equal(batch.coupling.to_batch(torch.eye(9).expand(2, 9, 9)), coupled[[2, 0]])


def masses(stacks):
    """Mass of each class over the hops 1..K and all blocks, for each run, shape (r, c)."""
    return sum(stack[:, :, 1:].sum(dim=(2, 3)) for stack in stacks)


def blocks_of(graph, golds, labels, c, n_hops, dtype=DOUBLE):
    """Hop stacks of several runs in two blocks of nodes."""
    Y0 = torch.stack(
        [one_hot(gold, own, graph.n_nodes, c).to(dtype) for gold, own in zip(golds, labels, strict=True)]
    )
    halves = torch.arange(graph.n_nodes).tensor_split(2)
    return hop_blocks(transition(graph, dtype=dtype), Y0, n_hops, halves)


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 12), st.integers(2, 4), st.integers(1, 3), st.integers(1, 4), st.integers(0, 2**31))
def test_balance_gives_each_class_its_share_of_the_mass(n, c, r, n_hops, seed):
    random = np.random.default_rng(seed)
    c = min(c, n)
    # Few edges: often a gold node is isolated, and its label reaches nobody.
    graph = Graph.from_edges(random.integers(0, n, (random.integers(0, n), 2)), n)
    n_gold = random.integers(c, n + 1)
    golds = [torch.from_numpy(random.permutation(n)[:n_gold]) for _ in range(r)]
    every = [np.concatenate([np.arange(c), random.integers(0, c, n)])[:n_gold] for _ in range(r)]
    labels = torch.from_numpy(np.stack(every))
    before = blocks_of(graph, golds, labels, c, n_hops)
    after = [stack.clone() for stack in before]
    balance(after, labels)
    old, new = masses(before), masses(after)
    share = torch.stack([torch.bincount(own, minlength=c) for own in labels]).double() / n_gold
    torch.testing.assert_close(new / new.sum(dim=1, keepdim=True), share)
    torch.testing.assert_close(new.sum(dim=1), old.sum(dim=1))
    for one, two in zip(before, after, strict=True):
        assert torch.equal(one[:, :, 0], two[:, :, 0])
        torch.testing.assert_close(two[:, :, 1:] * old[..., None, None], one[:, :, 1:] * new[..., None, None])
        assert torch.isfinite(two).all()


def test_an_isolated_label_keeps_its_own_mass_so_that_no_class_is_without():
    graph = Graph.from_edges([(0, 1), (1, 2)], 4)
    labels = torch.tensor([[0, 1]])
    stacks = blocks_of(graph, [torch.tensor([0, 3])], labels, 2, 5)
    assert float(masses(stacks)[0, 1]) == 5
    balance(stacks, labels)
    assert all(torch.isfinite(stack).all() for stack in stacks)


def test_labels_nearly_drowned_by_heavy_edges_stay_finite():
    graph = Graph.from_edges([(0, 1), (2, 3)], 5, weights=[1e30, 1e-30])
    labels = torch.tensor([[0, 1, 1]])
    stacks = blocks_of(graph, [torch.tensor([0, 2, 4])], labels, 2, 4, torch.float32)
    balance(stacks, labels)
    after = masses(stacks)[0]
    assert (after / after.sum()).tolist() == pytest.approx([1 / 3, 2 / 3])
