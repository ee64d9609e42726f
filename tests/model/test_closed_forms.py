"""The closed forms of several runs at once against autograd, which differentiates one run after another."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from metapn.model.closed_forms import Head, activate, cross_entropy_gradient, gate, log_probability_derivative
from metapn.model.transformer import dropout_mask

DOUBLE = torch.float64
#: Runs, nodes, features, hidden units, classes, seed.
sizes = st.tuples(
    st.integers(1, 3),
    st.integers(1, 8),
    st.integers(1, 6),
    st.integers(1, 7),
    st.integers(2, 5),
    st.integers(0, 2**31),
)
EXACT = {"rtol": 1e-9, "atol": 1e-11}


class Drawn:
    """X, and for each of r runs θ, a direction, unnormalised targets with a node of no mass, and a dropout mask."""

    def __init__(self, r, b, f, h, c, seed):
        generator = torch.Generator().manual_seed(seed)

        def normal(*shape):
            return torch.randn(shape, generator=generator, dtype=DOUBLE)

        self.X = normal(b, f)
        self.theta, self.direction = (
            [(normal(f, h), normal(h), normal(h, c), normal(c)) for _ in range(r)] for _ in range(2)
        )
        self.Y = 3 * torch.rand(r, b, c, generator=generator, dtype=DOUBLE)
        self.Y[:, 0] = 0
        self.mask = dropout_mask(torch.empty(r, b, h, dtype=DOUBLE), 0.4, generator)

    def first_layer(self, theta):
        return torch.stack([self.X @ W1 for W1, *_ in theta])


def head_of(theta):
    """The parameters of several runs beyond W₁, in the shapes of the closed forms."""
    _, b1, W2, b2 = (torch.stack(part) for part in zip(*theta, strict=True))
    return Head(b1[:, None], W2.mT, b2[..., None])


def log_p(W1, b1, W2, b2, X, mask=1.0):
    return torch.log_softmax((torch.relu(X @ W1 + b1) * mask) @ W2 + b2, dim=-1)


@settings(max_examples=50, deadline=None)
@given(sizes, st.floats(0.1, 9), st.booleans())
def test_cross_entropy_gradient_is_autograds(size, scale, noisy):
    case = Drawn(*size)
    masks = case.mask if noisy else [1.0] * size[0]
    head = head_of(case.theta)
    at = activate(case.first_layer(case.theta), head, case.mask if noisy else 1.0)
    ours = cross_entropy_gradient(at, head, case.Y.mT, scale)
    for run, (theta, Y, mask) in enumerate(zip(case.theta, case.Y, masks, strict=True)):

        def loss(*theta, Y=Y, mask=mask):
            return -(Y * log_p(*theta, case.X, mask)).sum() / scale

        W1, b1, W2, b2 = torch.func.grad(loss, argnums=(0, 1, 2, 3))(*theta)
        torch.testing.assert_close(case.X.T @ ours.Z[run], W1, **EXACT)
        torch.testing.assert_close(ours.head.b1[run], b1[None], **EXACT)
        torch.testing.assert_close(ours.head.W2t[run], W2.T, **EXACT)
        torch.testing.assert_close(ours.head.b2[run], b2[:, None], **EXACT)
        torch.testing.assert_close(at.log_p[run].T, log_p(*theta, case.X, mask))
        torch.testing.assert_close(at.p[run].T, log_p(*theta, case.X, mask).exp())


@settings(max_examples=50, deadline=None)
@given(sizes, st.booleans())
def test_log_probability_derivative_is_forward_mode(size, noisy):
    case = Drawn(*size)
    masks = case.mask if noisy else [1.0] * size[0]
    head = head_of(case.theta)
    at = activate(case.first_layer(case.theta), head, case.mask if noisy else 1.0)
    ours = log_probability_derivative(at, head, case.first_layer(case.direction), head_of(case.direction))
    for run, (theta, direction, mask) in enumerate(zip(case.theta, case.direction, masks, strict=True)):
        _, expected = torch.func.jvp(lambda *theta, mask=mask: log_p(*theta, case.X, mask), theta, direction)
        torch.testing.assert_close(ours[run].T, expected, **EXACT)


@settings(max_examples=30, deadline=None)
@given(sizes, st.floats(-2, 2))
def test_a_head_moves_by_one_step_or_by_one_for_each_run(size, step):
    case = Drawn(*size)
    head, direction = head_of(case.theta), head_of(case.direction)
    steps = step * torch.arange(size[0], dtype=DOUBLE).view(-1, 1, 1)
    together, apart = head.moved(direction, step), head.moved(direction, steps)
    for value, d, one, each in zip(head, direction, together, apart, strict=True):
        torch.testing.assert_close(one, value + step * d)
        for run in range(size[0]):
            torch.testing.assert_close(each[run], value[run] + run * step * d[run])


@settings(max_examples=20, deadline=None)
@given(sizes)
def test_what_the_closed_forms_are_given_to_keep_stays_as_it_was(size):
    """Only Z is used up: head, activation and targets are needed again for the next step of a batch."""
    case = Drawn(*size)
    head, Y = head_of(case.theta), case.Y.mT.clone()
    at = activate(case.first_layer(case.theta), head, case.mask)
    before = [value.clone() for value in (*head, at.hidden, at.logits, at.p, Y, case.mask)]
    inner = cross_entropy_gradient(at, head, Y, 2.0)
    gradient = [value.clone() for value in (inner.Z, *inner.head)]
    log_probability_derivative(at, head, case.first_layer(case.direction), inner.head)
    after = (*head, at.hidden, at.logits, at.p, Y, case.mask)
    assert all(torch.equal(a, b) for a, b in zip(before, after, strict=True))
    assert all(torch.equal(a, b) for a, b in zip(gradient, (inner.Z, *inner.head), strict=True))


def test_the_gate_of_a_unit_at_zero_is_shut():
    unit = torch.tensor([-0.0, 0.0, 1e-30, 2.0])
    gradient = torch.tensor([1.0, 2.0, 3.0, 4.0])
    assert gate(gradient, unit).tolist() == [0, 0, 3, 4]
    assert gradient.tolist() == [1, 2, 3, 4]
    assert gate(gradient, unit, out=gradient) is gradient
    assert gradient.tolist() == [0, 0, 3, 4]
