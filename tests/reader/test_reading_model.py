"""The reading model that ships with the program."""

from __future__ import annotations

import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kiwiresearch.errors import ReaderUnavailable
from kiwiresearch.reader.reader import (
    MAX_TOKENS,
    SCORE_STEP,
    TITLE_UNIT,
    InputEncoder,
    Mention,
    Reader,
    TextToRead,
    shared_reader,
    tokenizer_of,
)

pytest.importorskip("onnxruntime", reason="the extra 'reader' is not installed")

HARBOUR = TextToRead(
    "Port Lomond",
    "History",
    (
        "Port Lomond is a fishing town on the west coast.",
        "Its harbour was laid out by the engineer Ada Merriweather in 1874.",
        "Today some four thousand people live there, most of them from tourism.",
    ),
)


@pytest.fixture(scope="module")
def reader() -> Reader:
    return shared_reader()


@pytest.mark.parametrize(
    ("question", "sentence", "words"),
    [
        ("Who designed the port of Port Lomond?", 1, "Ada Merriweather"),
        ("when was the harbour of port lomond built", 1, "1874"),
        ("How many inhabitants has Port Lomond?", 2, "four thousand"),
    ],
)
def test_the_sentence_and_the_words_that_answer(reader: Reader, question: str, sentence: int, words: str) -> None:
    """A question in other words than the text's still finds the sentence and the words in it."""
    (read,) = reader.read(question, [HARBOUR])
    best = max(range(3), key=lambda number: read.units[number].relevance)
    unit = read.units[best]
    assert best == sentence
    assert words in HARBOUR.units[best][unit.start : unit.end]


def test_a_text_about_something_else_does_not_answer(reader: Reader) -> None:
    """The passage that answers is distinguished from one that does not."""
    other = TextToRead("Copper", "Uses", ("Copper conducts heat and electricity well.", "Wires are made of it."))
    right, wrong = reader.read("Who designed the harbour of Port Lomond?", [HARBOUR, other])
    assert right.answers > wrong.answers
    assert max(unit.relevance for unit in wrong.units) < max(unit.relevance for unit in right.units)


def test_a_text_is_read_alike_whatever_is_read_beside_it(reader: Reader) -> None:
    """Same input, same scores: alone, among others, with more threads; in steps that rounding cannot cross easily."""
    question = "Who designed the harbour?"
    (alone,) = reader.read(question, [HARBOUR])
    beside = reader.read(question, [TextToRead("Copper", "", ("Copper is a metal.",)), HARBOUR])[1]
    (threaded,) = Reader(threads=2).read(question, [HARBOUR])
    assert alone == beside == threaded
    scores = [alone.answers, alone.yes, *(unit.relevance for unit in alone.units)]
    assert all(abs(score / SCORE_STEP - round(score / SCORE_STEP)) < 1e-6 for score in scores)


def test_a_long_text_is_read_to_its_end(reader: Reader) -> None:
    """What does not fit at once is read in windows, and every sentence gets its score."""
    filler = tuple(
        f"The committee met for the {number}th time and adjourned without a decision." for number in range(60)
    )
    text = TextToRead("Port Lomond", "Council", (*filler, "The lighthouse was painted red by Jonas Carling in 1911."))
    (read,) = reader.read("Who painted the lighthouse?", [text])
    assert len(read.units) == 61
    assert max(range(61), key=lambda number: read.units[number].relevance) == 60


@pytest.mark.parametrize("unit", ["", " ", "\x00\ufffd", "a" * 50_000, "語" * 900, "[SEP] [CLS] [unused0]", "\t:\n"])
def test_no_text_breaks_it(reader: Reader, unit: str) -> None:
    """Whatever is on a page, reading ends with a finite score."""
    (read,) = reader.read(unit or "?", [TextToRead(unit, unit, (unit, "A sentence."))])
    assert len(read.units) == 2
    assert all(np.isfinite(one.relevance) for one in read.units)
    assert all(0 <= one.start <= one.end <= max(len(unit), 11) for one in read.units)


def test_no_units_no_scores(reader: Reader) -> None:
    """A text without sentences answers nothing."""
    (read,) = reader.read("Who?", [TextToRead("Empty", "", ())])
    assert read.units == ()
    assert read.answers < 0


def test_vectors_of_like_sentences_are_near(reader: Reader) -> None:
    """Sentences that say the same are nearer than others, and every vector has length one."""
    texts = ["The king died in 1603.", "In 1603 the monarch passed away.", "Copper is mined in Chile."]
    rows = reader.vectors(texts)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert rows[0] @ rows[1] > rows[0] @ rows[2] + 0.2


def test_windows_are_no_longer_than_the_model_reads() -> None:
    """No window is too long, none is empty, and together they have every unit."""
    words = (files("kiwiresearch.reader") / "data" / "words.txt").read_text(encoding="utf-8").split("\n")
    text = TextToRead("A title " * 40, "A heading " * 40, tuple("word " * size for size in (3, 500, 1, 90, 200, 7, 2)))
    windows = list(InputEncoder(tokenizer_of(words)).windows("why " * 90, text))
    assert all(len(window.ids) <= MAX_TOKENS and window.units for window in windows)
    assert {placed.number for window in windows for placed in window.units} == set(range(7))


def test_a_damaged_model_is_refused(tmp_path: Path) -> None:
    """One changed byte is noticed before anything is read with it, and the error has a remedy."""
    with_data = tmp_path / "data"
    shutil.copytree(str(files("kiwiresearch.reader") / "data"), with_data)
    content = bytearray((with_data / "reader.onnx").read_bytes())
    content[len(content) // 2] ^= 1
    (with_data / "reader.onnx").write_bytes(bytes(content))
    with pytest.raises(ReaderUnavailable, match="damaged") as raised:
        Reader(with_data)
    assert "Reinstall kiwiresearch" in raised.value.remedy


def test_without_its_runtime_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where onnxruntime is missing, the error names it and the command that installs it."""
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ReaderUnavailable, match="onnxruntime") as raised:
        Reader()
    assert "kiwiresearch[reader]" in raised.value.remedy


def test_it_is_small(reader: Reader) -> None:
    """Everything that ships with it is at most 24 MB, and its name says which weights they are."""
    folder = Path(str(files("kiwiresearch.reader") / "data"))
    assert sum(file.stat().st_size for file in folder.iterdir()) <= 24_000_000
    assert reader.id.startswith("kiwiresearch-reader-")


ROYALS = TextToRead(
    "Anna of Varn",
    "Life",
    (
        "Anna was born in Varn in 1701.",
        "Her brother Peter became king in 1720.",
        "In 1722 he married Sophia, a cousin.",
    ),
)
PETER, ANNA = Mention(1, 12, 17), Mention(0, 0, 4)


def test_the_names_that_a_pronoun_may_mean(reader: Reader) -> None:
    """Each name before a pronoun has its share, and so has none of them; their order changes nothing."""
    one, other = reader.referents(ROYALS, 8, 10, [ANNA, PETER])
    assert 0 < one < other
    assert one + other <= 1.0
    assert reader.referents(ROYALS, 8, 10, [PETER, ANNA]) == pytest.approx([other, one])


def test_a_pronoun_may_mean_the_title(reader: Reader) -> None:
    """If no sentence names the one that a page is about, its title does."""
    text = TextToRead("Anna of Varn", "Life", ("At the age of nine, she learnt Latin from Peter the monk.",))
    title, peter = reader.referents(text, 20, 23, [Mention(TITLE_UNIT, 0, 12), Mention(0, 42, 47)])
    assert title > 0.5 > peter


def test_a_pronoun_without_names_before_it_means_none_of_them(reader: Reader) -> None:
    """No names, no shares; a name that is not in the text is out of the question."""
    assert reader.referents(ROYALS, 8, 10, []) == []
    assert reader.referents(ROYALS, 8, 10, [Mention(7, 0, 3)]) == [0.0]


def test_long_texts_before_a_pronoun_are_cut(reader: Reader) -> None:
    """What does not fit is left out from the first sentence on, so that the nearest names are read."""
    filler = tuple(f"Sentence {number} tells of nothing at all, in many words that take room." for number in range(60))
    text = TextToRead("Anna of Varn", "", (*filler, *ROYALS.units))
    names = [Mention(60, 0, 4), Mention(61, 12, 17), Mention(0, 0, 8)]
    shares = reader.referents(text, 8, 10, names)
    assert shares[2] == 0.0
    assert shares[1] > 0


class CountingSession:
    """Counts how many runs are under way at once."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self.running = self.most = 0

    def run(self, wanted: list[str], given: dict[str, Any]) -> Any:
        self.running += 1
        self.most = max(self.most, self.running)
        time.sleep(0.01)
        made = self._session.run(wanted, given)
        self.running -= 1
        return made


def test_threads_take_turns() -> None:
    """Fifty questions at once neither multiply the memory of the model nor starve each other."""
    reader = Reader()
    counting = CountingSession(reader._session)
    reader._session = counting
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: reader.read("Who laid out the harbour?", [HARBOUR]), range(8)))
    assert counting.most == 1
