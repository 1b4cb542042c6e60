"""Whether the few words found in a sentence may stand above it as the answer."""

from __future__ import annotations

import re

from kiwiresearch.ask.answer_match import AnswerSpan, pattern_of
from kiwiresearch.ask.question import Question, question_words
from kiwiresearch.text import fold, occurrences, plain_lower, stemmer

LEADING = re.compile(r"(?:(?:In|On|By|At|About|Around|Since)\b[^,]{0,30})?")
"""Words before a date that dates all of its sentence: 'On the evening of 4 May 1912, …'."""
# Ends a clause: '; ', ', which', ' while', ', and', the comma of ', causing …'; not the comma of a list, nor '12:30'.
CLAUSE_ENDS = re.compile(
    r"[;:](?!\S)|,? (?:which|who|whom|whose|where|while|although|though|but|when)\b|, and\b|,(?= \w+ing\b)"
)
# 'He was ten when the war began in 1914': the date is of both clauses.
SAME_TIME = re.compile(r",? when\b")
# 'Spain, Portugal and the Isle of Man' is a list of three names; 'Spain has' and 'Spain (Europe)' end it.
SEPARATOR = r"(?:,? (?:and|or) (?:the )?|[,;]\s+(?:the )?|\n)"
CAPITALISED = r"[A-Z](?:[\w'’.-]*[\w'’]|\.(?= [A-Z]))?"
NAME_OF_LIST = rf"{CAPITALISED}(?: (?:(?:of|the|de) )*{CAPITALISED})*"
BEFORE_LIST = re.compile(rf"(?<![\w'’.-])(?P<item>{NAME_OF_LIST}){SEPARATOR}$")
AFTER_LIST = re.compile(rf"{SEPARATOR}(?P<item>{NAME_OF_LIST})")
OTHER_LIST = re.compile(NAME_OF_LIST + SEPARATOR + NAME_OF_LIST)
SEVERAL = re.compile(SEPARATOR)


def dates_the_event(text: str, span: AnswerSpan, question: Question, title: str) -> bool:
    """Whether the clause with a date has a word for what happened, apart from names.

    'When did the wall fall?' is not answered by 'Its fall led to the union, which was agreed on in 1990'.
    """
    stem_of = stemmer(question.language)
    ends = question_words(question.language).ends
    ignored = {stem_of(word) for word in fold(title).split()} | ends["either"]
    happened = [
        term
        for term in question.terms
        if not (term.is_asking or term.is_name or term.term.stem in ignored or term.term.word.isdigit())
    ]
    if not happened or LEADING.fullmatch(text, 0, span.start):
        return True
    # More brackets opened than closed before the date: it is inside one.
    is_in_brackets = text.count("(", 0, span.start) > text.count(")", 0, span.start)
    if is_in_brackets and any(term.term.stem in ends["first"] | ends["last"] for term in happened):
        return True  # '(1815 – 1871)' says when a person was born and died
    clause = plain_lower(_clause_around(text, span))
    words = (word for term in happened for word in (term.term.word, *term.related))
    return any(occurrences(clause, word, stem_of) for word in words)


def _clause_around(text: str, span: AnswerSpan) -> str:
    """The clause of a span; with the clause before it, if both happened at one time."""
    marks = list(CLAUSE_ENDS.finditer(text))
    before = [mark for mark in marks if mark.end() <= span.start]
    while before and SAME_TIME.fullmatch(before[-1][0]):
        before.pop()
    start = before[-1].end() if before else 0
    end = next((mark.start() for mark in marks if mark.start() >= span.end), len(text))
    return text[start:end]


def may_have_headline(question: Question) -> bool:
    """Whether a few words can answer a question; 'Tell me about bees' wants to know more."""
    return pattern_of(question.language, "open").search(plain_lower(question.text)) is None


def asks_for_several(question: Question) -> bool:
    """Whether a question asks for more than one thing: 'Which countries border France?'."""
    return pattern_of(question.language, "plural").search(plain_lower(question.text)) is not None


def whole_list(text: str, span: AnswerSpan) -> AnswerSpan | None:
    """The list that a span is in, to its first and last name; None if it is only one value, or one list of several."""
    start, end = span
    if text[start].isupper():
        while before := BEFORE_LIST.search(text, 0, start):
            start = before.start("item")
        while after := AFTER_LIST.match(text, end):
            end = after.end("item")
        # With a second list in the sentence it is not clear which of them the question asks for.
        if OTHER_LIST.search(text, 0, start) or OTHER_LIST.search(text, end):
            return None
    return AnswerSpan(start, end) if SEVERAL.search(text, start, end) else None
