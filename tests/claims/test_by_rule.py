"""Claims by rule: complete sentences that can be understood alone, with what the page shows about them."""

from __future__ import annotations

import pytest
from tests.claims.claim_examples import CITY, below, claims_below, texts, the_claim
from tests.page.pages import a_page

from kiwiresearch.claims.by_rule import claims_of
from kiwiresearch.evidence import is_on_page

REFERENCE = '<sup class="reference">[1]</sup>'
NEEDED = '<sup class="noprint Inline-Template Template-Fact">[<i>citation needed</i>]</sup>'
DUBIOUS = '<sup class="Inline-Template">[<i>dubious – discuss</i>]</sup>'
BUILT = "The Red Tower was built in 1905."
MASONS = "The Red Tower was built in 1905 by the guild of the masons of the old town"
WEAVERS = "the Green Tower was built in 1930 by the guild of the weavers and their pupils"


@pytest.mark.parametrize(
    "html",
    [
        "<p>The towers of Norbury were built in 1905:</p>",
        "<p>The towers of Norbury were built by:</p><ul><li>Karl Holm, in 1905</li><li>Tom Hill, in 1906</li></ul>",
        "<ul><li>the Red Tower, which was built in 1905</li><li>Blue Tower (1907)</li></ul>",
        "<p>The Red Tower (the first of the city was built in 1905.</p>",
        "<p>The Red Tower, the first of the city) was built in 1905.</p>",
        "<p>The Red Tower was built in 1905</p>",
        "<p>was built in 1905 by Karl Holm.</p>",
        '<p>The Red Tower, called "the old one, was built in 1905.</p>',
        "<p>The Red Tower, called “the old one, was built in 1905.</p>",
        "<p>The Red Tower was built in 1905, see https://example.org for more.</p>",
        "<p>{{cite}} The Red Tower was built in 1905.</p>",
    ],
)
def test_incomplete_sentences_make_no_claim(html: str) -> None:
    """Half a sentence, half a bracket, half a quotation, the head of a list and code make no claim."""
    assert texts(html) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "The Red Tower (built by Karl Holm (a Dane) and Tom Hill) was burned in 1950.",
        "The Red, the Green and the Blue Tower were built in 1905, 1906 and 1907.",
        "The Red Tower was built in 1905 (and burned in 1950).",
        "The Red Tower, called “the old one”, was built in 1905.",
        "The Red Tower was built in 1905; the Green Tower in 1930.",
    ],
)
def test_lists_and_brackets_stay_whole(sentence: str) -> None:
    """A sentence with a list, a bracket or a short part behind a semicolon is claimed in one piece."""
    assert texts(f"<p>{sentence}</p>") == [sentence]


def test_whole_items_of_a_list_are_claimed() -> None:
    """An item that is a sentence is a claim; one that is a label is none."""
    assert texts(f"<ul><li>{BUILT}</li><li>The Green Tower, 1906.</li></ul>") == [BUILT]


def test_a_quotation_on_its_own_is_read() -> None:
    """A block of quoted text is read like a paragraph."""
    assert texts(f"<blockquote>{BUILT}</blockquote>") == [BUILT]


def test_parts_behind_semicolons_are_claims_of_their_own() -> None:
    """The parts that semicolons make of a long sentence are claimed one by one, each with its own words as quote."""
    claims = claims_below(f"<p>{MASONS}; {WEAVERS}; it was burned in 1950 by soldiers of the northern army.</p>")
    assert [claim.text for claim in claims] == [
        f"{MASONS}.",
        f"T{WEAVERS[1:]}.",
        "The Green Tower was burned in 1950 by soldiers of the northern army.",
    ]
    assert [claim.quotes[0].text for claim in claims] == [
        f"{MASONS};",
        f"{WEAVERS};",
        "it was burned in 1950 by soldiers of the northern army.",
    ]


@pytest.mark.parametrize(("left", "right"), [("(", ")"), ('"', '"')])
def test_semicolons_in_brackets_and_quotations_do_not_part(left: str, right: str) -> None:
    """A long sentence is not parted where a bracket or a quotation would be torn."""
    sentence = f"{MASONS} {left}as the book of the guild says; {WEAVERS}{right}, who came from the north."
    assert texts(f"<p>{sentence}</p>") == [sentence]


@pytest.mark.parametrize(
    "sentence",
    [
        "As mentioned above, the Red Tower was built in 1905.",
        "The Red Tower was rebuilt years later by 300 men.",
        "In the same year, the Red Tower was burned by 300 men.",
        "The following year, the Red Tower was burned by 300 men.",
        "The Red Tower was built in 1905, and the latter was burned.",
        "The Red Tower was built in 1905 for this reason.",
        "The Red Tower was built in 1905 by these people.",
        "The Red Tower (pictured) was built in 1905.",
        "After this, the Red Tower was burned in 1905.",
    ],
)
def test_sentences_that_point_elsewhere_make_no_claim(sentence: str) -> None:
    """A sentence that refers to something outside it, which no name can replace, makes no claim."""
    assert texts(f"<p>{sentence}</p>") == []


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        (f"However, {BUILT.replace('The', 'the')}", BUILT),
        (f"Therefore, {BUILT.replace('The', 'the')}", BUILT),
        (f"In addition, {BUILT.replace('The', 'the')}", BUILT),
        (f"Thus, however, {BUILT.replace('The', 'the')}", BUILT),
        (f"Today, {BUILT.replace('The', 'the')}", "Today, the Red Tower was built in 1905."),
    ],
)
def test_words_that_tie_sentences_together_are_left_out(sentence: str, expected: str) -> None:
    """Words that only tie a sentence to the one before are left out; words that say when are not."""
    assert the_claim(sentence).text == expected


def test_how_a_name_is_said_is_left_out() -> None:
    """Pronunciation and other scripts in a bracket are left out of the claim, and not out of the quote."""
    claim = the_claim("Kairova (Russian: Кайрова) was founded by monks in 1240.")
    assert claim.text == "Kairova was founded by monks in 1240."
    assert claim.quotes[0].text == "Kairova (Russian: Кайрова) was founded by monks in 1240."


def test_every_claim_has_its_sentence_as_quote() -> None:
    """A claim quotes its sentence unchanged, and a second place only where a name came from there (R62, R122)."""
    html = f"<p>{BUILT} Its roof weighs 20 tonnes. However, the city was burned in 1950.</p>"
    page, claims = below(html), claims_below(html)
    assert [[quote.text for quote in claim.quotes] for claim in claims] == [
        [BUILT],
        ["Its roof weighs 20 tonnes.", "The Red Tower"],
        ["the city was burned in 1950."],
    ]
    assert all(is_on_page(quote, page) and quote.ref == page.ref for claim in claims for quote in claim.quotes)


def test_references_are_counted_at_their_places() -> None:
    """A claim knows the references of its own sentence, its section and its page (R64, R124)."""
    html = (
        f"<p>{BUILT}{REFERENCE}{REFERENCE} The Green Tower was built in 1906.</p><h2>Arts</h2><p>None.{REFERENCE}</p>"
    )
    first, second = (claim.signals for claim in claims_below(html))
    assert (first.references, first.section_references, first.page_references) == (2, 2, 3)
    assert (second.references, second.section_references, second.page_references) == (0, 2, 3)


def test_a_reference_inside_a_sentence_is_its_own() -> None:
    """A mark in the middle of a sentence belongs to it and not to the next one (R64)."""
    html = f"<p>The Red Tower{REFERENCE} was built in 1905. The Green Tower was built in 1906.</p>"
    assert [claim.signals.references for claim in claims_below(html)] == [1, 0]


def test_marks_of_doubt_are_kept() -> None:
    """'Citation needed' and 'dubious' are kept with the sentence they are after, and lower its confidence (R64)."""
    html = f"<p>{BUILT} The Green Tower was built in 1906.{NEEDED} The Blue Tower was built in 1907.{DUBIOUS}</p>"
    plain, needed, dubious = claims_below(html)
    assert [(one.signals.citation_needed, one.signals.disputed) for one in (plain, needed, dubious)] == [
        (False, False),
        (True, False),
        (False, True),
    ]
    assert max(needed.confidence, dubious.confidence) < plain.confidence


def test_claims_of_stubs_say_so() -> None:
    """A claim of a stub is marked and believed less (R64)."""
    (stub,) = claims_of(a_page(CITY, title="Norbury"))
    (whole,) = claims_of(a_page(f"{CITY}<h2>History</h2><p>Old.</p>", title="Norbury"))
    assert (stub.text, stub.signals.stub, whole.signals.stub) == (whole.text, True, False)
    assert stub.confidence < whole.confidence


@pytest.mark.parametrize(
    ("sentence", "scope"),
    [
        (BUILT, "The Red Tower"),
        ("In 1905, the Red Tower was burned.", "the Red Tower (in 1905)"),
        ("In Norbury, the Red Tower was built in 1905.", "the Red Tower (in Norbury)"),
        ("During the war, the Red Tower was burned in 1905.", "the Red Tower (during the war)"),
        ("The city was founded in 1240.", "Norbury"),
    ],
)
def test_scope_is_the_subject_and_where_or_when(sentence: str, scope: str) -> None:
    """The scope of a claim is what it is about, with the phrase before it that says where or when (R60)."""
    assert the_claim(sentence).scope == scope


def test_tags_are_subject_section_and_names() -> None:
    """The tags of a claim are its subject, its heading and the pages it links to, in small letters (R119)."""
    claim = the_claim(
        '<a href="T">Red Tower</a> was built by <a href="K">Karl Holm</a> and <a href="K">Karl Holm</a> in 1905.'
    )
    assert claim.tags == ("red tower", "history", "karl holm")
    assert claim.names == ("Red Tower", "Karl Holm")


def test_tags_are_few() -> None:
    """A sentence full of links has some tags, not all (R119)."""
    links = ", ".join(f'<a href="{name}">Tower {name}</a>' for name in "ABCDEFGHIJKL")
    claim = the_claim(f"The towers of Norbury in 1905 were {links}.")
    assert len(claim.names) == 12
    assert len(claim.tags) == 8


def test_names_are_those_of_the_sentence() -> None:
    """A claim names the pages that its own sentence links to, not those of its neighbours."""
    html = '<p>The <a href="A">Red Tower</a> was built in 1905. The <a href="B">Green Tower</a> was built in 1906.</p>'
    assert [claim.names for claim in claims_below(html)] == [("Red Tower",), ("Green Tower",)]


@pytest.mark.parametrize("heading", ["See also", "References", "External links"])
def test_sections_that_point_elsewhere_are_not_read(heading: str) -> None:
    """What is under 'See also' and 'References' is not a claim of the page."""
    page = a_page(f"{CITY}<h2>{heading}</h2><p>{BUILT}</p>", title="Norbury")
    assert [claim.section for claim in claims_of(page)] == [""]


def test_pages_of_meanings_claim_nothing() -> None:
    """A page that lists the meanings of a word says nothing about any of them."""
    items = "<ul><li>Norbury is a city in Avonia.</li><li>Norbury is a ship built in 1905.</li></ul>"
    assert claims_of(a_page(f"<p><b>Norbury</b> may refer to:</p>{items}", title="Norbury")) == ()


def test_pages_in_other_languages_give_their_first_sentence() -> None:
    """Of a language without tables the first sentence is claimed, which says what a page is about, and boxes are."""
    box = "<table class='infobox'><tr><th>Länge</th><td>40 km</td></tr></table>"
    page = a_page(
        f"{box}<p>Norbury yidolophu eAvonia, elwandle. Norbury was founded in 1905.</p>",
        title="Norbury",
        language="xho",
    )
    claims = claims_of(page)
    assert [claim.text for claim in claims] == ["Norbury yidolophu eAvonia, elwandle.", "Norbury — Länge: 40 km"]
    assert (claims[0].type, claims[0].subject) == ("definition", "Norbury")


def test_claims_come_in_the_order_of_the_page() -> None:
    """Claims of sentences come in the order in which the page says them, each once."""
    html = f"<p>{BUILT} The Green Tower was built in 1906.</p><p>{BUILT}</p>"
    claims = claims_below(html)
    assert [claim.text for claim in claims] == [BUILT, "The Green Tower was built in 1906."]
    assert claims[0].quotes[0].start < claims[1].quotes[0].start
