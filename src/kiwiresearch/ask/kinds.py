"""Whether a text holds what a kind of question wants: a person, a date, a place, a number, a reason."""

from __future__ import annotations

import re
from functools import cache

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
def _pattern(language: str, name: str) -> re.Pattern[str]:
    return re.compile(kind_patterns(language).get(name, r"(?!)"))


def holds_kind(text: str, question: Question) -> float:
    """1 if the text has what this kind of question wants, 0 if it does not, 0.5 where nothing special is wanted."""
    kind, language = question.kind, question.language
    if kind == "date":
        return (
            1.0 if _pattern(language, "year").search(text) else 0.7 if _pattern(language, "month").search(text) else 0.0
        )
    if kind == "number":
        return 1.0 if _pattern(language, "number").search(text) else 0.0
    if kind == "person":
        return 1.0 if new_name(text, question) else 0.0
    if kind == "place":
        return 1.0 if _pattern(language, "place").search(text) else 0.4 if new_name(text, question) else 0.0
    if kind == "reason":
        return 1.0 if _pattern(language, "reason").search(text) else 0.0
    return PLAIN


def falls_short(text: str, question: Question) -> bool:
    """Whether a text tells only of the second largest, or of some of the largest, where the largest is asked for.

    A question for an example, or for some of the largest, asks for no more than that.
    """
    rank, superlative = (_pattern(question.language, name) for name in ("rank", "superlative"))
    asked = level(question.text)
    found = superlative.search(asked)
    several = _pattern(question.language, "several")
    if found is None or several.search(asked) or re.search(rf"(?:{rank.pattern}){superlative.pattern}", asked):
        return False
    told = level(text)
    words = "|".join(map(re.escape, (found[0], *question_words(question.language).related.get(found[0], ()))))
    ranked = re.findall(rf"(?:{rank.pattern})(?:{words})\b", told)
    return bool(ranked) and len(ranked) == len(re.findall(rf"\b(?:{words})\b", told))


def gives_reason(text: str, language: str) -> bool:
    """Whether words of a text say that it gives a reason: 'because', 'cause of death'."""
    return _pattern(language, "reason").search(text.lower()) is not None


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
