"""Which column is what: as said, else by name, else by place, and always told."""

import pandas
import pytest

from metapn.data.tables.frames import Frame
from metapn.data.tables.roles import edge_roles, node_roles


def frame(columns):
    return Frame.of(pandas.DataFrame([range(len(columns.split()))], columns=columns.split()), "table")


@pytest.mark.parametrize(
    ("columns", "given", "wanted"),
    [
        ("a b", {}, ("a", "b", None)),
        ("kind source weight target", {}, ("source", "target", "weight")),
        ("date Src DST", {}, ("Src", "DST", None)),
        ("to from", {}, ("from", "to", None)),
        ("w x y", {}, ("x", "y", "w")),
        ("source other", {}, ("source", "other", None)),
        ("a b c", {"source": "c"}, ("c", "a", None)),
        ("a b c", {"target": "a"}, ("b", "a", None)),
        ("a b c", {"weight": "a"}, ("b", "c", "a")),
        ("weight source target", {"source": "weight"}, ("weight", "target", None)),
        ("a b weight", {"source": "a", "target": "weight"}, ("a", "weight", None)),
    ],
)
def test_ends_of_an_edge(columns, given, wanted):
    roles = edge_roles(frame(columns), given.get("source"), given.get("target"), given.get("weight"))
    assert (roles.source, roles.target, roles.weight) == wanted
    assert all(repr(name) in roles.note for name in wanted if name)


@pytest.mark.parametrize(
    ("columns", "given", "joined", "wanted"),
    [
        ("id size label", {}, True, ("id", "label", "size")),
        ("size Node Class age", {}, True, ("Node", "Class", "size age")),
        ("town size", {}, True, ("town", None, "size")),
        ("town size", {}, False, (None, None, "town size")),
        ("name id y", {}, True, ("id", "y", "name")),
        ("id size age", {"features": ["age"]}, True, ("id", None, "age")),
        ("id size label", {"label": "size"}, True, ("id", "size", "label")),
        ("a id label", {"id": "a", "features": ["id", "id"]}, True, ("a", "label", "id")),
        ("id", {}, True, ("id", None, "")),
    ],
)
def test_columns_of_a_node(columns, given, joined, wanted):
    roles = node_roles(frame(columns), given.get("id"), given.get("label"), given.get("features"), joined=joined)
    assert (roles.id, roles.label, " ".join(roles.features)) == wanted
    assert all(repr(name) in roles.note for name in wanted[:2] if name)
