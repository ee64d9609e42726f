"""Meta-PN: a label propagator writes pseudo labels, a transformer learns them, and teaches the propagator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from metapn.graph import Graph
from metapn.model.bilevel import META_GRADIENTS
from metapn.model.estimator import GraphClassifier
from metapn.model.features import FeatureMatrix
from metapn.model.fine_tuning import fine_tune
from metapn.model.learner import BilevelLearner
from metapn.model.memory import estimate_memory
from metapn.model.network import Network, normalised
from metapn.model.parallel.training import train_on_cluster
from metapn.model.propagator import PROPAGATORS, Propagator
from metapn.model.settings import flag, number, one_of, setting, whole
from metapn.model.streaming.learner import StreamedLearner
from metapn.model.streaming.task import StreamedTask
from metapn.model.task import Problem
from metapn.model.training import History, OnEpoch, stopping_rule, train_all
from metapn.model.transformer import Transformer
from metapn.propagation.engines import ENGINES, open_engine
from metapn.propagation.engines.contract import Engine
from metapn.propagation.engines.sources import GraphEdges
from metapn.propagation.hops import personalised_pagerank
from metapn.propagation.operator import SparseMatrix

#: What the hidden layers of a batch of all runs may take together.
_CACHE_BYTES = 2**20

FINALS = ("propagated", "transformer", "pseudo")


class MetaPNNetwork(Network):
    """Transformer and propagator of one model, and how they predict."""

    def __init__(
        self, transformer: Transformer, propagator: Propagator, *, final: str, alpha: float, n_hops: int
    ) -> None:
        super().__init__()
        self.transformer, self.propagator = transformer, propagator
        self.final, self.alpha, self.n_hops = final, alpha, n_hops

    @property
    def spread_hops(self) -> int:
        """Steps of personalised PageRank after the transformer, on a graph."""
        return 0 if self.final == "transformer" else self.n_hops

    def probabilities(self, X: FeatureMatrix, T: SparseMatrix | None) -> Tensor:
        """softmax(f_θ(X)), then K steps of personalised PageRank where there is a graph; shape (n, c)."""
        # By blocks: the hidden layer of all nodes at once may well be larger than X.
        P = torch.cat([torch.softmax(self.transformer(block), dim=-1) for block in X.row_blocks()])
        return self.spread(P, T)

    def spread(self, P: Tensor, T: SparseMatrix | None) -> Tensor:
        """K steps of personalised PageRank from P where there is a graph and the prediction wants it, (n, c)."""
        if T is None or self.final == "transformer":
            return P
        return personalised_pagerank(T, P, self.alpha, self.n_hops)

    def embed(self, X: FeatureMatrix, T: SparseMatrix | None) -> Tensor:
        """Hidden layer of the transformer, shape (n, h)."""
        return self.transformer.embed(X)


@dataclass(eq=False, repr=False, kw_only=True)
class MetaPN(GraphClassifier):
    """Meta Propagation Networks: few labels on a graph in, every node's label out.

        Ŷ_i = Σ_k γ_ik Y_i(k)           pseudo labels of the propagator g_φ        (eq. 2, 3)
        θ' = θ - η ∇_θ J_pseudo(θ, φ)   the transformer f_θ learns from them       (eq. 6)
        φ' = φ - η_φ ∇_φ J_gold(θ'(φ))  the propagator learns from its success     (eq. 7)

    Parameters
    ----------
    n_hops : int
        K, how far labels travel.
    alpha : float
        Teleport probability of personalised PageRank in the ``propagated`` prediction (and of the
        ``static`` propagator).
    hidden : int
        Width of the transformer's hidden layer.
    dropout : float
        On features and hidden layer of the transformer.
    learning_rate, meta_learning_rate : float
        Of Adam for the transformer and for the propagator. ``learning_rate`` is also η, the step of the
        virtual update.
    l2 : float
        Weight of ½ ‖W₁‖² (first layer only) in the loss.
    batch_size : int
        Nodes of one bi-level step.
    max_epochs : int
    patience : int
        Epochs without improvement on the validation nodes, where they are given to `fit`.
    propagator : {"anchored", "paper", "static"}
        How hops are weighed, see `metapn.model.propagator.Propagator`. ``anchored`` (the published code's) is
        the default because it scores better than the paper's eq. 3; ``static`` learns nothing.
    meta_gradient : {"exact", "finite_difference"}
        How the outer gradient is taken, see `metapn.model.bilevel`.
    balance : bool
        Whether each gold label sends out the same mass, see `metapn.model.batches.balance`.
    fine_tune_epochs : int
        Steps on the gold labels alone after training (the paper's last step; the published code has none).
    final : {"propagated", "transformer", "pseudo"}
        The prediction on the training graph: the transformer's, then personalised PageRank (default); the
        transformer's alone (the paper's text); or the pseudo labels. On other nodes `predict` uses the
        transformer, followed by personalised PageRank where a graph is given, unless ``transformer``.
    engine : {"memory", "disk", "ray"}
        Where labels travel in `fit`, see `metapn.propagation.engines`: in memory, or in files of a temporary folder.
        The results are the same to rounding; ``disk`` is slower, and needs memory for neither the edges nor
        the hop stack. docs/scale.md tells what to do with graphs that do not fit into memory to begin with.
    scaling : {"auto", "rows", "columns", "none"}
        See `metapn.model.features.FeatureScaling`; ``auto`` is rows for sparse X, columns for dense.
    n_neighbors : int
        Of the graph that is built when none is given.
    device : str
        ``auto`` takes CUDA where there is one.
    random_state : int, RandomState or None

    Attributes
    ----------
    classes_ : array, shape (c,)
    transduction_ : array, shape (n,)
        Label of every node of the training graph.
    label_distributions_ : array, shape (n, c)
        Probability of each class for every node of the training graph.
    pseudo_labels_ : array, shape (n, c)
        Ŷ at the end. Rows are not normalised: their mass says how much label has arrived.
    hop_weights_ : array, shape (n, K + 1)
        γ at the end.
    reached_ : bool array, shape (n,)
        Whether a label lies in the node's component.
    history_ : History
        Losses and validation scores of each epoch.
    n_iter_ : int
        Epochs done.
    report_ : FitReport
    fine_tuning_ : History or None
        Of the fine-tuning, if there was any.

    Examples
    --------
    >>> import numpy as np
    >>> from metapn import MetaPN, datasets
    >>> graph = datasets.load("sbm-300")
    >>> y = np.full(graph.n_nodes, -1)
    >>> for c in range(graph.n_classes):  # three labels a class
    ...     y[np.flatnonzero(graph.labels == c)[:3]] = c
    >>> model = MetaPN(random_state=0).fit(graph.features, y, graph=graph)
    >>> bool((model.transduction_ == graph.labels).mean() > 0.8)
    True
    """

    n_hops: int = setting(10, whole(1))
    alpha: float = setting(0.1, number(0, 1))
    hidden: int = setting(64, whole(1))
    dropout: float = setting(0.0, number(0, 1, open_high=True))
    learning_rate: float = setting(0.05, number(0))
    meta_learning_rate: float = setting(5e-4, number(0))
    l2: float = setting(0.005, number(0))
    batch_size: int = setting(1024, whole(1))
    max_epochs: int = setting(500, whole(1))
    patience: int = setting(100, whole(1))
    propagator: str = setting("anchored", one_of(PROPAGATORS))
    meta_gradient: str = setting("exact", one_of(META_GRADIENTS))
    balance: bool = setting(True, flag())
    fine_tune_epochs: int = setting(0, whole(0))
    final: str = setting("propagated", one_of(FINALS))

    engine: str = setting("memory", one_of(ENGINES))

    estimate_memory = staticmethod(estimate_memory)

    def _network(self, n_features: int, n_classes: int, generator: torch.Generator) -> MetaPNNetwork:
        transformer = Transformer(n_features, self.hidden, n_classes, dropout=self.dropout, generator=generator)
        propagator = Propagator(n_classes, kind=self.propagator, alpha=self.alpha, generator=generator)
        return MetaPNNetwork(transformer, propagator, final=self.final, alpha=self.alpha, n_hops=self.n_hops)

    def _propagation(self, graph: Graph) -> SparseMatrix | Engine:
        if self.engine == "memory":
            return super()._propagation(graph)
        return open_engine(self.engine, GraphEdges(graph))

    def _train(self, network: MetaPNNetwork, task: Problem, on_epoch: OnEpoch | None) -> History:
        return self._train_together([self], [network], [task], on_epoch)[0]

    @classmethod
    def _train_together(
        cls,
        models: Sequence[MetaPN],
        networks: Sequence[MetaPNNetwork],
        tasks: Sequence[Problem],
        on_epoch: OnEpoch | None,
    ) -> list[History]:
        first, histories = models[0], []
        # Only arrays of one shape can be stacked; with a share of the nodes labelled a run may lack a rare class.
        alike = len({(len(task.gold), task.n_classes) for task in tasks}) == 1
        at_once = first._at_once() if alike and first.engine != "ray" else 1
        for start in range(0, len(models), at_once):
            some = slice(start, start + at_once)
            generator = tasks[start].generator.get_state()
            learner = first._learner(networks[some], tasks[some])
            rules = [stopping_rule(task, first.patience) for task in tasks[some]]
            if first.engine == "ray":
                [rule], epochs = rules, first.max_epochs
                histories.append(train_on_cluster(learner, rule, generator, max_epochs=epochs, on_epoch=on_epoch))
            else:
                histories += train_all(learner, rules, max_epochs=first.max_epochs, on_epoch=on_epoch)
            for run, model in enumerate(models[some]):
                model._pseudo, model._weights = learner.propagated[run]
        for model, network, task in zip(models, networks, tasks, strict=True):
            epochs = first.fine_tune_epochs
            model.fine_tuning_ = fine_tune(network, task, first, epochs) if epochs else None
        return histories

    def _learner(self, networks: Sequence[MetaPNNetwork], tasks: Sequence[Problem]) -> BilevelLearner:
        """Return the learner of some runs, whose batches come from memory or from an engine."""
        streamed = [task for task in tasks if isinstance(task, StreamedTask)]
        return StreamedLearner(networks, streamed, self) if streamed else BilevelLearner(networks, tasks, self)

    def _at_once(self) -> int:
        """How many runs to train in the same steps: more than fit into the cache would be slower than one."""
        return max(1, _CACHE_BYTES // (4 * self.batch_size * self.hidden))

    def _final_distributions(self, network: MetaPNNetwork, task: Problem) -> Tensor:
        if self.final != "pseudo":
            return super()._final_distributions(network, task)
        # Where no label has arrived there is no pseudo label: the transformer answers.
        arrived = self._pseudo.sum(dim=1, keepdim=True) > 0
        return normalised(torch.where(arrived, self._pseudo, task.predict(network, spread=False)[:]))

    def _keep(self, network: MetaPNNetwork, task: Problem) -> None:
        self.pseudo_labels_ = self._pseudo.cpu().numpy()
        self.hop_weights_ = self._weights.cpu().numpy()
        del self._pseudo, self._weights

    def _final_name(self) -> str:
        return self.final
