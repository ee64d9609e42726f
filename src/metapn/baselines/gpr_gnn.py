"""GPR-GNN: generalised PageRank with learned weights of the hops (Chien et al. 2021)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from metapn.baselines.mlp import MLPNetwork, TwoLayerClassifier
from metapn.model.features import FeatureMatrix
from metapn.model.settings import number, setting, whole
from metapn.model.transformer import Transformer, dropout_mask
from metapn.propagation.hops import hops
from metapn.propagation.operator import SparseMatrix


class GPRGNNNetwork(MLPNetwork):
    """Transformer, and γ of shape (K + 1,)."""

    def __init__(self, transformer: Transformer, *, alpha: float, n_hops: int, propagation_dropout: float) -> None:
        super().__init__(transformer)
        self.n_hops, self.propagation_dropout = n_hops, propagation_dropout
        gamma = alpha * (1 - alpha) ** torch.arange(n_hops + 1.0)
        gamma[-1] = (1 - alpha) ** n_hops
        self.gamma = nn.Parameter(gamma)

    def logits(self, X: FeatureMatrix, T: SparseMatrix | None) -> Tensor:
        """Scores of each class, shape (n, c)."""
        H = self.transformer(X)
        if self.training:
            H = H * dropout_mask(H, self.propagation_dropout, self.transformer.generator)
        weighed = [weight * hop for weight, hop in zip(self.gamma, hops(T, H, self.n_hops), strict=True)]
        return torch.stack(weighed).sum(dim=0)


@dataclass(eq=False, repr=False, kw_only=True)
class GPRGNN(TwoLayerClassifier):
    """The scores of an MLP, spread with a learned weight for each hop, the same for all nodes.

        P = softmax(Σ_k γ_k T^k H),  H = ReLU(X W₁ + b₁) W₂ + b₂

    The weights start as those of personalised PageRank: γ_k = α (1 - α)^k, and (1 - α)^K for the last.

    Parameters
    ----------
    n_hops : int
        K.
    alpha : float
        Teleport probability α of the weights at the start.
    propagation_dropout : float
        On the scores before they spread.
    l2 : float
        Weight of ½ ‖W₁‖² in the loss. The default is the authors': with that of the other methods, ten
        times as much, the first layer and γ shrink to nothing together on one split in four.
    hidden, dropout, learning_rate, max_epochs, patience, scaling, n_neighbors, device, random_state
        See `metapn.baselines.mlp.TwoLayerClassifier` and `metapn.baselines.supervised.SupervisedClassifier`.
    """

    n_hops: int = setting(10, whole(1))
    alpha: float = setting(0.1, number(0, 1))
    propagation_dropout: float = setting(0.5, number(0, 1, open_high=True))
    dropout: float = setting(0.5, number(0, 1, open_high=True))
    learning_rate: float = setting(0.01, number(0))
    l2: float = setting(5e-4, number(0))

    def _network(self, n_features: int, n_classes: int, generator: torch.Generator) -> GPRGNNNetwork:
        return GPRGNNNetwork(
            self._transformer(n_features, n_classes, generator),
            alpha=self.alpha,
            n_hops=self.n_hops,
            propagation_dropout=self.propagation_dropout,
        )
