"""What the reading model is trained on: only what the passage bears out."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tools.train_reader.base import SPECIAL, prune, used_words
from tools.train_reader.batches import RowEncoder
from tools.train_reader.examples import (
    MAX_READ,
    PERHAPS,
    UNKNOWN,
    Example,
    Pronoun,
    checksum,
    load_judged,
    locate_answer,
    narrow,
)
from tools.train_reader.groups import encode_groups, read_searched
from tools.train_reader.passage import Passage

from kiwiresearch.reader.reader import TITLE_UNIT, InputEncoder, Mention, TextToRead, tokenizer_of

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
    found = locate_answer(question, answer, PASSAGE)
    assert found is not None
    assert found.unit == unit
    assert (PASSAGE.units[unit][found.start : found.end] if found.start >= 0 else None) == words


@pytest.mark.parametrize("answer", ["", "Glasgow", "harbour", "x" * 200])
def test_an_answer_that_is_not_there_is_dropped(answer: str) -> None:
    """What the passage does not say, or the question says itself, trains nothing."""
    assert locate_answer("Who planned the harbour?", answer, PASSAGE) is None


def test_a_passage_is_narrowed_around_its_answer() -> None:
    """Training reads the answering sentence with as much around it as the product may; the words stay marked."""
    units = tuple(f"Sentence {number} about the harbour, which is long and deep." for number in range(40))
    passage = Passage("test", "Port Lomond", "", (*units, "It opened in 1874.", *units))
    sizes = set()
    for number in range(20):
        found = locate_answer(f"When was harbour {number} opened?", "1874", passage)
        assert found is not None
        near = narrow(found)
        assert near.passage.units[near.unit][near.start : near.end] == "1874"
        assert near.passage.size <= MAX_READ
        sizes.add(len(near.passage.units))
    assert len(sizes) > 3


def test_training_and_reading_use_one_form() -> None:
    """The same question and text give the same numbers in training and in the product."""
    encoder = InputEncoder(tokenizer_of(WORDS))
    row = RowEncoder(encoder).encode(Example("Who planned it?", PASSAGE, answers=False))
    (window,) = encoder.windows("Who planned it?", TextToRead(PASSAGE.title, PASSAGE.heading, PASSAGE.units))
    assert row.ids == window.ids
    assert row.question_tokens == window.kinds.count(0)
    assert row.marks == tuple(placed.mark for placed in window.units)


def test_other_sentences_with_the_answer_are_not_called_wrong() -> None:
    """'1874' is also in another sentence: that one is neither right nor wrong."""
    found = locate_answer("When was the harbour laid out?", "1874", PASSAGE)
    assert found is not None
    row = RowEncoder(InputEncoder(tokenizer_of(WORDS))).encode(found)
    assert row.right == (0, 1, UNKNOWN)
    assert 0 < row.start <= row.end < len(row.ids)


ADA = Pronoun(
    TextToRead("Ada Merriweather", "", ("Ada studied with Jonas Carling.", "In 1874 she was called to Port Lomond.")),
    8,
    11,
    (Mention(0, 0, 3), Mention(0, 17, 30), Mention(TITLE_UNIT, 0, 16), Mention(7, 0, 3)),
    (1, 0, 1, 0),
)


def test_a_pronoun_has_the_names_that_are_read() -> None:
    """A name outside of the text is left out; the title is one of the names."""
    encoder = RowEncoder(InputEncoder(tokenizer_of(WORDS)))
    one = encoder.keep_readable(ADA)
    row = encoder.encode_pronoun(one)
    assert row.meant == (1, 0, 1)
    assert len(row.names) == 3
    with pytest.raises(ValueError, match="outside"):
        encoder.encode_pronoun(ADA)


def test_found_passages_compete_with_the_right_one(tmp_path: Path) -> None:
    """A found passage with the answer's words is not labelled wrong; one without them is; both formats agree."""
    other = {"source": "x", "title": "Railways", "heading": "", "units": ["The railway came in 1874."], "kind": "text"}
    wrong = {**other, "units": ["The railway was dear."]}
    lines = tmp_path / "searched.jsonl"
    question = "When was the harbour laid out?"
    row = {"question": question, "answers": ["1874"], "passages": [other, wrong]}
    lines.write_text(json.dumps(row) + "\n", encoding="utf-8")
    known = locate_answer(question, "1874", PASSAGE)
    assert known is not None
    (group,) = read_searched(lines, {known.question: known}, {})
    assert [one.answers for one in group.examples] == [True, None, False]
    encoder = InputEncoder(tokenizer_of(WORDS))
    ((_, rows, same),) = encode_groups([group], encoder, InputEncoder(tokenizer_of(WORDS), max_tokens=4_000))
    assert [one.marks for one in rows] == [one.marks for one in same]


def test_found_passages_with_the_sentence_are_right(tmp_path: Path) -> None:
    """Training reads the passage that the product would read, not the one that the question came with."""
    known = locate_answer("Who planned the harbour?", "Ada Merriweather", PASSAGE)
    assert known is not None
    found = {
        "source": "x",
        "title": "Port Lomond",
        "heading": "",
        "units": ["Before.", PASSAGE.units[1]],
        "kind": "text",
    }
    lines = tmp_path / "searched.jsonl"
    lines.write_text(
        json.dumps({"question": known.question, "answers": [], "passages": [found]}) + "\n", encoding="utf-8"
    )
    (group,) = read_searched(lines, {known.question: known}, {})
    (example,) = group.examples
    assert (example.unit, example.passage.units[0]) == (1, "Before.")


def test_judged_sentences_are_right_and_others_wrong(tmp_path: Path) -> None:
    """Of sentences that were judged, the best is right, others perhaps, and passages without one wrong."""
    question = "Who planned the harbour, and when?"
    found = {"source": "x", "title": "Port Lomond", "heading": "", "units": list(PASSAGE.units), "kind": "text"}
    other = {**found, "units": ["The railway was dear."]}
    lines = tmp_path / "searched.jsonl"
    row = {"question": question, "answers": [], "passages": [other, found]}
    lines.write_text(json.dumps(row) + "\n", encoding="utf-8")
    start = PASSAGE.units[1].index("Ada")
    label = {
        "sum": checksum(question),
        "question": question,
        "right": [[checksum(PASSAGE.units[1]), start, start + 16]],
        "perhaps": [checksum(PASSAGE.units[2])],
        "verdict": "",
    }
    labels = tmp_path / "judged.jsonl"
    labels.write_text(json.dumps(label) + "\n", encoding="utf-8")
    (group,) = read_searched(lines, {}, load_judged(labels))
    right, wrong = group.examples
    assert (right.answer, right.answers, wrong.answers) == ("Ada Merriweather", True, False)
    assert [right.label(number) for number in range(3)] == [0, 1, PERHAPS]


def test_words_nobody_uses_are_left_out() -> None:
    """A smaller table keeps what texts use, and every letter, so that any word can still be spelled."""
    words = [*WORDS, "harbour", "zyx"]
    kept = used_words(words, ["harbour " * 40])
    assert "harbour" in kept
    assert "zyx" not in kept
    assert set(WORDS) <= set(kept)
    weights = {"embeddings.word_embeddings.weight": np.arange(len(words))[:, None], "pooler.dense.weight": np.zeros(1)}
    table = prune(weights, words, kept)
    assert list(table) == ["embeddings.word_embeddings.weight"]
    assert table["embeddings.word_embeddings.weight"][kept.index("harbour"), 0] == words.index("harbour")
