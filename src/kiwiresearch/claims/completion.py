"""A claim from its words, its type and its quotes: all else is read from the page, as for claims by rule."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from kiwiresearch.claims.claim import Claim, ClaimType
from kiwiresearch.claims.confidence import score_of, signals_of
from kiwiresearch.claims.measures import measures_in
from kiwiresearch.claims.sentence import Margin, Sentence
from kiwiresearch.claims.tables import grammar_of, is_known
from kiwiresearch.evidence.quote import Quote
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.text.hedges import hedges_in
from kiwiresearch.text.quantities import quantities_in
from kiwiresearch.text.when import dates_in

IN_OTHER_WORDS = -0.6
"""A sentence that the page does not have so is believed less than one that it has."""


def completed(
    page: PageDoc, text: str, kind: ClaimType, quotes: tuple[Quote, ...], *, section: int, book_name: str = ""
) -> Claim:
    """The claim that a model made of the quotes; its subject is the page's until somebody knows better."""
    language = page.language
    around = _sentence_around(page, quotes[0], section)
    margin = Margin(page)
    dates = dates_in(text, language)
    quantities = quantities_in(text, language, not_in=[(one.start, one.end) for one in dates])
    hedges = hedges_in(text, language)
    signals = signals_of(page, around, margin)
    links = margin.links(around.start, around.end)
    place = page.sections[section]
    score = score_of(signals, hedges, points=0.0, length=len(text))
    return Claim(
        text=text,
        type=kind,
        subject=page.title,
        scope=page.title,
        quotes=quotes,
        page_title=page.title,
        section=place.heading,
        anchor=place.anchor,
        headings=page.headings(section),
        book_name=book_name,
        tags=tuple(dict.fromkeys(words.lower() for words in (page.title, place.heading) if words)),
        hedges=hedges,
        signals=signals,
        measures=measures_in(text, quantities, dates, page.title, grammar_of(language)) if is_known(language) else (),
        dates=tuple(dates),
        names=tuple(dict.fromkeys(link.text for link in links if link.text and link.text in text)),
        score=score if text in page.text else score.plus("in a model's words", IN_OTHER_WORDS),
        origin="model",
    )


def _sentence_around(page: PageDoc, quote: Quote, section: int) -> Sentence:
    """The sentences that a quote is part of: reference marks stand at their end."""
    starts = page.sentences
    number = max(bisect_right(page.blocks, quote.start, key=lambda block: block.start) - 1, 0)
    block = page.blocks[number]
    first = max(bisect_right(starts, quote.start) - 1, 0)
    behind = bisect_left(starts, quote.end)
    start = max(starts[first], block.start) if starts else block.start
    end = min(starts[behind] if behind < len(starts) else block.end, max(block.end, quote.end))
    return Sentence(page.text[start:end], start, end, block.kind, section, number)
