"""A text before it is Markdown or HTML: running text is cited once for all sentences of one place."""

from __future__ import annotations

from kiwiresearch.brief.document import Around, Cite, Evidence, Proof, Run, Sentence, each_once, runs_of, words
from kiwiresearch.evidence.quote import Quote, of_record
from kiwiresearch.ids import BookId
from kiwiresearch.zim.entry import EntryRef


def a_quote(text: str, start: int = 0, page: str = "Salt_road") -> Quote:
    return of_record(EntryRef(BookId("b"), page), start, start + len(text), text)


def a_proof(quote: str, place: str = "Salt road") -> Proof:
    """What a sentence rests on that has a quote in a section; the address marks the words, which differ."""
    url = f"http://127.0.0.1:8080/{place.replace(' ', '_')}#Use"
    cite = Cite(f"{place} — “Use” section", url, f"{url}:~:text={quote}")
    return Proof((cite,), 0, "hedged", (Evidence("", Around(a_quote(quote)), (), cite, (), "Confidence 0.80."),))


def quotes(run: Run) -> list[str]:
    assert run.proof is not None
    return [evidence.around.quote.text for evidence in run.proof.evidence]


def test_sentences_of_one_place_are_cited_once() -> None:
    """Also where the address of each marks other words: the first one is shown, and all quotes are kept."""
    said = [Sentence(words(one), a_proof(one)) for one in ("One", "Two")]
    (run,) = runs_of(tuple(said))
    assert (run.sentences, quotes(run)) == (tuple(said), ["One", "Two"])
    assert run.proof is not None
    assert (run.proof.cites, run.proof.sureness) == (a_proof("One").cites, "")


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


def test_another_place_is_another_run() -> None:
    """A run ends where the place changes, and one that comes again is cited again."""
    places = ["Salt road", "Salt road", "Pass", "Salt road"]
    text = tuple(Sentence(words(str(at)), a_proof(str(at), place)) for at, place in enumerate(places))
    assert [quotes(run) for run in runs_of(text)] == [["0", "1"], ["2"], ["3"]]
    bare = Sentence(words("No proof."))
    assert [run.proof is None for run in runs_of((text[0], bare, bare, text[1]))] == [False, True, True, False]
