"""The interface of every method, with scikit-learn's habits."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from metapn.data.interop import as_graph
from metapn.errors import InputError
from metapn.graph import Graph, IntArray
from metapn.model.features import FeatureMatrix
from metapn.model.fit_report import FitReport
from metapn.model.inputs import checked_features, checked_nodes, checked_validation, graph_with_features, whole_graph
from metapn.model.labels import encode_labels
from metapn.model.network import Network, normalised
from metapn.model.settings import device, one_of, seed, setting, whole
from metapn.model.streaming.task import StreamedTask, task_of
from metapn.model.task import Problem, Task
from metapn.model.together import Shared, fit_together
from metapn.model.training import History, OnEpoch
from metapn.propagation.engines.contract import Engine
from metapn.propagation.hops import transition
from metapn.propagation.operator import SparseMatrix


@dataclass(eq=False, repr=False, kw_only=True)
class GraphClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of all methods: checks the input, calls the method, keeps the results.

    A method is a dataclass whose fields are its settings; scikit-learn reads them off the constructor. It
    implements `_network`, which builds its module, and `_train`, which trains it.
    """

    scaling: str = setting("auto", one_of(("auto", "rows", "columns", "none")))
    n_neighbors: int = setting(10, whole(1))
    device: str = setting("auto", device())
    random_state: Any = setting(None, seed())

    @abstractmethod
    def _network(self, n_features: int, n_classes: int, generator: torch.Generator) -> Network:
        """Build the untrained module."""

    def _propagation(self, graph: Graph) -> SparseMatrix | Engine:
        """What labels travel by: T, or an engine."""
        return transition(graph, device=self._device())

    @abstractmethod
    def _train(self, network: Any, task: Any, on_epoch: OnEpoch | None) -> History:
        """Train the module in place."""

    @classmethod
    def _train_together(
        cls, models: Sequence[Any], networks: Sequence[Any], tasks: Sequence[Any], on_epoch: OnEpoch | None
    ) -> list[History]:
        """Train the modules of several models in place; one after another, unless a method knows better."""
        return [
            model._train(network, task, on_epoch)
            for model, network, task in zip(models, networks, tasks, strict=True)
        ]

    def _final_distributions(self, network: Any, task: Any) -> Tensor:
        """Predict the nodes of the training graph, shape (n, c)."""
        return normalised(task.predict(network)[:])

    def _final_name(self) -> str:
        return type(self).__name__

    def _keep(self, network: Any, task: Any) -> None:
        """Keep what the method alone has to show."""

    def fit(
        self,
        X: Any,
        y: Any,
        graph: Any = None,
        *,
        nodes: npt.ArrayLike | None = None,
        validation: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
        on_epoch: OnEpoch | None = None,
    ) -> Self:
        """Learn from a few labels, and label every node of the graph.

        Parameters
        ----------
        X : array or sparse array, shape (n, f)
            Features of the nodes.
        y : array-like, shape (n,)
            Labels; -1, None or NaN where there is none.
        graph : Graph, scipy sparse array of shape (n, n), or edge list of shape (m, 2), optional
            Or a graph of networkx, igraph or PyTorch Geometric, or a data frame, see `metapn.data.interop`. By
            default the graph of the nearest neighbours in X.
        nodes : int array-like, shape (k,), optional
            For cross-validation with scikit-learn: ``cross_val_score(model, X, y, params={"graph": g, "nodes":
            np.arange(n)})``. scikit-learn cuts X, y and ``nodes`` alike and leaves ``g``, a `Graph` with features,
            whole: the nodes that are left out stay in the graph and only lose their label.
        validation : pair of (nodes, labels), optional
            Labelled nodes for early stopping; their labels are used for nothing else. Without them training
            stops by a rule that needs no labels.
        on_epoch : callable, optional
            Called with (epochs done, most epochs) after each epoch.

        Returns
        -------
        self
        """
        if nodes is not None:
            X, y = whole_graph(X, y, graph, nodes)
        fit_together([self], X, [y], graph, validations=[validation], on_epoch=on_epoch)
        return self

    def predict_proba(self, X: Any, graph: Any = None) -> npt.NDArray[np.float32]:
        """Probability of each class.

        Parameters
        ----------
        X : array or sparse array, shape (m, f)
            Features of any nodes, seen in training or not.
        graph : Graph, sparse array of shape (m, m), or edge list, optional
            How these nodes are joined. Without it each is judged by its features alone.

        Returns
        -------
        array, shape (m, c)
            Columns in the order of ``classes_``.
        """
        matrix, T = self._prepared(X, graph)
        with torch.no_grad():
            result: npt.NDArray[np.float32] = normalised(self._network_.probabilities(matrix, T)).cpu().numpy()
        return result

    def predict(self, X: Any, graph: Any = None) -> npt.NDArray[Any]:
        """Most probable class of each node, shape (m,); see `predict_proba`."""
        best = self.predict_proba(X, graph).argmax(axis=1)
        labels: npt.NDArray[Any] = self.classes_[best]
        return labels

    def score(
        self, X: Any, y: Any, sample_weight: Any = None, *, graph: Any = None, nodes: npt.ArrayLike | None = None
    ) -> float:
        """Accuracy of `predict`.

        Parameters
        ----------
        X, y, graph
            Nodes, their labels, and how they are joined, as in `predict`.
        sample_weight : array-like, shape (m,), optional
        nodes : int array-like, shape (m,), optional
            For cross-validation with scikit-learn, as in `fit`: ``graph`` is then the whole `Graph`, with
            features, and its nodes of these numbers are scored as `predict` labels them there. scikit-learn
            passes both on after ``sklearn.set_config(enable_metadata_routing=True)`` and
            ``model.set_score_request(graph=True, nodes=True)``. Otherwise it scores each node by its
            features alone, and may find far less accuracy than ``transduction_`` has.
        """
        if nodes is None:
            predicted = self.predict(X, graph)
        else:
            whole = graph_with_features(graph)
            predicted = self.predict(whole.features, whole)[checked_nodes(nodes, whole.n_nodes, "nodes")]
        return float(accuracy_score(y, predicted, sample_weight=sample_weight))

    def embed(self, X: Any, graph: Any = None) -> npt.NDArray[np.float32]:
        """Hidden representation of each node, shape (m, hidden)."""
        matrix, T = self._prepared(X, graph)
        with torch.no_grad():
            result: npt.NDArray[np.float32] = self._network_.embed(matrix, T).cpu().numpy()
        return result

    def _prepared(self, X: Any, graph: Any) -> tuple[FeatureMatrix, Any]:
        check_is_fitted(self)
        features = self._scaling.transform(checked_features(self, X, reset=False))
        device = self._device()
        matrix = FeatureMatrix(features, device=device)
        return matrix, None if graph is None else transition(as_graph(graph, features.shape[0]), device=device)

    def _task(self, shared: Shared, codes: IntArray, validation: Any) -> Task | StreamedTask:
        device = shared.X.device
        seed = int(check_random_state(self.random_state).randint(2**31))
        stopping, stopping_labels = None, None
        if validation is not None:
            places, labels = checked_validation(validation, len(codes), self.classes_)
            stopping, stopping_labels = (torch.as_tensor(v, device=device) for v in (places, labels))
        gold = np.flatnonzero(codes >= 0)
        return task_of(
            shared.propagation,
            shared.X,
            gold=torch.as_tensor(gold, device=device),
            gold_labels=torch.as_tensor(codes[gold], device=device),
            n_classes=len(self.classes_),
            generator=torch.Generator().manual_seed(seed),
            validation=stopping,
            validation_labels=stopping_labels,
        )

    def _encoded(self, y: Any, n_nodes: int) -> IntArray:
        """Class indices of y, shape (n,), -1 where there is no label; the classes are kept."""
        codes, self.classes_ = encode_labels(y)
        if len(codes) != n_nodes:
            raise InputError(
                f"y has {len(codes)} entries but X has {n_nodes} rows; "
                "give one label for each row, -1 where it is unknown"
            )
        return codes

    def _conclude(self, network: Network, task: Problem, history: History) -> None:
        """Keep what the training has led to."""
        self.history_ = history
        self._network_ = network.eval()
        with torch.no_grad():
            self.label_distributions_ = self._final_distributions(network, task).cpu().numpy()
            self._keep(network, task)
        self.transduction_ = self.classes_[self.label_distributions_.argmax(axis=1)]
        self.n_iter_ = len(history.loss)

    def _device(self) -> torch.device:
        if self.device == "auto":
            return torch.device("cuda" if torch.cuda.is_available() else "cpu")
        return torch.device(self.device)

    def _report(self, graph: Graph, codes: IntArray, validated: bool, seconds: float) -> FitReport:
        return FitReport(
            method=type(self).__name__,
            final=self._final_name(),
            n_nodes=graph.n_nodes,
            n_edges=graph.n_edges,
            n_labelled=int((codes >= 0).sum()),
            n_classes=len(self.classes_),
            n_isolated=int((np.diff(graph.adjacency.indptr) == 0).sum()),
            n_unreached=int((~self.reached_).sum()),
            stopping="validation nodes" if validated else "no labels needed",
            epochs=self.n_iter_,
            best_epoch=self.history_.best_epoch,
            stopped_because=self.history_.stopped_because,
            seconds=seconds,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
