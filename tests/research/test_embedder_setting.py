"""The embedder a user sets."""

from __future__ import annotations

from pathlib import Path

import pytest

from kiwiresearch.errors import BadSettings
from kiwiresearch.research.desk import open_desk
from kiwiresearch.research.finding import Finder
from kiwiresearch.research.models import embedder_of
from kiwiresearch.research.settings import Settings


def searched(home: Path, monkeypatch: pytest.MonkeyPatch, sample_zim: Path, embedder: str) -> set[str]:
    """The signals of a search with this embedder."""
    monkeypatch.setenv("KIWIRESEARCH_EMBEDDER", embedder)
    desk = open_desk()
    with desk.shelf([str(sample_zim)]) as shelf, Finder(desk, shelf) as finder:
        found = finder.find("red light in the evening sky")
    return {line.signal for hit in found.hits for line in hit.score.lines}


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
def test_an_embedder_that_is_none_is_an_error(tmp_path: Path, name: str) -> None:
    """A name that stands for nothing is refused with what would do."""
    with pytest.raises(BadSettings, match="neither 'static', nor an address, nor a folder"):
        embedder_of(Settings(embedder=name), tmp_path)


def test_a_folder_without_a_tokenizer_is_refused(tmp_path: Path) -> None:
    """A folder must hold a model and its tokenizer."""
    (tmp_path / "model.onnx").write_bytes(b"")
    with pytest.raises(BadSettings, match=r"tokenizer\.json"):
        embedder_of(Settings(embedder=str(tmp_path)), tmp_path)
