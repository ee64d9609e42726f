"""The methods that the paper compares with, and Meta-PN itself: one file each, found by name."""

from __future__ import annotations

import difflib
from importlib import import_module
from typing import TYPE_CHECKING

from metapn.errors import InputError

if TYPE_CHECKING:
    from metapn.model.estimator import GraphClassifier

# A method is one file and one line here. Loaded when asked for: listing the methods must not wait for torch.
_WHERE = {
    "mlp": "metapn.baselines.mlp:MLP",
    "lp": "metapn.baselines.lp:LP",
    "gcn": "metapn.baselines.gcn:GCN",
    "sgc": "metapn.baselines.sgc:SGC",
    "glp": "metapn.baselines.glp:GLP",
    "igcn": "metapn.baselines.igcn:IGCN",
    "m3s": "metapn.baselines.m3s:M3S",
    "appnp": "metapn.baselines.appnp:APPNP",
    "dagnn": "metapn.baselines.dagnn:DAGNN",
    "cs": "metapn.baselines.correct_and_smooth:CorrectAndSmooth",
    "gpr-gnn": "metapn.baselines.gpr_gnn:GPRGNN",
    "static-lp": "metapn.baselines.static_lp:StaticLP",
    "metapn": "metapn.model.metapn:MetaPN",
}


def methods() -> list[str]:
    """List what `method` knows, in the order of the paper's tables.

    Examples
    --------
    >>> methods()
    ['mlp', 'lp', 'gcn', 'sgc', 'glp', 'igcn', 'm3s', 'appnp', 'dagnn', 'cs', 'gpr-gnn', 'static-lp', 'metapn']
    """
    return list(_WHERE)


def method(name: str) -> type[GraphClassifier]:
    """Return the estimator of this name; upper case, hyphens, underscores, spaces and ``&`` make no difference.

    Examples
    --------
    >>> method("Static-LP")(random_state=0)
    StaticLP(random_state=0)
    """
    module, _, attribute = _WHERE[canonical(name)].partition(":")
    found: type[GraphClassifier] = getattr(import_module(module), attribute)
    return found


def canonical(name: str) -> str:
    """Find the name that is meant, as `methods` spells it, or say which ones there are.

    Examples
    --------
    >>> canonical("GPR_GNN"), canonical("C&S")
    ('gpr-gnn', 'cs')
    """
    plain = {_plain(known): known for known in _WHERE}
    if _plain(name) not in plain:
        close = difflib.get_close_matches(_plain(name), plain, n=1)
        hint = f"did you mean {plain[close[0]]!r}?" if close else f"choose from {', '.join(_WHERE)}"
        raise InputError(f"there is no method {name!r}; {hint}")
    return plain[_plain(name)]


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())
