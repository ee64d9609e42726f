import json

import numpy as np
import pytest

from metapn import baselines, datasets
from metapn.experiments.observe import POINTS, curve, observe
from metapn.model.training import History


def test_a_long_training_is_thinned_out_but_keeps_its_ends():
    losses = list(np.linspace(3, 1, 500))
    kept = curve(History(loss=losses, validation_accuracy=losses, validation_loss=losses))
    assert (kept["epoch"][0], kept["epoch"][-1]) == (1, 500)
    assert set(kept) == {"epoch", "training_loss", "accuracy", "loss"}
    assert all(len(values) <= POINTS for values in kept.values())
    assert kept["accuracy"] == kept["loss"] == [round(losses[epoch - 1], 4) for epoch in kept["epoch"]]


@pytest.mark.parametrize(("name", "with_validation"), [("lp", True), ("sgc", True), ("sgc", False)])
def test_the_curve_is_there_where_something_was_trained(name, with_validation):
    graph = datasets.load("sbm-200")
    split = datasets.split(graph, 3, 0)
    stopping = (split.stopping, graph.labels[split.stopping]) if with_validation else None
    model = baselines.method(name)(random_state=0)
    model.fit(graph.features, split.masked(graph.labels), graph=graph, validation=stopping)
    seen = json.loads(json.dumps(observe(model, graph, split.test), allow_nan=False))
    if name == "lp":
        assert seen["curve"] is None
    else:
        assert ("accuracy" in seen["curve"]) == with_validation
        assert seen["curve"]["epoch"][-1] == model.n_iter_
