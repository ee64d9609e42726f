"""How sure one can be of a share that was seen in a few cases."""

from __future__ import annotations

from math import sqrt

Z95 = 1.959963984540054


def wilson_interval(share: float, n: int, z: float = Z95) -> tuple[float, float]:
    """Wilson's 95 % interval of a share, which has a width even where all cases agree.

        (p + z²/2n ± z √(p (1 - p) / n + z²/4n²)) / (1 + z²/n)

    Parameters
    ----------
    share : float
        p, the share that was seen.
    n : int
        Independent cases it was seen in; with none the interval is 0 to 1.
    z : float
        Standard deviations, 1.96 for 95 %.

    Examples
    --------
    >>> [round(bound, 3) for bound in wilson_interval(1.0, 10)]
    [0.722, 1.0]
    """
    if n == 0:
        return 0.0, 1.0
    middle = share + z * z / (2 * n)
    half = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)
