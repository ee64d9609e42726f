"""Which column is what, where nobody said so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from metapn.data.tables.source import Source, check_known, listed
from metapn.errors import InputError

# In the order in which they are looked for; case and spaces around a name make no difference.
IDS = ("id", "node", "node_id", "nodeid", "_id", "key", "index", "name")
LABELS = ("label", "labels", "class", "y", "target")
SOURCES = ("source", "src", "from", "source_id", "u", "node1", "id1", "start", "tail")
TARGETS = ("target", "dst", "to", "target_id", "v", "node2", "id2", "end", "head")
WEIGHTS = ("weight", "weights", "w")


@dataclass(frozen=True)
class EdgeRoles:
    """Names of the columns of an edge table: the two ends, and the weight if it has one."""

    source: str
    target: str
    weight: str | None
    note: str


@dataclass(frozen=True)
class NodeRoles:
    """Names of the columns of a node table; ``id`` None: rows are numbered from 0."""

    id: str | None
    label: str | None
    features: tuple[str, ...]
    note: str


def edge_roles(table: Source, source: str | None, target: str | None, weight: str | None) -> EdgeRoles:
    """Choose the two ends and the weight: as given, else by name, else the first two columns."""
    if len(table.columns) < 2:
        raise InputError(
            f"{table.name} has one column only ({listed(table.columns)}); give two, for source and target of an edge"
        )
    for name, option in ((source, "--source"), (target, "--target"), (weight, "--weight")):
        if name is not None:
            check_known(table, name, option)
    taken = [name for name in (source, target, weight) if name is not None]
    chosen_weight = weight or _by_name(table.columns, WEIGHTS, taken)
    by_name = [_by_name(table.columns, names, taken) for names in (SOURCES, TARGETS)]
    if source is None and target is None and None in by_name:
        by_name = [None, None]  # one of a pair by name and the other by place would be a guess too many
    rest = [name for name in table.columns if name not in {*taken, *by_name, chosen_weight}]
    ends = [end or found or _first(rest) for end, found in zip((source, target), by_name, strict=True)]
    if ends[0] is None or ends[1] is None or ends[0] == ends[1]:
        raise InputError(
            f"{table.name} needs two columns for the ends of an edge, and it has {listed(table.columns)}; "
            "name them with --source and --target"
        )
    note = f"{table.name}: an edge joins {ends[0]!r} and {ends[1]!r}"
    note += f", with {chosen_weight!r} as its weight" if chosen_weight else ", all of them of weight one"
    return EdgeRoles(ends[0], ends[1], chosen_weight, note)


def node_roles(
    table: Source, id: str | None, label: str | None, features: Sequence[str] | None, *, joined: bool
) -> NodeRoles:
    """Choose id, label and features: as given, else by name; features are all other columns.

    Parameters
    ----------
    table : Source
    id, label : str, optional
    features : sequence of str, optional
    joined : bool
        Whether there are edges, whose ends name rows of this table: then the first column is the id, where
        none is called so.
    """
    for name, option in ((id, "--id"), (label, "--label"), *((name, "--features") for name in features or ())):
        if name is not None:
            check_known(table, name, option)
    taken = [name for name in (id, label) if name is not None] + list(features or ())
    chosen_id = id or _by_name(table.columns, IDS, taken)
    if chosen_id is None and joined:
        chosen_id = next((name for name in table.columns if name not in taken), None)
        if chosen_id is None:
            raise InputError(f"{table.name} has no column left for the ids that edges name; name it with --id")
    chosen_label = label or _by_name(table.columns, LABELS, [*taken, chosen_id])
    if chosen_label is not None and chosen_label == chosen_id:
        raise InputError(f"{table.name}: {chosen_id!r} cannot be id and label at once; name two columns")
    chosen = tuple(features) if features is not None else table.columns
    rest = tuple(name for name in dict.fromkeys(chosen) if name not in (chosen_id, chosen_label))
    told = [f"{chosen_id!r} is the id" if chosen_id else "rows are numbered from 0"]
    told += [f"{chosen_label!r} the label" if chosen_label else "no column is a label"]
    told += [f"{len(rest):,} columns are features" if len(rest) != 1 else f"{rest[0]!r} is the one feature"]
    return NodeRoles(chosen_id, chosen_label, rest, f"{table.name}: {', '.join(told)}")


def _by_name(columns: Sequence[str], names: Sequence[str], taken: Sequence[str | None]) -> str | None:
    free = {column.strip().lower(): column for column in reversed(columns) if column not in taken}
    return next((free[name] for name in names if name in free), None)


def _first(rest: list[str]) -> str | None:
    return rest.pop(0) if rest else None
