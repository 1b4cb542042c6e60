"""Words of a page's text, marked where a reader sees them."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.page.pages import a_page, an_entry

from kiwiresearch.page.alignment import Extent, MarkupPlaces, comparable_text
from kiwiresearch.page.display import DisplayOptions, display_page
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.page.html import regular_document
from kiwiresearch.page.parser import read_page
from kiwiresearch.zim.libzim import LibzimArchive

MARK = re.compile(r'<mark(?: id="([^"]*)")? class="kiwi-mark">(.*?)</mark>', re.DOTALL)
FORMULA = '<img class="mwe-math-fallback-image-inline" alt="{\\displaystyle E=mc^{2}}" src="e.svg">'


def shown(content: str, *spans: tuple[int, int]) -> str:
    """What a browser gets of a page with these parts of its text marked."""
    view = DisplayOptions("/read/book/", [Extent(*span) for span in spans])
    return display_page(content.encode(), a_page(content), view).after


def marked(content: str, words: str, *, last: bool = False) -> list[str]:
    """The marked pieces of a page when these words of its text are marked."""
    text = a_page(content).text
    start = text.rfind(words) if last else text.find(words)
    assert start >= 0, f"{words!r} is not in {text!r}"
    return [html.unescape(piece) for _, piece in MARK.findall(shown(content, (start, start + len(words))))]


@pytest.mark.parametrize(
    ("content", "words", "pieces"),
    [
        ("<p>The sky is blue.</p>", "sky is", ["sky is"]),
        ("<p>The <b>sky</b> is <a href='Blue'>blue</a>.</p>", "The sky is blue.", ["The", "sky", "is", "blue", "."]),
        ("<p>One.</p><p>Two.</p>", "One.\n\nTwo.", ["One.", "Two."]),
        ("<ul><li>Red</li><li>Green</li></ul>", "Red\nGreen", ["Red", "Green"]),
        ("<table><tr><th>Height</th><td>12 m</td></tr></table>", "Height\t12 m", ["Height", "12 m"]),
        ("<p>Cats &amp; dogs &lt;3&nbsp;birds</p>", "& dogs <3 birds", ["& dogs <3\xa0birds"]),
        ("<p>About 10<sup>6</sup> of CO<sub>2</sub>.</p>", "10⁶ of CO₂", ["10", "6", "of CO", "2"]),
        ("<p>It is so<sup class='reference'>[1]</sup>, says he.</p>", "so, says", ["so", ", says"]),
        ("<p>It is so<sup>[2]</sup>, says he.</p>", "so, says", ["so", ", says"]),
        ("<p>A<!-- not this --> word</p>", "A word", ["A word"]),
        ("<p>soft\u00adhyphen here</p>", "softhyphen", ["soft\u00adhyphen"]),
        ("<p>Since 1990<span style='display:none'>-01</span> it grew.</p>", "1990 it", ["1990", "it"]),
        ("<pre>one\n  two</pre>", "one\n  two", ["one\n  two"]),
    ],
)
def test_words_are_marked_piece_by_piece(content: str, words: str, pieces: list[str]) -> None:
    """Words are marked across inline tags, blocks and cells, and what is not text of the page stays unmarked."""
    assert marked(content, words) == pieces


def test_a_long_text_is_marked_in_one_piece() -> None:
    """However long a text without tags is, a quote of it is one mark, and no entity is torn."""
    content = f"<p>{'Tom &amp; Jerry &lt;3. ' * 400}</p>"
    words = a_page(content).text[2_000:5_001]
    assert [comparable_text(piece) for piece in marked(content, words)] == [comparable_text(words)]


def test_a_note_within_a_piece_does_not_shift_the_mark() -> None:
    """A written 'citation needed' that the text leaves out does not move what is marked behind it."""
    content = "<p>It was big [citation needed] and it was red. It was old.</p>"
    assert marked(content, "It was old.") == ["It was old."]


def test_a_box_is_marked_in_its_place() -> None:
    """A row of an infobox is marked in the box, though the text has it behind the article."""
    content = "<table class='infobox'><tr><th>Born</th><td>1930</td></tr></table><p>Ray was born in 1930.</p>"
    page = shown(content, Extent(*[a_page(content).infoboxes[0].rows[0].start, len(a_page(content).text)]))
    assert page.index('<mark id="mark" class="kiwi-mark">1930</mark></td>') < page.index("<p>Ray")


def test_a_formula_is_marked_as_a_whole() -> None:
    """A formula is in the text as TeX; its picture is what is marked."""
    pieces = marked(f"<p>Then {FORMULA} holds.</p>", "Then E=mc^{2} holds")
    assert [piece.partition(" ")[0] for piece in pieces] == ["Then", "<img", "holds"]


def test_the_words_at_the_offset_are_marked_and_no_others() -> None:
    """If the same words are there twice, the offset decides."""
    content = "<p>He came, he saw.</p><p>He came, he won.</p>"
    start = a_page(content).text.rfind("He came")
    assert '<p>He came, he saw.</p><p><mark id="mark" class="kiwi-mark">He came</mark>' in shown(
        content, (start, start + 7)
    )


def test_the_first_mark_asked_for_is_where_a_fragment_leads() -> None:
    """Several marks may overlap; each has an id of its own, and '#mark' is the one that was asked for first."""
    page = shown("<p>one two three four</p>", (14, 18), (0, 7), (4, 13))
    assert MARK.findall(page) == [("mark-2", "one two"), ("mark-3", " three"), ("mark", "four")]


def test_a_page_cannot_take_the_fragment_of_the_mark() -> None:
    """An element of the page with the id 'mark' does not interfere with the marked words."""
    page = shown('<p id="mark">First.</p><p>Second.</p>', (8, 15))
    assert page.count('id="mark"') == 1


def test_words_are_found_by_what_is_around_them() -> None:
    """In markup that has more words than the text, a place is found by its words and what is near them."""
    page = a_page("<p>Red is good. Red is bad.</p>")
    body = "<body><p>Red is dull.</p><p>Red is good. And so. Red is bad.</p></body>"
    (extent,) = MarkupPlaces(page, body).find(13, 19)
    assert extent.start == body.index("Red is bad")


def test_words_are_found_by_their_edges() -> None:
    """If something between the first and the last words is spelled differently, the place is still found."""
    page = a_page("<p>The old church in the middle of the town was built by monks in 1203.</p>")
    body = "<body><p>The old church in the middle of the village was built by monks in 1203. It stands.</p></body>"
    (extent,) = MarkupPlaces(page, body).find(0, len(page.text))
    assert body[extent.start : extent.end] == "The old church in the middle of the village was built by monks in 1203."


def test_missing_words_are_not_marked() -> None:
    """Words that the markup does not have are reported, and nothing else is marked in their place."""
    page = a_page("<p>The sky is blue.</p>")
    result = display_page(b"<p>Quite another page.</p>", page, DisplayOptions("/read/book/", [Extent(0, 7)]))
    assert (result.unmarked, "<mark" in result.after) == ((Extent(0, 7),), False)


TEXT = st.text(alphabet="ab c.&<²−\u00ad\u200b\n1[]", min_size=0, max_size=12).map(html.escape)
TAGS = st.sampled_from(
    ["b", "i", "p", "div", "li", "sup", "sub", "td", "table", "h2", "span class='reference'", "table class='infobox'",
     "pre", "a href='x'", "tr", "math alttext='x'", "span style='display:none'", "ul", "details", "script", "style"]
)  # fmt: skip
MARKUP = st.recursive(
    TEXT,
    lambda inner: st.tuples(TAGS, st.lists(inner, max_size=3)).map(
        lambda made: f"<{made[0]}>{''.join(made[1])}</{made[0].split()[0]}>"
    ),
    max_leaves=12,
)


@given(parts=st.lists(MARKUP, max_size=4), data=st.data())
def test_the_marked_words_are_the_requested_words(parts: list[str], data: st.DataObject) -> None:
    """Whatever the markup is, the marked words are the words of the text, or the page says that they are not."""
    content = "".join(parts)
    page = a_page(content)
    start = data.draw(st.integers(0, len(page.text)))
    end = data.draw(st.integers(start, len(page.text)))
    result = display_page(content.encode(), page, DisplayOptions("/read/book/", [Extent(start, end)]))
    if not result.unmarked:
        assert _said(result.after) == comparable_text(page.text[start:end])


def _said(behind: str) -> str:
    """What is marked, without white space; of a formula, its TeX."""
    pieces = (piece for _, piece in MARK.findall(behind))
    return "".join(comparable_text("x" if piece.startswith("<math") else html.unescape(piece)) for piece in pieces)


@given(content=st.binary(max_size=300) | st.text(max_size=300).map(lambda text: text.encode("utf-8", "replace")))
def test_any_bytes_can_be_shown(content: bytes) -> None:
    """Showing a page never fails, whatever its bytes are."""
    page = read_page(an_entry(content))
    display_page(content, page, DisplayOptions("/read/book/", [Extent(0, len(page.text) + 3)]))


BOOKS = (
    "real/wikipedia_en_ray_charles_maxi_2023-09.zim", "real/wikipedia_en_100_mini_2022-10.zim",
    "real/wikipedia_en_ray_charles_2015-06.zim", "real/devdocs_en_sqlite_2025-04.zim", "real/zimply_wiki.zim",
    "real/meta.esperanto.stackexchange.com_eng_all_2017-05.zim", "schools-2007.zim", "squad.zim",
)  # fmt: skip
PAGES_A_BOOK = 7
SENTENCES_A_PAGE = 5


def test_quotes_of_real_books_are_marked(shared_data: Path, sample_zim: Path) -> None:
    """Of sentences and rows of infoboxes all over real books, 99 of 100 are marked letter by letter (R243)."""
    wrong: list[str] = []
    count = 0
    for file in (*(shared_data / "zims" / name for name in BOOKS), sample_zim):
        archive = LibzimArchive(file)
        paths = list(archive.articles())
        for path in paths[:: max(len(paths) // PAGES_A_BOOK, 1)][:PAGES_A_BOOK]:
            entry = archive.read(path)
            if not entry.is_html:
                continue
            page = read_page(entry, language=archive.book.language or "eng")
            places = MarkupPlaces(page, regular_document(entry.content, without="").body)
            for span in _quotes(page):
                count += 1
                view = DisplayOptions("/read/book/", [span])
                # The whole page is made for some only: that takes longer than finding the words.
                output = (
                    _said(display_page(entry.content, page, view).after) if count % 10 == 0 else _found(places, span)
                )
                if output != comparable_text(page.text[span.start : span.end]):
                    wrong.append(f"{file.name} {path}: {page.text[span.start : span.end][:60]!r}")
        archive.close()
    assert count >= 300
    assert len(wrong) <= count // 100, "\n".join(wrong)


def _quotes(page: PageDoc) -> Iterator[Extent]:
    ends = [*page.sentences[1:], len(page.text)]
    sentences = [Extent(*pair) for pair in zip(page.sentences, ends, strict=True) if page.text[slice(*pair)].strip()]
    yield from sentences[:: max(len(sentences) // SENTENCES_A_PAGE, 1)]
    for box in page.infoboxes[:2]:
        yield from (Extent(row.start, row.end) for row in box.rows[::3])


def _found(places: MarkupPlaces, span: Extent) -> str:
    markup = places.markup
    return comparable_text("".join(html.unescape(markup[extent.start : extent.end]) for extent in places.find(*span)))
