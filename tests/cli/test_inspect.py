import json


def test_it_says_what_there_is_and_what_is_wrong(metapn, villages):
    code, out, err = metapn("inspect", *villages)
    assert (code, err) == (0, "")
    for words in ("8 nodes, 6 edges", "left 2, right 2", "0: 4, 1: 2", "2 no label can reach", "roughly a second"):
        assert words in out
    assert "Warning: no label can reach 2 nodes (25.0%)" in out


def test_as_json_it_is_one_object_with_the_same(metapn, villages):
    code, out, err = metapn("inspect", *villages, "--json")
    assert (code, err) == (0, "")
    look = json.loads(out)
    assert (look["n_nodes"], look["n_edges"], look["n_components"]) == (8, 6, 2)
    assert look["labels"] == {"left": 2, "right": 2} and look["n_unreached"] == 2
    assert look["homophily"]["n_edges"] == 1 and look["memory_bytes"] > 1e8 and look["seconds"] > 0
    assert any("age" in note for note in look["notes"]) and len(look["warnings"]) == 1


def test_a_graph_without_labels_is_told(metapn, villages):
    code, out, err = metapn("inspect", *villages[:4])
    assert code == 2 and out == "" and err.count("\n") == 1 and "label" in err
