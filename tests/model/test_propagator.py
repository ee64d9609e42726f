import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from metapn.graph import Graph
from metapn.model.propagator import (
    PROPAGATORS,
    Phi,
    Propagator,
    attend,
    propagator_gradient,
    pseudo_labels,
    stacked,
)
from metapn.propagation.hops import hops, personalised_pagerank, transition

DOUBLE = torch.float64
ADAPTIVE = [kind for kind in PROPAGATORS if kind != "static"]


def made(kind, c=3, seed=0, alpha=0.15):
    return Propagator(c, kind=kind, alpha=alpha, generator=torch.Generator().manual_seed(seed)).double()


@pytest.fixture
def stack():
    """Columns of nine nodes, shape (c, K + 1, b) = (3, 5, 9)."""
    random = np.random.default_rng(1)
    stack = torch.from_numpy(random.random((3, 5, 9)))
    stack[..., 4] = 0  # a node that no label has reached
    return stack


def softmax(scores):
    exponentials = [np.exp(s) for s in scores]
    return [e / sum(exponentials) for e in exponentials]


@pytest.mark.parametrize("kind", ADAPTIVE)
def test_hop_weights_and_pseudo_labels_by_explicit_loops(kind, stack):
    propagator = made(kind)
    with torch.no_grad():
        weights, pseudo = propagator.hop_weights(stack).numpy(), propagator(stack).numpy()
    phi = {name: value.detach().numpy() for name, value in propagator.named_parameters()}
    assert set(phi) == ({"W", "a", "b"} if kind == "anchored" else {"W", "a"})
    for i in range(9):
        hops_of_node = stack[..., i].T.numpy()
        attended = hops_of_node[1:] if kind == "anchored" else hops_of_node
        scores = []
        for hop in attended:
            score = 0.0
            for d in range(3):
                unit = phi["b"][d] if kind == "anchored" else 0.0
                for e in range(3):
                    unit += phi["W"][d, e] * hop[e]
                score += phi["a"][d] * max(unit, 0.0)
            scores.append(score)
        expected = softmax(scores)
        if kind == "anchored":
            expected = [1.0, *expected]
        assert weights[:, i] == pytest.approx(expected)
        assert pseudo[:, i] == pytest.approx(sum(w * hop for w, hop in zip(expected, hops_of_node, strict=True)))


@pytest.mark.parametrize("n_hops", [1, 2, 7])
@pytest.mark.parametrize("alpha", [0.0, 0.1, 1.0])
def test_static_is_personalised_pagerank_of_the_labels(alpha, n_hops):
    random = np.random.default_rng(0)
    T = transition(Graph.from_edges(random.integers(0, 20, (30, 2)), 20), dtype=DOUBLE)
    Y0 = torch.zeros(20, 3, dtype=DOUBLE)
    Y0[[3, 5, 9], [0, 1, 2]] = 1
    propagator = made("static", alpha=alpha)
    stack = torch.stack([hop.T for hop in hops(T, Y0, n_hops)], dim=1)
    torch.testing.assert_close(propagator(stack).T, personalised_pagerank(T, Y0, alpha, n_hops))
    assert propagator.hop_weights(stack).sum(dim=0).numpy() == pytest.approx(np.ones(20))
    assert not propagator.adaptive
    assert list(propagator.parameters()) == []


@pytest.mark.parametrize("kind", PROPAGATORS)
def test_a_batch_is_some_columns_of_the_whole(kind, stack):
    propagator, nodes = made(kind), torch.tensor([7, 0, 4])
    batch = stack[..., nodes]
    with torch.no_grad():
        torch.testing.assert_close(propagator(batch), propagator(stack)[:, nodes])
        torch.testing.assert_close(propagator.hop_weights(batch), propagator.hop_weights(stack)[:, nodes])


@pytest.mark.parametrize("kind", PROPAGATORS)
def test_weights_sum_to_one_over_the_hops_they_are_softmaxed_over(kind, stack):
    with torch.no_grad():
        weights = made(kind).hop_weights(stack)
    assert weights.shape == (5, 9)
    attended = weights[1:] if kind == "anchored" else weights
    assert attended.sum(dim=0).numpy() == pytest.approx(np.ones(9))
    assert (weights >= 0).all()
    if kind == "anchored":
        assert (weights[0] == 1).all()


@st.composite
def problems(draw):
    """Propagators of several runs, a batch of their hop stacks (r, c, K + 1, b), and a gradient of their labels."""
    r, c, b = draw(st.integers(1, 4)), draw(st.integers(2, 4)), draw(st.integers(1, 6))
    n_hops, seed = draw(st.integers(1, 4)), draw(st.integers(0, 2**31))
    generator = torch.Generator().manual_seed(seed)
    stacks = torch.rand(r, c, n_hops + 1, b, dtype=DOUBLE, generator=generator)
    stacks[..., 0] = 0
    G = torch.randn(r, c, b, dtype=DOUBLE, generator=generator)
    return [seed + run for run in range(r)], stacks, G


@pytest.mark.parametrize("kind", ADAPTIVE)
def test_many_at_once_are_each_alone(kind):
    @settings(max_examples=30, deadline=None)
    @given(problems())
    def check(case):
        seeds, stacks, _ = case
        propagators = [made(kind, stacks.shape[1], seed) for seed in seeds]
        phi = stacked(propagators)
        attention = attend(phi, stacks)
        together = pseudo_labels(attention, phi, stacks)
        for run, propagator in enumerate(propagators):
            weights = propagator.hop_weights(stacks[run])
            torch.testing.assert_close(together[run], propagator(stacks[run]))
            torch.testing.assert_close(attention.weights[run], weights[1:] if kind == "anchored" else weights)

    check()


@pytest.mark.parametrize("kind", ADAPTIVE)
def test_the_closed_form_of_the_gradient_is_autograds(kind):
    @settings(max_examples=50, deadline=None)
    @given(problems())
    def check(case):
        seeds, stacks, G = case
        phi = stacked([made(kind, stacks.shape[1], seed) for seed in seeds])
        parts = [part.detach().requires_grad_() for part in phi if part is not None]

        def labels(*parts):
            phi = Phi(*parts) if kind == "anchored" else Phi(*parts, None)
            return pseudo_labels(attend(phi, stacks), phi, stacks)

        expected = torch.autograd.grad(labels(*parts), parts, G)
        with torch.no_grad():
            ours = propagator_gradient(attend(phi, stacks), phi, G)
        for mine, theirs in zip(ours, expected, strict=True):
            assert mine.shape == theirs.shape
            torch.testing.assert_close(mine, theirs, rtol=1e-9, atol=1e-12)

    check()


@pytest.mark.parametrize("kind", ADAPTIVE)
def test_gradients_are_those_of_finite_differences(kind, stack):
    propagator = made(kind)
    parameters = tuple(propagator.parameters())

    def function(*values):
        return torch.func.functional_call(
            propagator, dict(zip(dict(propagator.named_parameters()), values, strict=True)), stack
        )

    assert torch.autograd.gradcheck(function, parameters)


def test_the_seed_decides_the_initial_weights():
    one, same, other = (made("anchored", seed=seed) for seed in (0, 0, 1))
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), same.parameters(), strict=True))
    assert not torch.equal(one.W, other.W)
