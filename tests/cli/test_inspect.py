import csv
import json

import pytest


@pytest.fixture
def tables(tmp_path):
    """Two CSV files: a path of six people in two towns, one pair that nobody knows, and who they vote for."""
    people = [f"p{i}" for i in range(8)]
    votes = ["left", "left", "", "right", "", "right", "", ""]
    with (tmp_path / "nodes.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "vote", "age", "town"])
        rows.writerows(zip(people, votes, range(30, 38), ["x", "y"] * 4, strict=True))
    with (tmp_path / "edges.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["from", "to"])
        rows.writerows([("p0", "p1"), ("p1", "p2"), ("p2", "p3"), ("p3", "p4"), ("p4", "p5"), ("p6", "p7")])
    names = ("--id", "id", "--label", "vote", "--source", "from", "--target", "to")
    return ("--edges", tmp_path / "edges.csv", "--nodes", tmp_path / "nodes.csv", *names)


def test_it_says_what_there_is_and_what_is_wrong(metapn, tables):
    code, out, err = metapn("inspect", *tables)
    assert (code, err) == (0, "")
    for words in ("8 nodes, 6 edges", "left 2, right 2", "0: 4, 1: 2", "2 no label can reach", "roughly a second"):
        assert words in out
    assert "Warning: no label can reach 2 nodes (25.0%)" in out


def test_as_json_it_is_one_object_with_the_same(metapn, tables):
    code, out, err = metapn("inspect", *tables, "--json")
    assert (code, err) == (0, "")
    look = json.loads(out)
    assert (look["n_nodes"], look["n_edges"], look["n_components"]) == (8, 6, 2)
    assert look["labels"] == {"left": 2, "right": 2} and look["n_unreached"] == 2
    assert look["homophily"]["n_edges"] == 1 and look["memory_bytes"] > 1e8 and look["seconds"] > 0
    assert any("age" in note for note in look["notes"]) and len(look["warnings"]) == 1


def test_a_graph_without_labels_is_told(metapn, tables):
    code, out, err = metapn("inspect", *tables[:4])
    assert code == 2 and out == "" and err.count("\n") == 1 and "label" in err
