"""Pages that only lead elsewhere are followed, and circles are noticed."""

from __future__ import annotations

import pytest
from tests.page.pages import a_page
from tests.zim.memory import MemoryArchive

from kiwiresearch.errors import PageNotFound, RedirectLoop
from kiwiresearch.page.parser import open_page


def leads_to(path: str) -> str:
    """A page as newer scrapers write it for a redirect to a section."""
    refresh = f'<meta http-equiv="refresh" content="0;URL=\'./{path}\'">'
    return f"<html><head><title>x</title>{refresh}</head><body></body></html>"


@pytest.mark.parametrize(
    ("html", "target"),
    [
        (leads_to("Kiel#Harbour"), "Kiel"),
        (leads_to("K%C3%B6ln"), "Köln"),
        ('<meta http-equiv="refresh" content="0; url=Kiel">', "Kiel"),
        ('<META HTTP-EQUIV="Refresh" CONTENT="5;url=Kiel">', "Kiel"),
        ('<meta http-equiv="refresh" content="30">', ""),
        ('<meta http-equiv="refresh" content="0;url=https://example.org/">', ""),
        ('<meta http-equiv="refresh" content="0;url=#part">', ""),
        ('<p>&lt;meta http-equiv="refresh" content="0;url=Kiel"&gt;</p>', ""),
        ("<p>x</p>", ""),
    ],
)
def test_refresh_names_its_target(html: str, target: str) -> None:
    """A page that sends its reader on says where to, if that is another page of the book."""
    assert a_page(html).redirect == target


def test_open_page_goes_on_to_the_target() -> None:
    """Opening a page that leads elsewhere gives the page it leads to, over several steps."""
    archive = MemoryArchive({"A": leads_to("B"), "B": leads_to("C#part"), "C": "<p>Here.</p>"}, redirects={"Z": "A"})
    page = open_page(archive, "Z")
    assert (page.ref.path, page.text, page.url) == ("C", "Here.", archive.url("C"))


@pytest.mark.parametrize(
    "pages",
    [
        {"A": leads_to("B"), "B": leads_to("A")},
        {"A": leads_to("B"), "B": leads_to("C"), "C": leads_to("B")},
        {f"{'A' * n}": leads_to("A" * (n + 1)) for n in range(1, 60)} | {"A" * 60: "<p>x</p>"},
    ],
    ids=["two", "three", "too long"],
)
def test_circles_are_noticed(pages: dict[str, str]) -> None:
    """Pages that lead to each other, or on and on, end in an error that says so."""
    with pytest.raises(RedirectLoop, match="redirects in a loop"):
        open_page(MemoryArchive(pages), "A")


def test_a_page_that_refreshes_itself_is_a_page() -> None:
    """A page that only reloads itself is read unchanged."""
    page = open_page(MemoryArchive({"A": leads_to("A").replace("<body>", "<body>News.")}), "A")
    assert (page.text, page.redirect) == ("News.", "")


def test_a_target_that_is_not_in_the_book_leaves_the_page() -> None:
    """If the book lacks the target, the page itself is given, with the target named."""
    page = open_page(MemoryArchive({"A": leads_to("Gone")}), "A")
    assert (page.ref.path, page.redirect) == ("A", "Gone")


def test_a_page_that_is_not_there_is_an_error() -> None:
    """A path that the book does not have is an error, not an empty page."""
    with pytest.raises(PageNotFound, match="Nowhere"):
        open_page(MemoryArchive({"A": "<p>x</p>"}), "Nowhere")


def test_open_page_knows_the_language_of_the_book() -> None:
    """The book's language decides by which words its pages are recognised."""
    html = "<p>x</p><h2>Siehe auch</h2><p><a href='B'>b</a></p>"
    german, english = (open_page(MemoryArchive({"A": html}, language=code), "A") for code in ("deu", "eng"))
    assert [german.language, german.links[0].place, english.links[0].place] == ["deu", "see also", "body"]
