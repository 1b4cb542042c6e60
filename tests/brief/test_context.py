"""The context of a quote: whole sentences of its paragraph, letter by letter as on the page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.brief.briefs import a_claim, entry

from kiwiresearch.brief.brief import QuoteContext
from kiwiresearch.brief.citations import (
    MAX_CONTEXT_CHARS,
    MAX_CONTEXT_SENTENCE_CHARS,
    QuoteInContext,
    context_of,
    without_overlaps,
)
from kiwiresearch.claims.claim import Claim
from kiwiresearch.evidence import INFOBOX, Quote, recorded_quote

PAGE = (
    "Salt road\n\nThe road was old. It led north. It was 118 km long. Salt was carried on it. Few used it.\n"
    "Trade\n\nIt ended in 1580; wars were the cause.\n\nThe towns were:\nOstrava, where it began. It is a town.\nLubmin"
)


def of_text(text: str, words: str, section: str = "Trade") -> Claim:
    start = text.index(words)
    quote = recorded_quote(entry("Salt road"), start, start + len(words), words)
    return a_claim("Salt road", words, section, quotes=(quote,))


@pytest.mark.parametrize(
    ("words", "before", "after"),
    [
        ("It was 118 km long.", "The road was old. It led north. ", " Salt was carried on it. Few used it."),
        ("The road was old.", "", " It led north. It was 118 km long. Salt was carried on it. Few used it."),
        ("Few used it.", "The road was old. It led north. It was 118 km long. Salt was carried on it. ", ""),
        ("It ended in 1580;", "", " wars were the cause."),
        ("wars were the cause.", "It ended in 1580; ", ""),
        ("The towns were:\nOstrava, where it began.", "", " It is a town."),
    ],
)
def test_the_sentences_around_a_quote_are_those_of_its_paragraph(words: str, before: str, after: str) -> None:
    """Neither a heading nor another paragraph is shown, and the rest of a sentence is."""
    assert context_of(of_text(PAGE, words), PAGE, "eng") == QuoteContext(before, after)


def test_a_quote_that_is_a_paragraph_has_nothing_around_it() -> None:
    """Also at the end of the page; and a row of a box has no place among sentences."""
    assert context_of(of_text(PAGE, "It ended in 1580; wars were the cause."), PAGE, "eng") is None
    assert context_of(of_text(PAGE, "Lubmin"), PAGE, "eng") is None
    assert context_of(of_text(PAGE, "It led north.", INFOBOX), PAGE, "eng") is None


def of_size(size: int) -> str:
    return f"X{'x' * (size - 2)}."


def test_sentences_are_never_cut() -> None:
    """As many as fit are shown; one that is longer is shown alone, unless it is far too long."""
    near = of_size(100)
    text = f"{near} {near} {near} QUOTE. {near} {near} {near}"
    assert context_of(of_text(text, "QUOTE."), text, "eng") == QuoteContext(f"{near} {near} ", f" {near} {near}")
    for size in (MAX_CONTEXT_CHARS + 50, MAX_CONTEXT_SENTENCE_CHARS - 2):
        long = of_size(size)
        text = f"Begin. {long} QUOTE. {long} End."
        assert context_of(of_text(text, "QUOTE."), text, "eng") == QuoteContext(f"{long} ", f" {long}")
    long = of_size(MAX_CONTEXT_SENTENCE_CHARS + 1)
    text = f"Begin. {long} QUOTE. {long} End."
    assert context_of(of_text(text, "QUOTE."), text, "eng") is None


WORDS = st.text(st.sampled_from('aZ0 .;!?\n\t。\u2028"”“A'), max_size=80)


@given(WORDS, WORDS.filter(str.strip), WORDS, st.sampled_from(["eng", "zho", "", "xx"]))
def test_the_context_is_around_the_quote(before: str, words: str, after: str, language: str) -> None:
    """Whatever is on the page: its own letters, right beside the quote, and of no other line."""
    text = before + words + after
    quote = recorded_quote(entry("Salt road"), len(before), len(before + words), words)
    found = context_of(a_claim("Salt road", "It is so.", quotes=(quote,)), text, language)
    if found is not None:
        assert before.endswith(found.before)
        assert after.startswith(found.after)
        assert "\n" not in found.before + found.after
        assert (found.before + found.after).strip()


def a_quote(text: str, start: int = 0, page: str = "Salt road") -> Quote:
    return recorded_quote(entry(page), start, start + len(text), text)


def test_words_around_quotes_that_are_shown_together_come_once() -> None:
    """The context of a quote has no other quote, and nothing that was shown before; other pages do not matter."""
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
