"""Several models fitted at once: each is the model of its own seed and labels, and stops for itself."""

import numpy as np
import pytest
import torch

from metapn import InputError, MetaPN
from metapn.baselines import method
from metapn.model import metapn
from metapn.model.learner import BilevelLearner
from metapn.model.together import begin, fit_together
from metapn.propagation.hops import personalised_pagerank, transition

SEEDS = (3, 7, 5)


@pytest.fixture
def labels(small):
    """Other labels for each of several runs: three nodes of each class."""

    def draw(*seeds):
        ys = []
        for seed in seeds:
            order, y = np.random.default_rng(seed).permutation(120), np.full(120, -1)
            for label in range(3):
                known = order[small.truth[order] == label][:3]
                y[known] = label
            ys.append(y)
        return ys

    return draw


def models_of(seeds, name="metapn", **changes):
    quick = {"max_epochs": 12, "hidden": 16, **changes}
    return [method(name)(random_state=seed, **quick) for seed in seeds]


def assert_same_fit(one, other, tolerance=1e-3):
    for name in ("label_distributions_", "pseudo_labels_", "hop_weights_"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), abs=tolerance)
    assert one.history_.loss == pytest.approx(other.history_.loss, rel=1e-3)
    assert np.array_equal(one.reached_, other.reached_)


# All nodes in one batch: how they are dealt then makes no difference, and the runs are those of single fits.
@pytest.mark.parametrize("at_once", [1, 2, 3])
def test_each_run_is_that_of_its_seed(small, labels, monkeypatch, at_once):
    monkeypatch.setattr(metapn, "_CACHE_BYTES", at_once * 4 * 120 * 16)
    ys, together = labels(*SEEDS), models_of(SEEDS, batch_size=120)
    assert together[0]._at_once() == at_once
    fit_together(together, small.X, ys, small.graph)
    singles = [
        model.fit(small.X, y, graph=small.graph)
        for model, y in zip(models_of(SEEDS, batch_size=120), ys, strict=True)
    ]
    for model, single, y in zip(together, singles, ys, strict=True):
        assert_same_fit(model, single)
        assert model.report_.n_labelled == 9
        assert (model.pseudo_labels_.argmax(axis=1) == y)[y >= 0].all()
        assert model.predict_proba(small.X) == pytest.approx(single.predict_proba(small.X), abs=1e-3)
    assert np.abs(singles[0].label_distributions_ - singles[1].label_distributions_).max() > 0.05


def test_the_order_in_which_they_are_given_does_not_matter(small, labels):
    ys = dict(zip(SEEDS, labels(*SEEDS), strict=True))
    found = {}
    for order in (SEEDS, SEEDS[::-1]):
        models = models_of(order, batch_size=120)
        fit_together(models, small.X, [ys[seed] for seed in order], small.graph)
        found[order] = {model.random_state: model for model in models}
    for seed in SEEDS:
        assert_same_fit(*(models[seed] for models in found.values()))


def test_the_same_models_together_give_the_same_bits(small, labels):
    one, again = (models_of(SEEDS, dropout=0.3, batch_size=50) for _ in range(2))
    for models in (one, again):
        fit_together(models, small.X, labels(*SEEDS), small.graph)
    for first, second in zip(one, again, strict=True):
        assert first.label_distributions_.tobytes() == second.label_distributions_.tobytes()
        assert first.history_.loss == second.history_.loss


@pytest.mark.parametrize("name", ["mlp", "gcn"])
def test_a_method_that_trains_one_after_another_gives_the_bits_of_single_fits(small, labels, name):
    ys, together = labels(*SEEDS), models_of(SEEDS, name)
    fit_together(together, small.X, ys, small.graph)
    for model, seed, y in zip(together, SEEDS, ys, strict=True):
        (single,) = models_of([seed], name)
        single.fit(small.X, y, graph=small.graph)
        assert model.label_distributions_.tobytes() == single.label_distributions_.tobytes()


def test_each_run_stops_for_itself_and_keeps_its_own_best_weights(small, labels):
    """What a model predicts in the end is what it scored highest with on its own validation nodes."""
    seeds, nodes = range(6), np.arange(60, 120)
    ys, T = labels(*seeds), transition(small.graph)
    validations = []
    for seed, y in zip(seeds, ys, strict=True):
        own = np.random.default_rng(seed + 100).permutation(nodes[y[nodes] < 0])[:25]
        validations.append((own, small.truth[own]))
    models = models_of(seeds, max_epochs=60, patience=4, batch_size=60)
    fit_together(models, small.X, ys, small.graph, validations=validations)
    assert len({model.n_iter_ for model in models}) > 2
    for model, (own, truth) in zip(models, validations, strict=True):
        history = model.history_
        assert len(history.loss) == len(history.validation_accuracy) == model.n_iter_ == model.report_.epochs
        best = max(history.validation_accuracy)
        assert history.validation_accuracy[history.best_epoch - 1] == best
        assert (model.transduction_[own] == truth).mean() == pytest.approx(best)
        # The loss is taken before the rows are divided by their sum.
        spread = personalised_pagerank(T, torch.from_numpy(model.predict_proba(small.X)), 0.1, 10).numpy()
        loss = -np.log(spread[own, truth]).mean()
        assert loss == pytest.approx(history.validation_loss[history.best_epoch - 1], rel=1e-4)
        assert model.n_iter_ < 60 or history.stopped_because == "it reached max_epochs"


def test_runs_with_other_numbers_of_labels_are_fitted_too(small, labels):
    ys = labels(1, 2)
    ys[1][np.flatnonzero(ys[1] == 0)[0]] = -1
    models = models_of((1, 2), batch_size=120)
    fit_together(models, small.X, ys, small.graph)
    for model, y, seed in zip(models, ys, (1, 2), strict=True):
        (single,) = models_of([seed], batch_size=120)
        assert_same_fit(model, single.fit(small.X, y, graph=small.graph))


def test_runs_with_other_classes_are_fitted_too(small, labels):
    """With a share of the nodes labelled a rare class may be missing in a run: it then knows of one class less."""
    ys = labels(1, 2)
    ys[1][ys[1] == 2] = 1
    models = models_of((1, 2), batch_size=120)
    fit_together(models, small.X, ys, small.graph)
    assert [model.classes_.tolist() for model in models] == [[0, 1, 2], [0, 1]]
    assert models[1].label_distributions_.shape == (120, 2)
    names = [np.array(["a", "b"], dtype=object)[np.minimum(y, 1)] for y in ys]
    for y, known in zip(names, ys, strict=True):
        y[known < 0] = None
    fit_together(models_of((1, 2)), small.X, names, small.graph)


def test_fine_tuning_is_of_each_run(small, labels):
    ys = labels(*SEEDS)
    plain, tuned = models_of(SEEDS, batch_size=120), models_of(SEEDS, batch_size=120, fine_tune_epochs=4)
    for models in (plain, tuned):
        fit_together(models, small.X, ys, small.graph)
    for one, other in zip(plain, tuned, strict=True):
        assert one.history_.loss == other.history_.loss
        assert len(other.fine_tuning_.loss) == 4
        assert not np.array_equal(one.label_distributions_, other.label_distributions_)


@pytest.mark.parametrize("changes", [{"hidden": 8}, {"dropout": 0.5}])
def test_models_of_other_settings_are_refused(small, labels, changes):
    (one,), (other,) = models_of([0]), models_of([1], **changes)
    with pytest.raises(InputError, match="cannot be fitted together; they may differ in random_state only"):
        fit_together([one, other], small.X, labels(0, 1), small.graph)
    with pytest.raises(InputError, match="cannot be fitted together"):
        fit_together([one, *models_of([1], "mlp")], small.X, labels(0, 1), small.graph)


def test_what_is_shared_is_made_once(small, labels):
    ready = begin(models_of(SEEDS), small.X, labels(*SEEDS), small.graph)
    assert len({id(task.T) for task in ready.tasks}) == 1
    assert len({id(task.X) for task in ready.tasks}) == 1
    learner = BilevelLearner(ready.networks, ready.tasks, MetaPN(batch_size=50))
    assert [tuple(part.shape) for part in learner.theta] == [(3, 8, 16), (3, 1, 16), (3, 3, 16), (3, 3, 1)]
    for network, task, W1 in zip(ready.networks, ready.tasks, learner.theta[0], strict=True):
        assert torch.equal(network.transformer.W1, W1)
        assert network.transformer.generator is task.generator
