"""A claim: its fields as a run writes them down, its id, and the way back."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.claims.claim_examples import below, claims_below
from tests.page.pages import BOOK

from kiwiresearch.claims.claim import (
    CLAIM_TYPES,
    Claim,
    ClaimSignals,
    Measure,
    claim_from_record,
    claim_record,
    confidence_of,
)
from kiwiresearch.errors import QuoteNotFound
from kiwiresearch.evidence import Quote, recorded_quote
from kiwiresearch.ids import BookId, canonical_json
from kiwiresearch.search.query import Score, ScoreTerm
from kiwiresearch.text.dates.mentions import dates_in
from kiwiresearch.text.hedges import Hedge
from kiwiresearch.text.quantity_mentions import quantities_in
from kiwiresearch.zim.archive import EntryRef

HTML = """<p>The <a href="Red_Tower">Red Tower</a> was the tallest house of <a href="Avonia">Avonia</a>.
In 1905 it was probably 120 metres high, and 20 metres wide.<sup class="reference">[1]</sup></p>"""
TEXT = "In 1905 the Red Tower was probably 120 metres high, and 20 metres wide."
SENTENCE = "In 1905 it was probably 120 metres high, and 20 metres wide."
REF = EntryRef(BOOK, "Norbury")


def the_claim() -> Claim:
    """A claim that has nearly everything a claim can have."""
    return claims_below(HTML)[-1]


def a_claim(text: str = "Salt is white.", **more: Any) -> Claim:
    known: dict[str, Any] = {"type": "definition", "subject": "Salt", "scope": "Salt", "quotes": (a_quote(),)}
    known |= {"page_title": "Salt", "section": "", "anchor": ""}
    return Claim(text, **(known | more))


def a_quote(text: str = "Salt is white.", start: int = 0, ref: EntryRef = REF) -> Quote:
    return recorded_quote(ref, start, start + len(text), text)


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("claim", TEXT),
        ("claim_type", "numeric"),
        ("subject", "The Red Tower"),
        ("scope", "The Red Tower (in 1905)"),
        ("topic_tags", ["the red tower", "history"]),
        ("book", BOOK),
        ("book_name", "Book of towns"),
        ("path", "Norbury"),
        ("page_title", "Norbury"),
        ("section", "History"),
        ("section_heading", "History"),
        ("anchor", "Past"),
        ("support_snippets", [SENTENCE, "The Red Tower"]),
        ("hedging", [{"start": 26, "end": 34, "cue": "probably", "kind": "uncertain"}]),
        ("hedging_flags", {"may": False, "some": False, "debated": False, "uncertain": True}),
        ("names", []),
        ("origin", "rule"),
    ],
)
def test_the_record_has_the_specified_fields(field: str, expected: object) -> None:
    """The record has text, type, scope, hedges, quotes, place and tags, by their names (R57-R63, R117-R123)."""
    assert claim_record(the_claim())[field] == expected


def test_the_record_has_an_id() -> None:
    """The record of a claim has its id, which names its algorithm (R116)."""
    record: dict[str, Any] = claim_record(the_claim())
    assert record["claim_id"] == the_claim().id
    assert record["claim_id"].startswith("sha256:")
    assert len(record["claim_id"]) == len("sha256:") + 32


def test_the_record_shows_the_evidence() -> None:
    """The record says references in the sentence, its section and its page, and the marks of doubt (R64, R124)."""
    assert claim_record(the_claim())["evidence_signals"] == {
        "references": 1,
        "section_references": 1,
        "page_references": 1,
        "citation_needed": False,
        "disputed": False,
        "stub": False,
    }


def test_the_record_explains_the_confidence() -> None:
    """The confidence lies between 0 and 1 and is the sum of the terms beside it (R65, R125)."""
    record: dict[str, Any] = claim_record(the_claim())
    terms = tuple(ScoreTerm(**line) for line in record["confidence_terms"])
    assert 0 < record["confidence"] < 1
    assert record["confidence"] == confidence_of(Score(terms))
    assert {term.signal for term in terms} >= {
        "a sentence of the page",
        "reference in the sentence",
        "hedged (uncertain)",
        "pronoun named by a sentence before",
    }


def test_the_record_has_quotes_that_are_spans() -> None:
    """Each quote of a record is where it says and is hashed (R62, R122)."""
    page = below(HTML)
    record: dict[str, Any] = claim_record(the_claim())
    assert [page.text[one["start"] : one["end"]] for one in record["spans"]] == record["support_snippets"]
    assert [one["sha"] for one in record["spans"]] == [quote.sha for quote in the_claim().quotes]


def test_the_record_has_numbers_and_dates() -> None:
    """The record has value, unit, what is measured and when, and the dates, in forms other programs read."""
    record: dict[str, Any] = claim_record(the_claim())
    assert [TEXT[one["start"] : one["end"]] for one in record["measures"]] == ["120 metres", "20 metres"]
    assert [one["what"] for one in record["measures"]] == ["height", "width"]
    measure = record["measures"][0]
    assert (measure["low"], measure["high"], measure["unit"]) == (120.0, 120.0, "m")
    assert measure["when"]["edtf"] == "1905"
    (date,) = record["dates"]
    assert (TEXT[date["start"] : date["end"]], date["edtf"], date["precision"]) == ("1905", "1905", "year")


def test_a_record_is_plain_data() -> None:
    """The record can be written as JSON, and is the same when it is read (R57)."""
    record: dict[str, Any] = claim_record(the_claim())
    assert json.loads(canonical_json(record)) == record
    assert claim_from_record(json.loads(canonical_json(record))) == the_claim()


def test_an_id_is_always_the_same() -> None:
    """The same claim has the same id in every run, on every machine (R116)."""
    assert a_claim().id == "sha256:a96d407b44079cf4ec80992c531649be"


@pytest.mark.parametrize(
    "change",
    [
        {"text": "Salt is whitf."},
        {"type": "numeric"},
        {"quotes": (a_quote("Salt is whitf."),)},
        {"quotes": (a_quote(start=1),)},
        {"quotes": (a_quote(), a_quote(start=40))},
        {"quotes": (a_quote(ref=EntryRef(BOOK, "Salt")),)},
        {"quotes": (a_quote(ref=EntryRef(BookId("00000000-0000-0000-0000-000000000002"), "Norbury")),)},
    ],
)
def test_another_content_has_another_id(change: dict[str, Any]) -> None:
    """Another text, type, quote, place, page or book makes another claim (R116)."""
    assert replace(a_claim(), **change).id != a_claim().id


@pytest.mark.parametrize(
    "change",
    [
        {"score": Score().plus("luck", 1)},
        {"tags": ("sea",)},
        {"book_name": "Salts"},
        {"origin": "model"},
        {"scope": ""},
    ],
)
def test_confidence_and_tags_do_not_change_the_id(change: dict[str, Any]) -> None:
    """How far a claim is believed, its tags and who found it are not what it says (R116)."""
    assert replace(a_claim(), **change).id == a_claim().id


@pytest.mark.parametrize("count", [0, 4, 9])
def test_a_claim_has_one_to_three_quotes(count: int) -> None:
    """A claim without a quote, or with more than three, cannot exist (R62, R122)."""
    with pytest.raises(QuoteNotFound, match=f"has {count}"):
        a_claim(quotes=tuple(a_quote(start=number) for number in range(count)))
    assert len(a_claim(quotes=tuple(a_quote(start=number) for number in range(3))).quotes) == 3


def test_a_claim_cannot_be_changed() -> None:
    """A claim is a value: its text and its id stay what they are."""
    claim = a_claim()
    for field in ("text", "id"):
        with pytest.raises(FrozenInstanceError):
            setattr(claim, field, "Salt is black.")


def test_a_claim_is_cited_by_its_first_quote() -> None:
    """A claim's citation is its page, its section and its sentence (R63)."""
    citation = the_claim().citation
    assert citation.words == "Norbury — “History” section"
    assert (citation.quote.text, citation.anchor, citation.book_name) == (SENTENCE, "Past", "Book of towns")


@pytest.mark.parametrize(
    ("points", "expected"),
    [(0.0, "0.50"), (2.0, "0.88"), (-2.0, "0.12"), (1e9, "1.00"), (-1e9, "0.00"), (0.7, "0.67")],
)
def test_confidence_is_the_probability_of_the_score(points: float, expected: str) -> None:
    """Log-odds become a figure between 0 and 1, however large they are (R65, R125)."""
    assert f"{a_claim(score=Score().plus('sum', points)).confidence:.2f}" == expected


words = st.text(max_size=30)
numbers = st.integers(0, 500)
signals = st.builds(ClaimSignals, numbers, numbers, numbers, st.booleans(), st.booleans(), st.booleans())
scores = st.lists(st.builds(ScoreTerm, words, st.floats(-9, 9)), max_size=3).map(lambda lines: Score(tuple(lines)))
hedges = st.builds(Hedge, numbers, numbers, words, st.sampled_from(["may", "some", "debated", "uncertain"]))
types = st.sampled_from(CLAIM_TYPES)
SAID = "In 1905 about 12 million people lived there; from c. 1200 BC to 5 June 1944 it rained 3.5 to 4 mm (0.15 in)."
DATES = tuple(dates_in(SAID))
QUANTITIES = quantities_in(SAID)


@st.composite
def claims(draw: st.DrawFn) -> Claim:
    """Any claim at all, with measures of its own subject."""
    subject = draw(words)
    when = st.sampled_from([None, *(one.when for one in DATES)])
    measures = st.builds(Measure, st.sampled_from(QUANTITIES), words, st.just(subject), when)
    quotes = st.lists(st.builds(a_quote, words, numbers), min_size=1, max_size=3).map(tuple)
    return Claim(
        text=draw(words),
        type=draw(types),
        subject=subject,
        scope=draw(words),
        quotes=draw(quotes),
        page_title=draw(words),
        section=draw(words),
        anchor=draw(words),
        book_name=draw(words),
        also=draw(st.lists(types, max_size=2).map(tuple)),
        tags=draw(st.lists(words, max_size=2).map(tuple)),
        hedges=draw(st.lists(hedges, max_size=2).map(tuple)),
        signals=draw(signals),
        measures=draw(st.lists(measures, max_size=2).map(tuple)),
        dates=draw(st.lists(st.sampled_from(DATES), max_size=2).map(tuple)),
        names=draw(st.lists(words, max_size=2).map(tuple)),
        score=draw(scores),
        origin=draw(st.sampled_from(["rule", "model"])),
    )


@settings(max_examples=50)
@given(claims())
def test_a_claim_comes_back_from_its_record(claim: Claim) -> None:
    """Any claim written down as JSON and read again is the same claim with the same id (R57, R116)."""
    again = claim_from_record(json.loads(canonical_json(claim_record(claim))))
    assert again == claim
    assert again.id == claim.id
    assert again.confidence == claim.confidence


few = st.sampled_from(["a", "b", "a\nb"])
alike = st.builds(
    a_claim,
    few,
    type=st.sampled_from(["causal", "quote"]),
    quotes=st.lists(st.builds(a_quote, few, st.integers(0, 1)), min_size=1, max_size=2).map(tuple),
)


@given(alike, alike)
def test_claims_with_one_id_say_the_same(one: Claim, other: Claim) -> None:
    """Two claims share an id exactly if text, type and quotes are the same (R116)."""
    same = (one.text, one.type, one.quotes) == (other.text, other.type, other.quotes)
    assert (one.id == other.id) == same


@settings(max_examples=30)
@given(claims(), st.data())
def test_half_a_record_is_refused(claim: Claim, data: st.DataObject) -> None:
    """A record that lacks a field of a claim is refused with an error that can be caught."""
    record: dict[str, Any] = claim_record(claim)
    derived = {"claim_id", "section_heading", "hedging_flags", "confidence"}
    lost = data.draw(st.sampled_from(sorted(record.keys() - derived)))
    del record[lost]
    with pytest.raises(KeyError, match=lost):
        claim_from_record(record)
