"""Downloads from a real server on this machine, well-behaved or not."""

import hashlib
import os
import subprocess
import sys
import threading
import time
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import metapn.data
from metapn.data import download
from metapn.data.download import fetch, find, is_upstream, locate
from metapn.data.registry import Counts, Source
from metapn.errors import InputError

CONTENT = bytes(range(256)) * 4000


class Server(ThreadingHTTPServer):
    """Serves CONTENT; `cut` bytes of a body at most, in the ways its fields say."""

    daemon_threads = True
    cut = None
    ranges = True
    status = None
    content = CONTENT
    pause = None

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked = []
        self.half = threading.Event()


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server, wanted = self.server, self.headers.get("Range")
        server.asked.append(wanted)
        start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted and server.ranges else 0
        if server.status or start >= len(server.content):
            self.send_error(server.status or 416)
            return
        body = server.content[start:]
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            if server.pause:
                self.wfile.write(body[: len(body) // 2])
                self.wfile.flush()
                server.half.set()
                server.pause()
                body = body[len(body) // 2 :]
            self.wfile.write(body if server.cut is None else body[: server.cut])
        except OSError:
            pass

    def log_message(self, *_):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    server = Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def source(server):
    return Source(
        name="toy",
        title="Toy",
        file="toy.bin",
        address=f"http://127.0.0.1:{server.server_port}/toy.bin",
        counts=Counts(nodes=1, edges=1, features=1, classes=1),
        blob_id=hashlib.sha1(b"blob %d\0" % len(CONTENT) + CONTENT).hexdigest(),
        folders=("toy",),
    )


def listing(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_download_is_whole_and_alone(server, source, cache):
    path = locate(source)
    assert path == cache / "toy.bin"
    assert path.read_bytes() == CONTENT
    assert listing(cache) == ["toy.bin"]
    assert locate(source) == path
    assert server.asked == [None]


@pytest.mark.parametrize("ranges", [True, False], ids=["ranges", "no-ranges"])
def test_a_broken_download_is_continued_by_the_next_run(server, source, cache, ranges):
    server.cut, server.ranges = 300_000, ranges
    with pytest.raises(InputError, match=r"connection broke 724,000 bytes before the end.*try again"):
        fetch(source)
    assert listing(cache) == ["toy.bin.part"]
    assert (cache / "toy.bin.part").read_bytes() == CONTENT[:300_000]
    server.cut = None
    assert fetch(source).read_bytes() == CONTENT
    assert server.asked == [None, "bytes=300000-"]
    assert listing(cache) == ["toy.bin"]


def test_a_download_that_is_whole_already_is_only_verified(server, source, cache):
    cache.mkdir()
    (cache / "toy.bin.part").write_bytes(CONTENT)
    assert fetch(source).read_bytes() == CONTENT
    assert listing(cache) == ["toy.bin"]


def test_a_part_longer_than_the_file_is_cut_by_a_server_without_ranges(server, source, cache):
    cache.mkdir()
    (cache / "toy.bin.part").write_bytes(CONTENT + b"more")
    server.ranges = False
    assert fetch(source).read_bytes() == CONTENT


@pytest.mark.parametrize("kept", [0, 1000])
def test_a_wrong_checksum_deletes_what_came_and_says_so(server, source, cache, kept):
    cache.mkdir()
    (cache / "toy.bin.part").write_bytes(b"x" * kept)
    server.content = CONTENT[:-1] + b"!"
    with pytest.raises(InputError, match="wrong checksum and was deleted"):
        fetch(source)
    assert listing(cache) == []
    server.content = CONTENT
    assert fetch(source).read_bytes() == CONTENT


def test_every_checksum_that_is_known_is_checked(source, tmp_path):
    file = tmp_path / "toy.bin"
    file.write_bytes(CONTENT)
    right = hashlib.sha256(CONTENT).hexdigest()
    assert is_upstream(file, source)
    assert is_upstream(file, replace(source, blob_id=None))
    assert is_upstream(file, replace(source, sha256=right))
    assert not is_upstream(file, replace(source, sha256="0" * 64))
    assert not is_upstream(file, replace(source, blob_id="0" * 40, sha256=right))


def unreachable(source, cache):
    with pytest.raises(InputError) as told:
        locate(source)
    sentence = str(told.value)
    for word in ("toy.bin", source.address, str(cache), "METAPN_DATA"):
        assert word in sentence
    assert "\n" not in sentence
    assert not (cache / "toy.bin").exists()
    return sentence


def test_a_file_that_is_gone_is_told_in_one_sentence(server, source, cache):
    server.status = 404
    assert "404" in unreachable(source, cache)


def test_no_network_is_told_in_one_sentence(server, source, cache):
    server.shutdown()
    server.server_close()
    assert "refused" in unreachable(source, cache)


def test_an_unknown_host_is_told_in_one_sentence(source, cache):
    unreachable(replace(source, address="http://nowhere.invalid/toy.bin"), cache)


def test_a_cache_that_cannot_be_written_is_told_in_one_sentence(source, cache):
    cache.write_text("a file where the folder should be")
    assert "exists" in unreachable(source, cache)


def test_a_killed_download_leaves_only_the_part(server, source, cache):
    release = threading.Event()
    server.pause = lambda: release.wait(30)
    code = (
        "from pathlib import Path; from metapn.data import download; from metapn.data.registry import *\n"
        f"download.cache_dir = lambda: Path({str(cache)!r})\n"
        f"download.fetch({source!r})"
    )
    root = str(Path(metapn.data.__file__).parents[2])
    child = subprocess.Popen([sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": root})
    try:
        assert server.half.wait(30)
        part = cache / "toy.bin.part"
        until = time.monotonic() + 10
        while not (part.exists() and part.stat().st_size) and time.monotonic() < until:
            time.sleep(0.01)
    finally:
        child.kill()
        child.wait()
        release.set()
    assert listing(cache) == ["toy.bin.part"]
    kept = part.stat().st_size
    assert 0 < kept < len(CONTENT)
    server.pause = None
    assert fetch(source).read_bytes() == CONTENT
    assert server.asked[-1] == f"bytes={kept}-"


def test_two_downloads_at_once_do_no_harm(server, source, cache):
    server.pause = threading.Barrier(2, timeout=20).wait
    paths = []
    threads = [threading.Thread(target=lambda: paths.append(fetch(source))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert paths == [cache / "toy.bin"] * 2
    assert paths[0].read_bytes() == CONTENT
    assert listing(cache) == ["toy.bin"]


def test_the_named_folder_comes_before_the_cache(source, cache, tmp_path, monkeypatch):
    named = tmp_path / "named"
    for folder in (named, cache):
        folder.mkdir()
        (folder / "toy.bin").write_bytes(b"re-encoded")
    monkeypatch.setenv("METAPN_DATA", str(named))
    assert locate(source) == named / "toy.bin"
    (named / "toy.bin").unlink()
    assert locate(source) == cache / "toy.bin"
    (named / "toy").mkdir()
    assert locate(source) == named / "toy"


def test_nothing_is_found_where_nothing_is(source):
    assert find(source) is None


def test_a_named_folder_that_is_none_is_told(source, tmp_path, monkeypatch):
    monkeypatch.setenv("METAPN_DATA", str(tmp_path / "typo"))
    with pytest.raises(InputError, match=r"METAPN_DATA names .*typo"):
        find(source)


def test_no_bar_is_drawn_where_there_is_no_terminal(server, source, capfd):
    fetch(source, progress=True)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("wanted", [True, False])
def test_the_bar_is_drawn_on_a_terminal_unless_unwanted(server, source, capfd, monkeypatch, wanted):
    monkeypatch.setenv("FORCE_COLOR", "1")
    fetch(source, progress=wanted)
    out, err = capfd.readouterr()
    assert out == ""
    assert ("toy.bin" in err) == wanted


def test_the_real_cache_is_the_platforms(monkeypatch):
    monkeypatch.undo()
    assert download.cache_dir().name in ("metapn", "Cache")
