"""Downloads, from a server on this machine; nothing here leaves it."""

import gc
import hashlib
import http.server
import re
import sys
import threading
import warnings
from types import MappingProxyType

import pytest

from tests.refusals import assert_refused
from thunder_py import errors
from thunder_py.optional import MissingExtraError
from thunder_py.recordings import downloads

pooch = pytest.importorskip("pooch")

CONTENT = b"t;X;Y;Z\n0;1;2;3\n"
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Handler(http.server.BaseHTTPRequestHandler):
    asked = 0

    def do_GET(self):
        Handler.asked += 1
        self.send_response(200 if self.path == "/reach.csv" else 404)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        self.wfile.write(CONTENT)

    def log_message(self, *_):
        pass


@pytest.fixture
def registry(monkeypatch):
    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    Handler.asked = 0
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    pooch.get_logger().setLevel("ERROR")

    def entry(name, sha256):
        address = f"http://127.0.0.1:{server.server_port}/{name}"
        return downloads.Download(address, "reach.csv", sha256, "none", "for tests")

    entries = {
        "known": entry("reach.csv", SHA256),
        "unknown": entry("reach.csv", None),
        "altered": entry("reach.csv", "0" * 64),
        "gone": entry("none", SHA256),
    }
    monkeypatch.setattr(downloads, "REGISTRY", MappingProxyType(entries))
    yield
    server.shutdown()
    thread.join()
    server.server_close()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # refused answers leave their sockets to the collector
        gc.collect()


def test_a_file_arrives_once(registry, tmp_path):
    for _ in range(2):
        path = downloads.fetch("known", folder=tmp_path)
        assert path == tmp_path / "reach.csv"
        assert path.read_bytes() == CONTENT
    assert Handler.asked == 1
    path.write_bytes(b"damaged")  # what is on disk is checked too
    assert downloads.fetch("known", folder=tmp_path, known_hash=f"sha256:{SHA256}").read_bytes() == CONTENT
    assert Handler.asked == 2


def test_an_entry_without_hash_takes_yours(registry, tmp_path):
    md5, sha1 = hashlib.md5(CONTENT).hexdigest(), hashlib.sha1(CONTENT).hexdigest()
    for known_hash in (f"sha256:{SHA256}", SHA256, f"md5:{md5}", f"sha1:{sha1}"):
        assert downloads.fetch("unknown", folder=tmp_path, known_hash=known_hash).read_bytes() == CONTENT


def test_an_entry_without_hash_asks_for_one(registry, tmp_path):
    assert_refused((lambda: downloads.fetch("unknown", folder=tmp_path), "known_hash must be given for unknown, ..."))
    assert Handler.asked == 0


def test_a_file_that_is_another_one_does_not_stay(registry, tmp_path):
    assert_refused(
        (lambda: downloads.fetch("altered", folder=tmp_path), "reach.csv could not be fetched from http://127..."),
        (lambda: downloads.fetch("gone", folder=tmp_path), "reach.csv could not be fetched from http://127... 404..."),
    )
    assert list(tmp_path.iterdir()) == []


def test_what_is_refused_before_anything_is_asked_for(registry, tmp_path, monkeypatch):
    assert_refused(
        (lambda: downloads.fetch("knwn"), "no download 'knwn' among known, ...; did you ...", errors.UnknownNameError),
        (lambda: downloads.fetch("known", known_hash="1" * 64), "known_hash of known must be sha256:..., got '...'"),
    )
    for wrong in ("md5:12", "crc:00000000", ""):
        with pytest.raises(
            errors.ThunderError, match=r"^known_hash must be 'sha256:', 'sha1:' or 'md5:' and hexadecimal"
        ):
            downloads.fetch("unknown", known_hash=wrong)
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(MissingExtraError, match=re.escape('this needs it: pip install "thunder_py[motion]"')):
        downloads.fetch("known", folder=tmp_path)
    assert Handler.asked == 0
