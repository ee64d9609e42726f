"""Probabilities that mean what they say, from the few labels there are and no others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from metapn.data.neighbours import nearest_neighbour_graph
from metapn.errors import InputError
from metapn.graph import IntArray
from metapn.model.estimator import GraphClassifier
from metapn.model.labels import codes_of, encode_labels
from metapn.model.training import OnEpoch
from metapn.trust.class_prior import checked_prior, prior_weights, reweighted
from metapn.trust.cross_fitting import View, cross_fitted
from metapn.trust.folds import label_folds
from metapn.trust.temperature import agreement_temperature, fit_temperature, sharpened

Floats = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Adjustment:
    """p'_c ∝ w_c p_c^(1/T): what is done to the probabilities of every node.

    Parameters
    ----------
    temperature : float
        T: below 1 the probabilities were too careful, above 1 too bold.
    weights : tuple of float
        w, one for each class; none where no class prior was given.
    """

    temperature: float = 1.0
    weights: tuple[float, ...] = ()

    def apply(self, P: Floats) -> npt.NDArray[np.float32]:
        """Adjust probabilities P, shape (m, c); rows sum to one.

        Examples
        --------
        >>> Adjustment(temperature=0.5).apply(np.array([[0.8, 0.2]])).round(3)
        array([[0.941, 0.059]], dtype=float32)
        """
        result = sharpened(P, self.temperature)
        if self.weights:
            result = reweighted(result, np.array(self.weights))
        return result.astype(np.float32)


@dataclass(frozen=True)
class Calibration:
    """How the probabilities of a fitted model are to be read, learned from its own gold labels.

    Parameters
    ----------
    transduction : Adjustment
        For ``label_distributions_``, the nodes of the training graph.
    unseen : Adjustment
        For `predict_proba` of nodes judged by their features alone: they have another spread of confidence.
    n_labels : int
        Gold labels that were hidden in turn, and told how far the probabilities were off.
    class_prior : dict
        Share of each class, by its name, where one was given.
    """

    transduction: Adjustment = field(default_factory=Adjustment)
    unseen: Adjustment = field(default_factory=Adjustment)
    n_labels: int = 0
    class_prior: dict[str, float] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Plain dictionary that JSON can hold; `from_dict` reads it."""
        return {
            "transduction": {
                "temperature": self.transduction.temperature,
                "weights": list(self.transduction.weights),
            },
            "unseen": {"temperature": self.unseen.temperature, "weights": list(self.unseen.weights)},
            "n_labels": self.n_labels,
            "class_prior": dict(self.class_prior),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Read what `as_dict` wrote.

        Examples
        --------
        >>> one = Calibration(Adjustment(0.5), Adjustment(0.8, (0.3, 0.7)), 21)
        >>> Calibration.from_dict(one.as_dict()) == one
        True
        """
        try:
            return cls(
                _read(content["transduction"]),
                _read(content["unseen"]),
                int(content["n_labels"]),
                {str(name): float(share) for name, share in content["class_prior"].items()},
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(
                f"the calibration does not read as one ({type(error).__name__}: {error}); fit the model anew"
            ) from None

    def __str__(self) -> str:
        if not self.n_labels:
            return "probabilities are as the model has them: not calibrated, as asked for or for want of labels"
        return (
            f"probabilities calibrated by {self.n_labels:,} labels hidden in turn: temperature "
            f"{self.transduction.temperature:.2f} on the graph, {self.unseen.temperature:.2f} for nodes never seen"
        )


def _read(content: Mapping[str, Any]) -> Adjustment:
    temperature = float(content["temperature"])
    weights = tuple(float(weight) for weight in content["weights"])
    if not (0 < temperature < np.inf and all(0 <= weight < np.inf for weight in weights)):
        raise ValueError(f"temperature {temperature}, weights {weights}")
    return Adjustment(temperature, weights)


def calibrate(
    model: GraphClassifier,
    X: Any,
    y: Any,
    graph: Any = None,
    *,
    validation: Any = None,
    n_folds: int = 5,
    class_prior: Mapping[Any, float] | None = None,
    on_fit: OnEpoch | None = None,
) -> Calibration:
    """Calibrate a fitted model by cross-fitting: each fold of its gold labels is hidden once.

        P'_ic ∝ w_c P_ic^(1/T)

    The model is fitted again without the labels of each fold, with the same settings. How far these models
    agree on nodes without a label gives a first T₀ (`agreement_temperature`), what they make of the hidden
    labels corrects it to T (`fit_temperature`); on the graph and for unseen nodes apart. The weights w are
    those under which the mean probabilities are the class prior (`prior_weights`), if one is given.

    Parameters
    ----------
    model : GraphClassifier
        Fitted on X, y and graph.
    X, y, graph, validation
        As in its `fit`.
    n_folds : int
        Fits that are made, fewer where fewer labels can be hidden.
    class_prior : mapping of class to share, optional
        Known shares of the classes among all nodes; the mean probability of each class becomes its share.
    on_fit : callable, optional
        Called with (fits done, fits in all).

    Returns
    -------
    Calibration
    """
    codes, classes = encode_labels(y)
    prior = None if class_prior is None else checked_prior(class_prior, classes)
    joined = nearest_neighbour_graph(X, model.n_neighbors) if graph is None else graph
    stopping = None if validation is None else (validation[0], codes_of(validation[1], classes, "validation"))
    folds = label_folds(codes, n_folds)
    if folds:
        fits = cross_fitted(model, X, codes, joined, folds, validation=stopping, on_fit=on_fit)
        temperatures = [_temperature(view, fits.labels) for view in (fits.transduction, fits.unseen)]
    else:
        temperatures = [1.0, 1.0]
    n_hidden = sum(map(len, folds))
    if prior is None:
        return Calibration(Adjustment(temperatures[0]), Adjustment(temperatures[1]), n_hidden)
    both = (model.label_distributions_, model.predict_proba(X))
    weights = [prior_weights(sharpened(P, T), prior).tolist() for P, T in zip(both, temperatures, strict=True)]
    adjustments = [Adjustment(T, tuple(w)) for T, w in zip(temperatures, weights, strict=True)]
    shares = dict(zip(map(str, classes.tolist()), prior.tolist(), strict=True))
    return Calibration(adjustments[0], adjustments[1], n_hidden, shares)


def _temperature(view: View, labels: IntArray) -> float:
    """T by the hidden labels, starting from that of the agreement where there are nodes without a label."""
    centre = agreement_temperature(view.common) if view.common.shape[1] else 1.0
    return fit_temperature(view.hidden, labels, centre)
