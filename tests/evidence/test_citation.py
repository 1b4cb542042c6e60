"""Citations name a local page and its section, and lead to the words they cite."""

from __future__ import annotations

from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.page.pages import BOOK, a_page

from kiwiresearch.evidence import Citation, SectionPlace, citation_words, ground, place_of, recorded_quote
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.zim.archive import EntryRef

HTML = """
<table class="infobox"><tr><th>Height</th><td>40 m</td></tr></table>
<p>Tarn Castle is a ruin in Avonia.</p>
<h2 id="Theories_of_decline">Theories of decline</h2><p>Some blame the well.</p>
<h3 id="Fire">Fire &amp; flood</h3><p>Others blame a fire in 1950.</p>
<h2>Today</h2><p>Sheep live in it.</p>
"""
REF = EntryRef(BOOK, "Tarn_Castle")


def page() -> PageDoc:
    return a_page(HTML, title="Tarn Castle", path="Tarn_Castle")


def citation(words: str) -> Citation:
    """A citation of some words of the page."""
    quote = ground(words, page())
    return Citation(quote, "Book of ruins", "Tarn Castle", *place_of(page(), quote.start))


def of_words(text: str, anchor: str = "Fire") -> Citation:
    return Citation(recorded_quote(REF, 0, len(text), text), "Book of ruins", "Tarn Castle", "Fire", anchor)


def reader(ref: EntryRef) -> str:
    """A server on the user's own machine."""
    return f"http://127.0.0.1:8080/content/{ref.book}/{ref.path}"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("is a ruin", "Tarn Castle — introduction"),
        ("blame the well", "Tarn Castle — “Theories of decline” section"),
        ("Theories of decline", "Tarn Castle — “Theories of decline” section"),
        ("Others blame a fire", "Tarn Castle — “Fire & flood” section"),
        ("Sheep live in it.", "Tarn Castle — “Today” section"),
        ("40 m", "Tarn Castle — infobox"),
    ],
)
def test_a_citation_names_page_and_section(words: str, expected: str) -> None:
    """A citation reads 'Page — “Section” section', with the section that its words are in (R107, R108)."""
    assert citation(words).words == expected


def test_pages_and_sections_are_named_alike_everywhere() -> None:
    """A page and a section are named alike wherever they are cited (R108)."""
    assert citation_words("Bronze Age collapse", "Theories") == "Bronze Age collapse — “Theories” section"
    assert citation_words("Bronze Age collapse", "") == "Bronze Age collapse — introduction"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("is a ruin", f"zim://{BOOK}/Tarn_Castle"),
        ("blame the well", f"zim://{BOOK}/Tarn_Castle#Theories_of_decline"),
        ("Others blame", f"zim://{BOOK}/Tarn_Castle#Fire"),
        ("Sheep", f"zim://{BOOK}/Tarn_Castle"),
        ("40 m", f"zim://{BOOK}/Tarn_Castle"),
    ],
)
def test_a_citation_leads_to_the_section_of_a_local_page(words: str, expected: str) -> None:
    """A citation's link is the page where it is at home with the anchor of its section, no address elsewhere (R107)."""
    assert citation(words).url(str) == expected
    assert citation(words).url(str, highlight=True) == expected


def test_a_citation_can_be_opened_at_its_words() -> None:
    """In a browser the link also names the words, so that they are shown marked (R108)."""
    url = citation("Others blame").url(reader, highlight=True)
    assert url == f"http://127.0.0.1:8080/content/{BOOK}/Tarn_Castle#Fire:~:text=Others%20blame"
    assert citation("is a ruin").url(reader, highlight=True).endswith("/Tarn_Castle#:~:text=is%20a%20ruin")
    assert citation("Others blame").url(reader).endswith("/Tarn_Castle#Fire")


def test_a_long_quote_is_named_by_its_first_and_last_words() -> None:
    """Of a long quote the link names where it begins and where it ends (R108)."""
    words = "The northern wall fell, people say, on the night before the well-known fire of the year 1950."
    fragment = of_words(words).url(reader, highlight=True).partition(":~:text=")[2]
    assert fragment == "The%20northern%20wall%20fell%2C,of%20the%20year%201950."


@given(st.text(max_size=60).filter(str.strip), st.text(max_size=20))
def test_links_have_nothing_that_needs_escaping(words: str, anchor: str) -> None:
    """Whatever a quote and an anchor are made of, their link has safe characters only, and both can be read back."""
    url = of_words(words, anchor).url(reader, highlight=True)
    assert url.isascii()
    assert url.isprintable()
    assert " " not in url
    assert url.count("#") == 1
    fragment, _, text = url.partition("#")[2].partition(":~:text=")
    assert unquote(fragment) == anchor
    assert unquote(text) == " ".join(words.split())
    assert not set(text) & set(",-&")


def test_half_a_character_does_not_spoil_a_link() -> None:
    """A lone surrogate in a quote or an anchor, as broken pages have, still gives a link."""
    assert of_words("a\ud800b", "c\ud800").url(reader, highlight=True).endswith("#c%3F:~:text=a%3Fb")


def test_every_offset_has_a_place() -> None:
    """The place of any offset is the last section that has started, or the box that is after the article."""
    read = page()
    seen = dict.fromkeys(place_of(read, offset) for offset in range(len(read.text)))
    assert list(seen) == [
        SectionPlace("", ""),
        SectionPlace("Theories of decline", "Theories_of_decline"),
        SectionPlace("Fire & flood", "Fire"),
        SectionPlace("Today", ""),
        SectionPlace("infobox", ""),
    ]
    for section in read.sections:
        assert place_of(read, section.start).section == section.heading


def test_an_empty_page_has_a_place() -> None:
    """The start of a page without words is its introduction."""
    assert place_of(a_page(""), 0) == SectionPlace("", "")
