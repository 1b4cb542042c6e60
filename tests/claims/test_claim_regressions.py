"""Faults that claims once had, each with the sentence that showed it."""

from __future__ import annotations

import json

import pytest
from tests.claims.claim_examples import BUILDER, CITY, claims_below, extract, texts, the_claim
from tests.llm.scripted import ScriptedModel
from tests.page.pages import BOOK, a_page

from kiwiresearch.claims.by_rule import claims_of
from kiwiresearch.claims.claim import claim_from_record, claim_record
from kiwiresearch.errors import QuoteNotFound
from kiwiresearch.evidence import ground, is_on_page, recorded_quote
from kiwiresearch.zim.archive import EntryRef

BUILT = "The Red Tower was built in 1905."


@pytest.mark.parametrize(
    "words", ["The flood killed 12", "flood killed 1,200 people in 19", "able to fly", "flood killed 1"]
)
def test_half_a_word_is_not_found(words: str) -> None:
    """A quote begins and ends where words and numbers do."""
    page = a_page("<p>The flood killed 1200 people. The flood killed 1,200 people in 1905. It was unable to fly.</p>")
    with pytest.raises(QuoteNotFound):
        ground(words, page)


@pytest.mark.parametrize(
    ("sentence", "result"),
    [
        ("The great flood of Norbury killed 1200 people.", "The great flood of Norbury killed 12"),
        ("In the flood, 1,200 men died in the town.", "200 men died in the town"),
    ],
)
def test_half_a_number_does_not_pass_the_firewall(sentence: str, result: str) -> None:
    """A model that cuts a number short has changed the evidence."""
    page = a_page(f"<p>Norbury is a city in Avonia. {sentence}</p>", title="Norbury")
    one = {
        "claim": f"{result}.",
        "claim_type": "numeric",
        "quotes": [result],
        "topic_tags": [],
        "confidence": 1,
        "scope": "",
    }
    assert extract(page, ScriptedModel(by={"The section is": json.dumps({"claims": [one]})})).claims == ()


def test_a_place_beyond_the_page_is_refused() -> None:
    """A quote ends where its words end, and an empty quote has no place."""
    page = a_page("<p>Salt is white.</p>")
    ref = EntryRef(BOOK, "Page")
    assert not is_on_page(recorded_quote(ref, 0, 9_999, "Salt is white."), page)
    assert not is_on_page(recorded_quote(ref, 9_000, 9_001, ""), page)


@pytest.mark.parametrize(
    ("lead", "sentence"),
    [
        ("<p>Norbury is a city on the river Avon in the state of Lorn.</p>", "The river was dammed in 1905."),
        ("<p>Norbury is a city on the river Avon in the state of Lorn.</p>", "The state was founded in 1850."),
        ("<p>Norbury is a city. It has a famous museum.</p>", "The museum was built in 1905."),
    ],
)
def test_a_noun_of_the_introduction_is_not_the_page(lead: str, sentence: str) -> None:
    """'The river' on the page of a city on a river is not the city."""
    assert texts(f"<p>{sentence}</p>", lead=lead) == []


def test_a_noun_of_the_second_sentence_is_not_the_page() -> None:
    """The second sentence does not say of itself what the page is: no 'Norbury was killed in 1905.'"""
    page = a_page("<p>Norbury is a city in the north of Avonia. The king was killed in 1905.</p>", title="Norbury")
    assert [claim.text for claim in claims_of(page)][1:] == []


def test_a_person_is_not_a_building() -> None:
    """On the page of a person 'the cathedral' is not the person."""
    lead = BUILDER.replace("of bridges", "of the cathedral of Kiel")
    assert texts("<p>The cathedral was finished in 1905.</p>", title="Peter Lang", lead=lead) == []


def test_he_is_not_whom_she_was() -> None:
    """A name that 'she' refers to is not what 'he' refers to."""
    html = "<p>Anna Holm sold the house in 1872. She moved to Berlin in 1873. He left Germany in the year 1874.</p>"
    assert "Anna Holm left Germany in the year 1874." not in texts(html, title="Peter Lang", lead=BUILDER)


@pytest.mark.parametrize(
    "rest",
    [
        "is known as the town of bells.", "is often visited by 3,000 people.", "is now the capital of Avonia.",
        "was under siege by Danes in 1066.", "is generally called the town of bells.", "was in the hands of Danes in 1066.",  # noqa: E501
        "is believed to have 5,000 people.",
    ],
)  # fmt: skip
def test_an_it_that_refers_to_the_page_is_named(rest: str) -> None:
    """No claim begins with an 'It' that refers to something."""
    claims = claims_of(a_page(CITY.replace("</p>", f" It {rest}</p>"), title="Norbury"))
    assert [claim.text for claim in claims][1:] in ([f"Norbury {rest}"], [])


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("About 40 percent of the houses are made of wood.", "numeric"),
        ("Around 300 people were killed in the Great Fire.", "numeric"),
        ("Over 5,000 people died of the plague.", "numeric"),
        ("About 12 million people lived in Avonia in 1950.", "numeric"),
        ('"The tower of Norbury is a proof of what men can do", wrote Karl Holm.', "quote"),
        ("“The tower of Norbury is a proof of what men can do”, wrote Karl Holm.", "quote"),
    ],
)
def test_a_clear_sentence_is_claimed(sentence: str, kind: str) -> None:
    """Numbers and quotations that open a sentence are claims."""
    assert [claim.type for claim in claims_below(f"<p>{sentence}</p>")] == [kind]


def test_a_converted_value_does_not_hide_what_is_measured() -> None:
    """'120 metres (394 ft) high' is a height (CLAUSE cuts at the bracket)."""
    assert the_claim("The Red Tower is 120 metres (394 ft) high.").measures[0].what == "height"


def test_the_word_right_behind_a_number_says_what_it_is() -> None:
    """'120 metres high and 20 metres wide' is a height and a width (a word before wins over one right behind)."""
    measures = the_claim("The Red Tower is 120 metres high and 20 metres wide.").measures
    assert [measure.what for measure in measures] == ["height", "width"]


def box(rows: str) -> str:
    return f"<table class='infobox'>{rows}</table>{CITY}"


def test_a_label_with_a_colon_is_quoted() -> None:
    """The quote of a row says what its number is, also where the label ends in a colon."""
    claim = claims_of(a_page(box("<tr><th>Built:</th><td>1905</td></tr>"), title="Norbury"))[-1]
    assert "Built" in claim.quotes[0].text


def test_a_record_without_quotes_is_not_a_claim() -> None:
    """A record without quotes is refused by the errors that its reader catches."""
    record = claim_record(the_claim(BUILT)) | {"spans": [], "support_snippets": []}
    with pytest.raises((ValueError, KeyError, TypeError)):
        claim_from_record(record)


def test_a_name_with_half_a_bracket_replaces_no_pronoun() -> None:
    """A name with half a bracket is not put in place of 'it'."""
    html = "<p>The Tarn weed (Tarnia holmi, syn. A. langi Roem. &amp; Schult.) is a plant of the hills. It was named by Karl Holm in 1905.</p>"  # noqa: E501
    assert [text for text in texts(html) if text.count("(") != text.count(")")] == []
