"""How much memory a fit will need, before it starts."""

from __future__ import annotations

#: What Python, torch and scikit-learn take before there is any data, in bytes; much of it is files mapped into
#: memory, of which one system keeps more than another.
LIBRARIES = 400e6


def estimate_memory(
    n: int,
    m: int,
    f: int,
    c: int,
    k: int,
    *,
    g: int | None = None,
    stored: int | None = None,
    h: int = 64,
    r: int = 1,
    libraries: float = LIBRARIES,
) -> float:
    """Peak memory of a process that fits Meta-PN, in bytes, with the data that it is given.

    ::

        8 (2m + n) · 2        the graph and T: a value and a column for each entry
        4 n f · 3             X as given, scaled, and dealt into batches (sparse: 8 s · 4, transposes too)
        4 r n c (k + 1)       the hop stack
        4 r n min(g, 4 f)     the Gram matrix against the gold nodes, formed while it is small
        4 n (3 c + 3 (k + 1)) pseudo labels and hop weights on their way into order
        4 r f h · 6           the first layer: weights, gradient, Adam's means, a copy of the best, the first ones

    Parameters
    ----------
    n, m, f, c, k : int
        Nodes, undirected edges, features, classes, hops.
    g : int, optional
        Gold nodes; five of each class by default.
    stored : int, optional
        Stored entries s of a sparse X; X is dense by default.
    h, r : int
        Hidden units, and runs that are trained at once.
    libraries : float
        Bytes that the process holds before there is any data.

    Examples
    --------
    >>> estimate_memory(1_000_000, 10_000_000, 128, 40, 10) < 8e9
    True
    """
    g = 5 * c if g is None else g
    entries = n * f if stored is None else stored
    features = 12 * entries if stored is None else 32 * entries
    gram = 4 * n * g if n * g <= 4 * entries else 0
    stack = 4 * n * c * (k + 1)
    results = 12 * n * (c + k + 1)
    first_layer = 24 * f * h
    return libraries + 16 * (2 * m + n) + features + r * (gram + stack + first_layer) + results
