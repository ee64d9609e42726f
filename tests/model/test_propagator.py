import numpy as np
import pytest
import torch

from metapn.graph import Graph
from metapn.model.propagator import PROPAGATORS, Propagator
from metapn.propagation.hops import hop_stack, personalised_pagerank, transition

DOUBLE = torch.float64


def made(kind, c=3, seed=0, alpha=0.15):
    return Propagator(c, kind=kind, alpha=alpha, generator=torch.Generator().manual_seed(seed)).double()


@pytest.fixture
def stack():
    random = np.random.default_rng(1)
    stack = torch.from_numpy(random.random((9, 5, 3)))
    stack[4] = 0  # a node that no label has reached
    return stack


def softmax(scores):
    exponentials = [np.exp(s) for s in scores]
    return [e / sum(exponentials) for e in exponentials]


@pytest.mark.parametrize("kind", ["anchored", "paper"])
def test_hop_weights_and_pseudo_labels_by_explicit_loops(kind, stack):
    propagator = made(kind)
    with torch.no_grad():
        weights, pseudo = propagator.hop_weights(stack).numpy(), propagator(stack).numpy()
    phi = {name: value.detach().numpy() for name, value in propagator.named_parameters()}
    assert set(phi) == ({"W", "a", "b"} if kind == "anchored" else {"W", "a"})
    for i, hops in enumerate(stack.numpy()):
        attended = hops[1:] if kind == "anchored" else hops
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
        assert weights[i] == pytest.approx(expected)
        assert pseudo[i] == pytest.approx(sum(w * hop for w, hop in zip(expected, hops, strict=True)))


@pytest.mark.parametrize("n_hops", [1, 2, 7])
@pytest.mark.parametrize("alpha", [0.0, 0.1, 1.0])
def test_static_is_personalised_pagerank_of_the_labels(alpha, n_hops):
    random = np.random.default_rng(0)
    T = transition(Graph.from_edges(random.integers(0, 20, (30, 2)), 20), dtype=DOUBLE)
    Y0 = torch.zeros(20, 3, dtype=DOUBLE)
    Y0[[3, 5, 9], [0, 1, 2]] = 1
    propagator = made("static", alpha=alpha)
    stack = hop_stack(T, Y0, n_hops)
    torch.testing.assert_close(propagator(stack), personalised_pagerank(T, Y0, alpha, n_hops))
    assert propagator.hop_weights(stack).sum(dim=1).numpy() == pytest.approx(np.ones(20))
    assert not propagator.adaptive
    assert list(propagator.parameters()) == []


@pytest.mark.parametrize("kind", PROPAGATORS)
def test_a_batch_is_some_rows_of_the_whole(kind, stack):
    propagator, rows = made(kind), torch.tensor([7, 0, 4])
    with torch.no_grad():
        torch.testing.assert_close(propagator(stack[rows]), propagator(stack)[rows])
        torch.testing.assert_close(propagator.hop_weights(stack[rows]), propagator.hop_weights(stack)[rows])


@pytest.mark.parametrize("kind", PROPAGATORS)
def test_weights_sum_to_one_over_the_hops_they_are_softmaxed_over(kind, stack):
    with torch.no_grad():
        weights = made(kind).hop_weights(stack)
    assert weights.shape == (9, 5)
    attended = weights[:, 1:] if kind == "anchored" else weights
    assert attended.sum(dim=1).numpy() == pytest.approx(np.ones(9))
    assert (weights >= 0).all()
    if kind == "anchored":
        assert (weights[:, 0] == 1).all()


@pytest.mark.parametrize("kind", ["anchored", "paper"])
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
