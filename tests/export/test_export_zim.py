"""A run as a ZIM file: a book that kiwix-serve opens, and that can be researched again."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest
from tests.brief.briefs import bronze_age, nothing, of_words
from tests.export.exported_runs import a_read_run, noted

from kiwiresearch.errors import CannotWrite
from kiwiresearch.export.exporter import export
from kiwiresearch.zim.integrity import FileChecks
from kiwiresearch.zim.libzim import LibzimArchive
from kiwiresearch.zim.shelf import Opener
from kiwiresearch.zim.sources import BookLocation


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The brief about the Bronze Age with its notes."""
    run = a_read_run(tmp_path_factory.mktemp("zim"))
    return export(noted(run, next(iter(bronze_age().claims.values()))), "zim")[0]


def test_kiwix_serve_opens_it(made: Path, kiwix_serve: Callable[..., str]) -> None:
    """Its main page is the brief, whose citations lead to pages with the quotes; titles and words are found."""
    address = kiwix_serve(made)
    with httpx2.Client(base_url=address, trust_env=False, timeout=30, follow_redirects=True) as client:
        assert "Late Bronze Age collapse" in client.get("/catalog/v2/entries").text
        main = client.get("/brief/")
        assert main.status_code == 200
        assert 'href="page-3.html#section-1"' in main.text
        page = client.get("/brief/page-3.html")
        assert "Ugarit was burnt and never settled again." in page.text
        assert client.get("/brief/style.css").headers["content-type"].startswith("text/css")
        assert "Well done." in client.get("/brief/notes.html").text
        assert "page-3.html" in client.get("/suggest", params={"content": "brief", "term": "ugar"}).text
        assert "page-11.html" in client.get("/search", params={"content": "brief", "pattern": "Medinet Habu"}).text


def test_its_metadata_is_what_catalogues_ask_for(made: Path) -> None:
    """A title and a description that are short enough, a date, a language, a name."""
    book = LibzimArchive(made).book
    assert (book.title, book.language, book.date) == ("Late Bronze Age collapse", "eng", "2026-01-01")
    assert book.name == "kiwiresearch_eng_late-bronze-age-collapse"


@pytest.mark.parametrize("topic", ["a very long topic " * 10, "שלום " * 20, "", "\x00\ud800"])
def test_any_topic_has_a_title_that_fits(tmp_path: Path, topic: str) -> None:
    """No more than 30 characters, and never none."""
    book = LibzimArchive(export(a_read_run(tmp_path, of_words(topic)), "zim")[0]).book
    assert 0 < len(book.title) <= 30
    assert book.language == "eng"


def test_its_checksum_is_right_and_it_can_be_read_again(made: Path, tmp_path: Path) -> None:
    """It goes on the shelf like any other book."""
    opener = Opener(FileChecks(tmp_path / "checks"))
    assert opener.check(BookLocation(str(made))).state == "sound"


def test_an_empty_brief_is_a_book_too(tmp_path: Path) -> None:
    """The brief says that it is empty."""
    archive = LibzimArchive(export(a_read_run(tmp_path, nothing()), "zim")[0])
    assert b"No sentence on the pages read" in archive.read("brief.html").content


def test_a_book_that_cannot_be_written_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk is not an internal error, and leaves nothing behind."""
    run = a_read_run(tmp_path / "run")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(CannotWrite, match="Free up space"):
        export(run, "zim")
    assert not (run / "export").exists()
