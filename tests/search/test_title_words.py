"""Typos in words of titles: what may be meant, and that the search for it is bounded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import OSA
from tests.zim.memory import MemoryArchive

from kiwiresearch.search.title_index_builder import build_titles
from kiwiresearch.search.titles import MAX_PER_LENGTH, Correction, TitleIndex, one_edit_variants, open_titles
from kiwiresearch.zim.libzim import LibzimArchive

WORDS = (
    "Albert", "Albert Einstein", "Alberta", "Alert", "Einstein", "Mississippi", "Schwarzenegger", "Washington",
    "Gandhi", "Paris", "Parts", "Москва", "Αθήνα", "1984", "1985", "Iowa", "東京都庁前",
)  # fmt: skip


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TitleIndex]:
    archive = MemoryArchive({word.replace(" ", "_"): "" for word in WORDS})
    file = tmp_path_factory.mktemp("words") / "titles.sqlite"
    build_titles(archive, file)
    opened = open_titles(file, archive.book)
    assert opened
    yield opened
    opened.close()


def one_letter_moved(word: str, other: str) -> bool:
    """Whether the words are alike once one letter is taken out of both."""
    without = {(word[:at] + word[at + 1 :], word[at]) for at in range(len(word))}
    return any((other[:at] + other[at + 1 :], other[at]) in without for at in range(len(other)))


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("Albrt", [Correction("albert", 1, 2), Correction("alert", 1, 1)]),
        ("Einstien", [Correction("einstein", 1, 2)]),
        ("Pairs", [Correction("paris", 1, 1)]),
        ("Paros", [Correction("paris", 1, 1), Correction("parts", 1, 1)]),
        ("Iwoa", [Correction("iowa", 1, 1)]),
        ("Missisipi", [Correction("mississippi", 2, 1)]),
        ("Shwarzeneger", [Correction("schwarzenegger", 2, 1)]),
        ("Wasinghton", [Correction("washington", 1, 1)]),
        ("Ghandi", [Correction("gandhi", 1, 1)]),
        ("Масква", [Correction("москва", 1, 1)]),
        ("Αθίνα", [Correction("αθηνα", 1, 1)]),
        ("Albert", [Correction("alberta", 1, 1), Correction("alert", 1, 1)]),
        ("Prs", []),
        ("Parxx", []),
        ("1986", []),
        ("東京都庁", []),
        ("two words", []),
        ("", []),
        ("x" * 300, []),
    ],
)
def test_mistyped_words(index: TitleIndex, typed: str, meant: list[Correction]) -> None:
    """One typo in words of four letters and more, two from six on; never in figures, never the word itself."""
    assert list(index.correct(typed)) == meant
    assert list(index.correct(typed, 1)) == meant[:1]
    assert index.correct(typed, 0) == ()


@given(st.text(alphabet="abcxyz", min_size=1, max_size=7), st.text(alphabet="abcxyz", min_size=1, max_size=7))
def test_variants_are_all_spellings_at_distance_one(word: str, other: str) -> None:
    """What is written down is what a distance of one means, or one letter moved, no more and no less."""
    written = set(one_edit_variants(word))
    assert all(OSA.distance(word, typo) <= 1 or one_letter_moved(word, typo) for typo in written)
    assert (other in written) >= (OSA.distance(word, other) == 1)


@given(st.text(alphabet="abcxyz", min_size=2, max_size=7), st.data())
def test_a_letter_may_have_gone_anywhere(word: str, data: st.DataObject) -> None:
    """A letter typed too early or too late is one typo, however far it went."""
    taken, put = data.draw(st.integers(0, len(word) - 1)), data.draw(st.integers(0, len(word) - 1))
    rest = word[:taken] + word[taken + 1 :]
    assert rest[:put] + word[taken] + rest[put:] in set(one_edit_variants(word))


def test_crowded_beginnings_are_looked_at_in_part(tmp_path: Path) -> None:
    """Of many words that begin alike only the commonest are looked at, and a commoner one is among them."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    crowd = [f"con{a}{b}q" for a in letters for b in letters]
    assert len(crowd) > MAX_PER_LENGTH
    archive = MemoryArchive(dict.fromkeys((*crowd, "conzzq_river", "conzzq_bridge"), ""))
    build_titles(archive, tmp_path / "titles.sqlite")
    index = open_titles(tmp_path / "titles.sqlite", archive.book)
    assert index
    asked: list[str] = []
    index._connection.set_trace_callback(asked.append)
    assert Correction("conzzq", 2, 3) in index.correct("conüüq", 1_000)
    assert sum(f"LIMIT {MAX_PER_LENGTH}" in sql for sql in asked) == 10
    index.close()


def test_mistakes_in_a_real_book_are_corrected(shared_data: Path, tmp_path: Path) -> None:
    """Of real words with two letters swapped, nearly all are corrected."""
    archive = LibzimArchive(shared_data / "zims" / "schools-2007.zim")
    build_titles(archive, tmp_path / "titles.sqlite")
    index = open_titles(tmp_path / "titles.sqlite", archive.book)
    assert index
    rows = index._connection.execute("SELECT word FROM words WHERE length(word) > 6 ORDER BY word").fetchall()
    right = [word for (word,) in rows[::20] if word.isalpha() and word[3] != word[4]]
    typed = {word: word[:3] + word[4] + word[3] + word[5:] for word in right}
    mended = [word for word, typo in typed.items() if word in {hit.word for hit in index.correct(typo)}]
    assert len(mended) >= 0.99 * len(typed) > 50
    index.close()
    archive.close()
