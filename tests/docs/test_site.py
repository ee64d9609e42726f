"""The site that `make docs` builds: no warning, every page in the menu, and nothing from a network."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytest.importorskip("material", reason="needs pip install 'metapn[docs]'")
yaml = pytest.importorskip("yaml")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}  # as in the Makefile: advice on what succeeds mkdocs
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr, done.stderr
    return folder


def test_every_page_is_in_the_menu():
    menu = yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]
    listed = {page for entry in menu for page in entry.values()}
    assert listed == {page.name for page in (ROOT / "docs").glob("*.md")}


def test_every_page_is_built_with_its_headings(site):
    for page in (ROOT / "docs").glob("*.md"):
        built = site / ("" if page.stem == "index" else page.stem) / "index.html"
        title = re.search(r"^# (.+)$", page.read_text(), re.M)[1].split("`")[0]
        assert title in built.read_text().replace("&#x27;", "'").replace("&rsquo;", "'"), page.name


def test_nothing_comes_from_a_network(site):
    for built in site.rglob("*.html"):
        sources = re.findall(r"<(?:script|img|iframe)[^>]*\ssrc=[\"']?([^\"'\s>]+)", built.read_text())
        sources += re.findall(r"<link[^>]*rel=[\"']?(?:stylesheet|preload|icon)[^>]*", built.read_text())
        assert not [source for source in sources if "//" in source], built
