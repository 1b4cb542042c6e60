"""Plain claims: what a sentence of no type says, in its own words, and what it depends on."""

from __future__ import annotations

import pytest
from tests.claims.claim_examples import CITY, PAINTER, below

from kiwiresearch.claims.by_rule import claims_of
from kiwiresearch.claims.claim import Claim, claim_from_record, claim_record
from kiwiresearch.claims.page_claims import claims_of_page
from kiwiresearch.claims.plain_claims import MAX_LIST_CHARS, SentenceFilter, all_sentences, no_sentences

PARK = "Children play in the park near the river."
MARKET = "The market of Norbury sells fish and bread."


def said(html: str, wanted: SentenceFilter = all_sentences, *, title: str = "Norbury", lead: str = CITY) -> list[Claim]:
    """The claims of the sections below the introduction."""
    claims = claims_of(below(html, title=title, lead=lead), "Book of towns", wanted)
    return [claim for claim in claims if claim.headings]


def statements(
    html: str, wanted: SentenceFilter = all_sentences, *, title: str = "Norbury", lead: str = CITY
) -> list[Claim]:
    return [claim for claim in said(html, wanted, title=title, lead=lead) if claim.type == "statement"]


def leaning(html: str, *, title: str = "Norbury", lead: str = CITY) -> list[tuple[str, str]]:
    """Each plain claim with what it depends on."""
    return [(one.text, one.depends_on) for one in statements(html, title=title, lead=lead)]


def test_a_sentence_of_no_type_is_a_statement_only_where_wanted() -> None:
    """Without a wish there are no statements; with one only those that it takes, by words and headings."""
    html = f"<p>{PARK} {MARKET}</p><h3>Trade</h3><p>Wooden boats lie on the beach.</p>"
    assert said(html, no_sentences) == []
    assert [one.text for one in claims_of(below(html)) if one.type == "statement"] == []
    assert [one.text for one in said(html, lambda text, _: "market" in text)] == [MARKET]
    by_heading = said(html, lambda _, headings: headings == ("History", "Trade"))
    assert [one.text for one in by_heading] == ["Wooden boats lie on the beach."]
    assert [one.type for one in said(html)] == ["statement"] * 3


def test_a_sentence_of_a_type_is_not_a_statement() -> None:
    """A sentence that names its subject and has a type is filed once."""
    (claim,) = said("<p>Norbury was founded in 1204 by monks from the coast.</p>")
    assert (claim.type, claim.inserted_name_from, claim.depends_on) == ("timeline", "", "")


def test_a_statement_is_verbatim_and_quoted_whole() -> None:
    """Its words are the page's, its quote is the sentence, and it is about whom the sentence names."""
    (claim,) = statements(f"<p>{MARKET}</p>")
    page = below(f"<p>{MARKET}</p>")
    (quote,) = claim.quotes
    assert claim.text == quote.text == page.text[quote.start : quote.end] == MARKET
    assert (claim.subject, claim.scope, claim.origin) == ("The market of Norbury", "The market of Norbury", "rule")
    assert claim_from_record(claim_record(claim)) == claim


def test_a_connective_is_left_out_of_text_and_quote() -> None:
    """'However,' before a sentence that is complete alone is removed, and then it depends on nothing."""
    (claim,) = statements(f"<p>However, t{MARKET[1:]}</p>")
    assert (claim.text, claim.depends_on) == (MARKET, "")
    assert claim.quotes[0].text == f"t{MARKET[1:]}"


@pytest.mark.parametrize(
    "sentence",
    [
        "They sing songs beside the old mill.",
        "It lies in a wide green valley.",
        "This method needs much wood and patience.",
        "These games need much room and patience.",
        "Then visitors like the view from the hill.",
        "At first, visitors like the view from the hill.",
        "Visitors like such games and the songs.",
        "Some of the latter like the view from the hill.",
        "The old guard likes his dog and the view.",
    ],
)
def test_a_sentence_that_refers_back_depends_on_the_one_before(sentence: str) -> None:
    """Pronouns, connectives and 'this method' need the sentence before; where there is none, nothing is stated."""
    assert leaning(f"<p>{PARK} {sentence}</p>") == [(PARK, ""), (sentence, "previous")]
    assert leaning(f"<p>{sentence}</p>") == []
    assert leaning(f"<p>{PARK}</p><p>{sentence}</p>") == [(PARK, "")]


@pytest.mark.parametrize(
    "sentence",
    [
        "She loved the sea and the wind.",
        "Her father loved the sea and the wind.",
        "Holm loved the sea and the wind.",
    ],
)
def test_on_a_page_about_a_person_she_depends_on_the_subject(sentence: str) -> None:
    """'She' on the page of a woman needs no sentence before it, only the page's title."""
    (claim,) = statements(f"<p>{sentence}</p>", title="Anna Holm", lead=PAINTER)
    assert (claim.text, claim.depends_on, claim.subject) == (sentence, "subject", "Anna Holm")


def test_on_a_page_about_a_person_another_one_is_not_taken_for_her() -> None:
    """'She' behind the name of another woman depends on that sentence, and so does 'he' behind a man's."""
    html = "<p>Maria Krog taught at a school for girls. She loved the sea and the wind.</p>"
    assert [depends_on for _, depends_on in leaning(html, title="Anna Holm", lead=PAINTER)] == ["", "previous"]
    html = "<p>Peter Lang loved ships and harbours. He sang songs beside the old mill.</p>"
    first, second = statements(html, title="Anna Holm", lead=PAINTER)
    assert (first.depends_on, second.depends_on) == ("", "previous")
    assert (first.subject, second.subject) == ("Peter Lang", "Peter Lang")


def test_the_origin_of_an_inserted_name_is_recorded() -> None:
    """A typed claim says where its name comes from; beside it is the sentence as the page has it."""
    html = "<p>The Red Tower burned down. It was built in 1905 by monks.</p>"
    typed, stated = said(html)[-2:]
    assert (typed.type, typed.inserted_name_from, typed.depends_on) == ("timeline", "before", "")
    assert typed.text == "The Red Tower was built in 1905 by monks."
    assert (stated.type, stated.inserted_name_from, stated.depends_on) == ("statement", "", "previous")
    assert stated.text == "It was built in 1905 by monks."
    assert stated.quotes[0] == typed.quotes[0]
    assert claim_record(typed)["name_put_in"] == "before"
    assert claim_record(stated)["depends_on"] == "previous"


def test_the_name_of_the_title_is_recorded_as_put_in() -> None:
    """Where a name is put in for "the city" or "she", the sentence itself stays, and depends on the subject."""
    named, kept = said("<p>The city was founded in 1204 by monks.</p>")
    assert (named.text, named.inserted_name_from) == ("Norbury was founded in 1204 by monks.", "title")
    assert (kept.text, kept.inserted_name_from, kept.depends_on) == (
        "The city was founded in 1204 by monks.",
        "",
        "subject",
    )
    typed, stated = said("<p>She moved to Kiel in 1840.</p>", title="Anna Holm", lead=PAINTER)
    assert (typed.text, typed.inserted_name_from) == ("Anna Holm moved to Kiel in 1840.", "title")
    assert (stated.text, stated.inserted_name_from, stated.depends_on) == ("She moved to Kiel in 1840.", "", "subject")


def test_a_sentence_that_opens_a_paragraph_can_be_used_alone() -> None:
    """A sentence whose subject no rule finds can be used alone if it opens a paragraph and starts with no pronoun."""
    (opener,) = said("<p>By far the largest part of the land is bare rock.</p>")
    assert opener.depends_on in ("", "subject")
    assert said("<p>Neither gave way until late in October.</p>") == []


def test_headings_are_listed_from_the_outermost() -> None:
    """A claim knows its whole path of headings; a heading of the same level ends the one before."""
    html = f"<p>{PARK}</p><h3>Trade</h3><h4>Food</h4><p>{MARKET}</p><h3>Life</h3><p>Visitors like the view.</p>"
    page = below(f"{html}<h2>Sea</h2><p>Wooden boats lie on the beach.</p>")
    claims = claims_of(page, "", all_sentences)
    assert [(claim.headings, claim.section) for claim in claims] == [
        ((), ""),
        (("History",), "History"),
        (("History", "Trade", "Food"), "Food"),
        (("Sea",), "Sea"),
    ]
    assert claim_record(claims[2])["headings"] == ["History", "Trade", "Food"]


ITEMS = "<ul><li>Fish of the sea.</li><li>Bread and butter;</li><li>Cloth</li></ul>"


def test_a_list_with_its_introduction_is_one_statement() -> None:
    """The items are after the sentence that introduces them, and the quote is all of it."""
    (claim,) = statements(f"<p>The goods of the market are:</p>{ITEMS}")
    page = below(f"<p>The goods of the market are:</p>{ITEMS}")
    (quote,) = claim.quotes
    assert (claim.type, claim.depends_on) == ("statement", "")
    assert claim.text == "The goods of the market are: Fish of the sea; Bread and butter; Cloth."
    assert quote.text == page.text[quote.start : quote.end]
    assert quote.text.startswith("The goods of the market are:")
    assert quote.text.endswith("Cloth")


@pytest.mark.parametrize(
    "html",
    [
        "<p>The goods of the market are:</p><ul><li>Fish</li></ul>",
        "<p>The goods of this market are:</p><ul><li>Fish</li><li>Bread</li></ul>",
        "<p>The goods of the market are as follows:</p><ul><li>Fish</li><li>Bread</li></ul>",
        "<p>They sell in the town:</p><ul><li>Fish</li><li>Bread</li></ul>",
        "<p>The goods of the market are:</p><p>Many.</p><ul><li>Fish</li><li>Bread</li></ul>",
        "<p>The goods of the market are:</p><h3>Trade</h3><ul><li>Fish</li><li>Bread</li></ul>",
        "<ul><li>Fish</li><li>Bread</li></ul>",
    ],
)
def test_other_lists_are_not_statements(html: str) -> None:
    """One item, an introduction that points elsewhere or depends on nothing, and a list further down do not count."""
    assert statements(html) == []


def test_a_list_depends_on_what_its_introduction_depends_on() -> None:
    """'They sell:' and its items are read with the sentence before."""
    assert leaning(f"<p>{PARK} They sell in the town:</p><ul><li>Fish</li><li>Bread</li></ul>") == [
        (PARK, ""),
        ("They sell in the town: Fish; Bread.", "previous"),
    ]


def test_a_list_is_wanted_by_its_introduction() -> None:
    """Whether a list is taken is asked of the sentence before it."""
    html = f"<p>The goods of the market are:</p>{ITEMS}"
    assert statements(html, lambda text, _: "market" in text) != []
    assert statements(html, lambda text, _: "Cloth" in text) == []


def test_a_long_list_has_as_many_items_as_a_reader_takes_in() -> None:
    """Items beyond the limit are left out of words and quote alike, and the words say that there are more."""
    items = "".join(f"<li>Sort {letter} of a long and curious name of cloth</li>" for letter in "ABCDEFGHIJKLMNOPQRST")
    (claim,) = statements(f"<p>The goods of the market are:</p><ul>{items}</ul>")
    quote = claim.quotes[0]
    assert MAX_LIST_CHARS - 60 < quote.end - quote.start <= MAX_LIST_CHARS
    assert claim.text.count(";") == quote.text.count("Sort")
    assert claim.text.endswith("; …")


@pytest.mark.parametrize(
    "sentence",
    [
        "For the walls of the town, please see the page on walls.",
        "Visitors like the view, see Red Tower.",
        "Visitors like the view (see below) from the hill.",
        "Visitors like the view (see also Red Tower) from the hill.",
        "See also the walls of the old town.",
    ],
)
def test_a_cross_reference_is_no_statement(sentence: str) -> None:
    """'Please see' and the like say nothing of the thing."""
    assert leaning(f"<p>{PARK} {sentence}</p>") == [(PARK, "")]


@pytest.mark.parametrize(
    "html",
    [
        "<p>Too short to say.</p>",
        "<p>The market of Norbury sells fish and bread</p>",
        "<p>the market of Norbury sells fish and bread.</p>",
        "<p>The market (of Norbury sells fish and bread.</p>",
        f"<p>The market of Norbury sells {'fish and ' * 60}bread.</p>",
        "<ul><li>Many old boats and nets of all sorts.</li></ul>",
        f"<h2>References</h2><p>{MARKET}</p>",
    ],
)
def test_an_incomplete_sentence_is_not_a_statement(html: str) -> None:
    """Scraps, torn sentences, items without a verb and what is below references are not statements."""
    assert statements(html) == []


def test_statements_of_one_page_can_be_asked_for() -> None:
    """The claims of a page have no statements among them, unless that type is wanted."""
    page = below(f"<p>{PARK}</p>")
    found = claims_of_page(page, "Book of towns")
    assert "statement" not in {claim.type for claim in found.claims}
    asked = found.of_type("statement").claims
    assert PARK in {claim.text for claim in asked}
    assert {(claim.type, claim.book_name) for claim in asked} == {("statement", "Book of towns")}
