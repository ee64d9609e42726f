import csv
import sys

import numpy as np
import pytest

from metapn.cli import main
from metapn.data.npz import write_npz
from metapn.data.synthetic import contextual_sbm
from metapn.graph import Graph


@pytest.fixture
def metapn(monkeypatch, capsys):
    """Run a command line in this process: its exit code, output and errors."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["metapn", *map(str, arguments)])
        try:
            main()
            code = 0
        except SystemExit as left:
            code = left.code or 0
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture(scope="session")
def own_graph(tmp_path_factory):
    """Path of a graph with three labels a class, and its true labels."""
    full = contextual_sbm(200, n_classes=3, n_features=8, separation=2.0, seed=1)
    labels = np.full(200, -1)
    for c in range(3):
        labels[np.flatnonzero(full.labels == c)[:3]] = c
    graph = Graph(full.adjacency, features=full.features, labels=labels, class_names=("red", "green", "blue"))
    path = tmp_path_factory.mktemp("own") / "graph.npz"
    write_npz(path, graph)
    return path, full.labels


@pytest.fixture
def villages(tmp_path):
    """Two CSV files: a path of six people, two of whom nobody else knows, and what some of them vote; as options."""
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
