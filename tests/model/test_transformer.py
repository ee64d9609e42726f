import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from metapn.model.features import FeatureMatrix
from metapn.model.transformer import (
    Head,
    Transformer,
    activate,
    cross_entropy_gradient,
    dropout_mask,
    log_probability_derivative,
    uniform,
)

DOUBLE = torch.float64
sizes = st.tuples(st.integers(1, 8), st.integers(1, 6), st.integers(1, 7), st.integers(2, 5), st.integers(0, 2**31))


def draw(b, f, h, c, seed):
    """X, θ, unnormalised targets with a row of zeros, a dropout mask, and the generator."""
    generator = torch.Generator().manual_seed(seed)
    normal = lambda *shape: torch.randn(shape, generator=generator, dtype=DOUBLE)  # noqa: E731
    Y = 3 * torch.rand(b, c, generator=generator, dtype=DOUBLE)
    Y[0] = 0
    mask = dropout_mask(torch.empty(b, h, dtype=DOUBLE), 0.4, generator)
    return normal(b, f), (normal(f, h), normal(h), normal(h, c), normal(c)), Y, mask, normal


def log_p(W1, b1, W2, b2, X, mask=1.0):
    return torch.log_softmax((torch.relu(X @ W1 + b1) * mask) @ W2 + b2, dim=-1)


@settings(max_examples=50, deadline=None)
@given(sizes, st.floats(0.1, 9), st.booleans())
def test_cross_entropy_gradient_is_autograds(size, scale, noisy):
    X, theta, Y, mask, _ = draw(*size)
    mask = mask if noisy else 1.0
    head = Head(*theta[1:])
    at = activate(X @ theta[0], head, mask)
    ours = cross_entropy_gradient(at, head, Y, scale)
    expected = torch.func.grad(lambda *theta: -(Y * log_p(*theta, X, mask)).sum() / scale, argnums=(0, 1, 2, 3))(
        *theta
    )
    for mine, theirs in zip((X.T @ ours.Z, *ours.head), expected, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-9, atol=1e-11)
    torch.testing.assert_close(at.log_p, log_p(*theta, X, mask))


@settings(max_examples=50, deadline=None)
@given(sizes)
def test_log_probability_derivative_is_forward_mode(size):
    _, f, h, c, _ = size
    X, theta, _, _, normal = draw(*size)
    tangent = (normal(f, h), normal(h), normal(h, c), normal(c))
    _, expected = torch.func.jvp(lambda *theta: log_p(*theta, X), theta, tangent)
    head = Head(*theta[1:])
    ours = log_probability_derivative(activate(X @ theta[0], head), head, X @ tangent[0], Head(*tangent[1:]))
    torch.testing.assert_close(ours, expected, rtol=1e-9, atol=1e-11)


def test_the_module_is_the_formula_and_embeds_its_hidden_layer():
    net = Transformer(4, 6, 3, dropout=0.5, generator=torch.Generator().manual_seed(0)).eval()
    X = torch.rand(5, 4)
    features = FeatureMatrix(X.numpy())
    theta = [net.W1, net.b1, net.W2, net.b2]
    torch.testing.assert_close(torch.log_softmax(net(features), -1), log_p(*theta, X))
    torch.testing.assert_close(net.embed(features), torch.relu(X @ net.W1 + net.b1))
    assert [tuple(value.shape) for value in net.head] == [(6,), (6, 3), (3,)]
    assert not any(value.requires_grad for value in net.head)


def test_dropout_is_drawn_from_the_models_own_generator():
    net = Transformer(4, 64, 3, dropout=0.5, generator=torch.Generator().manual_seed(0)).train()
    X = FeatureMatrix(torch.rand(5, 4, generator=torch.Generator().manual_seed(1)).numpy())
    state = net.generator.get_state()
    first, second = net(X), net(X)
    net.generator.set_state(state)
    torch.manual_seed(123)
    assert not torch.equal(first, second)
    assert torch.equal(net(X), first)
    net.dropout = 0.0
    assert torch.equal(net(X), net(X))


@pytest.mark.parametrize("p", [0.2, 0.75])
def test_a_dropout_mask_keeps_the_mean(p):
    mask = dropout_mask(torch.empty(400, 400), p, torch.Generator().manual_seed(0))
    assert float((mask == 0).float().mean()) == pytest.approx(p, abs=0.01)
    assert float(mask.mean()) == pytest.approx(1, abs=0.02)
    assert mask.unique().tolist() == pytest.approx([0, 1 / (1 - p)])


def test_without_dropout_the_mask_is_one_and_draws_nothing():
    generator = torch.Generator().manual_seed(0)
    before = generator.get_state()
    assert dropout_mask(torch.empty(2, 2), 0, generator) == 1.0
    assert torch.equal(generator.get_state(), before)


def test_initial_weights_fill_their_interval_and_follow_the_seed():
    drawn, same, other = (uniform((1000,), 0.25, torch.Generator().manual_seed(seed)).detach() for seed in (0, 0, 1))
    assert float(drawn.abs().max()) <= 0.25
    assert float(drawn.min()) < -0.2
    assert float(drawn.max()) > 0.2
    assert torch.equal(drawn, same)
    assert not torch.equal(drawn, other)
