"""What is true of the claims of every page, whatever its sentences are."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.page.pages import a_page

from kiwiresearch.claims.by_rule import claims_of
from kiwiresearch.claims.claim import CLAIM_TYPES, Claim, claim_from_record, claim_record
from kiwiresearch.evidence import INFOBOX, is_on_page
from kiwiresearch.ids import canonical_json
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.page.parser import read_page
from kiwiresearch.zim.libzim import LibzimArchive

BOOK = "Book of towns"
WORD = re.compile(r"[^\W_]+")
ADDED = {"the", "a", "an", "s"}
"""What a claim may have that its page has not: an article, and the ending that makes a name a possessive."""

TITLES = (
    "Norbury", "Peter Lang", "Norbury (city)", "(city)", "The Stone Kings", "Lang, Peter", ",", " ", "A", "1905", "?",
    "İzmir", "Karl’s Church", "中文", "Ω (Ω)", "The The", "St. Mary's", "x" * 80,
)  # fmt: skip
STARTS = (
    "", "He ", "She ", "It ", "They ", "His ", "Her ", "Its ", "Their ", "This ", "These ", "The city ", "The king ",
    "The two brothers ", "The latter ", "However, he ", "And it ", "In 1905 he ", "In 1905, it ", "On 5 June 1944, ",
    "Norbury ", "Norbury's ", "Norbury’s harbour ", "Peter Lang ", "Lang ", "Karl Holm ", "Karl Holm (1802–1871) ",
    "A tarn ", "Some historians ", "Most of it ", "There ", "Born in 1905, ", "With the siege lifted ",
    "120,000 homes ", "“The wall” ", '"', "(", "That's how ", "Today, ", "Thus, however, ", "It is ", "the ", "İ ",
    "Both ", "¿", ", ",
)  # fmt: skip
MIDDLES = (
    "is a city of Avonia", "was born in Kiel in 1905", "was built in the 12th century", "is 120 metres (394 ft) high",
    "has about 12 million people", "may have caused the fall of Norbury", "is taller than the Red Tower",
    "argued that the wall was a road", 'said: "There was nothing left of it at all"', "was burned",
    "believed that it was so", "(IPA: /nɔːbəri/, listen) was founded c. 1200 BC",
    "; it was burned in 1950 by soldiers; he died in 1951 in Rome", "are known as the Long Wall, which he sold", "",
    "is", "2005–06 5% of 3/4 km²", "’s", "that year", "{{x}}", "[[", "— ; :",
)  # fmt: skip
ENDS = (
    ".",
    ". ",
    ";",
    "?",
    "!",
    "…",
    ")",
    '."',
    ".”",
    "",
    " .",
    ".)",
    " (1905).",
    '<sup class="reference">[1]</sup>',
    "\n",
)
CELLS = ("Lake", "Area", "40 km²", "1905", "5 June 1944", "", "1", "12 million (1951)", "a: b", "-", "x" * 120)
TAGS = ("p", "li", "blockquote", "h2", "h2 id='a b'", "td", "div class='hatnote'", "p class='stub'")

sentence = st.builds("{}{}{}".format, st.sampled_from(STARTS), st.sampled_from(MIDDLES), st.sampled_from(ENDS))
paragraph = st.builds(
    lambda tag, several: f"<{tag}>{' '.join(several)}</{tag.split()[0]}>",
    st.sampled_from(TAGS),
    st.lists(sentence, min_size=1, max_size=4),
)
row = st.lists(st.sampled_from(CELLS), min_size=1, max_size=3)
table = st.builds(
    lambda kind, rows: (
        f"<table{kind}><tr>{'</tr><tr>'.join(map(in_cells, rows, [*'h', *'d' * len(rows)]))}</tr></table>"
    ),
    st.sampled_from(["", " class='infobox'"]),
    st.lists(row, min_size=1, max_size=3),
)
pages = st.builds(
    lambda title, parts: a_page("".join(parts), title=title),
    st.sampled_from(TITLES),
    st.lists(st.one_of(paragraph, paragraph, paragraph, table), min_size=1, max_size=5),
)
"""Pages of sentences as nobody writes them, between headings, lists, tables and boxes."""


def in_cells(cells: list[str], kind: str) -> str:
    return "".join(f"<t{kind}>{cell}</t{kind}>" for cell in cells)


def words_of(text: str) -> set[str]:
    return {word.casefold() for word in WORD.findall(text)}


def strange(claim: Claim, page: PageDoc) -> set[str]:
    """The words of a claim that neither its quotes nor the title have; the label of a box may be elsewhere."""
    known = page.text if claim.section == INFOBOX else " ".join(quote.text for quote in claim.quotes)
    return words_of(claim.text) - words_of(known) - words_of(page.title) - ADDED


def faults(page: PageDoc) -> list[str]:
    """All that is wrong with the claims of a page, in words."""
    claims = claims_of(page, BOOK)
    found = ["ids are not unique"] if len({claim.id for claim in claims}) != len(claims) else []
    for claim in claims:
        found += [f"{claim.text!r}: {fault}" for fault in faults_of(claim, page)]
    return found


def faults_of(claim: Claim, page: PageDoc) -> list[str]:
    quantities = [measure.quantity for measure in claim.measures]
    places = [(one.start, one.end) for part in (claim.hedges, claim.dates, quantities) for one in part]
    checks = {
        "a quote is no span of the page": all(is_on_page(quote, page) for quote in claim.quotes),
        "not one to three quotes": 1 <= len(claim.quotes) <= 3,
        "a type of its own": claim.type in CLAIM_TYPES and claim.type not in claim.also,
        "no words of the page": not strange(claim, page),
        "no subject": bool(claim.subject.strip() and claim.scope.strip()) or not page.title.strip(),
        "no confidence": 0 <= claim.confidence <= 1,
        "another page": (claim.ref, claim.page_title, claim.book_name) == (page.ref, page.title, BOOK),
        "a place outside it": all(0 <= start < end <= len(claim.text) for start, end in places),
        "another claim when read again": claim_from_record(json.loads(canonical_json(claim_record(claim)))) == claim,
    }
    return [fault for fault, is_right in checks.items() if not is_right]


@settings(max_examples=150)
@given(pages)
def test_claims_of_odd_pages_are_sound(page: PageDoc) -> None:
    """Claims of any page are made of its words, quote it, have own ids, and are the same again (R62, R116)."""
    assert faults(page) == []
    assert claims_of(page, BOOK) == claims_of(page, BOOK)


@settings(max_examples=60)
@given(st.text(max_size=200), st.text(max_size=20))
@example("", "")
@example(", is a city of Avonia.", "Norbury")
@example("He was born in Kiel in 1905. It is.", " ")
@example("Lang (1802–1871) was a king. He ruled in Kiel until 1905. His house was burned in 1950.", ", (king)")
@example("İ (1802–1871) was a king. He ruled in Kiel until 1905. His house was burned in 1950.", "İ")
def test_any_text_is_read(text: str, title: str) -> None:
    """Reading a page for claims never raises, whatever its text and title are."""
    assert faults(a_page(text.encode("utf-8", "replace"), title=title, mimetype="text/html")) == []


@pytest.fixture(scope="module")
def real_pages(shared_data: Path) -> list[PageDoc]:
    """Sixty pages of a real book, from all over it."""
    archive = LibzimArchive(shared_data / "zims" / "schools-2007.zim")
    paths = sorted(archive.articles())
    step = len(paths) // 60
    return [read_page(archive.read(path), language=archive.book.language) for path in paths[step // 2 :: step][:60]]


def test_claims_of_real_pages_are_sound(real_pages: list[PageDoc]) -> None:
    """What is true of odd pages is true of real ones, and those say something (R57, R62, R116)."""
    assert [f"{page.title}: {fault}" for page in real_pages for fault in faults(page)] == []
    assert [len(claims_of(page)) > 0 for page in real_pages[:5]] == [True] * 5
