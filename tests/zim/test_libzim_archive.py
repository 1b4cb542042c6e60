"""What libzim does of its own, and what we make of it."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import libzim.reader
import pytest

from kiwiresearch.zim.book_writer import NewPage, NewRedirect, write_book
from kiwiresearch.zim.libzim import CLUSTER_CACHE_BYTES, LibzimArchive, set_cluster_cache
from kiwiresearch.zim.paths import find_path, near_titles

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import BookMaker


@pytest.fixture(scope="module")
def galaxies(tmp_path_factory: pytest.TempPathFactory) -> LibzimArchive:
    """A small book with titles that are easily mistaken."""
    target = tmp_path_factory.mktemp("galaxies") / "galaxies.zim"
    titles = {
        "Milky_Way": "Milky Way",
        "Galaxy": "Galaxy",
        "Galaxy_cluster": "Galaxy cluster",
        "index.html": "Welcome page",
        "AC/DC": "AC/DC",
        "What?": "What?",
    }
    write_book(
        target,
        [NewPage(path, title, b"<p>blue</p>") for path, title in titles.items()],
        [NewRedirect("Galaxies", "Galaxies", "Galaxy")],
        metadata={"Title": "Galaxies"},
    )
    return LibzimArchive(target)


@pytest.mark.parametrize("path", ["A/Galaxy", "C/Galaxy", "Z/Galaxy", "/A/Galaxy", "M/Title", "C/A/Galaxy", "-/Galaxy"])
def test_letter_before_a_path_matches_nothing(galaxies: LibzimArchive, path: str) -> None:
    """A new file has 'Galaxy', and 'A/Galaxy' or any other letter is another path, which it lacks."""
    assert galaxies.resolve("Galaxy") == "Galaxy"
    assert galaxies.resolve(path) is None
    assert galaxies.resolve(path.replace("Galaxy", "Galaxies")) is None


def test_letter_before_a_path_may_be_part_of_it(a_book: BookMaker) -> None:
    """A new file may have both 'Home' and 'A/Home', and they stay two pages."""
    archive = LibzimArchive(a_book({"Home": "<p>one</p>", "A/Home": "<p>two</p>"}))
    assert archive.read("Home").content == b"<p>one</p>"
    assert archive.read("A/Home").content == b"<p>two</p>"


MARKED_UP = {
    "<i>Homo erectus</i>": "Homo erectus",
    "E = mc<sup>2</sup>": "E = mc2",
    "Simon &amp; Garfunkel": "Simon & Garfunkel",
    "  Two   spaces ": "Two spaces",
    "2 < 3 > 1": "2 < 3 > 1",
    "C++ <vector>": "C++ <vector>",
}


def test_titles_are_shown_without_markup(a_book: BookMaker) -> None:
    """Titles that a scraper left markup in are read as people read them, everywhere."""
    titles = {f"P{number}": title for number, title in enumerate(MARKED_UP)}
    archive = LibzimArchive(a_book({path: f"<p>uncommon{path}</p>" for path in titles}, titles=titles))
    assert {title: archive.read(path).title for path, title in titles.items()} == MARKED_UP
    assert {title: archive.search(f"uncommon{path}", 5)[0].title for path, title in titles.items()} == MARKED_UP


def test_book_without_full_text_index_finds_nothing(a_book: BookMaker) -> None:
    """Without an index a search is empty, not an error, and titles are still found (R236)."""
    archive = LibzimArchive(a_book({"Sky": "<p>blue</p>"}, index=False))
    assert archive.book.indexes.full_text is False
    assert (archive.search("blue", 5), archive.estimate("blue")) == ((), 0)
    assert archive.by_title("Sky") == "Sky"
    assert [match.path for match in archive.suggest("Sky", 5)] == ["Sky"]


def test_book_with_indexes_says_so(a_book: BookMaker) -> None:
    """Searcher and SuggestionSearcher of libzim are at work where the book has indexes (R236)."""
    archive = LibzimArchive(a_book({"Blue_sky": "<p>Scattered rays</p>"}))
    assert (archive.book.indexes.full_text, archive.book.indexes.titles) == (True, True)
    assert [match.path for match in archive.search("scatter ray", 5)] == ["Blue_sky"]
    assert [match.path for match in archive.suggest("blue s", 5)] == ["Blue_sky"]


def test_suggestions_name_the_redirect_that_led_here(a_book: BookMaker) -> None:
    """A page found under another name is offered once, with that name."""
    archive = LibzimArchive(a_book({"Sky": "<p>blue</p>"}, {"Heavens": "Sky", "Heaven": "Sky"}))
    (match,) = archive.suggest("Heaven", 5)
    assert (match.path, match.title) == ("Sky", "Sky")
    assert match.alias in ("Heaven", "Heavens")


@pytest.mark.parametrize("odd", ["\ud800", "Galaxy\ud800", "\x00", "Galaxy\x00"])
def test_text_that_no_file_can_have_finds_nothing(galaxies: LibzimArchive, odd: str) -> None:
    """Lone surrogates and NUL are not found; they do not fail."""
    assert galaxies.resolve(odd) is None
    assert galaxies.by_title(odd) is None


def test_lone_surrogate_finds_no_words(galaxies: LibzimArchive) -> None:
    """Words that cannot be encoded are in no page."""
    assert (galaxies.search("\ud800", 5), galaxies.suggest("\ud800", 5)) == ((), ())
    assert galaxies.estimate("\ud800") == 0


def test_pages_of_other_types_are_not_articles(tmp_path: Path) -> None:
    """Pictures, style sheets and pages that are not articles are read, but not listed."""
    write_book(
        tmp_path / "mixed.zim",
        [
            NewPage("Sky", "Sky", b"<p>blue</p>"),
            NewPage("Typed", "Typed", b"<p>typed</p>", "text/html; charset=utf-8"),
            NewPage("Upper", "Upper", b"<p>upper</p>", "Text/HTML"),
            NewPage("style.css", "", b"p {}", "text/css", is_article=False),
            NewPage("sky.png", "", b"\x89PNG", "image/png"),
            NewPage("About", "About", b"<p>about</p>", is_article=False),
        ],
        [NewRedirect("Heavens", "Heavens", "Sky"), NewRedirect("Photo", "Photo", "sky.png")],
        metadata={"Title": "Mixed"},
    )
    archive = LibzimArchive(tmp_path / "mixed.zim")
    assert sorted(archive.articles()) == ["Sky", "Typed", "Upper"]
    assert [entry.title for entry in archive.titles()] == ["Heavens", "Sky", "Typed", "Upper"]
    assert archive.read("sky.png").mimetype == "image/png"
    assert archive.read("sky.png").is_html is False
    assert archive.read("Typed").is_html is True


SPEAKING = """
import sys
from pathlib import Path
from kiwiresearch.zim.book_writer import NewPage, NewRedirect, write_book
from kiwiresearch.zim.libzim import LibzimArchive

file = Path(sys.argv[1])
write_book(
    file,
    [NewPage("Sky", "Sky", b"<p>blue</p>")],
    [NewRedirect("Nowhere", "Nowhere", "Missing")],
    metadata={"Title": "Talkative", "Language": "zzz"},
    language="zzz",
)
archive = LibzimArchive(file)
archive.search("blue", 5), archive.estimate("blue"), archive.suggest("Sky", 5)
archive.checksum_holds(), list(archive.articles()), archive.read("Sky")
print("done")
"""


def test_nothing_of_libzim_reaches_our_output(tmp_path: Path) -> None:
    """Writing and reading a book prints nothing: both outputs are for the program alone."""
    command = [sys.executable, "-c", SPEAKING, str(tmp_path / "talkative.zim")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("done\n", "")


def test_the_cluster_cache_has_the_size_that_is_set() -> None:
    """The size of the cache of clusters is set when libzim is loaded, and can be changed."""
    try:
        set_cluster_cache(5 * 2**20)
        assert libzim.reader.get_cluster_cache_max_size() == 5 * 2**20
    finally:
        set_cluster_cache(CLUSTER_CACHE_BYTES)
    assert libzim.reader.get_cluster_cache_max_size() == CLUSTER_CACHE_BYTES


@pytest.mark.parametrize(
    ("typed", "path"),
    [
        ("Milky Way", "Milky_Way"),
        ("milky way", "Milky_Way"),
        ("MILKY WAY", "Milky_Way"),
        ("Milky_Way", "Milky_Way"),
        ("milky_way", "Milky_Way"),
        ("  Milky Way ", "Milky_Way"),
        ("Milky\nWay", "Milky_Way"),
        ("galaxies", "Galaxy"),
        ("index", "index.html"),
        ("AC/DC", "AC/DC"),
        ("aC/DC", "AC/DC"),
        ("What?", "What?"),
        ("Milky", None),
        ("zeppelin", None),
        ("", None),
        ("   ", None),
    ],
)
def test_find_path_forgives_case_and_endings(galaxies: LibzimArchive, typed: str, path: str | None) -> None:
    """What a person types finds the page of that title, though case or file ending differ (R30)."""
    assert find_path(galaxies, typed) == path


def test_near_titles_are_nearest_first(galaxies: LibzimArchive) -> None:
    """Titles that were perhaps meant are offered, nearest first."""
    assert near_titles(galaxies, "Galaxy clusters")[0] == "Galaxy cluster"
    assert near_titles(galaxies, "zeppelin") == []
