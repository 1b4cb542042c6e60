"""The embedder a user sets."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

import kiwiresearch
from kiwiresearch.cli.start import run
from kiwiresearch.errors import BadSettings
from kiwiresearch.workspace.finder import Finder
from kiwiresearch.workspace.models import configured_embedder
from kiwiresearch.workspace.settings import Settings
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import open_workspace


def searched(home: Path, monkeypatch: pytest.MonkeyPatch, sample_zim: Path, embedder: str) -> set[str]:
    """The signals of a search with this embedder."""
    monkeypatch.setenv("KIWIRESEARCH_EMBEDDER", embedder)
    desk = open_workspace()
    with shelf_of(desk, [str(sample_zim)]) as shelf, Finder(desk, shelf) as finder:
        found = finder.find("red light in the evening sky")
    return {term.signal for hit in found.hits for term in hit.score.terms}


def test_without_a_setting_no_vector_is_made(home: Path, monkeypatch: pytest.MonkeyPatch, sample_zim: Path) -> None:
    """Search compares no meanings and keeps no vectors unless asked to (R258)."""
    assert "meaning" not in searched(home, monkeypatch, sample_zim, "")
    assert not (home / "cache" / "vectors.sqlite").exists()


def test_vectors_of_what_was_looked_at_are_kept(home: Path, monkeypatch: pytest.MonkeyPatch, sample_zim: Path) -> None:
    """With the static embedder, titles and leads are embedded on demand and their vectors persist (R259)."""
    assert "meaning" in searched(home, monkeypatch, sample_zim, "static")
    kept = home / "cache" / "vectors.sqlite"
    size = kept.stat().st_size
    assert size > 10_000
    assert "meaning" in searched(home, monkeypatch, sample_zim, "static")
    assert kept.stat().st_size == size


@pytest.mark.parametrize("name", ["dynamic", "/no/such/folder"])
def test_an_unknown_embedder_is_an_error(tmp_path: Path, name: str) -> None:
    """An unknown name is refused with what is possible."""
    with pytest.raises(BadSettings, match=f"'{name}' must be 'static', an address or a folder"):
        configured_embedder(Settings(embedder=name), tmp_path)


def test_a_folder_without_a_tokenizer_is_refused(tmp_path: Path) -> None:
    """A folder must have a model and its tokenizer."""
    (tmp_path / "model.onnx").write_bytes(b"")
    with pytest.raises(BadSettings, match=r"tokenizer\.json"):
        configured_embedder(Settings(embedder=str(tmp_path)), tmp_path)


@pytest.mark.parametrize("embedder", ["static", "/nowhere"])
def test_a_quick_search_makes_no_embedder(
    a_book: Callable[..., Path], home: Path, monkeypatch: pytest.MonkeyPatch, embedder: str
) -> None:
    """A search that reads no page neither opens a file of vectors nor minds what the embedder is set to."""
    monkeypatch.setenv("KIWIRESEARCH_EMBEDDER", embedder)
    shelf = kiwiresearch.open_shelf([a_book({"Nova": "<p>Nova is in space.</p>"})])
    assert shelf.search("nova", fast=True).hits
    shelf.close()
    assert list(home.rglob("vectors*")) == []


def test_a_closed_shelf_leaves_one_file_of_vectors(
    a_book: Callable[..., Path], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was opened for the search is closed with it."""
    monkeypatch.setenv("KIWIRESEARCH_EMBEDDER", "static")
    shelf = kiwiresearch.open_shelf([a_book({"Nova": "<p>Nova is in space.</p>"})])
    assert shelf.search("nova").hits
    shelf.close()
    assert [file.name for file in home.rglob("vectors*")] == ["vectors.sqlite"]


def test_an_embedder_that_fails_is_reported_and_not_needed(
    a_book: Callable[..., Path], home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A server of vectors that is away costs the line of meanings, not the search."""
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        monkeypatch.setenv("KIWIRESEARCH_EMBEDDER", f"http://127.0.0.1:{nobody.getsockname()[1]}/v1")
        monkeypatch.setenv("KIWIRESEARCH_EMBEDDER_MODEL", "away")
        assert run(["search", "nova", "--book", str(a_book({"Nova": "<p>Nova is in space.</p>"}))]) == 0
    output = capsys.readouterr()
    assert " 1. Nova" in output.out
    assert "Search by meaning is off" in output.err


def test_the_key_of_the_model_is_not_sent_to_the_embedder(tmp_path: Path) -> None:
    """Two servers may be two hosts: each is sent its own key, and no other."""
    keys: list[str | None] = []

    class Answering(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            keys.append(self.headers.get("Authorization"))
            self.rfile.read(int(self.headers["Content-Length"]))
            body = json.dumps({"data": [{"index": 0, "embedding": [1.0, 0.0]}]}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Answering) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/v1"
        for own in ("", "vectors-key"):
            settings = Settings(
                embedder=address, embedder_model="m", embedder_key=own, model_url="http://model", model_key="model-key"
            )
            embedder = configured_embedder(settings, tmp_path / (own or "none"))
            embedder.embed(["a text"])
            embedder.close()
        server.shutdown()
    assert set(keys) == {None, "Bearer vectors-key"}
