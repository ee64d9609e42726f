import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from metapn.graph import Graph
from metapn.model.features import FeatureMatrix
from metapn.model.fine_tuning import fine_tune
from metapn.model.learner import BilevelLearner, balanced
from metapn.model.metapn import MetaPN
from metapn.model.task import Task
from metapn.model.transformer import dropout_mask
from metapn.propagation.hops import hop_stack, one_hot, transition

DOUBLE = torch.float64


def made(small, *, X=None, seed=0, validation=None, **changes):
    """Network, task and learner of the small problem, as `MetaPN` makes them."""
    model = MetaPN(**{"hidden": 7, "n_hops": 3, "batch_size": 50, **changes})
    gold = np.flatnonzero(small.y >= 0)
    generator = torch.Generator().manual_seed(seed)
    task = Task(
        T=transition(small.graph),
        X=FeatureMatrix(small.X if X is None else X),
        gold=torch.from_numpy(gold),
        gold_labels=torch.from_numpy(small.y[gold]),
        n_classes=3,
        generator=generator,
        validation=validation,
        validation_labels=None if validation is None else torch.from_numpy(small.truth)[validation],
    )
    network = model._network(task.X.shape[1], 3, generator)
    return network, task, BilevelLearner(network, task, model)


def copies(parameters):
    return [value.detach().clone() for value in parameters]


def log_p(W1, b1, W2, b2, X, mask=1.0):
    return torch.log_softmax((torch.relu(X @ W1 + b1) * mask) @ W2 + b2, dim=-1)


def assert_near(ours, theirs):
    assert float((ours - theirs).norm()) <= 2e-4 * float(theirs.norm())


def test_every_node_is_in_one_batch(small):
    _, _, learner = made(small)
    assert [len(batch.nodes) for batch in learner.batches] == [50, 50, 20]
    assert sorted(torch.cat([batch.nodes for batch in learner.batches]).tolist()) == list(range(120))
    for batch in learner.batches:
        assert np.array_equal(batch.X.dense.numpy(), small.X[batch.nodes])


@pytest.mark.parametrize("kind", ["anchored", "paper"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_one_step_follows_both_gradients(small, kind, form):
    """What a step leaves in .grad, against autograd through the virtual step and all the way from φ."""
    network, task, learner = made(small, X=form(small.X), propagator=kind, learning_rate=0.3, l2=0.02)
    batch, net = learner.batches[1], network.transformer
    theta, phi = copies(net.parameters()), dict(network.propagator.named_parameters())
    phi = {name: value.detach().clone() for name, value in phi.items()}
    stack, dense = learner.stack[batch.nodes], torch.from_numpy(small.X)
    X, X_gold = dense[batch.nodes], dense[task.gold]
    targets = torch.eye(3)[task.gold_labels]

    def pseudo_loss(theta, Y):
        return -(Y * log_p(*theta, X)).sum() / 3

    def gold_loss(phi):
        Y = torch.func.functional_call(network.propagator, phi, stack)
        gradient = torch.func.grad(pseudo_loss)(tuple(theta), Y)
        moved = [part - 0.3 * g for part, g in zip(theta, gradient, strict=True)]
        return -(targets * log_p(*moved, X_gold)).sum() / 3

    Y = network.propagator(stack).detach()
    expected_phi = torch.func.grad(gold_loss)(phi)
    expected_theta = torch.func.grad(lambda theta: pseudo_loss(theta, Y) + 0.01 * theta[0].square().sum())(
        tuple(theta)
    )

    loss = learner._step(batch)
    assert float(loss) == pytest.approx(float(pseudo_loss(theta, Y)), rel=1e-5)
    for parameter, theirs in zip(net.parameters(), expected_theta, strict=True):
        assert_near(parameter.grad, theirs)
    ours = torch.cat([network.propagator.get_parameter(name).grad.ravel() for name in phi])
    assert_near(ours, torch.cat([expected_phi[name].ravel() for name in phi]))
    # Adam's first step is the learning rate along the sign of the gradient.
    assert (net.W2 - theta[2]).abs().max().item() == pytest.approx(0.3, rel=1e-3)


def test_with_dropout_theta_follows_the_noisy_gradient_and_phi_the_quiet_one(small):
    (quiet, _, without), (noisy, _, learner) = made(small), made(small, dropout=0.4)
    batch, net = learner.batches[0], noisy.transformer
    theta, state = tuple(copies(net.parameters())), net.generator.get_state()
    Y = noisy.propagator(learner.stack[batch.nodes]).detach()
    X = batch.X.dropout(0.4, net.generator) @ torch.eye(8)
    mask = dropout_mask(torch.empty(50, 7), 0.4, net.generator)
    net.generator.set_state(state)
    expected = torch.func.grad(lambda theta: -(Y * log_p(*theta, X, mask)).sum() / 3)(theta)
    learner._step(batch)
    without._step(without.batches[0])
    for parameter, theirs in zip((net.b1, net.W2, net.b2), expected[1:], strict=True):
        assert_near(parameter.grad, theirs)
    assert_near(net.W1.grad, expected[0] + 0.005 * theta[0])
    assert_near(noisy.propagator.W.grad, quiet.propagator.W.grad)


@pytest.mark.parametrize("changes", [{"propagator": "static"}, {"meta_learning_rate": 0.0}])
def test_a_propagator_that_does_not_learn_stays(small, changes):
    network, _, learner = made(small, **changes)
    before = copies(network.propagator.parameters())
    learner.epoch()
    assert not learner.learns_to_propagate
    assert all(torch.equal(a, b) for a, b in zip(before, network.propagator.parameters(), strict=True))


@pytest.mark.parametrize(
    "changes", [{}, {"dropout": 0.5}, {"meta_gradient": "finite_difference"}, {"balance": False}]
)
def test_epochs_change_all_weights_and_repeat_to_the_bit(small, changes):
    _, _, learner = made(small, **changes)
    _, _, again = made(small, **changes)
    before = copies(learner.weights())
    losses = [learner.epoch() for _ in range(4)]
    assert losses == [again.epoch() for _ in range(4)]
    assert losses[-1] < losses[0]
    for old, one, two in zip(before, learner.weights(), again.weights(), strict=True):
        assert not torch.equal(old, one)
        assert torch.equal(one, two)
    assert not learner.transformer.training
    assert torch.equal(learner.predict(), learner.predict())


def test_finite_difference_and_exact_give_the_propagator_nearly_the_same_gradient(small):
    exact, finite = (made(small, meta_gradient=kind) for kind in ("exact", "finite_difference"))
    for network, _, learner in (exact, finite):
        learner._step(learner.batches[0])
        network.phi = torch.cat([value.grad.ravel() for value in network.propagator.parameters()])
    difference = float((finite[0].phi - exact[0].phi).norm())
    assert 0 < difference < 0.02 * float(exact[0].phi.norm())


def masses(stack):
    return stack[:, 1:].sum(dim=(0, 1))


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 12), st.integers(2, 4), st.integers(1, 4), st.integers(0, 2**31))
def test_balanced_gives_each_class_its_share_of_the_mass(n, c, n_hops, seed):
    random = np.random.default_rng(seed)
    c = min(c, n)
    # Few edges: often a gold node is isolated, and its label reaches nobody.
    graph = Graph.from_edges(random.integers(0, n, (random.integers(0, n), 2)), n)
    gold = torch.from_numpy(random.permutation(n)[: random.integers(c, n + 1)])
    labels = torch.from_numpy(np.concatenate([np.arange(c), random.integers(0, c, n)])[: len(gold)])
    before = hop_stack(transition(graph, dtype=DOUBLE), one_hot(gold, labels, n, c).double(), n_hops)
    after = balanced(before.clone(), labels)
    share = torch.bincount(labels, minlength=c).double() / len(labels)
    assert torch.equal(after[:, 0], before[:, 0])
    torch.testing.assert_close(masses(after) / masses(after).sum(), share)
    torch.testing.assert_close(masses(after).sum(), masses(before).sum())
    torch.testing.assert_close(after[:, 1:] * masses(before), before[:, 1:] * masses(after))
    assert torch.isfinite(after).all()


def test_an_isolated_label_keeps_its_own_mass_so_that_no_class_is_without():
    graph = Graph.from_edges([(0, 1), (1, 2)], 4)
    stack = hop_stack(transition(graph), one_hot(torch.tensor([0, 3]), torch.tensor([0, 1]), 4, 2), 5)
    assert float(masses(stack)[1]) == 5
    assert torch.isfinite(balanced(stack, torch.tensor([0, 1]))).all()


def test_labels_nearly_drowned_by_heavy_edges_stay_finite():
    graph = Graph.from_edges([(0, 1), (2, 3)], 5, weights=[1e30, 1e-30])
    labels = torch.tensor([0, 1, 1])
    stack = hop_stack(transition(graph), one_hot(torch.tensor([0, 2, 4]), labels, 5, 2), 4)
    after = masses(balanced(stack, labels))
    assert (after / after.sum()).tolist() == pytest.approx([1 / 3, 2 / 3])


def test_fine_tuning_lowers_the_loss_on_the_gold_nodes(small):
    network, task, learner = made(small)
    learner.epoch()
    before = copies(network.transformer.parameters())
    history = fine_tune(network, task, learner.settings, 12)
    assert len(history.loss) == history.best_epoch == 12
    assert history.loss[-1] < history.loss[0]
    assert not any(torch.equal(a, b) for a, b in zip(before, network.transformer.parameters(), strict=True))


def test_fine_tuning_never_loses_validation_accuracy(small):
    validation = torch.arange(60, 110)
    network, task, learner = made(small, validation=validation, l2=5.0, learning_rate=0.05)
    for _ in range(5):
        learner.epoch()

    def accuracy():
        with torch.no_grad():
            found = network.probabilities(task.X, task.T)[validation].argmax(dim=1)
        return float((found == task.validation_labels).float().mean())

    before, weights = accuracy(), copies(network.transformer.parameters())
    settings = MetaPN(learning_rate=50.0)  # steps so long that they can only harm
    history = fine_tune(network, task, settings, 6)
    assert accuracy() >= before
    if history.best_epoch == 0:
        assert all(torch.equal(a, b) for a, b in zip(weights, network.transformer.parameters(), strict=True))
    assert len(history.validation_accuracy) == 6
