"""What the evaluations of briefs count: sentences that were marked, and words of newer introductions."""

from __future__ import annotations

import json

import pytest
from evals.brief_aspects import LABELS_FILE, JudgedBrief, MarkedTopic, figures, is_marked, load_topics
from evals.brief_leads import Comparison, overlap
from evals.brief_leads import figures as lead_figures
from evals.second_sources import JudgedPair, counts_of, load_pairs
from evals.second_sources import figures as source_figures
from tests.claims.claim_examples import below

PAGE = below("<p>One sentence stands here. Another one stands here.</p><h3>Trade</h3><p>A third one is here.</p>")


def a_topic(**places: set[tuple[str, int]]) -> MarkedTopic:
    kinds = ("sections", "sentences", "excluded", "key_sentences")
    return MarkedTopic("Norbury", *(frozenset(places.get(kind, set())) for kind in kinds))


def at(words: str) -> int:
    return PAGE.text.index(words)


def section(words: str) -> int:
    return max(number for number, one in enumerate(PAGE.sections) if one.start <= at(words))


def test_a_sentence_is_marked_by_its_section_or_by_itself() -> None:
    """All of a marked section counts but for what was taken out, and single sentences beside it, in any section."""
    path = PAGE.ref.path
    whole = a_topic(sections={(path, section("One sentence"))})
    assert is_marked(whole, PAGE, at("One sentence"))
    assert not is_marked(whole, PAGE, at("A third"))
    without = a_topic(sections={(path, section("One sentence"))}, excluded={(path, at("Another"))})
    assert not is_marked(without, PAGE, at("Another"))
    alone = a_topic(sentences={(path, at("A third"))})
    assert is_marked(alone, PAGE, at("A third"))
    assert is_marked(alone, PAGE, at("A third") + 2)  # without its first small word
    assert not is_marked(alone, PAGE, at("One sentence"))


def test_the_topics_are_in_two_halves() -> None:
    """Every other topic is for choosing, so that none is in both halves; each has what a brief must have."""
    dev, test = ({one.topic for one in load_topics(part)} for part in ("dev", "test"))
    assert len(dev) == len(test) == 30
    assert dev.isdisjoint(test)
    assert all(one.key_sentences for one in load_topics())
    rows = [json.loads(line) for line in LABELS_FILE.read_text(encoding="utf-8").splitlines()]
    assert len({row["kind"] for row in rows}) >= 8
    assert rows == sorted(rows, key=lambda row: row["topic"])


def test_a_topic_without_a_summary_counts_as_nothing() -> None:
    """Shares of summaries are a mean over topics; of the body over all its sentences."""
    good = JudgedBrief("A", (True, True), (True,), (), 1.0, ())
    none = JudgedBrief("B", (), (False, True, False), (), 0.0, ())
    found = figures([good, none])
    assert found["summary_on_aspect"] == 0.5
    assert found["body_on_aspect"] == 0.5
    assert found["key_sentences"] == 0.5
    assert found["summaries"] == 0.5


def test_words_count_as_often_as_they_are_there() -> None:
    """Of the wanted words and pairs the share counts that the first words have."""
    wanted = ["a", "cold", "winter", "and", "a", "cold", "spring"]
    assert overlap(["a", "cold", "winter"], wanted) == pytest.approx((3 / 7, 2 / 6))
    assert overlap([], wanted) == (0.0, 0.0)
    assert overlap(["word"] * 150 + ["cold"], wanted) == (0.0, 0.0)  # only the first 150
    ahead, unpinned = lead_figures([Comparison("A", (0.3, 0.1), (0.2, 0.1))])
    assert ahead == pytest.approx({"ahead_in_r1": 1.1, "ahead_in_r2": 1.0})
    assert unpinned["lead_r1"] == 0.2


def test_second_sources_are_counted_by_what_readers_say() -> None:
    """What the program calls confirmed is right if readers say so; what it misses lowers what is found."""
    rows = [("confirms", "confirms"), ("confirms", "in part"), ("no", "confirms"), ("no", "no"), ("differs", "differs")]
    pairs = [JudgedPair(label, verdict, {}, ("", "")) for verdict, label in rows]
    assert source_figures(pairs) == {
        "confirmed_right": 0.5,
        "confirmed_right_or_in_part": 1.0,
        "confirmed_found": 0.5,
    }
    assert counts_of(pairs) == {"pairs": 5.0, "differing": 1.0, "differing_right": 1.0}


def test_the_topics_of_pairs_are_in_two_halves() -> None:
    """No topic is in both, and together they are all."""
    dev, test = (load_pairs(part) for part in ("dev", "test"))
    assert {pair.topic for pair in dev}.isdisjoint(pair.topic for pair in test)
    assert len(dev) + len(test) == len(load_pairs()) == 2_000
