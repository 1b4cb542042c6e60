"""Examples to train on: a question and a passage, with the sentence and the words that answer it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Literal

from tools.train_reader.passage import Passage
from tools.train_reader.split import normalize_title, stable_fraction

from kiwiresearch.reader.reader import Mention, TextToRead

UNKNOWN = -100
PERHAPS = 2
"""The label of a sentence that has the words of the answer, so that it may be the one that answers."""
VALIDATION, ONCE, TWICE = 0, 1, 2
"""How often a group is trained on in an epoch: never if it is for validation, twice if its kind is rare."""
Verdict = Literal["yes", "no", ""]
QUESTIONS = Path(__file__).parent / "labels" / "questions.jsonl"
"""Questions written for this model. Their answers are places in passages, so the file has no text of them."""
JUDGED_QUESTIONS = Path(__file__).parent / "labels" / "judged.jsonl"
"""Questions for which each sentence found by search was judged. It has checksums of sentences, and no text of them."""
MAX_ANSWER_CHARS = 160
MIN_SHARED_WORDS = 0.75
MIN_READ, MAX_READ = 150, 1_200
"""The length of a narrowed passage, in characters."""
WORD = re.compile(r"\w+")
STOP_WORDS = frozenset(
    """
    a an the of in on at to by for with and or is are was were be been it its he his she
    her they their that this which who what when where why how from as
    """.split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Example:
    """A question, its passage, and the right answer."""

    question: str
    passage: Passage
    answers: bool | None
    """Whether the passage answers the question; None if that is unknown."""
    unit: int = -1
    """The number of the sentence that answers; -1 if that is unknown."""
    start: int = -1
    end: int = -1
    """The span of the answer in that sentence; -1 if only the sentence is known."""
    answer: str = ""
    verdict: Verdict = ""
    perhaps: frozenset[int] = frozenset()
    """Other sentences that may be the one that answers."""

    def label(self, unit: int) -> int:
        """The label of a sentence: 1 if it answers, 0 if it does not, or PERHAPS or UNKNOWN."""
        if unit in self.perhaps:
            return PERHAPS
        if self.answers is False:
            return 0
        if self.unit < 0:
            return UNKNOWN
        if unit == self.unit:
            return 1
        return UNKNOWN if self.answer and self.answer.casefold() in self.passage.units[unit].casefold() else 0


@dataclass(frozen=True, slots=True)
class Pronoun:
    """A pronoun in the last sentence of a text, and the names it may mean."""

    text: TextToRead
    at: int
    end: int
    names: tuple[Mention, ...]
    meant: tuple[int, ...] = ()
    """For each name, 1 if it is meant and 0 if not; empty if there is no label."""


def content_words(text: str) -> set[str]:
    return {word for word in WORD.findall(text.casefold()) if word not in STOP_WORDS}


def locate_answer(question: str, answer: str, passage: Passage) -> Example | None:
    """An example with the answer in the sentence that shares most words with the question; None if none has it."""
    answer = answer.strip().strip("\"'").rstrip(".")
    if not answer or len(answer) > MAX_ANSWER_CHARS or answer.casefold() in question.casefold():
        return None
    question_words = content_words(question)
    best: tuple[float, int, int] | None = None
    for number, unit in enumerate(passage.units):
        position = find_whole_words(answer, unit)
        if position >= 0:
            shared = len(question_words & content_words(unit))
            if best is None or shared > best[0]:
                best = (shared, number, position)
    if best is not None:
        return Example(
            question, passage, answers=True, unit=best[1], start=best[2], end=best[2] + len(answer), answer=answer
        )
    answer_words = content_words(answer)
    scored = [
        (len(answer_words & content_words(unit)) / len(answer_words), -number)
        for number, unit in enumerate(passage.units)
        if answer_words
    ]
    if scored and max(scored)[0] >= MIN_SHARED_WORDS:
        return Example(question, passage, answers=True, unit=-max(scored)[1], answer=answer)
    return None


def find_whole_words(answer: str, unit: str) -> int:
    """The position of an answer as whole words; -1 if there is none."""
    found = re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", unit, re.IGNORECASE)
    return found.start() if found else -1


def load_own(file: Path, passages: Sequence[Passage]) -> Iterator[Example]:
    """The examples written for this model; each row has a passage, a sentence and the position of the words."""
    by_id = {passage.id: passage for passage in passages}
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        passage = by_id.get(row["id"])
        if passage is None:
            continue
        if row["unit"] < 0:
            yield Example(row["question"], passage, answers=False)
            continue
        start, end = row["words"]
        answer = passage.units[row["unit"]][start:end] if start >= 0 else ""
        place = {"unit": row["unit"], "start": start, "end": end}
        yield Example(row["question"], passage, answers=True, **place, answer=answer, verdict=row["verdict"])


def narrow(example: Example) -> Example:
    """The example with a shorter passage: the sentence that answers, and about as much around it as a window has."""
    units = example.passage.units
    limit = MIN_READ + stable_fraction(example.question, "narrowed") * (MAX_READ - MIN_READ)
    first, end = example.unit, example.unit + 1
    while first > 0 or end < len(units):
        wider = (max(first - 1, 0), min(end + 1, len(units)))
        if sum(map(len, units[slice(*wider)])) > limit:
            break
        first, end = wider
    passage = replace(example.passage, units=units[first:end])
    return replace(example, passage=passage, unit=example.unit - first)


def move_to(example: Example, passage: Passage) -> Example | None:
    """The same example with another passage; None if that does not have its sentence."""
    sentence = _compact(example.passage.units[example.unit])
    for number, unit in enumerate(passage.units):
        position = find_whole_words(example.answer, unit) if _compact(unit) == sentence else -1
        if position >= 0:
            end = position + len(example.answer)
            return replace(example, passage=passage, unit=number, start=position, end=end)
    return None


def _compact(text: str) -> str:
    return "".join(WORD.findall(text.casefold()))


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """Which sentences answer a question; all others that search finds do not."""

    right: Mapping[str, tuple[int, int]]
    """By checksum of a sentence, the span of the words that answer; (-1, -1) if the whole sentence does."""
    perhaps: frozenset[str]
    verdict: Verdict

    def is_right(self, text: str) -> bool:
        return checksum(text) in self.right

    def example(self, question: str, passage: Passage) -> Example:
        """The example for one passage: the first right sentence is the answer, the others are PERHAPS."""
        checksums = [checksum(unit) for unit in passage.units]
        right_units = [number for number, digest in enumerate(checksums) if digest in self.right]
        perhaps = frozenset(number for number, digest in enumerate(checksums) if digest in self.perhaps)
        if not right_units:
            return Example(question, passage, None if perhaps else False, perhaps=perhaps)
        unit = right_units[0]
        start, end = self.right[checksums[unit]]
        answer = passage.units[unit][start:end] if start >= 0 else ""
        place = {"unit": unit, "start": start, "end": end}
        other_units = perhaps | frozenset(right_units[1:])
        return Example(
            question, passage, answers=True, **place, answer=answer, verdict=self.verdict, perhaps=other_units
        )


def checksum(text: str) -> str:
    """The checksum by which a label names a question or a sentence."""
    return sha256(_compact(text).encode()).hexdigest()[:12]


def load_judged(file: Path) -> dict[str, JudgedQuestion]:
    """The judged questions, by their checksums."""
    judged = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        right = {digest: (start, end) for digest, start, end in row["right"]}
        judged[row["sum"]] = JudgedQuestion(right, frozenset(row["perhaps"]), row["verdict"])
    return judged


def load_squad(file: Path, passages: Sequence[Passage]) -> Iterator[Example]:
    """Examples from questions that people wrote for the training pages of the SQuAD book."""
    by_title: dict[str, list[Passage]] = {}
    for passage in passages:
        if passage.source == "squad":
            by_title.setdefault(normalize_title(passage.title), []).append(passage)
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        examples = [
            example
            for passage in by_title.get(normalize_title(row["path"]), ())
            for answer in row["answers"][:1]
            if (example := locate_answer(row["question"], answer, passage)) is not None and example.start >= 0
        ]
        if examples:
            question_words = content_words(row["question"])
            yield max(examples, key=lambda found: len(question_words & content_words(" ".join(found.passage.units))))


VERDICTS: dict[bool | None, Verdict] = {True: "yes", False: "no"}


def load_boolq(lines: Sequence[str], passages: Sequence[Passage]) -> Iterator[Example]:
    """Examples from yes-or-no questions as people typed them."""
    by_text = {" ".join(passage.units): passage for passage in passages if passage.source == "boolq"}
    for line in lines:
        row = json.loads(line)
        text = " ".join(row["passage"].partition(" -- ")[2].split())
        passage = by_text.get(text)
        if passage is not None:
            yield Example(row["question"], passage, answers=True, verdict=VERDICTS.get(row.get("label"), ""))
