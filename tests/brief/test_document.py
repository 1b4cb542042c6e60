"""A text before it is Markdown or HTML: running text is cited once for all sentences of one place."""

from __future__ import annotations

from kiwiresearch.brief.document import (
    Cite,
    ClaimEvidence,
    DocumentSentence,
    Proof,
    QuoteInContext,
    cite_together,
    spans,
    without_overlaps,
)
from kiwiresearch.evidence import Quote, recorded_quote
from kiwiresearch.ids import BookId
from kiwiresearch.zim.archive import EntryRef


def a_quote(text: str, start: int = 0, page: str = "Salt_road") -> Quote:
    return recorded_quote(EntryRef(BookId("b"), page), start, start + len(text), text)


def a_proof(quote: str, more: int = 0) -> Proof:
    """What a sentence rests on that has a quote in a section; the address marks the words, which differ."""
    url = "http://127.0.0.1:8080/Salt_road#Use"
    cite = Cite("Salt road — “Use” section", url, f"{url}:~:text={quote}")
    return Proof(
        (cite,), more, "hedged", (ClaimEvidence("", QuoteInContext(a_quote(quote)), (), cite, (), "Confidence 0.80."),)
    )


def test_sentences_of_one_place_are_cited_once() -> None:
    """Also where the address of each marks other words: the first one is shown, and all quotes are kept."""
    said = tuple(DocumentSentence(spans(one), a_proof(one, more)) for one, more in (("One", 1), ("Two", 3)))
    run = cite_together(said)
    assert run.sentences == said
    assert [evidence.around.quote.text for evidence in run.proof.evidence] == ["One", "Two"]
    assert (run.proof.cites, run.proof.more, run.proof.sureness) == (a_proof("One").cites, 3, "")


def test_words_around_quotes_that_are_shown_together_come_once() -> None:
    """Around a quote stands no other quote, and nothing that was shown before; other pages do not matter."""
    first, second = a_quote("One.", 0), a_quote("Two.", 10)
    alone = QuoteInContext(second, "One. And. ", " End.")
    assert without_overlaps([alone]) == [alone]
    both = without_overlaps([QuoteInContext(first, "", " And. Two."), alone])
    assert both == [QuoteInContext(first, "", " And."), QuoteInContext(second, "", " End.")]
    assert without_overlaps([alone, alone]) == [alone, QuoteInContext(second)]
    elsewhere = QuoteInContext(a_quote("One.", 0, "Pass"), "", " And. Two.")
    assert without_overlaps([elsewhere, alone]) == [elsewhere, alone]


def test_a_part_of_a_quote_has_nothing_around_it() -> None:
    """A clause that is cited beside its sentence shows nothing of it again."""
    whole, clause = a_quote("It fell; it burned.", 20), a_quote("it burned.", 29)
    several = [QuoteInContext(whole, "A day. ", " Then?"), QuoteInContext(clause, "It fell; ", " Then?")]
    assert without_overlaps(several) == [several[0], QuoteInContext(clause)]


def test_only_doubts_are_told_of_a_sentence() -> None:
    """A sentence of one source needs no remark; what is hedged or disputed does."""
    hedged, plain = a_proof("One"), Proof((), 0, "one source", ())
    assert [DocumentSentence(spans("One"), proof).doubt for proof in (hedged, plain, None)] == ["hedged", "", ""]
