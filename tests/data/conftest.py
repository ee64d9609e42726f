"""No test of this room touches the user's cache, or the benchmark files without saying so."""

import os
from pathlib import Path

import pytest

from metapn.data import download

REAL = os.environ.get("METAPN_DATA")


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """An empty cache folder in the place of the user's, and no METAPN_DATA."""
    folder = tmp_path / "cache"
    monkeypatch.setattr(download, "cache_dir", lambda: folder)
    monkeypatch.delenv("METAPN_DATA", raising=False)
    return folder


@pytest.fixture
def real_data(monkeypatch):
    """The folder of benchmark files, in METAPN_DATA again."""
    if not REAL:
        pytest.skip("METAPN_DATA is not set: it names the folder with the benchmark files")
    monkeypatch.setenv("METAPN_DATA", REAL)
    return Path(REAL)
