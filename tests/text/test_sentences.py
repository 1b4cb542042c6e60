"""Where sentences end: tables of cases, and what is true of any text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiwiresearch.text.sentences import sentence_starts


def split(text: str, language: str = "eng") -> list[str]:
    """The sentences of a text."""
    starts = sentence_starts(text, language=language)
    return [text[start:end].strip() for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]


@pytest.mark.parametrize(
    "sentences",
    [
        ["It rained.", "She left."],
        ["Dr. Moore sailed with Mr. and Mrs. Hyde.", "He died."],
        ["It was built c. 1890 by Ann.", "It burned."],
        ["He joined the U.S. Navy in 1900.", "He left."],
        ["He lived in the U.S.", "The house stands."],
        ["They met in St. Louis.", "It rained."],
        ["J. R. R. Tolkien wrote it.", "It sold."],
        ["George W. Bush spoke.", "He left."],
        ["It cost 3.5 million.", "It sold."],
        ["Pi is 3.14.", "It is not 3."],
        ["It ended in 1999.", "2000 began."],
        ['He said "Go."', "She went."],
        ["He said “Go.”", "She went."],
        ["He left (it rained.)", "She stayed."],
        ["She said so.", "“Go,” he said."],
        ["Is it true?", "Yes.", "No!", "Maybe."],
        ["“Who?” he asked.", "Nobody spoke."],
        ["What?!", "Really."],
        ["Yahoo! is a firm.", "It sells."],
        ["Wait…", "What.", "Yes."],
        ["It holds e.g. Rome and i.e. Italy.", "It sells."],
        ["Smith et al. (1999) wrote it.", "It sold."],
        ["They sell no. 5 and vol. 2 of it.", "It sold."],
        ["See No. 5 of it, and Vol. 2 of that.", "It sold."],
        ["He weighs 80 kg.", "She weighs less."],
        ["It went to John Moore Jr.", "The rest was sold."],
        ["John Moore Jr. Hall was built.", "It burned."],
        ["They sold ropes, nets, etc.", "They closed."],
        ["He arrived at 5 p.m.", "The train left."],
        ["He came at 5 p.m. Monday.", "She left."],
        ["Acme Inc. was sold.", "It closed."],
        ["Mt. Everest is high.", "K2 is high too."],
        ["He came in Sept. 1900.", "He left in Feb. 1901."],
        ["See fig. 3 and pp. 4–5 of it.", "It shows."],
        ["It ended. lower case follows here.", "It ended."],
        ["The U.N. and the E.U. met.", "They agreed."],
        ["Élan came.", "École fell."],
        ["Section 2.1.3 says so.", "It holds."],
        ["Visit example.org today.", "It is free."],
    ],
)
def test_english(sentences: list[str]) -> None:
    """Full stops of abbreviations, initials and figures end no sentence; those of sentences do."""
    assert split(" ".join(sentences)) == sentences


@pytest.mark.parametrize(
    ("language", "sentences"),
    [
        ("deu", ["Dr. Müller kam z. B. nach Köln.", "Er blieb."]),
        ("deu", ["Er lebte ca. 40 Jahre in St. Pölten.", "Dann starb er."]),
        ("deu", ["Im Jahr 44 v. Chr. starb Caesar.", "Rom trauerte."]),
        ("deu", ["Karl V. regierte lange.", "Österreich wuchs."]),
        ("deu", ["Das war Nr. 5 von zehn.", "Es war gut."]),
        ("fra", ["M. Dupont vint avec Mme. Petit.", "Il partit."]),
        ("fra", ["Il naquit en 50 av. J.-C. à Rome.", "Il mourut."]),
        ("rus", ["Он жил в Киле.", "Потом уехал."]),
        ("spa", ["¿Es verdad?", "¡Sí!", "Lo es."]),
    ],
)
def test_other_european_languages(language: str, sentences: list[str]) -> None:
    """Each language has its own abbreviations."""
    assert split(" ".join(sentences), language) == sentences


@pytest.mark.parametrize(
    ("language", "text", "sentences"),
    [
        ("zho", "基尔是城市。它很大！真的？是的。", ["基尔是城市。", "它很大！", "真的？", "是的。"]),
        ("jpn", "キールは町です。大きい。", ["キールは町です。", "大きい。"]),
        ("jpn", "「はい。」次。", ["「はい。」", "次。"]),
        ("hin", "कील एक नगर है। यह बड़ा है।", ["कील एक नगर है।", "यह बड़ा है।"]),
        ("urd", "یہ شہر ہے۔ یہ بڑا ہے۔", ["یہ شہر ہے۔", "یہ بڑا ہے۔"]),
        ("ara", "هل هذا بيت؟ نعم.", ["هل هذا بيت؟", "نعم."]),
    ],
)
def test_other_scripts(language: str, text: str, sentences: list[str]) -> None:
    """Scripts with full stops of their own are split at them, with or without a space."""
    assert split(text, language) == sentences


def test_known_breaks_start_sentences() -> None:
    """If a paragraph is known to start, a sentence starts, whatever is before it."""
    text = "A heading\n\nIt rained and\n\nit rained"
    assert sentence_starts(text, [0, 11, 26]) == [0, 11, 26]
    assert sentence_starts("one two", [4, 0, 4]) == [0, 4]


@given(
    st.lists(
        st.sampled_from(["Ann", "left", ".", "!", "?", "…", " ", "\n", "Dr", "U.S", "3", "”", ")", "(", "。", "।"]),
        max_size=40,
    ).map("".join),
    st.lists(st.integers(0, 20)),
    st.sampled_from(["eng", "deu", "zho", "hin", "xxx", ""]),
)  # fmt: skip
def test_starts_are_sorted_and_unique(text: str, breaks: list[int], language: str) -> None:
    """Starts are sorted, unique, begin with 0, include all breaks, and are never in white space before a word."""
    starts = sentence_starts(text, breaks, language)
    assert starts == sorted(set(starts))
    assert starts[0] == 0
    assert set(breaks) <= set(starts)
    found = set(starts) - set(breaks) - {0}
    assert all(start < len(text) and text[start] not in " \t" for start in found)


@given(st.lists(st.sampled_from(["Ann left", "Bob stayed", "They met her"]), min_size=1, max_size=8))
def test_plain_sentences_come_back_as_they_went_in(sentences: list[str]) -> None:
    """Sentences of plain words, joined by full stops, are found again one by one."""
    ended = [f"{sentence}." for sentence in sentences]
    assert split(" ".join(ended)) == ended


def test_no_sentence_starts_with_a_line_break() -> None:
    """A full stop at the end of a paragraph starts no sentence of its own, in Chinese either."""
    assert sentence_starts("天很蓝。\n\n山很高。水很清。", [0, 6], "zho") == [0, 6, 10]
