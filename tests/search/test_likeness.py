"""How much a short text speaks of a topic."""

from __future__ import annotations

import pytest

from kiwiresearch.search.likeness import likeness
from kiwiresearch.search.query import parse

TOPIC = parse("Bronze Age collapse", focus="drought, earthquake")


def alike(word: str) -> float:
    """All words are equally rare."""
    return 1.0


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("the collapse of the Bronze Age", "20 (topic words +20)"),
        ("Bronze tools", "6.67 (topic words +6.67)"),
        ("a drought and some earthquakes", "10 (keywords +10)"),
        ("collapses after a long drought", "11.67 (topic words +6.67, keywords +5)"),
        ("a football club", "0 (no signal)"),
        ("", "0 (no signal)"),
    ],
)
def test_a_text_is_scored_by_topic_and_keywords(text: str, score: str) -> None:
    """A candidate link's words are compared with the topic and its keywords, in any form (R44, R45)."""
    assert str(likeness(text, TOPIC, alike)) == score


def test_rare_words_count_more() -> None:
    """A text that shares the topic's rare word is nearer than one that shares its common word (R45)."""
    rarity = {"bronze": 1.0, "age": 1.0, "collapse": 6.0}
    near, far = (likeness(text, TOPIC, lambda w: rarity.get(w, 1.0)) for text in ("the collapse", "the age"))
    assert near.total > far.total
