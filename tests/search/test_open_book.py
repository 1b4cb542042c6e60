"""A book ready to be searched: how rare words are, what pages say, and what is kept at hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.search.shelves import Noting
from tests.zim.memory import MemoryArchive

from kiwiresearch.page.html import bare_text
from kiwiresearch.search.open_book import MIN_PAGE_SIZE, OpenBook
from kiwiresearch.zim.book_writer import NewPage, write_book
from kiwiresearch.zim.libzim import LibzimArchive

PAGES = {"Galaxy": "<p>A galaxy of stars</p>", "Star": "<p>A star</p>", "Quasar": "<p>A quasar</p>"}
METADATA = {
    "Name": "t", "Title": "T", "Language": "eng", "Description": "d", "Creator": "c", "Publisher": "p",
    "Date": "2026-01-01",
}  # fmt: skip


def test_a_rare_word_counts_more(memory_book: Callable[..., OpenBook]) -> None:
    """Rarity falls with the number of pages; a word no page has is as rare as one that one page has."""
    book = memory_book(PAGES)
    assert book.rarity("quasar") > book.rarity("a") > 0
    assert book.rarity("zeppelin") == book.rarity("quasar")


def test_without_an_index_all_words_have_the_same_weight(zim_book: Callable[..., OpenBook]) -> None:
    """A book that cannot look words up gives no word more weight than another."""
    book = zim_book(PAGES, full_text=False)
    assert book.rarity("quasar") == book.rarity("a") > 0
    assert book.pages_with("quasar", 10) == ()


def test_an_empty_book_can_be_asked(memory_book: Callable[..., OpenBook]) -> None:
    """A book without a page has rare words, no pages and no fault."""
    book = memory_book({})
    assert book.rarity("galaxy") > 0
    assert book.pages_with("galaxy", 10) == ()
    assert book.text("Galaxy") is None


def test_the_start_page_is_not_a_result(memory_book: Callable[..., OpenBook]) -> None:
    """A start page has every word and says nothing about any."""
    book = memory_book({**PAGES, "Home": "<p>galaxy star quasar</p>"}, main_page="Home")
    assert book.pages_with("quasar", 10) == ("Quasar",)


def test_a_book_without_a_language_gets_one(memory_book: Callable[..., OpenBook]) -> None:
    """Where a book does not say its language it is read as English."""
    assert memory_book(PAGES, language="").language == "eng"
    assert memory_book(PAGES, language="deu").language == "deu"


def test_both_texts_of_a_page_have_the_same_offsets(memory_book: Callable[..., OpenBook]) -> None:
    """The levelled text is the text, letter for letter."""
    page = memory_book({"Café": "<p>Ein Café in ÅLAND</p>"}).text("Café")
    assert page
    assert (page.title, page.text, page.lowered) == ("Café", "Ein Café in ÅLAND", "ein cafe in aland")


def test_a_page_is_read_under_the_name_of_its_target(memory_book: Callable[..., OpenBook]) -> None:
    """A redirect gives the page it leads to."""
    page = memory_book(PAGES, {"Island universe": "Galaxy"}).text("Island_universe")
    assert page
    assert page.title == "Galaxy"


def test_other_entries_have_no_text(memory_book: Callable[..., OpenBook], tmp_path: Path) -> None:
    """A missing path, a circle of redirects and an entry that is not HTML are not results."""
    book = memory_book(PAGES, {"This": "That", "That": "This"})
    assert book.text("Nowhere") is None
    assert book.text("This") is None
    file = tmp_path / "other.zim"
    write_book(file, [NewPage("a.txt", "Galaxy", b"galaxy", mimetype="text/plain")], metadata=METADATA)
    assert OpenBook(LibzimArchive(file)).text("a.txt") is None


def test_a_title_is_made_of_the_path_where_the_book_has_none(memory_book: Callable[..., OpenBook]) -> None:
    """A path that leads nowhere still has a name for people."""
    book = memory_book(PAGES)
    assert book.title("Galaxy") == "Galaxy"
    assert book.title("Lost_page") == "Lost page"


def test_pages_are_kept_at_hand_up_to_a_size() -> None:
    """The page looked at longest ago goes first; the one just read stays, however long it is."""
    room_for_two = 2 * (MIN_PAGE_SIZE + 60)
    book = OpenBook(MemoryArchive({name: f"<p>{name * 60}</p>" for name in "abc"}), cached_chars=room_for_two)
    first, second = book.text("a"), book.text("b")
    assert book.text("a") is first
    book.text("c")
    assert book.text("a") is first
    assert book.text("b") is not second
    small = OpenBook(MemoryArchive({"a": "<p>long enough</p>"}), cached_chars=1)
    assert small.text("a") is small.text("a")


def test_pages_that_cannot_be_read_do_not_pile_up() -> None:
    """What is not there takes room as well, so that asking for it without end fills no memory."""
    archive = Noting({"a": "<p>word</p>"})
    book = OpenBook(archive, cached_chars=3 * MIN_PAGE_SIZE)
    assert [book.text(f"gone{number}") for number in (1, 2, 3, 3, 2, 1)] == [None] * 6
    assert archive.pages_read == ["gone1", "gone2", "gone3"]
    book.text("gone4")
    book.text("gone3")
    assert archive.pages_read == ["gone1", "gone2", "gone3", "gone4", "gone3"]


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>One</p><p>two</p>", "One two"),
        ("<p>A  <b>bold</b>\n word</p>", "A bold word"),
        ("<p>CO<sub>2</sub> is <a href='x'>heat</a>ed</p>", "CO2 is heated"),
        ("<h1>Title</h1><p>Text</p>", "Text"),
        ("<script>x()</script><style>p{}</style><p>Text</p>", "Text"),
        ("<p>Fact<sup class='reference'>[1]</sup></p>", "Fact"),
        ("<table class='infobox'><tr><td>Box</td></tr></table><p>Text</p>", "Text Box"),
        (
            "<table class='infobox'><tr><td><div class='thumb'>Picture</div>Box</td></tr></table>Text",
            "Text Picture Box",
        ),
        ("<div class='navbox'>a<div class='navbox'>b</div></div><p>Text</p>", "Text"),
        ("<div class='hatnote'>For others see</div><p>Text</p>", "Text"),
        ("just words", "just words"),
        ("<frameset><frame></frameset>", ""),
        ("<p>&lt;tag&gt; &amp;</p>", "<tag> &"),
        ("", ""),
    ],
)
def test_the_words_of_a_page_begin_as_the_article_does(html: str, text: str) -> None:
    """What is not text is removed, what is in boxes comes last and once."""
    assert bare_text(html.encode()).text == text


def test_it_is_known_where_boxes_begin() -> None:
    """Words of infoboxes and categories are distinguished from those of the article."""
    html = "<table class='infobox'><tr><td>Box</td></tr></table><p>Text</p><div id='catlinks'>Kind</div>"
    bare = bare_text(html.encode())
    assert (bare.text[: bare.boxes], sorted(bare.text[bare.boxes :].split())) == ("Text", ["Box", "Kind"])


@pytest.mark.parametrize(
    ("before", "lead"),
    [("", 0), ("<p>Short.</p>", 7), ("<ul><li>A list of its own, in front</li></ul>", 28)],
    ids=["at once", "short", "list"],
)
def test_the_lead_is_the_first_paragraph_of_some_length(before: str, lead: int) -> None:
    """A note or a list before the article is passed over; where no paragraph is long, the lead is the beginning."""
    article = f"<p>The article {'goes on ' * 10}</p>"
    bare = bare_text(f"{before}{article}".encode())
    assert bare.lead == lead
    assert bare.text[bare.lead :].startswith("The article")
    assert bare_text(b"<p>Short.</p><p>Short too.</p>").lead == 0


def test_old_encodings_are_read() -> None:
    """A page that names another encoding is read in it."""
    assert bare_text("<meta charset='iso-8859-1'><p>Café</p>".encode("latin-1")).text == "Café"


def test_a_huge_page_is_read_whole() -> None:
    """Millions of words, or tags without end, are not a problem."""
    assert bare_text(b"<p>galaxy</p>" * 100_000).text.count("galaxy") == 100_000
    assert bare_text(b"<div>" * 50_000 + b"galaxy").text == "galaxy"


@given(st.binary(max_size=400))
def test_any_bytes_give_a_line_of_text(content: bytes) -> None:
    """Whatever is called a page, its words come out in one line."""
    bare = bare_text(content)
    assert bare.text == " ".join(bare.text.split())
    assert 0 <= bare.boxes <= len(bare.text)
    assert 0 <= bare.lead <= len(bare.text)
