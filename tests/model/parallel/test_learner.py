"""Training by several workers gives what one gives: the workers are threads, and Ray does all in this process."""

import copy
import threading
from contextlib import contextmanager

import numpy as np
import pytest
import torch
from scipy import sparse

from metapn import MetaPN
from metapn.graph import Graph
from metapn.model.parallel import engine as parallel_engine
from metapn.model.parallel import learner as parallel_learner
from metapn.model.parallel.checkpoint import load_state, save_state
from metapn.model.parallel.engine import SharedEngine
from metapn.model.parallel.features import OwnFeatures
from metapn.model.parallel.learner import ParallelLearner
from metapn.model.streaming.task import StreamedTask
from metapn.model.together import begin
from metapn.model.training import stopping_rule, train_all


class Threads:
    """What the workers use of torch.distributed, for threads of one process."""

    def __init__(self, n_workers):
        self.barrier_, self.own = threading.Barrier(n_workers, timeout=300), threading.local()
        self.sent = [None] * n_workers

    def get_rank(self):
        return self.own.rank

    def barrier(self):
        self.barrier_.wait()

    def all_reduce(self, tensor):
        self.sent[self.own.rank] = tensor.clone()
        self.barrier()
        tensor.copy_(torch.stack(self.sent).sum(dim=0))
        self.barrier()

    def run(self, function):
        """Call a function with each rank, all at once; return what they return."""
        results = [None] * len(self.sent)

        def work(rank):
            self.own.rank = rank
            try:
                results[rank] = function(rank)
            except BaseException:
                self.barrier_.abort()
                raise

        threads = [threading.Thread(target=work, args=(rank,)) for rank in range(len(self.sent))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert all(result is not None for result in results)
        return results


@pytest.fixture
def workers(monkeypatch):
    @contextmanager
    def of(n_workers):
        threads = Threads(n_workers)
        monkeypatch.setattr(parallel_engine, "distributed", threads)
        monkeypatch.setattr(parallel_learner, "distributed", threads)
        yield threads

    return of


def problem(n=90, c=3, f=8, *, sparse_features=False):
    """Two labels a class, and a last batch of one node, which only one of the workers has."""
    random = np.random.default_rng(0)
    labels = np.arange(n) % c
    same = [(i, int(random.choice(np.flatnonzero(labels == labels[i])))) for i in range(n) for _ in range(3)]
    X = (random.random((n, f)) + 2 * np.eye(c)[labels] @ random.random((c, f))).astype(np.float32)
    y = np.where(np.arange(n) < 2 * c, labels, -1)
    return sparse.csr_array(X * (X > 1)) if sparse_features else X, y, Graph.from_edges(same, n), labels


def learner_of(rank, n_workers, model, ready):
    """One worker's learner over the parts of the engine of a task that is ready."""
    [task], [network] = ready.tasks, ready.networks
    parted = task.engine.parted
    own = range(rank, len(parted.bounds) - 1, n_workers)
    rows = {int(parted.bounds[i]): task.X.block(*parted.bounds[i : i + 2].tolist()).source for i in own}
    generator = torch.Generator()
    generator.set_state(task.generator.get_state())
    labels = {name: getattr(task, name) for name in ("gold", "gold_labels", "n_classes")}
    labels |= {"validation": task.validation, "validation_labels": task.validation_labels}
    X = OwnFeatures(task.X.shape, task.X.n_stored, rows, task.X.rows(task.gold.numpy()).source)
    part = StreamedTask(engine=SharedEngine(parted, own), X=X, generator=generator, **labels)
    # A run that ends writes its weights into its network.
    return ParallelLearner([copy.deepcopy(network)], [part], model, keep_propagated=False)


def trained(rank, n_workers, model, ready, max_epochs):
    learner = learner_of(rank, n_workers, model, ready)
    rule = stopping_rule(learner.streamed, model.patience)
    [history] = train_all(learner, [rule], max_epochs=max_epochs)
    return history, [*learner.theta, *learner.phi], learner


@pytest.mark.parametrize(
    ("n_workers", "sparse_features", "validated", "settings"),
    [
        (2, False, False, {}),
        (3, True, False, {"meta_gradient": "finite_difference"}),
        (2, False, True, {"propagator": "static", "balance": False}),
        (2, True, False, {"propagator": "paper", "final": "transformer"}),
    ],
)
def test_workers_take_the_steps_of_one(n_workers, sparse_features, validated, settings, ray_in_this_process, workers):
    X, y, graph, labels = problem(sparse_features=sparse_features)
    settings = {"random_state": 0, "batch_size": 89, "n_hops": 3, "hidden": 8, "max_epochs": 10, **settings}
    validation = (np.arange(60, 90), labels[60:90]) if validated else None
    alone = MetaPN(**settings).fit(X, y, graph=graph, validation=validation)
    model = MetaPN(engine="ray", **settings)
    with ray_in_this_process(3), workers(n_workers) as threads:
        ready = begin([model], X, [y], graph, validations=[validation])
        results = threads.run(lambda rank: trained(rank, n_workers, model, ready, 10))
    for history, weights, _ in results:
        np.testing.assert_allclose(history.loss, alone.history_.loss, rtol=1e-4)
        assert history.changed == alone.history_.changed
        np.testing.assert_allclose(history.validation_loss, alone.history_.validation_loss, rtol=1e-4)
        network = alone._network_
        torch.testing.assert_close(weights[0][0], network.transformer.W1.detach(), atol=1e-4, rtol=1e-3)
        if network.propagator.adaptive:
            torch.testing.assert_close(weights[4][0], network.propagator.W.detach(), atol=1e-5, rtol=1e-3)
        # All workers hold the same weights to the bit, or they would drift apart.
        assert all(torch.equal(own, first) for own, first in zip(weights, results[0][1], strict=True))


def test_dropout_differs_among_workers_and_their_order_does_not(ray_in_this_process, workers):
    X, y, graph, _ = problem()
    model = MetaPN(engine="ray", random_state=0, batch_size=30, n_hops=2, hidden=8, dropout=0.5)
    with ray_in_this_process(2), workers(2) as threads:
        ready = begin([model], X, [y], graph)
        results = threads.run(lambda rank: trained(rank, 2, model, ready, 12))
    (_, first, a), (_, second, b) = results
    assert all(torch.equal(x, y) for x, y in zip(first, second, strict=True))
    assert torch.equal(a.task.generator.get_state(), b.task.generator.get_state())
    assert not torch.equal(a.noise.get_state(), b.noise.get_state())


@pytest.mark.parametrize("validated", [False, True])
def test_a_training_that_is_taken_up_again_goes_on_as_if_it_had_never_ended(
    validated, ray_in_this_process, workers, tmp_path
):
    X, y, graph, labels = problem()
    validation = (np.arange(60, 90), labels[60:90]) if validated else None
    model = MetaPN(engine="ray", random_state=0, batch_size=40, n_hops=2, hidden=8)

    def in_two(rank):
        first = learner_of(rank, 1, model, ready)
        rule = stopping_rule(first.streamed, model.patience)
        kept = _StopAfter(rule, 13)
        [history] = train_all(first, [kept], max_epochs=30)
        save_state(tmp_path, first, rule, history, done=False)
        again = learner_of(rank, 1, model, ready)
        rule = stopping_rule(again.streamed, model.patience)
        history, done = load_state(tmp_path, again, rule)
        assert not done
        train_all(again, [rule], max_epochs=30, so_far=[history])
        return history, [*again.theta, *again.phi]

    with ray_in_this_process(2), workers(1) as threads:
        ready = begin([model], X, [y], graph, validations=[validation])
        [(whole, weights, _)] = threads.run(lambda rank: trained(rank, 1, model, ready, 30))
        [(history, again)] = threads.run(in_two)
    assert history.loss == whole.loss
    assert (history.changed, history.validation_loss) == (whole.changed, whole.validation_loss)
    assert history.best_epoch == whole.best_epoch
    assert all(torch.equal(x, y) for x, y in zip(weights, again, strict=True))


class _StopAfter:
    """A rule that ends after some epochs, as if the worker had been killed, and chooses nothing."""

    def __init__(self, rule, epochs):
        self.rule, self.epochs = rule, epochs

    def update(self, member, history):
        return self.rule.update(member, history) or len(history.loss) == self.epochs

    def finish(self, member, history):
        pass
