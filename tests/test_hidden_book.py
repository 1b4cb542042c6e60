"""A book with one article hidden shows no trace of it but its words on other pages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import pytest
from evals.hidden import BookWithoutArticle, HiddenArchive, LinkTargets
from tests.zim.memory import MemoryArchive

from kiwiresearch.errors import PageNotFound
from kiwiresearch.page.doc import Infobox, Link, PageDoc
from kiwiresearch.page.html import bare_text
from kiwiresearch.page.parser import open_page
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.shelf_search import SearchOptions, search_books
from kiwiresearch.search.title_index_builder import build_titles, titles_file
from kiwiresearch.search.titles import open_titles
from kiwiresearch.zim.archive import Archive, Entry
from kiwiresearch.zim.libzim import LibzimArchive

BookMaker = Callable[..., Path]

GONE = "Tide_(sea)"
PAGES = {
    "Tide_(sea)": "<p>The tide is raised by the <a href='Moon'>Moon</a>. Spring tides are high.</p>",
    "Moon": (
        '<p>The <b>Moon</b> raises the <a href="Tide_%28sea%29" title="Tide (sea)">tide</a> of the '
        '<a href="Sea">sea</a>, and <A class=x HREF=Tide_(sea)#Spring>spring tides</A> twice a month.</p>'
        '<p>See <a title="a > b" href="Tides">tides</a>, <a href="./Ebb">ebb</a> and <a href="Sea#Salt">salt</a>.</p>'
    ),
    "Sea": '<p>The sea has <a href="/Tide_(sea)">tides</a> and <a href="sub/Wave">waves</a>.</p>',
    "sub/Wave": '<p>A wave is no <a href="../Tide_(sea)">tide</a>, says the <a href="../Moon">Moon</a>.</p>',
    "Harbour": "<p>A harbour by the <a href='Sea'>sea</a>, at low tide.</p>",
    "Start": "<p><a href='Moon'>Moon</a> <a href='Tide_(sea)'>Tide</a></p>",
}
REDIRECTS = {"Tides": "Tide_(sea)", "Ebb": "Tides", "Ocean": "Sea"}


@pytest.fixture
def whole(a_book: BookMaker) -> LibzimArchive:
    titles = {GONE: "Tide (sea)", "sub/Wave": "Wave"}
    return LibzimArchive(a_book(PAGES, REDIRECTS, main_path="Start", titles=titles))


@pytest.fixture(scope="module")
def schools(shared_data: Path) -> LibzimArchive:
    return LibzimArchive(shared_data / "zims" / "schools-2007.zim")


def a_page(markup: str) -> HiddenArchive:
    """A book whose page 'Page' has the markup, with 'Gone' hidden."""
    return HiddenArchive(MemoryArchive({"Page": f"<body>{markup}</body>", "Gone": "", "Kept": "", "Other": ""}), "Gone")


def leads(archive: Archive, link: Link, path: str) -> bool:
    return archive.resolve(link.target) == path


def expected(archive: Archive, page: PageDoc, gone: str) -> PageDoc:
    """The page as it should be read: without its links to the hidden article, and otherwise the same."""

    def kept(links: tuple[Link, ...]) -> tuple[Link, ...]:
        return tuple(link for link in links if not leads(archive, link, gone))

    def box_kept(box: Infobox) -> Infobox:
        return replace(box, rows=tuple(replace(row, links=kept(row.links)) for row in box.rows))

    return replace(page, links=kept(page.links), infoboxes=tuple(map(box_kept, page.infoboxes)))


def differing(one: PageDoc, other: PageDoc) -> list[str]:
    return [field.name for field in fields(one) if getattr(one, field.name) != getattr(other, field.name)]


def test_no_page_of_a_built_book_links_to_what_is_hidden(whole: LibzimArchive) -> None:
    """Links in every spelling become words; the text and all other links stay."""
    hidden = HiddenArchive(whole, GONE)
    for path in hidden.articles():
        before, after = open_page(whole, path), open_page(hidden, path)
        assert not [link for link in after.links if leads(whole, link, GONE)], path
        assert differing(expected(whole, before, GONE), after) == [], path
    assert len(open_page(whole, "Moon").links) - len(open_page(hidden, "Moon").links) == 4


def test_the_article_and_its_redirects_are_gone(whole: LibzimArchive) -> None:
    """Neither its path nor a redirect, however long the chain, leads to the hidden article."""
    hidden = HiddenArchive(whole, GONE)
    for path in (GONE, "Tides", "Ebb"):
        assert whole.resolve(path) == GONE
        assert hidden.resolve(path) is None
        with pytest.raises(PageNotFound):
            hidden.read(path)
        with pytest.raises(PageNotFound):
            hidden.title(path)
    assert [hidden.by_title(title) for title in ("Tide (sea)", "Tides", "Ebb")] == [None] * 3
    assert hidden.read("Ocean").ref.path == hidden.by_title("Ocean") == hidden.resolve("Ocean") == "Sea"


def test_no_list_shows_the_article(whole: LibzimArchive) -> None:
    """Searches, suggestions and listings give as many other pages as were asked for."""
    hidden = HiddenArchive(whole, GONE)
    assert GONE in whole.paths_with("tide", 10)
    for limit in (1, 2, 3):
        others = tuple(path for path in whole.paths_with("tide", 10) if path != GONE)[:limit]
        assert hidden.paths_with("tide", limit) == others
        assert tuple(match.path for match in hidden.search("tide", limit)) == others
    assert {match.path for match in whole.suggest("Tide", 5)} == {GONE}
    assert hidden.suggest("Tide", 5) == hidden.suggest("Ebb", 5) == ()
    assert sorted(hidden.articles()) == sorted(set(whole.articles()) - {GONE})
    assert {entry.title for entry in whole.titles()} - {entry.title for entry in hidden.titles()} == {
        "Tide (sea)",
        "Tides",
        "Ebb",
    }


def test_a_redirect_may_name_what_is_hidden(whole: LibzimArchive) -> None:
    """Hiding a redirect hides the page it leads to; hiding nothing is refused."""
    assert HiddenArchive(whole, "Ebb").hidden_path == GONE
    with pytest.raises(PageNotFound, match="Neap"):
        HiddenArchive(whole, "Neap")


@pytest.mark.parametrize(
    ("markup", "becomes"),
    [
        ('a <a href="Gone">b</a> c', "a b c"),
        ("a <A\nid='x'  HREF = 'Gone#part'\n>b</A > c", "a b c"),
        ("a <a href=Gone>b</a> c", "a b c"),
        ('a <a href="G&#111;ne">b</a> <a href="%47one">c</a>', "a b c"),
        ('<a href="Gone"><i>b</i> <b>c</b></a>', "<i>b</i> <b>c</b>"),
        ('<a href="Kept">a <a href="Gone">b</a> c', '<a href="Kept">a </a>b c'),
        ('<a href="Gone">a <a href="Kept">b</a> c', 'a <a href="Kept">b</a> c'),
        ('<a name="x"></a><a href="Gone">b</a>', '<a name="x"></a>b'),
        ('<!-- <a href="Kept"> --><a href="Gone">b<!-- </a> --> c</a>', "<!-- <a href=\"Kept\"> -->b<!-- </a> --> c"),
    ],
)  # fmt: skip
def test_a_link_becomes_its_words(markup: str, becomes: str) -> None:
    """Only the tags of such a link go; what was open before is closed as a browser would."""
    assert a_page(markup).read("Page").content.decode() == f"<body>{becomes}</body>"


@pytest.mark.parametrize(
    "markup",
    [
        '<a href="Kept" title="Gone">a</a>',
        '<a title=" href=Gone " href="Kept">a</a>',
        '<a data-href="Gone" href="Kept">a</a>',
        '<a href="Kept" href="Gone">a</a>',
        '<abbr href="Gone">a</abbr>',
        '<a href="https://example.org/Gone">a</a>',
        '<a href="Gone_with_the_wind">a</a> <a href="#Gone">b</a> <a href="gone">c</a>',
        "<script>'<a href=\"Gone\">'</script>",
        "Gone <a>Gone</a> &lt;a href='Gone'>",
    ],
)
def test_other_markup_is_left_alone(markup: str) -> None:
    """A page without a link to the article is the same bytes as before."""
    assert a_page(markup).read("Page").content.decode() == f"<body>{markup}</body>"


def test_bytes_that_are_not_text_are_kept() -> None:
    """A page that is not quite UTF-8 loses its link and nothing else."""
    archive = MemoryArchive({"Page": b'\xff<a href="Gone">b\xe9</a>\xfe', "Gone": "", "Kept": ""})
    assert HiddenArchive(archive, "Gone").read("Page").content == b"\xffb\xe9\xfe"


def test_cached_links_work_for_every_hidden_article(whole: LibzimArchive) -> None:
    """Sharing the cache changes no page."""
    targets = LinkTargets(whole)
    for gone in whole.articles():
        shared, alone = HiddenArchive(whole, gone, targets), HiddenArchive(whole, gone)
        for path in shared.articles():
            assert shared.read(path) == alone.read(path)


@pytest.mark.parametrize(
    ("gone", "word"), [("Plasma_(physics)", b"Plasma"), ("Galápagos_Islands", b"pagos"), ("Wessex", b"Wessex")]
)
def test_real_pages_lose_their_links_and_nothing_else(schools: LibzimArchive, gone: str, word: bytes) -> None:
    """Every page of a real book that linked to the article reads the same but for those links."""
    hidden = HiddenArchive(schools, gone)
    linking = [path for path in hidden.articles() if word in schools.read(path).content]
    changed = 0
    for path in linking:
        entry, new = schools.read(path), hidden.read(path)
        if entry.content == new.content:
            assert not links_to(schools, entry, gone), path
            continue
        changed += 1
        before, after = open_page(schools, path), open_page(hidden, path)
        assert not [link for link in after.links if leads(schools, link, gone)], path
        assert differing(expected(schools, before, gone), after) == [], path
        assert bare_text(entry.content) == bare_text(new.content), path
    assert changed >= 10


def links_to(archive: Archive, entry: Entry, gone: str) -> bool:
    return any(leads(archive, link, gone) for link in open_page(archive, entry.ref.path).links)


def test_search_in_a_real_book_never_finds_the_article(schools: LibzimArchive, tmp_path: Path) -> None:
    """Its own title finds other pages, with the same texts as in the whole book."""
    gone = "Paul_McCartney"
    hidden = HiddenArchive(schools, gone)
    index = titles_file(tmp_path, hidden.book)
    build_titles(hidden, index)
    whole = OpenBook(schools)
    book = BookWithoutArticle(hidden, open_titles(index, hidden.book), whole)
    assert search_books([whole], "Paul McCartney").hits[0].ref.path == gone
    paths = [hit.ref.path for hit in search_books([book], "Paul McCartney", SearchOptions(limit=40)).hits]
    assert "The_Beatles" in paths
    assert gone not in paths
    assert book.text(gone) is None
    assert book.text("The_Beatles") == OpenBook(hidden).text("The_Beatles")
    assert book.titles
    book.titles.close()
