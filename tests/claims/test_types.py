"""Of which type a sentence is, and how it hedges."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from tests.claims.claim_examples import below, claims_below, the_claim
from tests.page.pages import a_page

from kiwiresearch.claims.by_rule import claims_of
from kiwiresearch.claims.claim import CLAIM_TYPES, ClaimType, claim_record
from kiwiresearch.claims.plain_claims import all_sentences

SENTENCES = {
    "definition": (
        "A tarn is a small lake in the mountains.",
        "A lintel is a beam above a door or a window.",
        "Masonry is the craft of building with stone.",
        "Glazing is defined as the fitting of glass into windows.",
        "A keep is a type of tower in a castle.",
        "The term peel refers to a small tower on the border.",
        "Geodesy is the study of the shape of the ground.",
        "A barbican is a kind of gate before a castle.",
        "An adit is a passage into a mine.",
    ),
    "causal": (
        "The Great Flood caused the collapse of the Old Bridge.",
        "The Old Bridge collapsed because the river had washed out its piers.",
        "The Long Drought led to a famine in the villages.",
        "The fall in trade was due to the new canal.",
        "Heavy rain results in floods along the river.",
        "Salt prevents the growth of moss on walls.",
        "The Long Drought resulted in the loss of all cattle.",
        "Frost causes cracks in the walls of old houses.",
        "The Old Bridge was closed owing to cracks in its arches.",
    ),
    "numeric": (
        "The Red Tower is 120 metres high.",
        "The harbour of Norbury has room for 500 ships.",
        "Norbury has a population of 120,000 people.",
        "The bell of the Red Tower weighs 12 tonnes.",
        "The library of Norbury holds 300,000 books.",
        "The Old Bridge has a length of 240 metres.",
        "The Avon River is 350 kilometres long.",
        "Norbury covers an area of 85 square kilometres.",
        "Lake Tarn contains 40 million cubic metres of water.",
    ),
    "timeline": (
        "The Red Tower was built in 1905.",
        "Karl Holm was born in Odense in 1810.",
        "The harbour of Norbury was opened in 1890.",
        "The Old Bridge was closed between 1905 and 1910.",
        "In 1240, monks founded an abbey on the hill.",
        "Norbury was conquered by the Danes in 1066.",
        "In May 1905, the Red Tower was burned by soldiers.",
        "Norbury was founded in the 12th century.",
        "On June 5, 1944, soldiers entered the harbour.",
    ),
    "comparative": (
        "The Red Tower is taller than the Green Tower.",
        "Lake Tarn is the largest lake in Avonia.",
        "Copper is softer than iron.",
        "The northern coast is wetter than the southern coast.",
        "The Avon River is the longest river in Avonia.",
        "Unlike the Red Tower, the Green Tower is made of wood.",
        "Bronze is harder than copper and melts more easily than iron.",
        "The dialect of Norbury is similar to the dialect of the coast.",
        "Granite is heavier than chalk.",
    ),
    "disputed": (
        "Some historians argue that the Red Tower was a prison.",
        "The purpose of the Red Tower is disputed.",
        "Historians disagree about the origin of the Red Tower.",
        "Critics claim that the New Dam has ruined the valley.",
        "Some scholars believe that the abbey was never finished.",
        "The origin of the Long Wall remains controversial.",
        "Many historians believe that King Karl was poisoned.",
        "Karl Holm argued that the Long Wall was a road.",
        "There is no consensus about the age of the Long Wall.",
    ),
    "quote": (
        'Karl Holm said: "The tower of Norbury is a proof of what men can do."',
        'Karl Holm wrote that "the tower is a fine work of our time".',
        'Anna Holm described it as "a city of smoke and of iron bells".',
        'Tom Hill remarked that "no wall was ever built by words alone".',
        'Tom Hill recalled: "There was nothing left of the houses by the river."',
        "Anna Holm said: “Nobody who has seen the harbour at night will forget it.”",
        'Bishop Hill declared: "We shall build the bridge again with our own hands."',
        'King Karl replied: "I have never seen so quiet a harbour in my life."',
        'Anna Holm wrote: "O Norbury, thou city of so many silver bells."',
    ),
    "": (
        "The streets of Norbury are narrow and quiet.",
        "Visitors like the view from the hill.",
        "The market of Norbury sells fish and bread.",
        "Children play in the park near the river.",
        "Wooden boats lie on the beach of Norbury.",
        "Tom Hill walked along the Long Wall.",
        "The windows of the Red Tower look out on the sea.",
        "Norbury lies in a wide green valley.",
        "Anna Holm painted ships and harbours.",
    ),
}


@pytest.mark.parametrize(("kind", "sentence"), [(kind, one) for kind, several in SENTENCES.items() for one in several])
def test_a_clear_sentence_has_its_type(kind: str, sentence: str) -> None:
    """A sentence gets the type it clearly has; one without a type is not a claim (R59, R118)."""
    assert [claim.type for claim in claims_below(f"<p>{sentence}</p>")] == ([kind] if kind else [])


def test_there_are_seven_types_and_statements() -> None:
    """The types are the seven of the seed, and the statement for a sentence of none of them; no other (R59)."""
    seven = ("definition", "causal", "numeric", "timeline", "comparative", "disputed", "quote")
    assert (*seven, "statement") == CLAIM_TYPES == get_args(ClaimType)
    assert set(SENTENCES) - {""} == set(seven)


@pytest.mark.parametrize(("kind", "sentence"), [(kind, one) for kind, several in SENTENCES.items() for one in several])
def test_a_statement_is_a_sentence_of_no_type(kind: str, sentence: str) -> None:
    """If all sentences are wanted, a typed one keeps its type, and one of no type is a statement (R59, R118)."""
    page = below(f"<p>{sentence}</p>")
    assert [claim.type for claim in claims_of(page, "", all_sentences) if claim.headings] == [kind or "statement"]


def test_the_first_sentence_defines() -> None:
    """What the page says first of its subject is a definition, whatever dates it has."""
    page = a_page("<p>The Red Tower (built in 1905, burned in 1950) was a tower in Norbury.</p>", title="Red Tower")
    assert [claim.type for claim in claims_of(page)] == ["definition"]


@pytest.mark.parametrize(
    ("sentence", "kind", "other"),
    [
        ("Norbury had 12 million people in 1950.", "numeric", "timeline"),
        ("Norbury’s population was 110,000 in 1990.", "numeric", "timeline"),
    ],
)
def test_a_sentence_may_have_a_second_type(sentence: str, kind: str, other: str) -> None:
    """A sentence that is of two types nearly as clearly names the second one as well."""
    claim = the_claim(sentence)
    assert {claim.type, *claim.also} == {kind, other}
    assert claim.type not in claim.also


@pytest.mark.parametrize(
    ("sentence", "flags", "cues"),
    [
        ("The Red Tower was built in 1905.", [], []),
        ("The Red Tower may have been built in 1905.", ["may"], ["may"]),
        ("The Red Tower is often said to date from 1905.", ["some"], ["often said"]),
        ("Some historians say that the Red Tower was built in 1905.", ["some"], ["some historians"]),
        ("Some historians argue that the Red Tower was a prison.", ["debated"], ["some historians argue"]),
        ("The purpose of the Red Tower is disputed.", ["debated"], ["disputed"]),
        ("The Red Tower was probably built in 1905.", ["uncertain"], ["probably"]),
        (
            "Perhaps the Red Tower was built in 1905, but its age is disputed.",
            ["debated", "may"],
            ["perhaps", "disputed"],
        ),
    ],
)
def test_hedges_are_flagged(sentence: str, flags: list[str], cues: list[str]) -> None:
    """A claim says which words hedge it and where, and raises the flags they mean and no other (R61, R123)."""
    record: dict[str, Any] = claim_record(the_claim(sentence))
    assert sorted(flag for flag, raised in record["hedging_flags"].items() if raised) == flags
    assert set(record["hedging_flags"]) == {"may", "some", "debated", "uncertain"}
    assert [hedge["cue"] for hedge in record["hedging"]] == cues
    assert [sentence[hedge["start"] : hedge["end"]].lower() for hedge in record["hedging"]] == cues


def test_hedged_claims_are_believed_less() -> None:
    """A hedge lowers the confidence of a claim, and says so (R65)."""
    plain, hedged = (
        the_claim("The Red Tower was built in 1905."),
        the_claim("The Red Tower was probably built in 1905."),
    )
    assert hedged.confidence < plain.confidence
    assert [term.signal for term in hedged.score.terms if term not in plain.score.terms] == ["hedged (uncertain)"]
