"""How much a sentence of a page would be missed: what an introduction of the page would say again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.brief.briefs import a_claim

from kiwiresearch.brief.relevance import LONG_CHARS, SHORT_CHARS, feature_weights, salience_scores
from kiwiresearch.claims.claim import Claim

PAGE = "Salt road"
TEXTS = (
    "The salt road carried salt from the mines over the hills to the coast.",
    "Mules of the salt road carried the salt in sacks from the mines every summer.",
    "A baker in the village had a grey cat with very long whiskers and one eye.",
    "Tolls on the salt road paid for the walls of the towns on the coast.",
)


def sentence(text: str, *headings: str) -> Claim:
    return a_claim(PAGE, text, headings[-1] if headings else "", "statement", headings=headings)


def signs(*claims: Claim) -> list[dict[str, float]]:
    """The lines of each sentence's score."""
    return [{term.signal: term.points for term in score.terms} for score in salience_scores(claims, "eng")]


def totals(*claims: Claim) -> list[float]:
    return [score.total for score in salience_scores(claims, "eng")]


def test_sentences_in_the_words_of_the_page_are_salient() -> None:
    """A sentence in the words of its page and its title outweighs one about something else."""
    first, mules, cat, tolls = totals(*map(sentence, TEXTS))
    assert min(first, mules, tolls) > cat


def test_words_that_many_sentences_share_count() -> None:
    """A sentence gains by words that are common on the page, and by those of the title."""
    first, _, cat, _ = signs(*map(sentence, TEXTS))
    assert first["common words"] > cat["common words"]
    assert first["like the page"] > cat.get("like the page", 0)
    assert first["names the title"] == feature_weights()["salience"]["names the title"]
    assert "names the title" not in cat


def test_the_first_sentence_of_a_section_counts_more() -> None:
    """What opens a section is distinguished from what follows it, in each section again."""
    found = signs(
        sentence(TEXTS[0], "Way"),
        sentence(TEXTS[1], "Way"),
        sentence(TEXTS[2], "Way", "Cats"),
        sentence(TEXTS[3], "Way"),
    )
    assert ["opens its section" in one for one in found] == [True, False, True, False]
    assert ["deep" in one for one in found] == [False, False, True, False]


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("Salt was dear on the salt road.", "short"),
        (f"The salt road carried {', '.join(f'salt of mine {letter}' for letter in 'abcdefghijklmnop')}.", "long"),
        ("In 1431 the salt road was closed by snow, and all mules were sold to the towns.", "dated"),
    ],
)
def test_the_form_of_a_sentence_counts(text: str, sign: str) -> None:
    """Very short and very long sentences lose a little, dated ones gain a little."""
    own, other = signs(sentence(text), sentence(TEXTS[1]))
    assert SHORT_CHARS <= len(TEXTS[1]) <= LONG_CHARS
    assert own[sign] * feature_weights()["salience"][sign] > 0
    assert sign not in other


def test_late_sentences_count_less() -> None:
    """The same words are worth less further down the page."""
    page = [sentence(text) for text in (TEXTS[0], TEXTS[1], TEXTS[2], TEXTS[1])]
    _, early, _, late = signs(*page)
    assert early["late"] > late["late"]
    assert {key: value for key, value in early.items() if key != "late"} == {
        key: value for key, value in late.items() if key != "late"
    }


def test_a_page_without_sentences_has_no_scores() -> None:
    """Without sentences nothing is scored."""
    assert salience_scores([], "eng") == []


@given(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=8))
def test_each_sentence_has_its_score(texts: list[str]) -> None:
    """There is one score for each sentence, a sum of known signs, and the same each time."""
    claims = [sentence(text) for text in texts]
    scores = salience_scores(claims, "eng")
    assert len(scores) == len(texts)
    assert {term.signal for score in scores for term in score.terms} <= set(feature_weights()["salience"])
    assert scores == salience_scores(claims, "eng")
