"""Running text in pieces: a paragraph for each page, cited where the places change that its sentences rest on."""

from __future__ import annotations

from dataclasses import replace

from tests.brief.briefs import Making, a_claim, bronze_age

from kiwiresearch.brief.citations import BriefCitations, paragraphs


def pieces(*places: tuple[str, ...]) -> list[list[list[str]]]:
    """The texts of sentences, in runs and paragraphs; each rests on some places, named as page and section."""
    make = Making()
    statements = []
    for number, several in enumerate(places):
        claims = [
            a_claim(place.partition("#")[0], f"{number} of {place}", place.partition("#")[2]) for place in several
        ]
        statements.append(make.said(str(number), *claims))
    return [[[one.text for one in run.statements] for run in runs] for runs in paragraphs(statements, make.claims)]


def test_sentences_of_one_section_are_a_run() -> None:
    """A run ends where the section changes, and a section that comes again is cited again."""
    sections = [("Pass#Use",), ("Pass#Use",), ("Pass#Toll",), ("Pass#Use",)]
    assert pieces(*sections) == [[["0", "1"], ["2"], ["3"]]]


def test_a_page_is_a_paragraph() -> None:
    """Sentences of another page begin a paragraph, by the page of their own words."""
    assert pieces(("Pass#Use",), ("Road#Use",), ("Road#Use", "Pass#Use"), ("Pass#Use",)) == [
        [["0"]],
        [["1"], ["2"]],
        [["3"]],
    ]


def test_all_places_must_be_the_same() -> None:
    """A sentence that another page has too is cited by itself; the claims of a run are each there once."""
    assert pieces(("Pass#Use", "Road#Use"), ("Pass#Use", "Road#Use"), ("Pass#Use",)) == [[["0", "1"], ["2"]]]
    make = Making()
    claim = a_claim("Pass", "It is high.")
    ((run,),) = paragraphs([make.said("It is high.", claim), make.said("High.", claim)], make.claims)
    assert run.claims == (claim.id,)


def test_nothing_is_not_a_paragraph() -> None:
    """Without sentences there is nothing to cite."""
    assert paragraphs([], {}) == []


def test_a_run_is_cited_once() -> None:
    """Also where the address of each sentence marks other words: the first one is shown, and all quotes are."""
    make = Making()
    output = [make.said(text, a_claim("Pass", text, "Use")) for text in ("It is high.", "It is steep.")]
    citing = BriefCitations(replace(bronze_age(), claims={**bronze_age().claims, **make.claims}))
    proof = citing.proof_of_run(output)
    assert [one.words for one in proof.quotations] == ["It is high.", "It is steep."]
    assert (proof.cites, proof.more, proof.certainty) == (citing.proof(output[0].claims).cites, 0, "")
