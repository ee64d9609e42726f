"""The words of an inspection: one line a subject, and a warning for all that will go wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from metapn.trust.homophily import Homophily
    from metapn.trust.inspection import Inspection

#: Below this adjusted homophily an MLP does as well or better on block models, see docs/trust.md.
LEAST_HOMOPHILY = 0.4
#: With fewer edges between labelled nodes their interval says nothing.
FEWEST_EDGES = 8


def as_text(look: Inspection) -> str:
    """Lines for people, the warnings last."""
    features = "" if look.n_features is None else f", {look.n_features:,} features"
    lines = [
        f"{look.n_nodes:,} nodes, {look.n_edges:,} edges{features}",
        f"components  {look.n_components:,}; the largest has {look.largest_component:,} nodes "
        f"({look.largest_component / look.n_nodes:.1%})",
        _degrees(look.degrees),
        _labels(look.labels),
        f"homophily   {_homophily(look.homophily)}",
        _reach(look),
        _cost(look),
    ]
    return "\n".join([*lines, *(f"Warning: {warning}" for warning in look.warnings)])


def warnings_of(look: Inspection) -> tuple[str, ...]:
    """Tell what is wrong or will go wrong, each with what to do about it."""
    found, homophily = [], look.homophily
    if not look.fits_into_memory:
        found.append(
            f"a fit needs about {_bytes(look.memory_bytes)}, but this machine has {_bytes(look.free_bytes)} left; "
            "free some, take a larger machine or fewer features (see 'metapn estimate')"
        )
    if homophily.n_edges >= FEWEST_EDGES and homophily.adjusted < LEAST_HOMOPHILY:
        sure = homophily.adjusted_high < LEAST_HOMOPHILY
        found.append(
            f"neighbours {'are' if sure else 'may be'} not much more alike than by chance (adjusted homophily "
            f"{homophily.adjusted:.2f}, 95 % interval {homophily.adjusted_low:.2f} to "
            f"{homophily.adjusted_high:.2f}), so propagation {'will' if sure else 'may'} hurt; "
            "try --method mlp, which does not look at the edges, and let 'metapn compare' decide"
        )
    if look.n_unreached:
        found.append(
            f"no label can reach {look.n_unreached:,} nodes ({look.n_unreached / look.n_nodes:.1%}), which will be "
            "labelled by their features alone; label a node in their components ('metapn suggest' names some)"
        )
    lonely = [name for name, count in look.labels.items() if count == 1]
    if lonely:
        found.append(
            f"{len(lonely)} of {len(look.labels)} classes have one label only ({', '.join(lonely[:5])}), which can "
            "neither be tested nor help to calibrate; label a second node of each"
        )
    return tuple(found)


def _degrees(degrees: dict[str, float]) -> str:
    return (
        f"neighbours  {degrees['min']:,.0f} to {degrees['max']:,.0f} of a node, median {degrees['median']:,.0f}, "
        f"mean {degrees['mean']:,.1f}, 99 % of the nodes have at most {degrees['p99']:,.0f}; "
        f"{degrees['isolated']:,.0f} have none"
    )


def _labels(labels: dict[str, int]) -> str:
    each = [f"{name} {count:,}" for name, count in labels.items()]
    more = f", and {len(each) - 12} classes more" if len(each) > 12 else ""
    return f"labels      {sum(labels.values()):,} of {len(labels)} classes: {', '.join(each[:12])}{more}"


def _homophily(homophily: Homophily) -> str:
    edges = f"{homophily.n_edges:,} edges join labelled nodes"
    if homophily.n_edges < FEWEST_EDGES:
        return f"{edges}: too few to tell; 'metapn compare' tells whether the edges help"
    return (
        f"{edges}, {homophily.same:.1%} of them of one class (95 % interval {homophily.low:.1%} to "
        f"{homophily.high:.1%}; by chance {homophily.chance:.1%}); adjusted for chance {homophily.adjusted:.2f}"
    )


def _reach(look: Inspection) -> str:
    steps = [f"{hop}: {count:,}" for hop, count in look.hops.items()]
    shown = ", ".join(steps[:8]) + (f", ... {list(look.hops)[-1]}" if len(steps) > 8 else "")
    return (
        f"reach       nodes by hops to the nearest label: {shown}; {look.n_unreached:,} no label can reach, "
        f"{look.n_beyond:,} are beyond the {look.n_hops} hops that labels travel"
    )


def _cost(look: Inspection) -> str:
    if look.memory_bytes is None:
        return "fit         memory and time are not known without features"
    left = "" if look.free_bytes is None else f" of the {_bytes(look.free_bytes)} that this machine has left"
    seconds = "" if look.seconds is None else f"roughly {_duration(look.seconds)} and "
    return f"fit         {seconds}{_bytes(look.memory_bytes)} of memory{left}"


def _bytes(count: float | None) -> str:
    return "an unknown amount" if count is None else f"{count / 1e9:,.1f} GB"


def _duration(seconds: float) -> str:
    """Seconds in the unit that people would use.

    Examples
    --------
    >>> _duration(0.4), _duration(42.3), _duration(600), _duration(9000)
    ('a second', '42 seconds', '10 minutes', '2.5 hours')
    """
    if seconds < 1.5:
        return "a second"
    if seconds < 100:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 6000 else f"{seconds / 3600:.1f} hours"
