"""Each method computes what its equation says: against PyTorch Geometric's layers, or a direct solve."""

import numpy as np
import pytest
import torch
from scipy import sparse

from metapn.baselines import method
from metapn.baselines.filters import autoregressive
from metapn.baselines.m3s import cluster_classes
from metapn.data.synthetic import contextual_sbm
from metapn.model.features import FeatureMatrix
from metapn.model.task import Task
from metapn.propagation.hops import one_hot, personalised_pagerank, transition

layers = pytest.importorskip("torch_geometric.nn")

N, F, C = 60, 9, 3


class World:
    """A random graph as the house has it and as PyTorch Geometric has it."""

    def __init__(self, seed):
        self.graph = contextual_sbm(n_nodes=N, n_classes=C, n_features=F, mean_degree=4, seed=seed)
        self.T = transition(self.graph)
        self.dense_T = (self.T @ torch.eye(N)).double()
        self.L = torch.eye(N, dtype=torch.float64) - self.dense_T
        self.edges = torch.from_numpy(np.stack(self.graph.adjacency.nonzero())).long()
        looped = sparse.coo_array(self.dense_T.numpy())
        self.looped_edges = torch.from_numpy(np.stack(looped.coords)).long()
        self.looped_weights = torch.from_numpy(looped.data).float()
        self.x = torch.from_numpy(self.graph.features)
        self.X = FeatureMatrix(sparse.csr_array(self.graph.features))
        self.gold = torch.tensor([np.flatnonzero(self.graph.labels == c)[i] for c in range(C) for i in range(2)])
        self.labels = torch.from_numpy(self.graph.labels)[self.gold]
        self.task = Task(self.T, self.X, self.gold, self.labels, C, torch.Generator().manual_seed(seed))

    def network(self, name, **settings):
        generator = torch.Generator().manual_seed(1)
        return method(name)(**settings)._network(F, C, generator).eval()


@pytest.fixture(params=[0, 1], ids=["graph 0", "graph 1"])
def world(request):
    return World(request.param)


def one_hot_rows(labels):
    return torch.nn.functional.one_hot(labels, C).float()


def equal(ours, theirs):
    torch.testing.assert_close(ours.float(), theirs.float(), atol=1e-5, rtol=1e-5)


@torch.no_grad()
@pytest.mark.parametrize("n_layers", [1, 2, 3, 6])
def test_gcn_is_as_many_gcn_convs(world, n_layers):
    network = world.network("gcn", n_layers=n_layers)
    if n_layers == 1:
        weights = [(network.W, network.b)]
    else:
        net = network.transformer
        weights = [(net.W1, net.b1), *zip(network.V, network.v, strict=True), (net.W2, net.b2)]
    H = world.x
    for layer, (W, b) in enumerate(weights):
        conv = layers.GCNConv(*W.shape)
        conv.lin.weight.copy_(W.T)
        conv.bias.copy_(b)
        H = conv(H if layer == 0 else H.relu(), world.edges)
    assert len(weights) == n_layers
    equal(network.logits(world.X, world.T), H)


@torch.no_grad()
@pytest.mark.parametrize("n_hops", [1, 2, 5])
def test_sgc_is_sg_conv(world, n_hops):
    network = world.network("sgc", n_hops=n_hops)
    conv = layers.SGConv(F, C, K=n_hops)
    conv.lin.weight.copy_(network.W.T)
    conv.lin.bias.copy_(network.b)
    equal(network.logits(world.X, world.T), conv(world.x, world.edges))


@torch.no_grad()
@pytest.mark.parametrize(("n_hops", "alpha"), [(1, 0.1), (10, 0.1), (10, 0.2)])
def test_appnp_is_appnp(world, n_hops, alpha):
    network = world.network("appnp", n_hops=n_hops, alpha=alpha)
    theirs = layers.APPNP(n_hops, alpha)(network.transformer(world.X), world.edges)
    equal(network.logits(world.X, world.T), theirs)


@pytest.mark.parametrize(("n_hops", "alpha"), [(1, 0.1), (10, 0.1), (30, 0.5)])
def test_lp_is_label_propagation(world, n_hops, alpha):
    Y0 = one_hot(world.gold, world.labels, N, C)
    theirs = layers.LabelPropagation(n_hops, 1 - alpha)(Y0, world.looped_edges, edge_weight=world.looped_weights)
    equal(personalised_pagerank(world.T, Y0, alpha, n_hops), theirs)


def test_lp_at_its_fixed_point_is_the_closed_form(world):
    alpha = 0.2
    Y0 = one_hot(world.gold, world.labels, N, C).double()
    scores = alpha * torch.linalg.solve(torch.eye(N, dtype=torch.float64) - (1 - alpha) * world.dense_T, Y0)
    y = np.full(N, -1)
    y[world.gold] = world.labels
    model = method("lp")(alpha=alpha, n_hops=300).fit(world.graph.features, y, graph=world.graph)
    reached = torch.from_numpy(model.reached_)
    theirs = (scores / scores.sum(dim=1, keepdim=True))[reached]
    equal(torch.from_numpy(model.label_distributions_)[reached], theirs)


@torch.no_grad()
@pytest.mark.parametrize("autoscale", [True, False])
def test_correct_and_smooth_is_correct_and_smooth(world, autoscale):
    model = method("cs")(autoscale=autoscale, scale=0.7, correct_alpha=0.05, smooth_alpha=0.24)
    network = model._network(F, C, torch.Generator().manual_seed(1)).eval()
    theirs = layers.CorrectAndSmooth(50, 0.95, 50, 0.76, autoscale, scale=0.7)
    soft = network.probabilities(world.X, None)
    corrected = theirs.correct(soft, world.labels, world.gold, world.looped_edges, world.looped_weights)
    equal(network.correct(soft, world.T, world.gold, one_hot_rows(world.labels)), corrected)
    expected = theirs.smooth(corrected, world.labels, world.gold, world.looped_edges, world.looped_weights)
    expected = expected / expected.sum(dim=1, keepdim=True)
    equal(model._final_distributions(network, world.task), expected)
    equal(model._learner(network, world.task).predict(), expected)


@torch.no_grad()
def test_dagnn_and_gpr_gnn_are_their_equations(world):
    powers = torch.stack([torch.linalg.matrix_power(world.dense_T, k) for k in range(11)]).float()
    dagnn = world.network("dagnn")
    stack = powers @ dagnn.transformer(world.X)
    retained = torch.sigmoid(stack @ dagnn.s + dagnn.b)
    equal(dagnn.logits(world.X, world.T), (retained[..., None] * stack).sum(dim=0))
    gpr = world.network("gpr-gnn", alpha=0.3)
    gpr.gamma.mul_(torch.linspace(-1, 2, 11))
    stack = powers @ gpr.transformer(world.X)
    equal(gpr.logits(world.X, world.T), (gpr.gamma[:, None, None] * stack).sum(dim=0))


@torch.no_grad()
def test_gpr_gnn_starts_as_appnp(world):
    ours, theirs = (world.network(name, alpha=0.15) for name in ("gpr-gnn", "appnp"))
    equal(ours.logits(world.X, world.T), theirs.logits(world.X, world.T))


@pytest.mark.parametrize("alpha", [0.0, 0.5, 5.0, 20.0, 100.0])
def test_ar_filter_is_a_direct_solve(world, alpha):
    H = torch.randn(N, 5, generator=torch.Generator().manual_seed(0)).requires_grad_()
    inverse = torch.linalg.inv(torch.eye(N, dtype=torch.float64) + alpha * world.L)
    ours = autoregressive(world.T, H, alpha)
    equal(ours, inverse @ H.double())
    weights = torch.randn(N, 5, generator=torch.Generator().manual_seed(1))
    (gradient,) = torch.autograd.grad((ours * weights).sum(), H)
    equal(gradient, inverse @ weights.double())


@torch.no_grad()
@pytest.mark.parametrize(("kind", "strength"), [("ar", 20.0), ("rnm", 10)])
def test_glp_and_igcn_are_their_equations(world, kind, strength):
    S = torch.linalg.inv(torch.eye(N, dtype=torch.float64) + strength * world.L).float()
    if kind == "rnm":
        S = torch.linalg.matrix_power(world.dense_T, strength).float()
    glp, igcn = world.network("glp"), world.network("igcn")
    for network, S2 in ((glp, torch.eye(N)), (igcn, S)):
        network.filter.become(kind, strength)
        net = network.transformer
        hidden = (S @ world.x @ net.W1 + net.b1).relu()
        equal(network.logits(world.X, world.T), S2 @ hidden @ net.W2 + net.b2)
        equal(network.embed(world.X, world.T), hidden)


@torch.no_grad()
@pytest.mark.parametrize("name", ["mlp", "sgc", "glp"])
@pytest.mark.parametrize("form", [sparse.csr_array, np.asarray])
def test_what_is_trained_on_the_gold_rows_is_what_the_whole_graph_gives(world, name, form):
    model = method(name)()
    task = Task(world.T, FeatureMatrix(form(world.graph.features)), world.gold, world.labels, C, torch.Generator())
    network = model._network(F, C, torch.Generator().manual_seed(1)).eval()
    if name == "glp":
        network.filter.become("ar", 20.0)
    learner = model._learner(network, task)
    whole = network.logits(world.X, world.T)
    X, T, gold = learner.training
    equal(network.logits(X, T)[gold], whole[world.gold])
    equal(learner.predict(), whole.softmax(dim=1))


@pytest.mark.parametrize(
    ("labels_of_a_class", "filter", "strength", "halved"),
    [(5, "rnm", 10, 5), (5, "ar", 20, 10), (20, "rnm", 5, 2), (20, "ar", 10, 5)],
)
def test_filters_are_half_as_strong_from_twenty_labels_on(labels_of_a_class, filter, strength, halved):
    graph = contextual_sbm(n_nodes=150, n_classes=3, seed=0)
    y = np.full(150, -1)
    for c in range(3):
        nodes = np.flatnonzero(graph.labels == c)[:labels_of_a_class]
        y[nodes] = c
    for name, expected in (("glp", strength), ("igcn", halved)):
        model = method(name)(filter=filter, max_epochs=1, random_state=0).fit(graph.features, y, graph=graph)
        assert (model.filter_, float(model._network_.filter.strength)) == (filter, expected)


def test_the_better_filter_is_kept():
    graph = contextual_sbm(n_nodes=200, n_classes=3, seed=2)
    y = np.where(np.arange(200) < 12, graph.labels, -1)
    validation = np.arange(20, 80), graph.labels[20:80]
    best = {}
    for choice in ("rnm", "ar", "auto"):
        model = method("glp")(filter=choice, max_epochs=30, random_state=0)
        model.fit(graph.features, y, graph=graph, validation=validation)
        best[choice] = max(model.history_.validation_accuracy)
        kept = (model.transduction_[20:80] == graph.labels[20:80]).mean()
        assert kept == pytest.approx(best[choice])
    assert best["auto"] >= best["rnm"]


def test_m3s_aligns_clusters_and_trusts_only_what_agrees():
    centres = torch.tensor([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
    true = torch.arange(N) % C
    H = centres[true] + 0.1 * torch.randn(N, 2, generator=torch.Generator().manual_seed(0))
    world = World(0)
    gold = torch.tensor([0, 1, 2])
    task = Task(world.T, world.X, gold, gold, C, torch.Generator().manual_seed(0))
    assert (cluster_classes(H, task, 200) == true).all()
    assert (cluster_classes(H, task, 3) == true).all()


def test_m3s_adds_confident_nodes_of_each_class_once():
    world = World(1)
    model = method("m3s")(n_confident=4, random_state=0)
    network = world.network("m3s")
    with torch.no_grad():
        confidence, predicted = network.probabilities(world.X, world.T).max(dim=1)
        aligned = cluster_classes(network.embed(world.X, world.T), World(1).task, model.n_clusters)
    once = model._more_labels(network, world.task)
    twice = model._more_labels(network, once)
    for task, most in ((once, 4), (twice, 8)):
        added, labels = task.gold[6:], task.gold_labels[6:]
        assert len(torch.unique(task.gold)) == len(task.gold)
        assert (predicted[added] == labels).all()
        assert len(added) == 0 or int(torch.bincount(labels).max()) <= most
    added = once.gold[6:]
    assert len(added) > 0 and (aligned[added] == predicted[added]).all()
    confidence[world.gold] = -1
    most_confident = torch.cat([torch.where(predicted == c, confidence, -1).topk(4).indices for c in range(C)])
    assert (aligned[most_confident] != predicted[most_confident]).any(), "nothing was there to be turned down"


def test_static_lp_weighs_hops_by_personalised_pagerank(world):
    y = np.full(N, -1)
    y[world.gold] = world.labels
    model = method("static-lp")(max_epochs=2, balance=False, random_state=0)
    model.fit(world.graph.features, y, graph=world.graph)
    Y0 = one_hot(world.gold, world.labels, N, C)
    equal(torch.from_numpy(model.pseudo_labels_), personalised_pagerank(world.T, Y0, 0.1, 10))
