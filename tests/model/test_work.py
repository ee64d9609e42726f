"""How much work an epoch is, counted and never timed: products of sparse matrices, and passes over parameters."""

from collections import Counter

import numpy as np
import pytest
import torch
from scipy import sparse
from torch.utils._python_dispatch import TorchDispatchMode

from metapn.data.synthetic import contextual_sbm
from metapn.model.learner import BilevelLearner
from metapn.model.metapn import MetaPN
from metapn.model.together import begin
from metapn.propagation import operator

N, FEATURES, HIDDEN, CLASSES, HOPS, BATCHES = 400, 150, 20, 3, 4, 5
GRAPH = contextual_sbm(N, n_classes=CLASSES, n_features=FEATURES, mean_degree=5, seed=1)
X = sparse.csr_array(np.where(np.random.default_rng(0).random((N, FEATURES)) < 0.1, GRAPH.features, 0))


@pytest.fixture
def products(monkeypatch):
    """Counts the sparse products that are made, by the shape and the entries of the matrix."""
    made = Counter()
    kernel = operator._Kernel.__call__

    def counting(self, dense):
        made[self.scipy.shape, self.scipy.nnz] += 1
        return kernel(self, dense)

    monkeypatch.setattr(operator._Kernel, "__call__", counting)
    return made


def tensors(values):
    """The dense tensors among values, and in lists of them."""
    nested = [each for value in values for each in (value if isinstance(value, list | tuple) else [value])]
    return [each for each in nested if torch.is_tensor(each) and each.layout == torch.strided]


class LargeResults(TorchDispatchMode):
    """Counts the operations that write a tensor of at least so many entries; views write nothing."""

    def __init__(self, entries):
        super().__init__()
        self.entries, self.count = entries, Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        written = tensors(args) if func._schema.is_mutable else tensors([result])
        if any(t.numel() >= self.entries for t in written) and not func.is_view:
            self.count[func.overloadpacket.__name__] += 1
        return result


def learner_of(n_runs=1, n_labels=3, **changes):
    """A learner in the middle of training: its optimisers have their state."""
    settings = {"hidden": HIDDEN, "n_hops": HOPS, "batch_size": N // BATCHES, **changes}
    models = [MetaPN(random_state=seed, **settings) for seed in range(n_runs)]
    ys = []
    for seed in range(n_runs):
        order, y = np.random.default_rng(seed).permutation(N), np.full(N, -1)
        for label in range(CLASSES):
            y[order[GRAPH.labels[order] == label][:n_labels]] = label
        ys.append(y)
    ready = begin(models, X, ys, GRAPH)
    learner = BilevelLearner(ready.networks, ready.tasks, models[0])
    learner.epoch()
    return learner


def of_epoch(learner, products):
    """Products of an epoch with rows of X (and their transposes), and with T."""
    products.clear()
    learner.epoch()
    with_T = sum(count for (shape, _), count in products.items() if shape == (N, N))
    with_X = sum(count for (shape, _), count in products.items() if (N // BATCHES) in shape)
    entries = sum(nnz * count for (_, nnz), count in products.items())
    return with_X, with_T, entries


@pytest.mark.parametrize("n_runs", [1, 3])
def test_an_epoch_of_metapn_goes_as_often_through_the_features_as_one_on_fixed_labels(products, n_runs):
    meta, static = learner_of(n_runs), learner_of(n_runs, propagator="static")
    assert all(batch.coupling.gram is not None for batch in meta.batches)
    # Once forward and once backward for each batch and run; nothing of it with T.
    assert of_epoch(static, products) == (2 * BATCHES * n_runs, 0, 2 * X.nnz * n_runs)
    *counts, entries = of_epoch(meta, products)
    assert counts == [2 * BATCHES * n_runs, 0]
    # The outer step adds two products with the few rows of the gold nodes: with W1 and with its gradient.
    assert entries == 2 * X.nnz * n_runs + 2 * BATCHES * sum(rows.n_stored for rows in meta.X_gold)


def test_an_epoch_of_metapn_makes_as_many_passes_over_the_parameters_as_one_on_fixed_labels():
    counts = []
    for kind in ("anchored", "paper", "static"):
        learner = learner_of(propagator=kind)
        with LargeResults(FEATURES * HIDDEN) as large:
            learner.epoch()
        counts.append(large.count)
    meta, paper, static = counts
    assert meta == paper == static
    # The product that is the gradient of W1, and Adam's one pass over W1, its gradient and its two means.
    assert sum(static.values()) == 2 * BATCHES


@pytest.mark.parametrize("n_runs", [1, 3])
def test_a_step_is_three_calls_of_adam_and_no_copy_of_all_gradients(monkeypatch, n_runs):
    """The runs' gradients of W1 go to Adam as they are made: stacked, they would be written once more."""
    learner, given = learner_of(n_runs), []
    kernel = torch._fused_adam_

    def counting(arrays, gradients, *more, **options):
        given.append([tuple(gradient.shape) for gradient in gradients])
        kernel(arrays, gradients, *more, **options)

    monkeypatch.setattr(torch, "_fused_adam_", counting)
    with LargeResults(n_runs * FEATURES * HIDDEN) as large:
        learner.epoch()
    assert len(given) == 3 * BATCHES
    assert given.count([(FEATURES, HIDDEN)] * n_runs) == BATCHES
    if n_runs > 1:
        assert not large.count


def test_finite_differences_cost_parameter_sized_work_that_the_exact_gradient_does_not(products):
    exact, finite = learner_of(), learner_of(meta_gradient="finite_difference")
    assert of_epoch(finite, products)[0] > of_epoch(exact, products)[0]


def test_many_gold_nodes_cost_one_more_product_a_batch_and_no_gram_matrix(products):
    learner = learner_of(n_labels=100)
    assert all(batch.coupling.gram is None for batch in learner.batches)
    assert all(batch.stack.shape == (1, CLASSES, HOPS + 1, N // BATCHES) for batch in learner.batches)
    with_X, with_T, _ = of_epoch(learner, products)
    # to_batch goes through the rows of the batch once more.
    assert (with_X, with_T) == (3 * BATCHES, 0)


@pytest.mark.parametrize("n_runs", [1, 4])
def test_hops_and_predictions_of_all_runs_share_each_pass_over_the_graph(products, n_runs):
    products.clear()
    learner = learner_of(n_runs)
    T = learner.task.T
    assert products[(N, N), T.nnz] == HOPS
    products.clear()
    for member in learner.members:
        member.predict()
        member.predict()
    assert products[(N, N), T.nnz] == HOPS
    with_X = sum(count for (shape, _), count in products.items() if shape[0] == N // BATCHES)
    assert with_X == BATCHES * n_runs


def test_nothing_grows_to_the_square_of_the_nodes():
    with LargeResults(N * N) as large:
        learner = learner_of()
        learner.predictions()
        learner.retire([0])
    assert not large.count
