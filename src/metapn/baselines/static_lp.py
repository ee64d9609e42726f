"""Static-LP: Meta-PN whose propagator does not learn."""

from __future__ import annotations

from dataclasses import dataclass

from metapn.model.metapn import MetaPN
from metapn.model.settings import one_of, setting


@dataclass(eq=False, repr=False, kw_only=True)
class StaticLP(MetaPN):
    """Meta-PN with the fixed weights of personalised PageRank in the place of learned ones.

        Ŷ_i = Σ_k γ_k Y_i(k),  γ_k = α (1 - α)^k,  γ_K = (1 - α)^K

    All settings are those of `metapn.MetaPN`, but for the default of ``propagator``.
    """

    propagator: str = setting("static", one_of(("static",)))
