"""Folders of results that nobody has computed: every cell of the paper, with numbers drawn at random."""

import json

import numpy as np
import pytest

from metapn.data.registry import SOURCES
from metapn.experiments import ledger
from metapn.experiments.environment import noted
from metapn.experiments.json_file import write_object
from metapn.experiments.ledger import Record
from metapn.experiments.map import _path
from metapn.experiments.observe import hops
from metapn.experiments.paper import published
from metapn.experiments.plan import ARTEFACTS, cells
from metapn.report.run_page import RunView
from metapn.trust.reliability import reliability


def make_up_run(cell, seed):
    """A run of a cell, about as good as the paper's."""
    random = np.random.default_rng([seed, *repr(cell).encode()])
    printed = published(cell.method, cell.dataset, cell.shot)
    usual = 0.6 if printed is None else printed.mean
    accuracy = float(np.clip(random.normal(usual + random.normal(0, 0.01), 0.02), 0, 1))
    epochs = int(random.integers(50, 500))
    n_hops = cell.effective().get("n_hops", 10)
    confidence = random.uniform(0.3, 1, 500)
    curve = {"epoch": [1, epochs // 2, epochs], "training_loss": [3.0, 2.0, 1.5]}
    if cell.protocol == "paper":
        curve |= {"accuracy": [0.2, accuracy - 0.02, accuracy], "loss": [1.5, 1.2, 1.1]}
    weights = np.c_[np.ones(200), random.dirichlet(np.ones(n_hops), 200)]
    return Record(
        dataset=cell.dataset,
        method=cell.method,
        shot=cell.shot,
        protocol=cell.protocol,
        settings=cell.effective(),
        seed=seed,
        final=cell.settings.get("final", "propagated"),
        accuracy=accuracy,
        epochs=epochs,
        best_epoch=epochs // 2,
        seconds=float(random.uniform(0.1, 5)),
        megabytes=float(random.uniform(400, 900)),
        version="0.1.0",
        observations={
            "calibration": reliability(confidence, random.random(500) < confidence),
            "curve": None if cell.method == "lp" else curve,
            "hops": hops(weights, random.integers(0, 40, 200)) if cell.method == "metapn" else None,
        },
        validation=None if cell.protocol == "no-validation" else accuracy,
    )


def make_up(folder, artefacts=tuple(ARTEFACTS), n_runs=2, **narrowed):
    """Fill a folder as `metapn reproduce` does."""
    folder.mkdir(parents=True, exist_ok=True)
    with noted(folder, f"metapn reproduce all --runs {n_runs} --out results"):
        planned = {cell.key(): cell for each in artefacts if each != "figure4" for cell in cells(each, **narrowed)}
        runs = [make_up_run(cell, seed) for cell in planned.values() for seed in range(n_runs)]
        ledger.append(folder, runs)
        if "table1" in artefacts:
            write_object(folder / "datasets.json", {name: vars(source.counts) for name, source in SOURCES.items()})
        for cell in cells("figure4", **narrowed) if "figure4" in artefacts else ():
            random = np.random.default_rng(len(cell.method))
            labels = random.integers(7, size=300)
            places = (random.normal(size=(300, 2)) + 4 * np.c_[np.cos(labels), np.sin(labels)]).astype(np.float32)
            members = {"places": places, "labels": labels, "accuracy": 0.75, "cell": np.array(json.dumps(cell.key()))}
            np.savez(_path(cell, folder), **members)
    return folder


@pytest.fixture(scope="session")
def made_up():
    """Fill a folder: ``made_up(folder, artefacts, n_runs, datasets=..., methods=...)``."""
    return make_up


@pytest.fixture(scope="session")
def made_up_run():
    """Draw a run: ``made_up_run(cell, seed)``."""
    return make_up_run


@pytest.fixture(scope="session")
def whole(tmp_path_factory):
    """A folder with every table and figure of the paper."""
    return make_up(tmp_path_factory.mktemp("results"))


@pytest.fixture(scope="session")
def run_view():
    """Someone's run of 300 nodes, made up: three labels of each of three classes, a few nodes out of reach."""
    random = np.random.default_rng(0)
    classes = random.integers(3, size=300)
    hidden = np.eye(3, 8)[classes] * 3 + random.normal(size=(300, 8))
    hops = random.integers(1, 6, 300)
    hops[:9], hops[-5:] = 0, -1
    return RunView(
        name="customers",
        summary=["MetaPN on 300 nodes, 900 edges; 9 labels of 3 classes", "probabilities are as the model has them"],
        ids=[f"customer {k}" for k in range(300)],
        classes=["churn", "grow", "stay"],
        probabilities=random.dirichlet([0.6] * 3, 300).astype(np.float32),
        hops=hops,
        hidden=hidden.astype(np.float32),
        hop_weights=np.c_[np.ones(300), random.dirichlet(np.ones(10), 300)].astype(np.float32),
        suggested=random.choice(np.arange(9, 300), 20, replace=False),
    )
