"""The paper's theorem (appendix, "Theoretical Analysis") on random graphs, in float64; told in docs/theory.md.

Notation: P = softmax f_θ(X), shape (n, c); y the class of each gold node; M the matrix that propagates, (n, n).

    L1 = CE(M P, Y) = -Σ_j log Σ_i m_ji p_i,y(j)         the loss of a decoupled GCN
    L2 = CE(P, M Y) = -Σ_i Σ_j m_ij log p_i,y(j)         the loss on propagated labels
"""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.func import grad, jacrev

from metapn.data.synthetic import contextual_sbm
from metapn.model.closed_forms import Head, activate, cross_entropy_gradient
from metapn.model.propagator import Propagator
from metapn.propagation.hops import hops, transition

CLOSE = {"rtol": 1e-10, "atol": 1e-12}


class Problem:
    """A random graph with features, a transformer's parameters, and a gold node for each class and one more."""

    def __init__(self, seed, n_nodes=14, n_classes=3, hidden=4):
        graph = contextual_sbm(n_nodes, n_classes, 3, mean_degree=4, homophily=0.6, seed=seed)
        random = torch.Generator().manual_seed(seed)
        self.n, self.c = n_nodes, n_classes
        self.X = torch.from_numpy(graph.features).double()
        self.T = transition(graph, dtype=torch.float64) @ torch.eye(n_nodes, dtype=torch.float64)
        self.gold = torch.from_numpy(np.unique(graph.labels, return_index=True)[1])
        self.gold = torch.cat([self.gold, torch.tensor([n_nodes - 1])]).unique()
        self.y = torch.from_numpy(graph.labels)[self.gold]
        self.Y = torch.zeros(n_nodes, n_classes, dtype=torch.float64)
        self.Y[self.gold, self.y] = 1
        shapes = {"W1": (3, hidden), "b1": (hidden,), "W2": (hidden, n_classes), "b2": (n_classes,)}
        self.theta = {
            name: torch.randn(shape, generator=random, dtype=torch.float64) for name, shape in shapes.items()
        }

    def log_p(self, theta):
        return torch.log_softmax(torch.relu(self.X @ theta["W1"] + theta["b1"]) @ theta["W2"] + theta["b2"], dim=1)

    def gcn_gradient(self, M):
        """∇L1 by automatic differentiation."""

        def loss(theta):
            return -((M @ self.log_p(theta).exp())[self.gold, self.y]).log().sum()

        return flat(grad(loss)(self.theta))

    def pseudo_gradient(self, M):
        """∇L2 by automatic differentiation."""
        return flat(grad(lambda theta: -(M @ self.Y * self.log_p(theta)).sum())(self.theta))

    def weighted(self, weights):
        """Σ_ij w_ji ∇CE(p_i, y_j) for weights of shape (gold nodes, n), the gradients one by one."""
        jacobian = jacrev(self.log_p)(self.theta)  # of each log p_ik
        rows = torch.cat([part.reshape(self.n, self.c, -1) for part in jacobian.values()], dim=2)
        return -torch.einsum("ji,ijd->d", weights, rows[:, self.y])

    def responsibilities(self, M):
        """r_ji = m_ji p_i,y(j) / Σ_q m_jq p_q,y(j), the factor that the proof names, shape (gold nodes, n)."""
        shares = M[self.gold] * self.log_p(self.theta).exp()[:, self.y].T
        return shares / shares.sum(dim=1, keepdim=True)


def flat(gradient):
    return torch.cat([part.reshape(-1) for part in gradient.values()])


seeds = st.integers(0, 2**20)
random_problems = settings(max_examples=25, deadline=None)


@random_problems
@given(seed=seeds, n_hops=st.integers(1, 6))
def test_the_two_gradients_are_equal_but_for_the_factor(seed, n_hops):
    """For T and, as the paper leaves to the reader, for T^K: both are symmetric, so that t_ij is t_ji."""
    problem = Problem(seed)
    M = torch.linalg.matrix_power(problem.T, n_hops)
    torch.testing.assert_close(problem.gcn_gradient(M), problem.weighted(problem.responsibilities(M)), **CLOSE)
    torch.testing.assert_close(problem.pseudo_gradient(M), problem.weighted(M[problem.gold]), **CLOSE)


@random_problems
@given(seed=seeds, kind=st.sampled_from(["rows", "paper", "static"]))
def test_where_the_matrix_is_not_symmetric_one_of_the_two_has_its_transpose(seed, kind):
    """Row-normalised T, and Meta-PN's own M = Σ_k diag(γ_k) T^k: the paper's t_ij and t_ji are not the same."""
    problem = Problem(seed)
    M = problem.T / problem.T.sum(dim=1, keepdim=True) if kind == "rows" else own_matrix(problem, kind)
    torch.testing.assert_close(problem.gcn_gradient(M), problem.weighted(problem.responsibilities(M)), **CLOSE)
    torch.testing.assert_close(problem.pseudo_gradient(M), problem.weighted(M.T[problem.gold]), **CLOSE)
    if kind == "rows":
        assert (problem.pseudo_gradient(M) - problem.weighted(M[problem.gold])).abs().max() > 1e-6


def own_matrix(problem, kind):
    """M with Ŷ = M Y, from the propagator's own hop weights at its initial parameters."""
    propagator = Propagator(problem.c, kind=kind, alpha=0.1, generator=torch.Generator().manual_seed(1)).double()
    stack = torch.stack(list(hops(problem.T, problem.Y, 5)), dim=1)  # (n, K + 1, c)
    gamma = propagator.hop_weights(stack.permute(2, 1, 0).contiguous()).detach()
    powers = hops(problem.T, torch.eye(problem.n, dtype=torch.float64), 5)
    M = sum(weights[:, None] * power for weights, power in zip(gamma, powers, strict=True))
    torch.testing.assert_close(M @ problem.Y, propagator(stack.permute(2, 1, 0)).detach().T, **CLOSE)
    return M


@random_problems
@given(seed=seeds, n_hops=st.integers(1, 6))
def test_they_are_parallel_for_each_gold_node_while_all_nodes_predict_the_same(seed, n_hops):
    """With W₂ = 0 the factor is 1 / Σ_q t_jq: nothing but the gold nodes' weights tells the losses apart."""
    problem = Problem(seed)
    problem.theta["W2"].zero_()
    M = torch.linalg.matrix_power(problem.T, n_hops)
    reach = M[problem.gold]
    torch.testing.assert_close(problem.responsibilities(M), reach / reach.sum(dim=1, keepdim=True), **CLOSE)


@random_problems
@given(seed=seeds)
def test_the_pseudo_label_loss_is_never_below_the_other(seed):
    """Jensen: -log Σ_i (t_ji / s_j) p_i ≤ -Σ_i (t_ji / s_j) log p_i for each gold node, s_j = Σ_i t_ji."""
    problem = Problem(seed)
    log_p = problem.log_p(problem.theta)[:, problem.y].T
    shares = problem.T[problem.gold] / problem.T[problem.gold].sum(dim=1, keepdim=True)
    assert (-(shares * log_p.exp()).sum(dim=1).log() <= -(shares * log_p).sum(dim=1) + 1e-12).all()


@pytest.mark.parametrize("seed", range(3))
def test_the_gradient_that_training_follows_is_that_of_the_theorem(seed):
    """The closed form under every step of Meta-PN, against the sum over pairs; its scale is 1 / c."""
    problem = Problem(seed)
    W1, b1, W2, b2 = problem.theta.values()
    head = Head(b1[None, None], W2.T[None].contiguous(), b2[None, :, None])
    at = activate((problem.X @ W1)[None], head)
    found = cross_entropy_gradient(at, head, (problem.T @ problem.Y).T[None], problem.c)
    parts = (problem.X.T @ found.Z[0], found.head.b1, found.head.W2t[0].T, found.head.b2)
    expected = problem.weighted(problem.T[problem.gold]) / problem.c
    torch.testing.assert_close(torch.cat([part.reshape(-1) for part in parts]), expected, **CLOSE)
