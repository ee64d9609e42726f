"""IGCN: improved graph convolutional network (Li et al. 2019)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from metapn.baselines.filters import Filter, FilteredClassifier
from metapn.baselines.gcn import GCNNetwork
from metapn.model.settings import number, setting
from metapn.model.transformer import Transformer
from metapn.propagation.operator import SparseMatrix


class IGCNNetwork(GCNNetwork):
    """GCN with a filter in the place of T."""

    def __init__(self, transformer: Transformer) -> None:
        super().__init__(transformer)
        self.filter = Filter()

    def smooth(self, T: SparseMatrix | None, H: Tensor) -> Tensor:
        """S H, shape (n, d)."""
        smoothed: Tensor = self.filter(T, H)
        return smoothed


@dataclass(eq=False, repr=False, kw_only=True)
class IGCN(FilteredClassifier):
    """A GCN that smooths by a strong low-pass filter in each layer.

        P = softmax(S ReLU(S X W₁ + b₁) W₂ + b₂),  S = T^(k/2) (rnm) or (I + α/2 (I - T))^-1 (ar)

    The two layers share the strength, as in the authors' settings.

    Parameters
    ----------
    filter, k, alpha, l2
        See `metapn.baselines.filters.FilteredClassifier`.
    hidden, dropout, learning_rate, max_epochs, patience, scaling, n_neighbors, device, random_state
        See `metapn.baselines.mlp.TwoLayerClassifier` and `metapn.baselines.supervised.SupervisedClassifier`.

    Attributes
    ----------
    filter_ : {"rnm", "ar"}
        The filter of the weights that were kept.
    """

    dropout: float = setting(0.5, number(0, 1, open_high=True))

    smoothing_layers: ClassVar[int] = 2

    def _network(self, n_features: int, n_classes: int, generator: torch.Generator) -> IGCNNetwork:
        return IGCNNetwork(self._transformer(n_features, n_classes, generator))
