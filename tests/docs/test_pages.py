"""The pages run: their Python, their command lines, and what they say is printed.

Blocks of a page run in their order, in one temporary folder, and its Python blocks share their names. ``text``
after ``python`` is what that block prints. A block that would take too long has a comment before it that says so:

    <!-- no-run: trains for an hour -->
"""

import contextlib
import io
import os
import re
import shlex
import sys
import types
from pathlib import Path
from typing import NamedTuple

import pytest

from metapn.cli import main

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"(?:^<!-- no-run: (?P<why>[^\n]+) -->\n)?^```(?P<kind>[^\n]*)\n(?P<text>.*?)^```$", re.S | re.M)
REAL_GRAPHS = re.compile(r"\b(cora_ml|citeseer|pubmed|ms_academic|METAPN_DATA)\b")
HEAVY = re.compile(r"metapn (demo|bench|tune|reproduce)\b")


class Block(NamedTuple):
    """A fenced block: what it is in, its text, the number of its first line, and why it is not run, if it is not."""

    kind: str
    text: str
    line: int
    no_run: str | None

    @property
    def commands(self) -> list[str]:
        """The lines after a ``$`` that are ours, continued lines joined."""
        joined = self.text.replace("\\\n", "")
        return [line[2:] for line in joined.splitlines() if line.startswith("$ metapn ")]


def blocks(page):
    content = page.read_text(encoding="utf-8")
    found = []
    for match in BLOCK.finditer(content):
        line = content.count("\n", 0, match.start("text")) + 1
        found.append(Block(match["kind"], match["text"], line, match["why"]))
    return found


def runs(page):
    return [block for block in blocks(page) if block.kind in ("python", "console") and block.no_run is None]


def run_python(block, page, names):
    """Run a block, with the page's own line numbers in a traceback; return what it prints."""
    code = compile("\n" * (block.line - 1) + block.text, str(page), "exec")
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(code, names)
    return out.getvalue()


def run_command(command, monkeypatch):
    """Run a command line in this process, as `main` would leave it; return its exit code and all it prints."""
    monkeypatch.setattr(sys, "argv", shlex.split(command, comments=True))
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            main()
            code = 0
        except SystemExit as left:
            code = left.code or 0
    return code, out.getvalue()


@pytest.fixture
def added_method(monkeypatch):
    """The method of add-a-method.md, in the places that the page names: a module, and a line in the table."""
    from metapn import baselines

    inside = blocks(ROOT / "docs" / "add-a-method.md")
    (name, module) = next(re.findall(r'"(\w+)": "([\w.]+):', block.text)[0] for block in inside if not block.kind)
    monkeypatch.setitem(sys.modules, module, types.ModuleType(module))
    exec(next(block.text for block in inside if block.kind == "python"), sys.modules[module].__dict__)
    monkeypatch.setitem(baselines._WHERE, name, f"{module}:{name.title()}")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_runs(page, request, tmp_path, monkeypatch):
    executed = runs(page)
    if any(REAL_GRAPHS.search(block.text) for block in executed) and not os.environ.get("METAPN_DATA"):
        pytest.skip(f"{page.name} uses the benchmark graphs: set METAPN_DATA to the folder they are in")
    if page.name == "add-a-method.md":
        request.getfixturevalue("added_method")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    # A module, as dataclasses look up that of their class.
    module, printed = types.ModuleType(page.stem), None
    monkeypatch.setitem(sys.modules, page.stem, module)
    for block in blocks(page):
        if block.kind == "text" and printed is not None:
            assert block.text == printed, f"line {block.line} of {page.name} is not what the block before prints"
        printed = None
        if block not in executed:
            continue
        if block.kind == "python":
            printed = run_python(block, page, module.__dict__)
        for command in block.commands if block.kind == "console" else ():
            code, out = run_command(command, monkeypatch)
            assert code == 0, f"line {block.line} of {page.name}: {command}\n{out}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_is_written_so_that_it_shows_and_its_tests_are_quick(page):
    for block in blocks(page):
        place = f"line {block.line} of {page.name}"
        assert " " not in block.kind, f"{place}: no page shows ```{block.kind}; write <!-- no-run: why --> before it"
        assert block.kind not in ("bash", "sh", "shell"), f"{place}: ```console and '$ metapn ...', so that it is run"
        if block.kind == "console" and block.no_run is None:
            assert block.commands, f"{place}: a console block without a line '$ metapn ...'"
            assert not HEAVY.search(block.text), f"{place} takes too long for a test; say why it is not run"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_links_of_a_page_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8")):
        assert link.startswith("https://") or (page.parent / link).exists(), f"{page.name} links to {link}"
