"""Meta-PN whose hop stack lies with an engine learns what it learns in memory."""

import numpy as np
import pytest
import torch
from scipy import sparse

from metapn.data.synthetic import contextual_sbm
from metapn.model.metapn import MetaPN
from metapn.model.streaming.features import HeldFeatures
from metapn.model.streaming.learner import StreamedLearner
from metapn.model.streaming.predictions import Predictions
from metapn.model.together import begin, fit_together
from metapn.propagation.engines.memory import RowsInMemory

GRAPH = contextual_sbm(300, n_classes=3, n_features=8, mean_degree=6, separation=2.0, seed=2)
SETTINGS = {"batch_size": 64, "max_epochs": 30, "n_hops": 4, "hidden": 16}


def labels(seed):
    y, random = np.full(300, -1), np.random.default_rng(seed)
    for c in range(3):
        y[random.permutation(np.flatnonzero(GRAPH.labels == c))[:4]] = c
    return y


def fitted(engine, *, X=GRAPH.features, validation=None, **changes):
    model = MetaPN(random_state=0, engine=engine, **{**SETTINGS, **changes})
    return model.fit(X, labels(0), graph=GRAPH, validation=validation)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"X": sparse.csr_array(np.where(GRAPH.features > 1, GRAPH.features, 0)), "dropout": 0.2},
        {"validation": (np.arange(250, 300), GRAPH.labels[250:]), "fine_tune_epochs": 3},
        {"propagator": "static", "final": "pseudo"},
        {"propagator": "paper", "final": "transformer", "balance": False, "meta_gradient": "finite_difference"},
    ],
    ids=lambda changes: "-".join(changes) or "default",
)
def test_the_disk_gives_the_predictions_of_the_memory(changes):
    memory, disk = (fitted(engine, **changes) for engine in ("memory", "disk"))
    assert memory.n_iter_ == disk.n_iter_
    np.testing.assert_allclose(disk.label_distributions_, memory.label_distributions_, atol=2e-3)
    np.testing.assert_allclose(disk.pseudo_labels_, memory.pseudo_labels_, atol=2e-3)
    np.testing.assert_allclose(disk.hop_weights_, memory.hop_weights_, atol=2e-3)
    np.testing.assert_allclose(disk.history_.loss, memory.history_.loss, rtol=2e-3)


def test_runs_fitted_together_from_disk_are_each_that_of_memory():
    results = {}
    for engine in ("memory", "disk"):
        models = [MetaPN(random_state=seed, engine=engine, **SETTINGS) for seed in range(3)]
        validations = [(np.arange(250, 300), GRAPH.labels[250:])] * 3
        fit_together(models, GRAPH.features, [labels(seed) for seed in range(3)], GRAPH, validations=validations)
        results[engine] = models
    for memory, disk in zip(results["memory"], results["disk"], strict=True):
        np.testing.assert_allclose(disk.label_distributions_, memory.label_distributions_, atol=2e-3)


def test_a_batch_from_disk_is_that_of_memory():
    batches = {}
    for engine in ("memory", "disk"):
        models = [MetaPN(random_state=seed, engine=engine, **SETTINGS) for seed in range(2)]
        ready = begin(models, GRAPH.features, [labels(0), labels(1)], GRAPH)
        learner = models[0]._learner(ready.networks, ready.tasks)
        assert isinstance(learner, StreamedLearner) == (engine == "disk")
        learner.epoch()
        learner.retire([0])
        batches[engine] = list(learner.visit([3, 0, 4]))
    assert [len(batch.nodes) for batch in batches["disk"]] == [64, 64, 44]
    for ours, theirs in zip(batches["disk"], batches["memory"], strict=True):
        assert torch.equal(ours.nodes, theirs.nodes)
        assert torch.equal(ours.X.dense, theirs.X.dense)
        assert ours.stack.shape == (1, 3, 5, len(ours.nodes))
        torch.testing.assert_close(ours.stack, theirs.stack, atol=1e-6, rtol=1e-5)
        D = torch.rand(1, 12, 7)
        torch.testing.assert_close(ours.coupling.to_batch(D), theirs.coupling.to_batch(D))


def test_predictions_stand_for_a_tensor():
    P = torch.rand(20, 6)
    found = Predictions(RowsInMemory(P), slice(3, 6))
    assert torch.equal(found[torch.tensor([4, 2, 4])], P[[4, 2, 4], 3:])
    assert torch.equal(found[:], P[:, 3:])
    assert torch.equal(found[2:9:3], P[2:9:3, 3:])
    assert torch.equal(found.argmax(dim=1).long(), P[:, 3:].argmax(dim=1))


def test_held_features_are_dealt():
    from metapn.model.features import FeatureMatrix

    X = HeldFeatures(FeatureMatrix(GRAPH.features))
    order = torch.randperm(300)
    dealt = X.deal(order, 100)
    assert np.array_equal(dealt.batch(2).source, GRAPH.features[order[200:].numpy()])
    assert np.array_equal(X.block(5, 9).source, GRAPH.features[5:9])
