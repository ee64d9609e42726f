"""M3S: multi-stage self-supervised training (Sun et al. 2020)."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
from torch import Tensor

from metapn.baselines.gcn import GCNNetwork
from metapn.baselines.mlp import TwoLayerClassifier
from metapn.baselines.supervised import keep_best
from metapn.model.settings import setting, whole
from metapn.model.task import Task
from metapn.model.training import History, OnEpoch
from metapn.propagation.hops import one_hot


@dataclass(eq=False, repr=False, kw_only=True)
class M3S(TwoLayerClassifier):
    """A GCN that labels nodes for itself, where its clusters agree with its predictions.

    After each stage but the last, the nodes are clustered by their hidden layer H, and each cluster is
    aligned to the class whose gold nodes are nearest::

        class of cluster l = argmin_c ‖ν_l - μ_c‖,  ν_l mean of H over the cluster, μ_c over the labels of c

    Of the nodes without a label, the most confident ones of each class get that label if their cluster is
    aligned to it. The next stage starts afresh with all labels so far; the best stage on the validation
    nodes is kept, without any the last.

    Parameters
    ----------
    n_stages : int
    n_clusters : int
        At most; never more than there are different rows in H.
    n_confident : int
        Nodes of each class that may get a label after a stage.
    hidden, dropout, learning_rate, l2, max_epochs, patience, scaling, n_neighbors, device, random_state
        See `metapn.baselines.mlp.TwoLayerClassifier` and `metapn.baselines.supervised.SupervisedClassifier`.
    """

    n_stages: int = setting(4, whole(1))
    n_clusters: int = setting(200, whole(1))
    n_confident: int = setting(100, whole(1))

    def _network(self, n_features: int, n_classes: int, generator: torch.Generator) -> GCNNetwork:
        return GCNNetwork(self._transformer(n_features, n_classes, generator))

    def _train(self, network: GCNNetwork, task: Task, on_epoch: OnEpoch | None) -> History:
        start = copy.deepcopy(network.state_dict())

        def stages() -> Iterator[History]:
            labelled = task
            for stage in range(self.n_stages):
                network.load_state_dict(start)
                yield self._train_once(network, labelled, on_epoch, part=stage, parts=self.n_stages)
                labelled = self._more_labels(network, labelled)

        return keep_best(network, stages())

    def _more_labels(self, network: GCNNetwork, task: Task) -> Task:
        """Task with the labels that this stage has added."""
        with torch.no_grad():
            P, H = network.probabilities(task.X, task.T), network.embed(task.X, task.T)
        aligned = cluster_classes(H, task, self.n_clusters)
        confidence, predicted = P.max(dim=1)
        confidence[task.gold] = -1
        gold, labels = [task.gold], [task.gold_labels]
        for c in range(task.n_classes):
            nodes = torch.where(predicted == c, confidence, -1).argsort(descending=True, stable=True)
            nodes = nodes[: self.n_confident]
            nodes = nodes[(predicted[nodes] == c) & (confidence[nodes] >= 0) & (aligned[nodes] == c)]
            gold.append(nodes)
            labels.append(torch.full_like(nodes, c))
        return replace(task, gold=torch.cat(gold), gold_labels=torch.cat(labels))


def cluster_classes(H: Tensor, task: Task, n_clusters: int) -> Tensor:
    """Class to which the cluster of each node is aligned, shape (n,), by the rows of H, shape (n, h)."""
    points = H.cpu().numpy().astype(np.float64)
    seed = int(torch.randint(2**31, (), generator=task.generator))
    n_clusters = min(n_clusters, len(np.unique(points, axis=0)))
    # One thread: the sums of several would be added in an order that changes from run to run.
    with threadpool_limits(limits=1):
        clusters = KMeans(n_clusters, n_init=1, random_state=seed).fit(points)
    members = one_hot(task.gold, task.gold_labels, task.n_nodes, task.n_classes)
    centres = members.T @ H / members.sum(dim=0)[:, None]
    means = torch.as_tensor(clusters.cluster_centers_, dtype=H.dtype, device=H.device)
    nearest = torch.cdist(means, centres).argmin(dim=1)
    return nearest[torch.as_tensor(clusters.labels_, dtype=torch.int64, device=H.device)]
