"""The model card says what the model was made from, and shows names that are the user's as they are."""

import re

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from metapn import MetaPN, read_tables
from metapn.data.prepared import prepared
from metapn.deploy.card import model_card
from metapn.deploy.run import fit_run


@pytest.fixture(scope="module")
def run():
    rng = np.random.default_rng(0)
    labels = ["a|b" if k % 2 else "<c>" for k in range(12)] + [None] * 28
    table = pa.table({"id": np.arange(40), "`x` | y": rng.normal(size=40), "same": np.ones(40), "label": labels})
    edges = pa.table({"source": rng.integers(40, size=60), "target": rng.integers(40, size=60)})
    tables = read_tables(edges, table)
    model = MetaPN(max_epochs=3, random_state=0, alpha=0.25)
    return fit_run(model, tables, prepared(tables), calibrated=False)


def test_every_part_is_there(run):
    card = model_card(run.tables, run.data, run.pipeline)
    titles = re.findall(r"^#+ (.*)$", card, flags=re.MULTILINE)
    assert titles[1:] == ["Data", "Columns", "Method", "Probabilities", "Limits", "Use"]
    assert "| `a\\|b` | 6 |" in card and "| `<c>` | 6 |" in card
    assert "| `alpha` | `0.25` |" in card
    assert "40 nodes" in card and "12 of the nodes had a label" in card
    assert "metapn predict . --nodes new.csv" in card


def test_names_do_not_break_the_tables(run):
    card = model_card(run.tables, run.data, run.pipeline)
    for line in card.splitlines():
        if line.startswith("| "):
            # A bar within a name is escaped, so what is left divides the cells.
            assert len(re.findall(r"(?<!\\)\|", line)) in (3, 5), line
    assert "<c>" not in card.replace("`<c>`", "")


def test_the_code_of_the_card_runs_in_the_folder(run, tmp_path, monkeypatch):
    run.write(tmp_path, page=False)
    (code,) = re.findall(r"```python\n(.*?)```", (tmp_path / "README.md").read_text(), flags=re.DOTALL)
    pa.csv.write_csv(run.tables.columns, tmp_path / "new.csv")
    monkeypatch.chdir(tmp_path)
    exec(code, {})
