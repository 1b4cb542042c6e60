"""One suite over all backends: whatever a book is behind, it answers alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import UUID

import httpx2
import pytest
from tests.zim.memory import MemoryArchive
from tests.zim.remote_books import remote_book

from kiwiresearch.errors import NotOffered, PageNotFound
from kiwiresearch.zim.archive import Archive
from kiwiresearch.zim.book_writer import NewPage, NewRedirect, write_book
from kiwiresearch.zim.kiwix_serve import KiwixServer, ServeArchive
from kiwiresearch.zim.libzim import LibzimArchive

ODD = (
    "What?",
    "What?page=2",
    "100%",
    "100%25",
    "a%20b",
    "a b",
    "C++",
    "a&b=c;d",
    "a#b",
    "AC/DC",
    "a//b",
    "/leading",
    "trailing/",
    "A/lookalike",
    "Zürich_Straße",
    "Łódź",
    "Москва",
    "東京",
    "🥳🧸",
    "'quoted'_\"twice\"",
    "(round)_[square]_{curly}",
    "back\\slash",
    "<angle>|pipe^caret`tick~",
    "12:30_to_1:00",
    "é_composed",
    "e\u0301_decomposed",
)


def _page(title: str, text: str) -> str:
    return f"<html><head><title>{title}</title></head><body><p>{text}</p></body></html>"


TITLES = {
    "Galaxy": "Galaxy",
    "Milky_Way": "Milky Way",
    "Galaxy_(chocolate)": "Galaxy (chocolate)",
    **{path: f"Odd page {number}" for number, path in enumerate(ODD)},
}
TEXTS = {
    "Galaxy": "Stars, gas and dust, bound by gravity.",
    "Milky_Way": "The galaxy of our Sun, a spiral of stars.",
    "Galaxy_(chocolate)": "A bar of chocolate.",
    **{path: f"peculiar{number} page" for number, path in enumerate(ODD)},
}
PAGES = {path: _page(title, TEXTS[path]) for path, title in TITLES.items()}
REDIRECTS = {
    "Galaxies": "Galaxy",
    "Our_galaxy": "Milky_Way",
    "Home_of_the_Sun": "Our_galaxy",
    "Wie? 100%": "Zürich_Straße",
    "C_plus_plus": "C++",
    "Zwanzig": "a%20b",
    "Feier_🥳": "🥳🧸",
    "Second_page": "What?page=2",
    "Lochgatter": "a#b",
}

BACKENDS = ("file", "server", "memory", "peer")


@pytest.fixture(scope="module")
def book_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("backends") / "backends.zim"
    write_book(
        target,
        [NewPage(path, TITLES[path], html.encode()) for path, html in PAGES.items()],
        [NewRedirect(path, path.replace("_", " "), to) for path, to in REDIRECTS.items()],
        metadata={
            "Name": "backends_en",
            "Title": "Backends",
            "Language": "eng",
            "Date": "2026-01-01",
        },
        main_path="Galaxy",
    )
    return target


@pytest.fixture(scope="module", params=BACKENDS)
def archive(request: pytest.FixtureRequest, book_file: Path) -> Iterator[Archive]:
    opened: Archive
    if request.param == "file":
        opened = LibzimArchive(book_file)
    elif request.param == "peer":
        opened = remote_book(LibzimArchive(book_file))
    elif request.param == "memory":
        opened = MemoryArchive(PAGES, REDIRECTS, title="Backends", main_page="Galaxy")
    else:
        start: Callable[..., str] = request.getfixturevalue("kiwix_serve")
        server = KiwixServer(start(book_file))
        (served,) = server.catalogue()
        opened = ServeArchive(server, served)
    yield opened
    opened.close()


def test_a_book_has_its_title_and_language(archive: Archive) -> None:
    """Every backend fills in the data sheet (R30)."""
    book = archive.book
    assert (book.title, book.language, len(book.id)) == ("Backends", "eng", 36)


@pytest.mark.parametrize("archive", ["file", "memory"], indirect=True)
def test_book_counts_pages_without_redirects(archive: Archive) -> None:
    """The count of articles is that of the pages, where the book itself is at hand."""
    assert archive.book.articles == len(PAGES)


@pytest.mark.parametrize("archive", ["file", "server"], indirect=True)
def test_file_and_server_agree_on_the_uuid(archive: Archive, book_file: Path) -> None:
    """The same book is the same book, in a file or behind a server: its UUID is in the file's header (R31, R32)."""
    header = book_file.read_bytes()[:24]
    assert archive.book.id == str(UUID(bytes=header[8:]))


@pytest.mark.parametrize("path", PAGES)
def test_read_gives_the_page_as_it_was_written(archive: Archive, path: str) -> None:
    """The path leads to itself, and its existence, type and size are known without reading it (R31, R32, R33).

    The path leads to itself, and what is there, its type and its size are reported without reading it.
    """
    entry = archive.read(path)
    assert entry.content.decode() == PAGES[path]
    assert (entry.ref.path, entry.ref.book) == (path, archive.book.id)
    assert (entry.title, entry.via, entry.is_html) == (TITLES[path], (), True)
    assert archive.resolve(path) == path
    item = archive.info(path)
    assert (item.ref.path, item.ref.book, item.via) == (path, archive.book.id, ())
    assert (item.size, item.is_html) == (len(PAGES[path].encode()), True)


@pytest.mark.parametrize("path", ["Galaxy", "What?page=2", "A/lookalike", "Home_of_the_Sun"])
def test_a_part_is_a_slice_of_the_whole(archive: Archive, path: str) -> None:
    """Bytes from one place to another are those of the whole; behind its end there are none."""
    for start, end in [(0, 1), (3, 9), (0, 10_000), (20, 20), (9, 3), (9_000, 9_001)]:
        assert archive.part(path, start, end) == archive.read(path).content[start:end]


@pytest.mark.parametrize(
    ("alias", "path"),
    [
        ("Galaxies", "Galaxy"),
        ("Our_galaxy", "Milky_Way"),
        ("Home_of_the_Sun", "Milky_Way"),
        ("Wie? 100%", "Zürich_Straße"),
        ("C_plus_plus", "C++"),
        ("Zwanzig", "a%20b"),
        ("Feier_🥳", "🥳🧸"),
        ("Second_page", "What?page=2"),
        ("Lochgatter", "a#b"),
    ],
)
def test_redirects_are_followed_and_recorded(archive: Archive, alias: str, path: str) -> None:
    """A redirect gives the page it leads to, and `via` says from where (R30)."""
    entry = archive.read(alias)
    assert entry.content.decode() == PAGES[path]
    assert (entry.ref.path, entry.title) == (path, TITLES[path])
    assert entry.via[0] == alias
    assert archive.resolve(alias) == path
    item = archive.info(alias)
    assert (item.ref, item.via, item.size) == (entry.ref, entry.via, len(entry.content))


@pytest.mark.parametrize("archive", ["file", "memory"], indirect=True)
def test_via_names_every_step(archive: Archive) -> None:
    """A chain of redirects is given step by step, if the book itself is available."""
    assert archive.read("Home_of_the_Sun").via == ("Home_of_the_Sun", "Our_galaxy")


UNKNOWN = (
    "Nowhere",
    "",
    "galaxy",
    "GALAXY",
    "Galaxy/",
    "/Galaxy",
    "Galaxy?x",
    "Galaxy#x",
    "a+b",
    "What",
    "What%3F",
    "100",
    "a%2520b",
    "../Galaxy",
    ".",
    "Zurich_Strasse",
    "Galaxy ",
    "Galaxy (chocolate)",
    "x" * 3000,
)


@pytest.mark.parametrize("path", UNKNOWN, ids=lambda path: path[:20] or "empty")
def test_unknown_path_is_page_not_found(archive: Archive, path: str) -> None:
    """A path the book does not have is reported by name, and `resolve` says None."""
    assert archive.resolve(path) is None
    for ask in (archive.read, archive.info, lambda name: archive.part(name, 0, 9)):
        with pytest.raises(PageNotFound) as caught:
            ask(path)
        assert caught.value.message == f"'Backends' has no page at {path!r}."


@pytest.mark.parametrize(
    ("title", "path"),
    [
        ("Galaxy", "Galaxy"),
        ("Milky Way", "Milky_Way"),
        ("Galaxy (chocolate)", "Galaxy_(chocolate)"),
        ("Galaxies", "Galaxy"),
        ("Our galaxy", "Milky_Way"),
        ("C plus plus", "C++"),
        ("galaxy", None),
        ("Milky", None),
        ("Nowhere at all", None),
        ("", None),
    ],
)
def test_by_title_wants_the_exact_title(archive: Archive, title: str, path: str | None) -> None:
    """A title finds its page, a redirect's title the page behind it, and a part of one nothing (R30)."""
    assert archive.by_title(title) == path


@pytest.mark.parametrize(
    ("words", "paths"),
    [
        ("stars", {"Galaxy", "Milky_Way"}),
        ("sun stars", {"Milky_Way"}),
        ("STARS gas", {"Galaxy"}),
        ("chocolate", {"Galaxy_(chocolate)"}),
        ("peculiar3", {"100%25"}),
        ("stars zeppelin", set()),
        ("zeppelin", set()),
        ("", set()),
        ("   ", set()),
    ],
)
def test_search_wants_every_word(archive: Archive, words: str, paths: set[str]) -> None:
    """Full-text search finds the pages that have all the words, and counts them (R30)."""
    found = archive.search(words, 10)
    assert {match.path for match in found} == paths
    assert {match.title for match in found} == {TITLES[path] for path in paths}
    assert archive.estimate(words) == len(paths)


def test_search_keeps_to_the_limit(archive: Archive) -> None:
    """No more hits than asked for, though the count is of all."""
    assert len(archive.search("page", 5)) == 5
    assert archive.estimate("page") == len(ODD)


@pytest.mark.parametrize("words", ['"', "AND", "a & b", "<b>", "%", "+ - *", "ü" * 200, "🥳"])
def test_search_takes_any_words(archive: Archive, words: str) -> None:
    """What people type is words, never syntax that fails."""
    assert all(match.path in PAGES for match in archive.search(words, 3))
    assert archive.estimate(words) >= len(archive.search(words, 3))


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("Milky", {"Milky_Way"}),
        ("milky w", {"Milky_Way"}),
        ("Our gal", {"Milky_Way"}),
        ("Galaxy", {"Galaxy", "Galaxy_(chocolate)", "Milky_Way"}),
        ("zeppelin", set()),
        ("", set()),
        ("  ", set()),
    ],
)
def test_suggest_offers_titles_that_begin_so(archive: Archive, text: str, paths: set[str]) -> None:
    """The beginning of a title, or of a redirect's, is enough, in any case (R30)."""
    assert {archive.resolve(match.path) for match in archive.suggest(text, 10)} == paths


def test_suggest_keeps_to_the_limit(archive: Archive) -> None:
    """No more suggestions than asked for."""
    assert len(archive.suggest("Odd page", 4)) == 4


@pytest.mark.parametrize("archive", ["file", "memory"], indirect=True)
def test_articles_are_all_pages_and_no_redirects(archive: Archive) -> None:
    """A book at hand lists every article once."""
    assert sorted(archive.articles()) == sorted(PAGES)


@pytest.mark.parametrize("archive", ["server"], indirect=True)
def test_a_server_lists_no_articles(archive: Archive) -> None:
    """A server says plainly that it cannot list a book, and what to do instead."""
    with pytest.raises(NotOffered, match="kiwix-serve cannot list the articles of 'Backends'") as caught:
        archive.articles()
    assert caught.value.remedy == "Add the ZIM file itself to your library."


@pytest.mark.parametrize("archive", ["file", "memory"], indirect=True)
def test_titles_are_those_of_pages_and_redirects(archive: Archive) -> None:
    """A book at hand lists the title of every page and of every redirect, with the page it leads to (R30)."""
    pages = {(title, path, False) for path, title in TITLES.items()}
    aliases = {(path.replace("_", " "), archive.resolve(to), True) for path, to in REDIRECTS.items()}
    listed = list(archive.titles())
    assert {(entry.title, entry.path, entry.alias) for entry in listed} == pages | aliases
    assert len(listed) == len(pages | aliases)


@pytest.mark.parametrize("archive", ["file", "memory"], indirect=True)
def test_titles_go_on_where_they_stopped(archive: Archive) -> None:
    """The order is the same each time, so a listing that was cut short goes on after its last number."""
    listed = list(archive.titles())
    assert [entry.number for entry in listed] == sorted({entry.number for entry in listed})
    for cut in (0, 5, len(listed) - 1):
        assert list(archive.titles(listed[cut].number + 1)) == listed[cut + 1 :]


@pytest.mark.parametrize("archive", ["server"], indirect=True)
def test_a_server_lists_no_titles(archive: Archive) -> None:
    """A server says plainly that it cannot list the titles of a book."""
    with pytest.raises(NotOffered, match="cannot list the titles of 'Backends'"):
        archive.titles()


@pytest.mark.parametrize("archive", ["file", "memory"], indirect=True)
def test_url_of_a_book_at_hand_is_its_name(archive: Archive) -> None:
    """A page of a file is named by book and path."""
    assert archive.url("What?") == f"zim://{archive.book.id}/What?"


@pytest.mark.parametrize("archive", ["server"], indirect=True)
@pytest.mark.parametrize("path", ["Galaxy", "100%25", "What?page=2", "🥳🧸", "AC/DC", "C++", "a#b"])
def test_url_of_a_served_book_opens_the_page(archive: Archive, path: str) -> None:
    """The address of a served page opens in a browser (R31)."""
    shown = httpx2.get(archive.url(path), trust_env=False, timeout=30, verify=False, follow_redirects=True)
    assert f"<p>{TEXTS[path]}</p>" in shown.text
