"""How likely a claim is right: a sum of named log-odds, set so that the figures mean what they say.

`docs/reference/claims.md` has the table: how often claims of each confidence were right when people looked.
"""

from __future__ import annotations

from kiwiresearch.claims.claim import PutIn, Signals
from kiwiresearch.claims.sentence import Margin, Sentence
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.search.hit import Score, ScoreLine
from kiwiresearch.text.hedges import Hedge

SENTENCE = 1.05
ROW = 1.6
REFERENCED = 0.15
CITATION_NEEDED = -1.5
DISPUTED = -1.0
STUB = -0.2
HEDGED = {"may": -0.05, "some": -0.2, "debated": -0.8, "uncertain": -0.2}
NAME_PUT_IN = -0.05
NAME_FOUND_BEFORE = -1.1
PUT_IN = {
    "title": ("pronoun named by the page's title", NAME_PUT_IN),
    "before": ("pronoun named by a sentence before", NAME_FOUND_BEFORE),
}
ABOUT_THE_PAGE = 0.4
NO_NAME = -0.6
CLEAR = 0.5
LONG = -0.15
LONG_CHARS = 240
CLEAR_POINTS = 3.0


def score_of(
    signals: Signals,
    hedges: tuple[Hedge, ...],
    *,
    points: float = 0.0,
    put_in: PutIn = "",
    table: bool = False,
    length: int = 0,
    about_the_page: bool = False,
    has_name: bool = True,
) -> Score:
    """The score of a claim made by rule."""
    lines = [("a row of the page", ROW) if table else ("a sentence of the page", SENTENCE)]
    if about_the_page:
        lines.append(("about the page's own subject", ABOUT_THE_PAGE))
    if not has_name:
        lines.append(("names nobody and nothing", NO_NAME))
    if signals.references:
        lines.append(("reference in the sentence", REFERENCED))
    if signals.citation_needed:
        lines.append(("citation needed", CITATION_NEEDED))
    if signals.disputed:
        lines.append(("marked as disputed", DISPUTED))
    if signals.stub:
        lines.append(("the page is a stub", STUB))
    lines += [(f"hedged ({kind})", HEDGED[kind]) for kind in sorted({hedge.kind for hedge in hedges})]
    if put_in:
        lines.append(PUT_IN[put_in])
    if points >= CLEAR_POINTS:
        lines.append(("clear type", CLEAR))
    if length > LONG_CHARS:
        lines.append(("long sentence", LONG))
    return Score(tuple([ScoreLine(signal, more) for signal, more in lines]))


def signals_of(page: PageDoc, sentence: Sentence, margin: Margin) -> Signals:
    """What the page shows about how well a sentence is founded."""
    marks = margin.marks(sentence.start, sentence.end)
    kinds = [mark.kind for mark in marks]
    return Signals(
        references=kinds.count("reference"),
        section_references=page.sections[sentence.section].references,
        page_references=page.signals.references,
        citation_needed="citation needed" in kinds,
        disputed="disputed" in kinds,
        stub=page.signals.stub.holds,
    )
