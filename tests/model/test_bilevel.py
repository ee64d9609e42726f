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
from metapn.model.closed_forms import Head, activate, cross_entropy_gradient
from metapn.model.features import FeatureMatrix
from metapn.model.propagator import Propagator, attend, propagator_gradient, stacked
from metapn.model.propagator import pseudo_labels as stacked_pseudo_labels
from metapn.propagation.hops import hop_blocks, one_hot, transition

DOUBLE = torch.float64
THETA = (0, 1, 2, 3)  # the places of W1, b1, W2, b2 among the arguments


def log_p(W1, b1, W2, b2, X):
    return torch.log_softmax(torch.relu(X @ W1 + b1) @ W2 + b2, dim=-1)


def loss(W1, b1, W2, b2, X, Y, scale):
    return -(Y * log_p(W1, b1, W2, b2, X)).sum() / scale


def gold_loss_after_the_step(Y, case, run):
    """J_gold(θ - η ∇_θ J_pseudo(θ, Ŷ)) of one run, over all of W₁, b₁, W₂, b₂."""
    theta = case.theta[run]
    gradient = torch.func.grad(loss, argnums=THETA)(*theta, case.X, Y, case.scale)
    moved = [part - case.eta * g for part, g in zip(theta, gradient, strict=True)]
    return loss(*moved, case.X_gold[run], case.targets[run], case.scale)


@st.composite
def problems(draw):
    """A batch of a random matrix, and for each of several runs gold nodes, weights and pseudo labels.

    Some of the gold nodes are in the batch, and some nodes of the batch have no pseudo label at all.
    """
    n, f, h = draw(st.integers(2, 14)), draw(st.integers(1, 10)), draw(st.integers(1, 8))
    c, kind = draw(st.integers(2, 5)), draw(st.sampled_from(["sparse", "dense"]))
    r, eta = draw(st.integers(1, 3)), draw(st.floats(0.01, 2))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = random.standard_normal((n, f))
    if kind == "sparse":
        rows *= random.random((n, f)) < 0.4
    batch, n_gold = random.permutation(n)[: random.integers(1, n + 1)], random.integers(1, n)
    gold = [random.permutation(n)[:n_gold] for _ in range(r)]
    mass = random.exponential(2, (r, len(batch))) * (random.random((r, len(batch))) < 0.8)
    Y = mass[..., None] * random.dirichlet(np.full(c, 0.5), (r, len(batch)))
    X = FeatureMatrix(sparse.csr_array(rows) if kind == "sparse" else rows, dtype=DOUBLE)
    shapes = ((f, h), (h,), (h, c), (c,))
    return SimpleNamespace(
        X=torch.from_numpy(rows[batch]),
        X_gold=[torch.from_numpy(rows[nodes]) for nodes in gold],
        batch=X.rows(batch),
        gold=[X.rows(nodes) for nodes in gold],
        Y=torch.from_numpy(Y),
        theta=[[torch.from_numpy(random.standard_normal(shape)) for shape in shapes] for _ in range(r)],
        targets=torch.eye(c, dtype=DOUBLE)[torch.from_numpy(random.integers(0, c, (r, n_gold)))],
        eta=eta,
        scale=float(c),
        runs=range(r),
    )


def arguments(case, Y, form):
    """What the learner hands to a label gradient, for all runs at once; Y has shape (r, b, c)."""
    W1, b1, W2, b2 = (torch.stack(part) for part in zip(*case.theta, strict=True))
    head = Head(b1[:, None], W2.mT, b2[..., None])
    at = activate(case.batch.products(W1), head)
    inner = cross_entropy_gradient(at, head, Y.mT, case.scale)
    slope = case.batch.transpose_products(inner.Z)
    on_gold = [torch.stack([rows @ w for rows, w in zip(case.gold, W, strict=True)]) for W in (W1, slope)]
    gold = Gold(*on_gold, case.targets.mT, Coupling(case.batch, case.gold, form=form))
    return at, head, inner.head, gold, case.eta, case.scale


def finite_difference(case, given, **more):
    """Eq. 8 for what `arguments` has given."""
    W1 = torch.stack([theta[0] for theta in case.theta])
    return finite_difference_label_gradient(case.batch.products(W1), *given[1:], **more)


def assert_equal_relatively(ours, theirs, tolerance=1e-5):
    assert ours.shape == theirs.shape
    assert float((ours - theirs).norm()) <= tolerance * float(theirs.norm()) + 1e-13


@pytest.mark.parametrize("form", [True, False], ids=["gram", "factored"])
def test_exact_is_the_derivative_with_respect_to_the_pseudo_labels(form):
    @settings(max_examples=80, deadline=None)
    @given(problems())
    def check(case):
        ours = exact_label_gradient(*arguments(case, case.Y, form))
        for run in case.runs:
            expected = torch.func.grad(gold_loss_after_the_step)(case.Y[run], case, run)
            assert_equal_relatively(ours[run].T, expected)

    check()


@settings(max_examples=40, deadline=None)
@given(problems())
def test_the_direction_is_the_gradient_of_the_gold_loss_after_the_step(case):
    _, head, inner, gold, eta, scale = arguments(case, case.Y, form=False)
    v = gold_direction(head, inner, gold, eta, scale)
    for run in case.runs:
        theta = case.theta[run]
        step = torch.func.grad(loss, argnums=THETA)(*theta, case.X, case.Y[run], scale)
        moved = [part - eta * g for part, g in zip(theta, step, strict=True)]
        W1, b1, W2, b2 = torch.func.grad(loss, argnums=THETA)(*moved, case.X_gold[run], case.targets[run], scale)
        assert_equal_relatively(case.gold[run].transpose_product(v.Z[run]), W1)
        assert_equal_relatively(v.head.b1[run], b1[None])
        assert_equal_relatively(v.head.W2t[run], W2.T)
        assert_equal_relatively(v.head.b2[run], b2[:, None])


@settings(max_examples=60, deadline=None)
@given(problems())
def test_finite_differences_approach_it_as_the_step_falls(case):
    given = arguments(case, case.Y, form=True)
    exact = exact_label_gradient(*given)
    nearer, near = (finite_difference(case, given, epsilon=e) for e in (1e-4, 1e-3))
    smooth = 0
    for run in case.runs:
        W1, b1, _, _ = case.theta[run]
        # Within the longest step no unit may switch on or off: there log p has a kink and no second derivative.
        if float((case.X @ W1 + b1).abs().min()) <= 1e-3 * (1 + float(case.X.norm(dim=1).max())):
            continue
        smooth += 1
        size, error, smaller = (
            float(e.norm()) for e in (exact[run], near[run] - exact[run], nearer[run] - exact[run])
        )
        assert error <= 1e-3 * size + 1e-13
        assert smaller <= 0.03 * error + 1e-8 * size + 1e-13
    assume(smooth)


@settings(max_examples=20, deadline=None)
@given(problems())
def test_finite_differences_in_both_forms_are_the_same(case):
    gram, factored = (finite_difference(case, arguments(case, case.Y, form)) for form in (True, False))
    assert_equal_relatively(gram, factored, 1e-9)


@settings(max_examples=30, deadline=None)
@given(problems(), st.integers(0, 2**31))
def test_the_coupling_is_the_same_formed_or_factored(case, seed):
    generator = torch.Generator().manual_seed(seed)
    D = torch.randn(len(case.runs), len(case.X_gold[0]), 3, generator=generator, dtype=DOUBLE)
    K = torch.stack([case.X @ rows.T for rows in case.X_gold])
    for form in (True, False):
        coupling = Coupling(case.batch, case.gold, form=form)
        assert (coupling.gram is not None) == form
        torch.testing.assert_close(coupling.to_batch(D), K @ D)
        kept = [run for run in reversed(case.runs) if run != 1]
        coupling.keep(kept)
        torch.testing.assert_close(coupling.to_batch(D[kept]), K[kept] @ D[kept])


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
        random, n, c, r = np.random.default_rng(seed), len(case.X), int(case.scale), len(case.runs)
        graph = Graph.from_edges(random.integers(0, n, (2 * n, 2)), n)
        T = transition(graph, dtype=DOUBLE)
        nodes = [torch.from_numpy(random.permutation(n)[:2]) for _ in case.runs]
        Y0 = [one_hot(own, torch.from_numpy(random.integers(0, c, len(own))), n, c).double() for own in nodes]
        generator = torch.Generator().manual_seed(seed)
        propagators = [Propagator(c, kind=kind, alpha=0.1, generator=generator).double() for _ in range(r)]

        (stack,) = hop_blocks(T, torch.stack(Y0), n_hops, [torch.arange(n)])
        with torch.no_grad():
            phi = stacked(propagators)
            attention = attend(phi, stack)
            Y = stacked_pseudo_labels(attention, phi, stack)
            ours = propagator_gradient(attention, phi, exact_label_gradient(*arguments(case, Y.mT, form)))

        dense = T @ torch.eye(n, dtype=DOUBLE)
        for run in case.runs:
            powers = [torch.linalg.matrix_power(dense, k) @ Y0[run] for k in range(n_hops + 1)]
            hops = torch.stack(powers, dim=1)
            parameters = {name: value.detach() for name, value in propagators[run].named_parameters()}

            def outer(phi, run=run, hops=hops):
                return gold_loss_after_the_step(pseudo_labels(phi, hops, kind), case, run)

            expected = torch.func.grad(outer)(parameters)
            names = ("W", "a", "b")[: len(ours)]
            assert_equal_relatively(
                torch.cat([part[run].ravel() for part in ours]), torch.cat([expected[name].ravel() for name in names])
            )

    check()


def test_the_gram_matrix_is_formed_while_it_is_small():
    X = FeatureMatrix(sparse.random_array((100, 50), density=0.1, format="csr", rng=np.random.default_rng(0)))
    assert X.n_stored == 500
    assert gram_pays(X, 20)
    assert not gram_pays(X, 21)
    assert gram_pays(FeatureMatrix(np.ones((100, 5))), 20)
    assert not gram_pays(FeatureMatrix(np.ones((100, 5))), 21)
