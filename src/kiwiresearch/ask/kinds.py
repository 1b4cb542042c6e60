"""Whether a text holds what a kind of question wants: a person, a date, a place, a number, a reason."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from kiwiresearch.ask.question import Question, kind_patterns, question_words
from kiwiresearch.text.fold import fold
from kiwiresearch.text.when import dates_in
from kiwiresearch.text.words import level

NAME = re.compile(
    r"(?<![.!?] )(?<!^)\b[A-Z][\w'’.-]+(?:\s+(?:(?:of|de|von|van|the|la|le|du|al|bin|ibn)\s+)?[A-Z][\w'’.-]+)*"
)
"""Capitals that do not begin the text or a sentence."""

PLAIN = 0.5


@cache
def pattern_of(language: str, name: str) -> re.Pattern[str]:
    """A pattern of a language's table; one that matches nothing where the table lacks it."""
    return re.compile(kind_patterns(language).get(name, r"(?!)"))


def holds_kind(text: str, question: Question) -> float:
    """1 if the text has what this kind of question wants, 0 if it does not, 0.5 where nothing special is wanted."""
    kind, language = question.kind, question.language
    if kind == "date":
        return (
            1.0
            if pattern_of(language, "year").search(text)
            else 0.7
            if pattern_of(language, "month").search(text)
            else 0.0
        )
    if kind == "number":
        return 1.0 if pattern_of(language, "number").search(text) else 0.0
    if kind == "person":
        return 1.0 if new_name(text, question) else 0.0
    if kind == "place":
        return 1.0 if pattern_of(language, "place").search(text) else 0.4 if new_name(text, question) else 0.0
    if kind == "reason":
        return 1.0 if pattern_of(language, "reason").search(text) else 0.0
    return PLAIN


def falls_short(text: str, question: Question) -> bool:
    """Whether a text is only about the second largest, or one of the largest, when the question asks for the largest.

    A question that asks for an example or for several of the largest accepts such a text.
    """
    patterns = _superlative_in(question.text, question.language)
    if patterns is None:
        return False
    told = level(text)
    ranked = patterns[0].findall(told)
    return bool(ranked) and len(ranked) == len(patterns[1].findall(told))


@lru_cache(maxsize=64)
def _superlative_in(asked: str, language: str) -> tuple[re.Pattern[str], re.Pattern[str]] | None:
    """What matches the superlative of a question with a rank before it, and without; None where there is none."""
    rank, superlative, several = (pattern_of(language, name) for name in ("rank", "superlative", "several"))
    asked = level(asked)
    found = superlative.search(asked)
    if found is None or several.search(asked) or re.search(rf"(?:{rank.pattern}){superlative.pattern}", asked):
        return None
    words = "|".join(map(re.escape, (found[0], *question_words(language).related.get(found[0], ()))))
    return re.compile(rf"(?:{rank.pattern})(?:{words})\b"), re.compile(rf"\b(?:{words})\b")


def gives_reason(text: str, language: str) -> bool:
    """Whether words of a text say that it gives a reason: 'because', 'cause of death'."""
    return pattern_of(language, "reason").search(text.lower()) is not None


def can_be(words: str, question: Question) -> bool:
    """Whether a few words can be the whole answer: a date to 'when', a figure to 'how many', a name to 'who'."""
    if question.kind in ("date", "number"):
        return holds_kind(words, question) > 0
    if question.kind in ("person", "place"):
        return any(char.isupper() for char in words) and not dates_in(words, question.language)
    return True


def new_name(text: str, question: Question) -> bool:
    """Whether there is a name in it that the question does not have."""
    asked = set(question.query.words)
    return any(not set(fold(found[0]).split()) <= asked for found in NAME.finditer(text))
