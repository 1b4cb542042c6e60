"""A text before it is Markdown or HTML: running text is cited once for all sentences of one place."""

from __future__ import annotations

from kiwiresearch.brief.document import Cite, Evidence, Proof, Sentence, cited, words


def a_proof(quote: str, more: int = 0) -> Proof:
    """What a sentence rests on that has a quote in a section; the address marks the words, which differ."""
    url = "http://127.0.0.1:8080/Salt_road#Use"
    cite = Cite("Salt road — “Use” section", url, f"{url}:~:text={quote}")
    return Proof((cite,), more, "hedged", (Evidence("", (quote,), cite, (), "Confidence 0.80."),))


def test_sentences_of_one_place_are_cited_once() -> None:
    """Also where the address of each marks other words: the first one is shown, and all quotes are kept."""
    said = tuple(Sentence(words(one), a_proof(one, more)) for one, more in (("One", 1), ("Two", 3)))
    run = cited(said)
    assert run.sentences == said
    assert [quote for evidence in run.proof.evidence for quote in evidence.quotes] == ["One", "Two"]
    assert (run.proof.cites, run.proof.more, run.proof.sureness) == (a_proof("One").cites, 3, "")


def test_only_doubts_are_told_of_a_sentence() -> None:
    """A sentence of one source needs no remark; what is hedged or disputed does."""
    hedged, plain = a_proof("One"), Proof((), 0, "one source", ())
    assert [Sentence(words("One"), proof).doubt for proof in (hedged, plain, None)] == ["hedged", "", ""]
