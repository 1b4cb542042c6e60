"""How much a short text, such as a link in its sentence, speaks of a topic and its keywords."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kiwiresearch.search.hit import Score
from kiwiresearch.search.passages import match
from kiwiresearch.search.query import Query, Term
from kiwiresearch.text.words import level

TOPIC = 20.0
KEYWORDS = 10.0
"""What a text is worth that holds all words of the topic, or all keywords."""


def likeness(text: str, topic: Query, rarity: Callable[[str], float]) -> Score:
    """Words in common with the topic, and with the keywords in its focus; rare words count more."""
    levelled = level(text)
    return (
        Score()
        .plus("topic words", TOPIC * _share(levelled, topic.terms, rarity, topic.language))
        .plus("keywords", KEYWORDS * _share(levelled, topic.focus, rarity, topic.language))
    )


def _share(text: str, terms: Sequence[Term], rarity: Callable[[str], float], language: str) -> float:
    return match(text, terms, {term.stem: rarity(term.word) for term in terms}, language, lead=0).lead
