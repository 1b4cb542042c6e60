"""Sentences of other pages that confirm a sentence of the brief by meaning, or give another value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from tests.brief.claim_gathering import GatheredClaims, gather_claims

from kiwiresearch.brief.brief import Brief, Statement
from kiwiresearch.brief.report import brief_document
from kiwiresearch.brief.second_sources import running_text
from kiwiresearch.document.markdown import markdown
from kiwiresearch.verify.ledger import Ledger
from kiwiresearch.verify.statements import verify_judgements

SHIP = "The Vasa sank on her first voyage in the harbour of Stockholm on 10 August 1628."
FILLING = """
    The hull was carved with lions, angels and the faces of Roman emperors.
    The guns stood on two decks, one above the other.
    Divers raised most of the bronze cannons later in the same century.
    The oak came from forests near the lake in the south.
    A museum shows the restored hull together with sails and tools.
"""


def vasa(own: str, other: str) -> GatheredClaims:
    """A page on a ship, and a page on its king that speaks of it."""
    pages: Mapping[str, str] = {
        "Vasa": f"{own} See [[Gustavus Adolphus]].\n== Ship =={FILLING}",
        "Gustavus Adolphus": f"Gustavus Adolphus was a king of Sweden who ordered the [[Vasa]].\n== Navy ==\n{other}",
    }
    return gather_claims(pages, topic="Vasa")


def statement(brief: Brief, words: str) -> Statement:
    (found,) = [one for one in running_text(brief) if words in one.text]
    return found


def test_the_same_fact_in_other_words_is_a_second_source() -> None:
    """A sentence of another page that says the same counts as support, and is cited."""
    other = "In August 1628 the warship Vasa sank in the harbour of Stockholm on its first voyage."
    brief = vasa(SHIP, other).brief()
    found = statement(brief, "sank on her first voyage")
    assert [brief.claims[one].page_title for one in found.claims] == ["Vasa", "Gustavus Adolphus"]
    assert (found.pages, found.sureness) == (2, "supported")
    assert "Gustavus Adolphus — “Navy” section" in markdown(brief_document(brief)).partition("## Findings")[0]


@pytest.mark.parametrize(
    "other",
    [
        "The Vasa carried sixty-four bronze guns, which were cast in the foundry of the capital.",
        "The harbour of Stockholm was deepened in August 1630 by order of the king.",
        "The Vasa never sank in the harbour of Stockholm on her first voyage.",
    ],
)
def test_shared_words_alone_are_not_a_second_source(other: str) -> None:
    """The same ship, the same harbour, or the opposite: none of these confirms the sentence."""
    found = statement(vasa(SHIP, other).brief(), "sank on her first voyage")
    assert (len(found.claims), found.pages) == (1, 1)


def test_a_copied_sentence_is_not_a_second_source() -> None:
    """A page that repeats the sentence word for word adds a place, and no support."""
    found = statement(vasa(SHIP, SHIP).brief(), "sank on her first voyage")
    assert (found.pages, found.sureness) == (1, "one source")


def test_another_date_of_the_same_fact_is_shown_as_a_contradiction() -> None:
    """Where another page dates the same otherwise, both sides are shown, and the sentence is marked."""
    other = "The Vasa sank on her first voyage in the harbour of Stockholm on 12 August 1629."
    brief = vasa(SHIP, other).brief()
    (dispute,) = brief.disputes
    assert str(dispute.difference).startswith("contradiction: ")
    assert [brief.claims[view.statement.claims[0]].page_title for view in dispute.views] == [
        "Vasa",
        "Gustavus Adolphus",
    ]
    assert statement(brief, "10 August 1628").sureness == "disputed"


def test_a_second_source_that_does_not_say_it_is_found_out(tmp_path: Path) -> None:
    """A claim put behind a statement that it does not confirm fails the proof."""
    made = vasa(SHIP, "The Vasa was named after the royal house, which loved flutes and drums.")
    brief = made.brief()
    first = brief.summary[0]
    beside = next(claim for claim in made.claims if "flutes" in claim.text)
    forged = replace(
        brief,
        summary=(replace(first, claims=(*first.claims, beside.id)), *brief.summary[1:]),
        claims=brief.claims | {beside.id: beside},
    )
    failures = []
    for one in (brief, forged):
        ledger = Ledger()
        verify_judgements(one, made.claims, {}, ledger)
        failures.append([failure.what for failure in ledger.result(tmp_path).failures])
    assert failures[0] == []
    assert [what for what in failures[1] if "is not confirmed by" in what]
