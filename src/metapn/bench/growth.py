"""How time and memory of a fit grow with the graph, and how well its memory was estimated."""

from __future__ import annotations

from collections.abc import Sequence

from metapn.bench.bandwidth import fitted_exponent
from metapn.bench.fit import Fit, in_own_process, named_fit, synthetic_fit
from metapn.bench.measure import Measure

#: Bytes that the largest graph may take, and seconds that a graph of ogbn-arxiv's shape may take from end to end.
MOST_MEMORY, MOST_SECONDS = 8e9, 240


def growth(sizes: Sequence[int], *, threads: int) -> list[Measure]:
    """Fit synthetic graphs of these numbers of edges: exponents of time and memory, and the largest one's memory."""
    fits = [in_own_process(synthetic_fit, size, threads) for size in sizes]
    edges = [float(fit.edges) for fit in fits]
    seconds, peaks = [fit.seconds for fit in fits], [fit.peak for fit in fits]
    largest = fits[-1]
    return [
        Measure(
            "growth/time",
            "exponent of seconds over edges",
            fitted_exponent(edges, seconds),
            1.1,
            details={"fits": [fit._asdict() for fit in fits]},
        ),
        Measure("growth/memory", "exponent of peak memory over edges", fitted_exponent(edges, peaks), 1.1),
        Measure("growth/largest", f"GB that {largest.edges:,} edges take", largest.peak / 1e9, MOST_MEMORY / 1e9),
        estimate_error(largest),
    ]


def end_to_end(*, threads: int) -> list[Measure]:
    """Make the graph of ogbn-arxiv's shape and fit it."""
    fit = in_own_process(named_fit, "arxiv-like", threads)
    details = {"fits": [fit._asdict()]}
    what = f"seconds of arxiv-like from end to end, {threads} threads"
    return [Measure("arxiv", what, fit.total_seconds, MOST_SECONDS, details=details), estimate_error(fit)]


def memory(names: Sequence[str], *, threads: int) -> list[Measure]:
    """Fit data sets for a few epochs, which need as much memory as many do, and compare with the estimate."""
    return [estimate_error(in_own_process(named_fit, name, threads, 20)) for name in names]


def estimate_error(fit: Fit) -> Measure:
    """How far the estimate is from the measured peak, as a share of the peak."""
    return Measure(
        f"memory/{fit.name}",
        f"estimated / measured peak memory, {fit.name}, off by",
        abs(fit.estimate / fit.peak - 1),
        0.25,
        details={"estimated_mb": fit.estimate / 1e6, "measured_mb": fit.peak / 1e6},
    )
