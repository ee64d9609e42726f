"""The meta-gradient against torch.func, which differentiates through the virtual step and knows of no shortcut."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

from metapn.graph import Graph
from metapn.model.bilevel import (
    Coupling,
    Gold,
    exact_label_gradient,
    finite_difference_label_gradient,
    gold_direction,
    gram_pays,
)
from metapn.model.features import FeatureMatrix
from metapn.model.propagator import Propagator
from metapn.model.transformer import Head, activate, cross_entropy_gradient
from metapn.propagation.hops import hop_stack, one_hot, transition

DOUBLE = torch.float64
THETA = (0, 1, 2, 3)  # the places of W1, b1, W2, b2 among the arguments


def log_p(W1, b1, W2, b2, X):
    return torch.log_softmax(torch.relu(X @ W1 + b1) @ W2 + b2, dim=-1)


def loss(W1, b1, W2, b2, X, Y, scale):
    return -(Y * log_p(W1, b1, W2, b2, X)).sum() / scale


def gold_loss_after_the_step(Y, case):
    """J_gold(θ - η ∇_θ J_pseudo(θ, Ŷ)), over all of W₁, b₁, W₂, b₂."""
    gradient = torch.func.grad(loss, argnums=THETA)(*case.theta, case.X, Y, case.scale)
    moved = [part - case.eta * g for part, g in zip(case.theta, gradient, strict=True)]
    return loss(*moved, case.X_gold, case.targets, case.scale)


@st.composite
def problems(draw):
    """A batch and gold nodes (some of them in the batch) of a random matrix, random weights and pseudo labels."""
    n, f, h = draw(st.integers(2, 14)), draw(st.integers(1, 10)), draw(st.integers(1, 8))
    c, kind = draw(st.integers(2, 5)), draw(st.sampled_from(["sparse", "dense"]))
    eta = draw(st.floats(0.01, 2))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = random.standard_normal((n, f))
    if kind == "sparse":
        rows *= random.random((n, f)) < 0.4
    batch = random.permutation(n)[: random.integers(1, n + 1)]
    gold = random.permutation(n)[: random.integers(1, n)]
    mass = random.exponential(2, len(batch)) * (random.random(len(batch)) < 0.8)
    Y = mass[:, None] * random.dirichlet(np.full(c, 0.5), len(batch))
    theta = [random.standard_normal(shape) for shape in ((f, h), (h,), (h, c), (c,))]
    X = FeatureMatrix(sparse.csr_array(rows) if kind == "sparse" else rows, dtype=DOUBLE)
    labels = random.integers(0, c, len(gold))
    return SimpleNamespace(
        X=torch.from_numpy(rows[batch]),
        X_gold=torch.from_numpy(rows[gold]),
        batch=X.rows(batch),
        gold=X.rows(gold),
        Y=torch.from_numpy(Y),
        theta=[torch.from_numpy(part) for part in theta],
        targets=torch.eye(c, dtype=DOUBLE)[torch.from_numpy(labels)],
        eta=eta,
        scale=float(c),
    )


def arguments(case, Y, form):
    """What the learner hands to a label gradient."""
    W1, head = case.theta[0], Head(*case.theta[1:])
    Z = case.batch @ W1
    at = activate(Z, head)
    gold = Gold(case.gold @ W1, case.targets, Coupling(case.batch, case.gold, form=form))
    return Z, at, head, cross_entropy_gradient(at, head, Y, case.scale), gold, case.eta, case.scale


def assert_equal_relatively(ours, theirs, tolerance=1e-5):
    assert ours.shape == theirs.shape
    assert float((ours - theirs).norm()) <= tolerance * float(theirs.norm()) + 1e-13


@pytest.mark.parametrize("form", [True, False], ids=["gram", "factored"])
def test_exact_is_the_derivative_with_respect_to_the_pseudo_labels(form):
    @settings(max_examples=80, deadline=None)
    @given(problems())
    def check(case):
        ours = exact_label_gradient(*arguments(case, case.Y, form))
        assert_equal_relatively(ours, torch.func.grad(gold_loss_after_the_step)(case.Y, case))

    check()


@settings(max_examples=40, deadline=None)
@given(problems())
def test_the_direction_is_the_gradient_of_the_gold_loss_after_the_step(case):
    _, _, head, inner, gold, eta, scale = arguments(case, case.Y, form=False)
    v = gold_direction(head, inner, gold, eta, scale)
    step = torch.func.grad(loss, argnums=THETA)(*case.theta, case.X, case.Y, scale)
    moved = [part - eta * g for part, g in zip(case.theta, step, strict=True)]
    expected = torch.func.grad(loss, argnums=THETA)(*moved, case.X_gold, case.targets, scale)
    for ours, theirs in zip((case.gold.transpose_product(v.Z), *v.head), expected, strict=True):
        assert_equal_relatively(ours, theirs)


@settings(max_examples=60, deadline=None)
@given(problems())
def test_finite_differences_approach_it_as_the_step_falls(case):
    given = arguments(case, case.Y, form=True)
    exact = exact_label_gradient(*given)
    # Within the longest step no unit may switch on or off: there log p has a kink and no second derivative.
    assume(float((given[0] + case.theta[1]).abs().min()) > 1e-3 * (1 + float(case.X.norm(dim=1).max())))
    errors = [float((finite_difference_label_gradient(*given, epsilon=e) - exact).norm()) for e in (1e-3, 1e-4)]
    floor = 1e-8 * float(exact.norm()) + 1e-13
    assert errors[0] <= 1e-3 * float(exact.norm()) + 1e-13
    assert errors[1] <= 0.03 * errors[0] + floor


def test_finite_differences_in_both_forms_are_the_same():
    @settings(max_examples=20, deadline=None)
    @given(problems())
    def check(case):
        gram, factored = (finite_difference_label_gradient(*arguments(case, case.Y, form)) for form in (True, False))
        assert_equal_relatively(gram, factored, 1e-9)

    check()


@settings(max_examples=30, deadline=None)
@given(problems(), st.integers(0, 2**31))
def test_the_coupling_is_the_same_formed_or_factored(case, seed):
    generator = torch.Generator().manual_seed(seed)
    D = torch.randn(len(case.X_gold), 3, generator=generator, dtype=DOUBLE)
    Z = torch.randn(len(case.X), 3, generator=generator, dtype=DOUBLE)
    K = case.X @ case.X_gold.T
    for form in (True, False):
        coupling = Coupling(case.batch, case.gold, form=form)
        assert (coupling.gram is not None) == form
        torch.testing.assert_close(coupling.to_batch(D), K @ D)
        torch.testing.assert_close(coupling.to_gold(Z), K.T @ Z)


def pseudo_labels(phi, stack, kind):
    """Equations 2 and 3 over a stack (b, K + 1, c), from the parameters alone."""
    hops = stack[:, 1:] if kind == "anchored" else stack
    score = torch.einsum("bkd,cd->bkc", hops, phi["W"]) + phi.get("b", 0)
    weights = torch.softmax(torch.einsum("bkc,c->bk", torch.relu(score), phi["a"]), dim=1)
    return torch.einsum("bk,bkc->bc", weights, hops) + (stack[:, 0] if kind == "anchored" else 0)


@pytest.mark.parametrize("kind", ["anchored", "paper"])
def test_the_chain_through_the_hop_stack_ends_in_the_derivative_of_the_propagator(kind):
    @settings(max_examples=30, deadline=None)
    @given(problems(), st.integers(1, 4), st.booleans(), st.integers(0, 2**31))
    def check(case, n_hops, form, seed):
        random, n, c = np.random.default_rng(seed), len(case.X), int(case.scale)
        graph = Graph.from_edges(random.integers(0, n, (2 * n, 2)), n)
        T = transition(graph, dtype=DOUBLE)
        nodes = torch.from_numpy(random.permutation(n)[:2])
        Y0 = one_hot(nodes, torch.from_numpy(random.integers(0, c, len(nodes))), n, c).double()
        propagator = Propagator(c, kind=kind, alpha=0.1, generator=torch.Generator().manual_seed(seed)).double()
        phi = {name: value.detach() for name, value in propagator.named_parameters()}

        Y = propagator(hop_stack(T, Y0, n_hops))
        Y.backward(exact_label_gradient(*arguments(case, Y.detach(), form)))

        dense = T @ torch.eye(n, dtype=DOUBLE)
        stack = torch.stack([torch.linalg.matrix_power(dense, k) @ Y0 for k in range(n_hops + 1)], dim=1)
        expected = torch.func.grad(lambda phi: gold_loss_after_the_step(pseudo_labels(phi, stack, kind), case))(phi)
        ours = torch.cat([propagator.get_parameter(name).grad.ravel() for name in phi])
        assert_equal_relatively(ours, torch.cat([expected[name].ravel() for name in phi]))

    check()


def test_the_gram_matrix_is_formed_while_it_is_small():
    X = FeatureMatrix(sparse.random_array((100, 50), density=0.1, format="csr", rng=np.random.default_rng(0)))
    assert X.n_stored == 500
    assert gram_pays(X, 20)
    assert not gram_pays(X, 21)
    assert gram_pays(FeatureMatrix(np.ones((100, 5))), 20)
    assert not gram_pays(FeatureMatrix(np.ones((100, 5))), 21)
