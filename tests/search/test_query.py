"""Taking a query apart: what is asked, which words matter, and what may be a title in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiwiresearch.search.query import MAX_CHARS, MAX_PHRASE_WORDS, MAX_WORDS, parse_query
from kiwiresearch.text.languages import stemmer
from kiwiresearch.text.words import fold

ANYTHING = st.text(st.characters(exclude_categories=()))
LANGUAGES = st.sampled_from(["eng", "deu", "fra", "rus", "ara", "jpn", "zxx", ""])


@pytest.mark.parametrize(
    ("text", "core"),
    [
        ("what is a galaxy?", "galaxy"),
        ("What are galaxies", "galaxies"),
        ("what was the Bronze Age", "Bronze Age"),
        ("what were the Crusades?", "Crusades"),
        ("tell me about Rome", "Rome"),
        ("explain photosynthesis", "photosynthesis"),
        ("describe a volcano", "volcano"),
        ("define entropy", "entropy"),
        ("how does a vaccine work", "vaccine work"),
        ("how do magnets work", "magnets work"),
        ("how did Rome fall", "Rome fall"),
        ("who is Ada Lovelace?", "Ada Lovelace"),
        ("who was Hannibal", "Hannibal"),
        ("who were the Hittites", "Hittites"),
        ("history of France", "history of France"),
        ("overview of chemistry", "overview of chemistry"),
        ("introduction to algebra", "introduction to algebra"),
        ("what's the deal with black holes", "black holes"),
        ("whats the deal with black holes", "black holes"),
        ("what's up with Pluto?", "Pluto"),
        ("what's this about Pluto", "Pluto"),
        ("what's the story with Troy", "Troy"),
        ("whats the story with Troy", "Troy"),
    ],
)
def test_a_definitional_question_is_recognised(text: str, core: str) -> None:
    """Each way of asking what something is makes the query definitional and leaves what it is about (R168)."""
    query = parse_query(text)
    assert (query.core, query.definitional) == (core, True)


@pytest.mark.parametrize(
    "text",
    [
        "galaxy",
        "how tall is the Eiffel Tower",
        "whatever is left",
        "explainable models",
        "what is",
        "define",
        "prehistory of",
    ],
)
def test_other_queries_are_not_definitional(text: str) -> None:
    """A question about one fact, or words that only look like an opening, stay whole."""
    assert parse_query(text).definitional is False
    assert parse_query(text).core == text


@pytest.mark.parametrize(
    ("text", "core"),
    [
        ("everyone keeps talking about black holes", "black holes"),
        ("So, everyone keeps talking about black holes", "black holes"),
        ("I keep hearing about what is a quasar", "quasar"),
        ("hey, what is a quasar", "quasar"),
        ("everyone keeps talking about", "everyone keeps talking about"),
        ("everyone keeps talking about ?!", "everyone keeps talking about"),
        ("sonar", "sonar"),
        ("please", "please"),
        ("so, so, so", "so"),
        ("so so so", "so so so"),
        ("so what is a quasar", "so what is a quasar"),
        ("Well, what is a quasar", "quasar"),
        ("hi, please galaxy", "galaxy"),
    ],
)
def test_framing_is_taken_off_where_something_is_left(text: str, core: str) -> None:
    """Words around a question are not part of it, unless there is nothing else."""
    assert parse_query(text).core == core


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("So, everyone keeps talking about spiral galaxies", "spiral galaxies"),
        ("please, what is a quasar?", "what is a quasar?"),
        ("what is a quasar?", "what is a quasar?"),
        ("please", "please"),
    ],
)
def test_the_question_is_kept_without_framing(text: str, asked: str) -> None:
    """The question itself stays complete, with the text as it was typed beside it."""
    query = parse_query(text)
    assert (query.text, query.unframed) == (text, asked)


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("the history of the Roman army", ("history", "roman", "army")),
        ("The Who", ("the", "who")),
        ("what does the WHO do in the US?", ("who", "us")),
        ("WHAT DOES THE NAVY OF THE US DO", ("navy",)),
        ("AC/DC", ("ac", "dc")),
        ("c", ("c",)),
        ("R", ("r",)),
        ("what is C++?", ("c++",)),
        ("the U.S. Navy", ("us", "navy")),
        ("O’Brien's and O'Brien's boat", ("obrien", "boat")),
        ("galaxies and a galaxy", ("galaxies",)),
        ("Łódź", ("lodz",)),
        ("🙂 galaxy", ("galaxy",)),
        ("well-known", ("well",)),
        ("東京", ("東京",)),
        ("?!…", ()),
        ("", ()),
    ],
)
def test_the_words_that_matter(text: str, content: tuple[str, ...]) -> None:
    """Stop words go unless nothing else is there or capitals make them names; each stem counts once."""
    assert parse_query(text).content == content


def test_stop_words_are_those_of_the_language() -> None:
    """A German query is taken apart with German words: 'die' is an article there and a verb in English."""
    assert parse_query("die Galaxie", "deu").content == ("galaxie",)
    assert parse_query("die Galaxie", "eng").content == ("die", "galaxie")


def test_phrases_run_from_word_to_word_longest_first() -> None:
    """Small words stay inside a phrase but never begin or end it."""
    assert parse_query("who signed the Treaty of Versailles").phrases() == [
        "signed the treaty of versailles",
        "signed the treaty",
        "treaty of versailles",
        "signed",
        "treaty",
        "versailles",
    ]


def test_a_hint_is_taken_apart_like_a_query() -> None:
    """Of a hint the words that matter are kept; an empty one says nothing."""
    assert [term.stem for term in parse_query("mercury", focus="the planets").focus] == [stemmer("eng")("planets")]
    assert parse_query("mercury", focus="  ").focus == ()


def test_a_query_as_long_as_a_page_is_cut() -> None:
    """Ten thousand words are searched by the first of them."""
    query = parse_query(" ".join(f"word{number}" for number in range(10_000)))
    assert len(query.words) == MAX_WORDS
    assert query.words[-1] == f"word{MAX_WORDS - 1}"
    assert max(len(phrase.split()) for phrase in query.phrases()) == MAX_PHRASE_WORDS


def test_a_word_as_long_as_a_page_is_cut() -> None:
    """Text without a space is searched by its first letters, and a hint by its first words."""
    assert parse_query("x" * 100_000).text == "x" * MAX_CHARS
    hint = " ".join(f"word{number}" for number in range(10_000))
    assert [term.word for term in parse_query("mercury", focus=hint).focus] == hint.split()[:MAX_WORDS]


@given(ANYTHING, LANGUAGES, ANYTHING)
def test_any_text_can_be_taken_apart(text: str, language: str, focus: str) -> None:
    """No query fails; every term's place is that of its word, and the content is the parts of the terms."""
    query = parse_query(text, language, focus)
    stem_of = stemmer(language)
    for term in query.terms:
        assert stem_of(query.words[term.place]) == stem_of(term.word) == term.stem
    assert len({term.stem for term in query.terms}) == len(query.terms)
    assert len(query.terms) <= len(query.words) <= MAX_WORDS
    parts = [part for term in query.terms for part in fold(term.word).split()]
    assert query.content == tuple(dict.fromkeys(parts))
    assert len(query.text) <= MAX_CHARS


@given(st.lists(st.sampled_from(["the", "galaxy", "of", "Rome", "what", "is", "C++", "U.S.", "’s", "?"])).map(" ".join))
def test_phrases_are_runs_of_the_querys_words(text: str) -> None:
    """Every phrase is in the query, none twice, and longer ones come first."""
    query = parse_query(text)
    output = f" {' '.join(query.words)} "
    phrases = query.phrases()
    assert all(f" {phrase} " in output for phrase in phrases)
    assert len(set(phrases)) == len(phrases)
    lengths = [len(phrase.split()) for phrase in phrases]
    assert lengths == sorted(lengths, reverse=True)
