"""Algorithm 1, for one run and for many at once, against the same by hand with autograd."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from scipy import sparse

from metapn.model.learner import BilevelLearner
from metapn.model.metapn import MetaPN
from metapn.model.transformer import dropout_mask

NAMES = ("W1", "b1", "W2", "b2")


@pytest.fixture
def made(task_of):
    """Make networks, tasks and the learner of some seeds, as `MetaPN` makes them."""

    def make(*seeds, X=None, **changes):
        model = MetaPN(**{"hidden": 7, "n_hops": 3, "batch_size": 50, **changes})
        tasks = [task_of(seed, X=X) for seed in seeds or (0,)]
        networks = [model._network(8, 3, task.generator) for task in tasks]
        # The networks differ, and all runs are dealt and visited in the same way: by the first task's generator.
        for task in tasks:
            task.generator.manual_seed(99)
        return SimpleNamespace(networks=networks, tasks=tasks, learner=BilevelLearner(networks, tasks, model))

    return make


def theta_of(network, dtype=torch.float32):
    return tuple(getattr(network.transformer, name).detach().to(dtype, copy=True) for name in NAMES)


def phi_of(network, dtype=torch.float32):
    return {name: value.detach().to(dtype, copy=True) for name, value in network.propagator.named_parameters()}


def weights_of(learner, place=0):
    """θ and φ of one run in training, in the shapes of the modules."""
    W1, b1, W2t, b2, *phi = learner.members[place].weights()
    return [W1, b1[0], W2t.T, b2[:, 0], *(part.squeeze() for part in phi)]


def theta_gradients(learner, place=0):
    """∇_θ of the last step of one run, in the shapes of the stacked arrays."""
    return [learner.first_layer.gradients[place], *(part[place] for part in learner.beyond.gradients)]


def phi_gradient(learner, place=0):
    """∇_φ of the last step of one run, as one vector."""
    return torch.cat([part[place].ravel() for part in learner.outer.gradients])


def copies(values):
    return [value.detach().clone() for value in values]


def log_p(W1, b1, W2, b2, X, mask=1.0):
    return torch.log_softmax((torch.relu(X @ W1 + b1) * mask) @ W2 + b2, dim=-1)


def pseudo_labels(phi, stack):
    """Ŷ of a batch, shape (b, c), from φ and the hop stack (c, K + 1, b), by eq. 2 and 3."""
    hops = stack if "b" not in phi else stack[:, 1:]
    score = torch.einsum("ce,ekb->ckb", phi["W"], hops) + (phi["b"][:, None, None] if "b" in phi else 0)
    weights = torch.softmax(torch.einsum("c,ckb->kb", phi["a"], torch.relu(score)), dim=0)
    labels = torch.einsum("kb,ckb->bc", weights, hops)
    return labels + stack[:, 0].T if "b" in phi else labels


class ByHand:
    """The losses of one run on one batch, differentiable in θ and φ."""

    def __init__(self, batch, task, X, place=0, eta=0.05, dtype=torch.float32):
        dense = torch.from_numpy(X).to(dtype)
        self.X, self.X_gold, self.eta = dense[batch.nodes], dense[task.gold], eta
        self.stack, self.targets = batch.stack[place].to(dtype), torch.eye(3, dtype=dtype)[task.gold_labels]

    def pseudo_loss(self, theta, Y):
        return -(Y * log_p(*theta, self.X)).sum() / 3

    def gold_loss(self, phi, theta):
        gradient = torch.func.grad(self.pseudo_loss)(theta, pseudo_labels(phi, self.stack))
        moved = [part - self.eta * g for part, g in zip(theta, gradient, strict=True)]
        return -(self.targets * log_p(*moved, self.X_gold)).sum() / 3

    def gradients(self, theta, phi):
        """∇_θ J_pseudo and ∇_φ J_gold(θ'(φ))."""
        inner = torch.func.grad(self.pseudo_loss)(theta, pseudo_labels(phi, self.stack))
        return inner, torch.func.grad(self.gold_loss)(phi, theta)


def assert_near(ours, theirs, tolerance=2e-4):
    assert ours.shape == theirs.shape
    assert float((ours - theirs).norm()) <= tolerance * float(theirs.norm())


@pytest.mark.parametrize("kind", ["anchored", "paper"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_one_step_follows_both_gradients(small, made, kind, form):
    """The gradients of a step, against autograd through the virtual step and all the way from φ."""
    m = made(0, 5, X=form(small.X), propagator=kind, learning_rate=0.3, l2=0.02)
    batch, learner = m.learner.batches[1], m.learner
    before = [(theta_of(network), phi_of(network)) for network in m.networks]
    losses = learner._step(batch)
    for place, ((theta, phi), task) in enumerate(zip(before, m.tasks, strict=True)):
        hand = ByHand(batch, task, small.X, place, eta=0.3)
        inner, outer = hand.gradients(theta, phi)
        expected = float(hand.pseudo_loss(theta, pseudo_labels(phi, hand.stack)))
        assert float(losses[place]) / -3 == pytest.approx(expected, rel=1e-5)
        W1, b1, W2t, b2 = theta_gradients(learner, place)
        for ours, theirs in zip((W1, b1[0], W2t.T, b2[:, 0]), inner, strict=True):
            assert_near(ours, theirs)
        # What Adam makes of W1's gradient has λ W1 in it, and that of no other.
        assert_near(learner.first_layer.means[0][place] / 0.1, inner[0] + 0.02 * theta[0])
        assert_near(learner.beyond.means[1][place].T / 0.1, inner[2])
        assert_near(
            phi_gradient(learner, place),
            torch.cat([outer[name].ravel() for name in ("W", "a", "b") if name in outer]),
        )
        # Adam's first step is the learning rate along the sign of the gradient.
        moved = weights_of(learner, place)
        assert (moved[2] - theta[2]).abs().max().item() == pytest.approx(0.3, rel=1e-3)


@pytest.mark.parametrize("kind", ["anchored", "paper"])
def test_an_epoch_is_algorithm_1_by_hand(small, made, kind):
    """Inner and outer step on each batch in turn, in double precision, by torch's own Adam."""
    m = made(0, 5, propagator=kind, learning_rate=0.01, meta_learning_rate=0.003, l2=0.02)
    names = [name for name in ("W", "a", "b") if hasattr(m.networks[0].propagator, name)]
    state = m.tasks[0].generator.get_state()
    losses = m.learner.epoch()
    m.tasks[0].generator.set_state(state)
    order = torch.randperm(3, generator=m.tasks[0].generator).tolist()
    for place, (network, task) in enumerate(zip(m.networks, m.tasks, strict=True)):
        # The networks still hold the first weights: they get others when their run retires.
        theta, phi = theta_of(network, torch.float64), phi_of(network, torch.float64)
        parts = [*theta, *(phi[name] for name in names)]
        before, values = copies(parts), []
        inner = torch.optim.Adam([{"params": theta[:1], "weight_decay": 0.02}, {"params": theta[1:]}], lr=0.01)
        outer = torch.optim.Adam(phi.values(), lr=0.003)
        for i in order:
            hand = ByHand(m.learner.batches[i], task, small.X, place, eta=0.01, dtype=torch.float64)
            values.append(float(hand.pseudo_loss(theta, pseudo_labels(phi, hand.stack))))
            of_theta, of_phi = hand.gradients(theta, phi)
            for part, gradient in zip(parts, (*of_theta, *(of_phi[name] for name in names)), strict=True):
                part.grad = gradient
            inner.step()
            outer.step()
        assert losses[place] == pytest.approx(np.mean(values), rel=1e-5)
        moved = [ours - old for ours, old in zip(weights_of(m.learner, place), before, strict=True)]
        expected = [theirs - old for theirs, old in zip(parts, before, strict=True)]
        for ours, theirs in zip(moved[:4], expected[:4], strict=True):
            assert_near(ours, theirs, 1e-3)
        # Where all units of a row are on, a bias has no gradient, and Adam makes a step of its rounding error.
        assert_near(
            torch.cat([part.ravel() for part in moved[4:]]), torch.cat([e.ravel() for e in expected[4:]]), 0.02
        )


def test_with_dropout_theta_follows_the_noisy_gradient_and_phi_the_quiet_one(made):
    quiet, noisy = made(), made(dropout=0.4)
    batch, generator = noisy.learner.batches[0], noisy.tasks[0].generator
    theta, state = theta_of(noisy.networks[0]), generator.get_state()
    Y = pseudo_labels(phi_of(noisy.networks[0]), batch.stack[0])
    X = batch.X.dropout(0.4, generator) @ torch.eye(8)
    mask = dropout_mask(torch.empty(1, 50, 7), 0.4, generator)[0]
    generator.set_state(state)
    expected = torch.func.grad(lambda theta: -(Y * log_p(*theta, X, mask)).sum() / 3)(theta)
    noisy.learner._step(batch)
    quiet.learner._step(quiet.learner.batches[0])
    W1, b1, W2t, b2 = theta_gradients(noisy.learner)
    for ours, theirs in zip((W1, b1[0], W2t.T, b2[:, 0]), expected, strict=True):
        assert_near(ours, theirs)
    assert float((W1 - theta_gradients(quiet.learner)[0]).norm()) > 0.1 * float(W1.norm())
    assert_near(phi_gradient(noisy.learner), phi_gradient(quiet.learner))


@pytest.mark.parametrize("changes", [{"propagator": "static"}, {"meta_learning_rate": 0.0}])
def test_a_propagator_that_does_not_learn_stays(made, changes):
    m = made(**changes)
    before = phi_of(m.networks[0])
    theta, hand = theta_of(m.networks[0]), m.learner.batches[0]
    labels = m.networks[0].propagator(hand.stack[0]).detach()
    expected = torch.func.grad(lambda theta: -(labels.T * log_p(*theta, hand.X.dense)).sum() / 3)(theta)
    m.learner._step(hand)
    assert_near(theta_gradients(m.learner)[2].T, expected[2])
    m.learner.retire([0])
    assert not m.learner.learns_to_propagate
    assert all(torch.equal(value, phi_of(m.networks[0])[name]) for name, value in before.items())
    pseudo, weights = m.learner.propagated[0]
    stack = torch.empty(3, 4, 120)
    for batch in m.learner.batches:
        stack[..., batch.nodes] = batch.stack[0]
    torch.testing.assert_close(pseudo, m.networks[0].propagator(stack).T)
    torch.testing.assert_close(weights, m.networks[0].propagator.hop_weights(stack).T)


@pytest.mark.parametrize(
    "changes", [{}, {"dropout": 0.5}, {"meta_gradient": "finite_difference"}, {"balance": False}]
)
def test_epochs_change_all_weights_and_repeat_to_the_bit(made, changes):
    one, again = made(0, 5, **changes).learner, made(0, 5, **changes).learner
    before = [copies(member.weights()) for member in one.members]
    losses = [one.epoch() for _ in range(4)]
    assert losses == [again.epoch() for _ in range(4)]
    assert all(last < first for first, last in zip(losses[0], losses[-1], strict=True))
    for place, old in enumerate(before):
        for start, first, second in zip(old, weights_of(one, place), weights_of(again, place), strict=True):
            assert not torch.equal(start.ravel(), first.ravel())
            assert torch.equal(first, second)
        assert torch.equal(one.members[place].predict(), again.members[place].predict())


def test_finite_difference_and_exact_give_the_propagator_nearly_the_same_gradient(made):
    exact, finite = (made(0, 5, meta_gradient=kind).learner for kind in ("exact", "finite_difference"))
    for learner in (exact, finite):
        learner._step(learner.batches[0])
    for place in range(2):
        one, other = (phi_gradient(each, place) for each in (exact, finite))
        assert 0 < float((other - one).norm()) < 0.02 * float(one.norm())


def test_a_member_predicts_as_its_network_will(made):
    m = made(0, 5)
    for _ in range(3):
        m.learner.epoch()
    members, theirs = m.learner.members, [copies(member.weights()) for member in m.learner.members]
    predicted = [member.predict().clone() for member in members]
    for one, other, weights in ((members[0], predicted[1], theirs[1]), (members[1], predicted[0], theirs[0])):
        torch.testing.assert_close(one.predict_with(weights), other)
    assert all(torch.equal(member.predict(), p) for member, p in zip(members, predicted, strict=True))
    m.learner.retire([0, 1])
    for network, task, p in zip(m.networks, m.tasks, predicted, strict=True):
        torch.testing.assert_close(network.probabilities(task.X, task.T), p)


SETTINGS = [
    {},
    {"propagator": "paper", "l2": 0.1},
    {"propagator": "static"},
    {"meta_gradient": "finite_difference", "balance": False},
]


def assert_same_run(together, place, single, tolerance=1e-4):
    """The run at a place of one learner has the weights that another learner gives it alone."""
    for ours, theirs in zip(together.members[place].weights(), single.members[0].weights(), strict=True):
        assert_near(ours, theirs, tolerance)
    assert float((together.members[place].predict() - single.members[0].predict()).abs().max()) < tolerance


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("changes", SETTINGS, ids=str)
def test_many_runs_at_once_are_each_alone(small, made, form, changes):
    together = made(0, 5, 8, X=form(small.X), **changes).learner
    singles = [made(seed, X=form(small.X), **changes).learner for seed in (0, 5, 8)]
    for _ in range(5):
        losses = together.epoch()
        assert losses == pytest.approx([single.epoch()[0] for single in singles], rel=1e-5)
    for place, single in enumerate(singles):
        assert_same_run(together, place, single)
    distance = (together.members[0].predict() - together.members[1].predict()).abs().max()
    assert float(distance) > 0.1


@pytest.mark.parametrize("changes", SETTINGS, ids=str)
def test_a_run_that_retires_keeps_its_weights_and_the_others_go_on_unchanged(made, changes):
    m, singles = made(0, 5, 8, **changes), [made(seed, **changes) for seed in (0, 5, 8)]
    learner, lengths = m.learner, (6, 3, 4)
    for epoch in range(1, 7):
        learner.epoch()
        going = [run for run in range(3) if lengths[run] >= epoch]
        assert learner.runs == going
        for place, run in enumerate(going):
            singles[run].learner.epoch()
            assert_same_run(learner, place, singles[run].learner)
        ended = [place for place, run in enumerate(going) if lengths[run] == epoch]
        kept = [copies(member.weights()) for member in learner.members if member.place not in ended]
        learner.retire(ended)
        for member, weights in zip(learner.members, kept, strict=False):
            assert all(torch.equal(a, b) for a, b in zip(member.weights(), weights, strict=True))
    for run, single in enumerate(singles):
        single.learner.retire([0])
        for ours, theirs in zip(m.networks[run].parameters(), single.networks[0].parameters(), strict=True):
            assert_near(ours.detach(), theirs.detach(), 1e-4)
        for ours, theirs in zip(learner.propagated[run], single.learner.propagated[0], strict=True):
            assert_near(ours, theirs, 1e-4)


def test_what_a_run_leaves_behind_belongs_to_its_network(made):
    m = made(0, 5)
    m.learner.epoch()
    m.learner.retire([1])
    frozen = copies(m.networks[1].parameters())
    m.learner.epoch()
    m.learner.retire([0])
    assert all(torch.equal(a, b) for a, b in zip(frozen, m.networks[1].parameters(), strict=True))
    for run, network in enumerate(m.networks):
        pseudo, weights = m.learner.propagated[run]
        assert pseudo.shape == (120, 3)
        assert weights.shape == (120, 4)
        for batch in m.learner.batches:
            labels, hops = pseudo[batch.nodes], weights[batch.nodes]
            if run == 0:  # the batches have kept this run alone
                torch.testing.assert_close(labels, network.propagator(batch.stack[0]).T.detach())
                torch.testing.assert_close(hops, network.propagator.hop_weights(batch.stack[0]).T.detach())
