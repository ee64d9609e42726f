"""Methods are found by name, and adding one is as short as the page says."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from metapn import baselines
from metapn.baselines import method, methods
from metapn.errors import InputError
from metapn.model.estimator import GraphClassifier
from metapn.model.metapn import MetaPN

PAGE = Path(__file__).parents[2] / "docs" / "add-a-method.md"


def test_thirteen_methods_each_an_estimator_of_its_own():
    found = [method(name) for name in methods()]
    assert len(set(found)) == len(found) == 13
    assert all(issubclass(estimator, GraphClassifier) for estimator in found)
    assert method("metapn") is MetaPN


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("Static-LP", "StaticLP"),
        ("GPR_GNN", "GPRGNN"),
        ("gprgnn", "GPRGNN"),
        ("C&S", "CorrectAndSmooth"),
        ("Meta-PN", "MetaPN"),
    ],
)
def test_spelling_does_not_matter(spelling, name):
    assert method(spelling).__name__ == name


@pytest.mark.parametrize(("wrong", "hint"), [("appn", "did you mean 'appnp'"), ("transformer-xl", "choose from mlp")])
def test_unknown_name_is_told_in_one_sentence(wrong, hint):
    with pytest.raises(InputError, match=hint) as caught:
        method(wrong)
    assert wrong in str(caught.value) and "\n" not in str(caught.value)


def test_listing_does_not_load_torch():
    code = "import sys; from metapn.baselines import methods; methods(); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_page_on_adding_a_method_runs(monkeypatch):
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    module = type(sys)("metapn.baselines.centroid")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(blocks[0], module.__dict__)
    line = re.search(r'"centroid": "([\w.:]+)"', PAGE.read_text(encoding="utf-8"))
    monkeypatch.setitem(baselines._WHERE, "centroid", line.group(1))
    exec(blocks[-1], {})
