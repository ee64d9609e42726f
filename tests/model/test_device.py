"""Every tensor of a step lives where the task lives: on torch's meta device, any other one would be an error."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy import sparse

from metapn.model.adam import Adam
from metapn.model.batches import Batch
from metapn.model.bilevel import Coupling
from metapn.model.features import FeatureMatrix
from metapn.model.learner import BilevelLearner
from metapn.model.metapn import MetaPN
from metapn.propagation import operator
from metapn.propagation.operator import SparseMatrix

OURS = BilevelLearner, Batch, Coupling, FeatureMatrix, SparseMatrix, operator._Kernel, Adam


def moved(value):
    """The same with every tensor on the meta device; objects of ours are changed in place."""
    if torch.is_tensor(value):
        return value.detach().to("meta") if value.layout == torch.strided else value
    if isinstance(value, torch.nn.Module):
        return value.to("meta")
    if isinstance(value, list):
        return [moved(each) for each in value]
    if isinstance(value, OURS):
        for name, each in vars(value).items():
            setattr(value, name, torch.device("meta") if name == "device" else moved(each))
        if isinstance(value, Adam):
            value._split()
    return value


@pytest.fixture
def on_meta(task_of, monkeypatch):
    """A learner of several runs whose tensors are all on the meta device."""

    def product(kernel, dense):
        assert kernel.columns.device == kernel.values.device == dense.device
        return dense.new_empty(kernel.scipy.shape[0], dense.shape[1])

    def make(form, **changes):
        model = MetaPN(hidden=7, n_hops=3, batch_size=50, **changes)
        tasks = [task_of(seed, X=form) for seed in (0, 1)]
        networks = [model._network(8, 3, task.generator) for task in tasks]
        learner = BilevelLearner(networks, tasks, model)
        task = tasks[0]
        learner.task = replace(task, T=moved(task.T), X=moved(task.X), gold=task.gold.to("meta"))
        # There are no sparse products on the meta device: one that looks at the devices alone stands in.
        monkeypatch.setattr(operator._Kernel, "__call__", product)
        return moved(learner)

    return make


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    "changes",
    [{}, {"propagator": "paper"}, {"propagator": "static"}, {"meta_gradient": "finite_difference"}],
    ids=str,
)
def test_a_step_makes_nothing_on_another_device(small, on_meta, form, changes):
    learner = on_meta(form(small.X), **changes)
    with torch.no_grad():
        losses = [learner._step(batch) for batch in learner.visit(range(learner.n_batches))]
    assert all(loss.device.type == "meta" for loss in losses)
    for adam in (learner.first_layer, learner.beyond, *([learner.outer] if learner.phi else [])):
        assert {each.device.type for each in (*adam.arrays, *adam.means, *adam.squares, adam.steps)} == {"meta"}


def test_predictions_are_where_the_weights_are(small, on_meta):
    learner = on_meta(sparse.csr_array(small.X))
    assert learner.predictions().device.type == "meta"
    assert learner.predictions().shape == (120, 2, 3)


def test_a_stray_tensor_is_found(small, on_meta, monkeypatch):
    """The test itself: a constant left on the CPU does not pass."""
    learner = on_meta(small.X)
    learner.targets = torch.zeros(learner.targets.shape)
    with torch.no_grad(), pytest.raises(RuntimeError, match="device"):
        learner._step(next(learner.visit([0])))
