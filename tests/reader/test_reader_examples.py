"""What the reading model is trained on: only what the passage bears out."""

from __future__ import annotations

import numpy as np
import pytest
from tools.train_reader.base import SPECIAL, pruned, tokenizer_of, used_words
from tools.train_reader.batches import UNKNOWN, Numbering
from tools.train_reader.examples import Example, located, pronouns
from tools.train_reader.passage import Passage
from tools.train_reader.writing import pairs_in

from kiwiresearch.reader.form import Form, Text

PASSAGE = Passage(
    "test",
    "Port Lomond",
    "History",
    (
        "Port Lomond is a town.",
        "Its harbour was laid out by Ada Merriweather in 1874.",
        "In 1874 the railway came.",
    ),
)
WORDS = [
    *SPECIAL,
    *"abcdefghijklmnopqrstuvwxyz0123456789.,?'-:",
    *(f"##{c}" for c in "abcdefghijklmnopqrstuvwxyz0123456789"),
]


@pytest.mark.parametrize(
    ("question", "answer", "unit", "words"),
    [
        ("Who planned the harbour?", "Ada Merriweather", 1, "Ada Merriweather"),
        ("When was the harbour laid out?", "1874.", 1, "1874"),
        ("When did the railway come?", "1874", 2, "1874"),
        ("What happened to the harbour?", "harbour laid out by merriweather", 1, None),
    ],
)
def test_an_answer_is_found_where_the_question_points(question: str, answer: str, unit: int, words: str | None) -> None:
    """The sentence that shares most words with the question is taken; words only where they are the text's own."""
    found = located(question, answer, PASSAGE)
    assert found is not None
    assert found.unit == unit
    assert (PASSAGE.units[unit][found.start : found.end] if found.start >= 0 else None) == words


@pytest.mark.parametrize("answer", ["", "Glasgow", "harbour", "x" * 200])
def test_an_answer_that_is_not_there_is_dropped(answer: str) -> None:
    """What the passage does not say, or the question says itself, trains nothing."""
    assert located("Who planned the harbour?", answer, PASSAGE) is None


def test_replies_are_read_as_pairs() -> None:
    """Questions and answers are taken out of a reply; anything else in it is left."""
    assert pairs_in("Sure!\nQ: Who?\nA: Ada.\nQ: When?\nA: 1874\nQ: Cut") == [("Who?", "Ada"), ("When?", "1874")]


def test_training_and_reading_use_one_form() -> None:
    """The same question and text give the same numbers in training and in the product."""
    numbering, form = Numbering(tokenizer_of(WORDS)), Form(WORDS)
    row = numbering.row(Example("Who planned it?", PASSAGE, answers=False))
    (window,) = form.windows("Who planned it?", Text(PASSAGE.title, PASSAGE.heading, PASSAGE.units))
    assert tuple(row.ids) == window.ids
    assert tuple(row.kinds) == window.kinds
    assert row.marks == [placed.mark for placed in window.units]


def test_other_sentences_with_the_answer_are_not_called_wrong() -> None:
    """'1874' also stands in another sentence: that one is neither right nor wrong."""
    found = located("When was the harbour laid out?", "1874", PASSAGE)
    assert found is not None
    row = Numbering(tokenizer_of(WORDS)).row(found)
    assert row.right == [0, 1, UNKNOWN]
    assert 0 < row.start <= row.end < len(row.ids)


def test_a_repeated_name_becomes_a_pronoun() -> None:
    """The second mention is replaced and marked, and the first is what it means."""
    units = (
        "Ada Merriweather studied with Jonas Carling in Glasgow.",
        "She built harbours.",
        "In 1874 Ada Merriweather was called to Port Lomond.",
    )
    (found,) = pronouns([Passage("test", "Ada Merriweather", "", units)])
    assert found.question == "she"
    assert found.passage.units[-1] == "In 1874 [P] she was called to Port Lomond."
    assert found.passage.units[found.unit][found.start : found.end] == "Ada Merriweather"


def test_words_nobody_uses_are_left_out() -> None:
    """A smaller table keeps what texts use, and every letter, so that any word can still be spelled."""
    words = [*WORDS, "harbour", "zyx"]
    kept = used_words(words, ["harbour " * 40])
    assert "harbour" in kept
    assert "zyx" not in kept
    assert set(WORDS) <= set(kept)
    weights = {"embeddings.word_embeddings.weight": np.arange(len(words))[:, None], "pooler.dense.weight": np.zeros(1)}
    table = pruned(weights, words, kept)
    assert list(table) == ["embeddings.word_embeddings.weight"]
    assert table["embeddings.word_embeddings.weight"][kept.index("harbour"), 0] == words.index("harbour")
