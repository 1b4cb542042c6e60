"""A text before it is Markdown or HTML: running text is cited once for all sentences of one place."""

from __future__ import annotations

from kiwiresearch.brief.document import Around, Cite, Evidence, Proof, Sentence, cited, each_once, words
from kiwiresearch.evidence.quote import Quote, of_record
from kiwiresearch.ids import BookId
from kiwiresearch.zim.entry import EntryRef


def a_quote(text: str, start: int = 0, page: str = "Salt_road") -> Quote:
    return of_record(EntryRef(BookId("b"), page), start, start + len(text), text)


def a_proof(quote: str, more: int = 0) -> Proof:
    """What a sentence rests on that has a quote in a section; the address marks the words, which differ."""
    url = "http://127.0.0.1:8080/Salt_road#Use"
    cite = Cite("Salt road — “Use” section", url, f"{url}:~:text={quote}")
    return Proof((cite,), more, "hedged", (Evidence("", Around(a_quote(quote)), (), cite, (), "Confidence 0.80."),))


def test_sentences_of_one_place_are_cited_once() -> None:
    """Also where the address of each marks other words: the first one is shown, and all quotes are kept."""
    said = tuple(Sentence(words(one), a_proof(one, more)) for one, more in (("One", 1), ("Two", 3)))
    run = cited(said)
    assert run.sentences == said
    assert [evidence.around.quote.text for evidence in run.proof.evidence] == ["One", "Two"]
    assert (run.proof.cites, run.proof.more, run.proof.sureness) == (a_proof("One").cites, 3, "")


def test_words_around_quotes_that_are_shown_together_come_once() -> None:
    """Around a quote stands no other quote, and nothing that was shown before; other pages do not matter."""
    first, second = a_quote("One.", 0), a_quote("Two.", 10)
    alone = Around(second, "One. And. ", " End.")
    assert each_once([alone]) == [alone]
    both = each_once([Around(first, "", " And. Two."), alone])
    assert both == [Around(first, "", " And."), Around(second, "", " End.")]
    assert each_once([alone, alone]) == [alone, Around(second)]
    elsewhere = Around(a_quote("One.", 0, "Pass"), "", " And. Two.")
    assert each_once([elsewhere, alone]) == [elsewhere, alone]


def test_a_part_of_a_quote_has_nothing_around_it() -> None:
    """A clause that is cited beside its sentence shows nothing of it again."""
    whole, clause = a_quote("It fell; it burned.", 20), a_quote("it burned.", 29)
    several = [Around(whole, "A day. ", " Then?"), Around(clause, "It fell; ", " Then?")]
    assert each_once(several) == [several[0], Around(clause)]


def test_only_doubts_are_told_of_a_sentence() -> None:
    """A sentence of one source needs no remark; what is hedged or disputed does."""
    hedged, plain = a_proof("One"), Proof((), 0, "one source", ())
    assert [Sentence(words("One"), proof).doubt for proof in (hedged, plain, None)] == ["hedged", "", ""]
