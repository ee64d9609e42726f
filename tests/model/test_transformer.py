import pytest
import torch

from metapn.model.features import FeatureMatrix
from metapn.model.transformer import Transformer, dropout_mask, uniform


def log_p(W1, b1, W2, b2, X):
    return torch.log_softmax(torch.relu(X @ W1 + b1) @ W2 + b2, dim=-1)


def test_the_module_is_the_formula_and_embeds_its_hidden_layer():
    net = Transformer(4, 6, 3, dropout=0.5, generator=torch.Generator().manual_seed(0)).eval()
    X = torch.rand(5, 4)
    features = FeatureMatrix(X.numpy())
    theta = [net.W1, net.b1, net.W2, net.b2]
    torch.testing.assert_close(torch.log_softmax(net(features), -1), log_p(*theta, X))
    torch.testing.assert_close(net.embed(features), torch.relu(X @ net.W1 + net.b1))
    assert [tuple(value.shape) for value in theta] == [(4, 6), (6,), (6, 3), (3,)]
    assert all(value.requires_grad for value in theta)


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
