"""LP: label propagation with local and global consistency (Zhou et al. 2004), the graph alone."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from metapn.model.estimator import GraphClassifier
from metapn.model.features import FeatureMatrix
from metapn.model.network import Network
from metapn.model.settings import number, setting, whole
from metapn.model.task import Task
from metapn.model.training import History, OnEpoch
from metapn.propagation.hops import one_hot, personalised_pagerank
from metapn.propagation.operator import SparseMatrix


class ClassShares(Network):
    """The shares of the classes among the gold labels, for every node: all that is known without a label near by."""

    shares: Tensor

    def __init__(self, n_classes: int) -> None:
        super().__init__()
        self.register_buffer("shares", torch.full((n_classes,), 1 / n_classes))

    def probabilities(self, X: FeatureMatrix, T: SparseMatrix | None) -> Tensor:
        """Class shares, shape (n, c)."""
        return self.shares.expand(X.shape[0], -1)

    def embed(self, X: FeatureMatrix, T: SparseMatrix | None) -> Tensor:
        """Class shares, shape (n, c): labels are all that this method has of a node."""
        return self.probabilities(X, T)


@dataclass(eq=False, repr=False, kw_only=True)
class LP(GraphClassifier):
    """Labels spread along edges and are drawn back to their source; features are not looked at.

        Y(k+1) = (1 - α) T Y(k) + α Y(0)

    Y(0) holds the gold labels, a one in the row of each. There is nothing to train. A node that no label
    reaches in K steps has the shares of the classes among the gold labels, and so has every node in
    `predict`: which labels are near a node is known on the training graph alone, see ``transduction_``.

    Parameters
    ----------
    n_hops : int
        K.
    alpha : float
        Teleport probability α.
    scaling, n_neighbors, device, random_state
        As in `metapn.MetaPN`.

    Examples
    --------
    >>> model = LP().fit([[0.0]] * 4, ["a", None, None, "b"], graph=[(0, 1), (2, 3)])
    >>> model.transduction_.tolist()
    ['a', 'a', 'b', 'b']
    """

    n_hops: int = setting(10, whole(1))
    alpha: float = setting(0.1, number(0, 1))

    def _network(self, n_features: int, n_classes: int, generator: torch.Generator) -> ClassShares:
        return ClassShares(n_classes)

    def _train(self, network: ClassShares, task: Task, on_epoch: OnEpoch | None) -> History:
        network.shares = torch.bincount(task.gold_labels, minlength=task.n_classes) / len(task.gold)
        return History(stopped_because="it has nothing to train")

    def _final_distributions(self, network: ClassShares, task: Task) -> Tensor:
        Y0 = one_hot(task.gold, task.gold_labels, task.n_nodes, task.n_classes)
        scores = personalised_pagerank(task.T, Y0, self.alpha, self.n_hops)
        mass = scores.sum(dim=1, keepdim=True)
        return torch.where(mass > 0, scores / mass, network.shares)
