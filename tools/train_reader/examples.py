"""Examples to train on: a question and a passage, with the sentences and the words that answer it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Literal

from tools.train_reader.passage import Passage
from tools.train_reader.split import drawn, plain

from kiwiresearch.reader.reader import Mention, TextToRead

UNKNOWN = -100
PERHAPS = 2
"""Of a sentence: it has the answer's words, and may be the one that answers."""
JUDGED, ORDINARY, TWICE = 0, 1, 2
"""How often a group is read in an epoch: never, where it judges the training; twice, where its kind is rare."""
Verdict = Literal["yes", "no", ""]
QUESTIONS = Path(__file__).parent / "labels" / "questions.jsonl"
"""Written for this model by reading: places in passages, and no word of them."""
JUDGED_TEXTS = Path(__file__).parent / "labels" / "judged.jsonl"
"""Questions with what search found for them, judged sentence by sentence: sums of sentences, and no word of them."""
MAX_ANSWER_TOKENS = 160
LIKE_ENOUGH = 0.75
MIN_READ, MAX_READ = 150, 1_200
"""Of a passage, in characters."""
WORD = re.compile(r"\w+")
SILENT = frozenset(
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
    """Whether the passage answers the question; None where that is not known."""
    unit: int = -1
    """The sentence that does; -1 where that is not known."""
    start: int = -1
    end: int = -1
    """The words in that sentence; -1 where only the sentence is known."""
    answer: str = ""
    verdict: Verdict = ""
    perhaps: frozenset[int] = frozenset()
    """Other sentences that may be the one that answers."""

    def right(self, unit: int) -> int:
        """Whether a sentence answers: 1, 0, PERHAPS, or UNKNOWN."""
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
    """Of each name, 1 or 0; empty where nobody has said."""


def content(text: str) -> set[str]:
    return {word for word in WORD.findall(text.casefold()) if word not in SILENT}


def located(question: str, answer: str, passage: Passage) -> Example | None:
    """The answer in the sentence that shares most words with the question; None if no sentence has it."""
    answer = answer.strip().strip("\"'").rstrip(".")
    if not answer or len(answer) > MAX_ANSWER_TOKENS or answer.casefold() in question.casefold():
        return None
    asked = content(question)
    best: tuple[float, int, int] | None = None
    for number, unit in enumerate(passage.units):
        at = whole(answer, unit)
        if at >= 0:
            shared = len(asked & content(unit))
            if best is None or shared > best[0]:
                best = (shared, number, at)
    if best is not None:
        return Example(
            question, passage, answers=True, unit=best[1], start=best[2], end=best[2] + len(answer), answer=answer
        )
    wanted = content(answer)
    rows = [(len(wanted & content(unit)) / len(wanted), -number) for number, unit in enumerate(passage.units) if wanted]
    if rows and max(rows)[0] >= LIKE_ENOUGH:
        return Example(question, passage, answers=True, unit=-max(rows)[1], answer=answer)
    return None


def whole(answer: str, unit: str) -> int:
    """The position of an answer as whole words; -1 if there is none."""
    found = re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", unit, re.IGNORECASE)
    return found.start() if found else -1


def ours(file: Path, passages: Sequence[Passage]) -> Iterator[Example]:
    """Examples written for this model: each names its passage, the sentence, and the position of the words."""
    by_id = {one.id: one for one in passages}
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
        at = {"unit": row["unit"], "start": start, "end": end}
        yield Example(row["question"], passage, answers=True, **at, answer=answer, verdict=row["verdict"])


def narrowed(example: Example) -> Example:
    """The sentence that answers, with about as much around it as one window has."""
    units = example.passage.units
    most = MIN_READ + drawn(example.question, "narrowed") * (MAX_READ - MIN_READ)
    first, end = example.unit, example.unit + 1
    while first > 0 or end < len(units):
        wider = (max(first - 1, 0), min(end + 1, len(units)))
        if sum(map(len, units[slice(*wider)])) > most:
            break
        first, end = wider
    passage = replace(example.passage, units=units[first:end])
    return replace(example, passage=passage, unit=example.unit - first)


def found_in(example: Example, passage: Passage) -> Example | None:
    """The same example in another passage; None if that does not have its sentence."""
    own = _compact(example.passage.units[example.unit])
    for number, unit in enumerate(passage.units):
        at = whole(example.answer, unit) if _compact(unit) == own else -1
        if at >= 0:
            end = at + len(example.answer)
            return replace(example, passage=passage, unit=number, start=at, end=end)
    return None


def _compact(text: str) -> str:
    return "".join(WORD.findall(text.casefold()))


@dataclass(frozen=True, slots=True)
class Judged:
    """Which of the sentences that search finds for a question answer it; all others do not."""

    right: Mapping[str, tuple[int, int]]
    """By its sum, a sentence and the words in it that answer; (-1, -1) where the whole sentence does."""
    perhaps: frozenset[str]
    verdict: Verdict

    def is_right(self, text: str) -> bool:
        return sum_of(text) in self.right

    def example(self, question: str, passage: Passage) -> Example:
        """The example for one passage: the first right sentence is the answer, the others are PERHAPS."""
        sums = [sum_of(unit) for unit in passage.units]
        right = [number for number, one in enumerate(sums) if one in self.right]
        perhaps = frozenset(number for number, one in enumerate(sums) if one in self.perhaps)
        if not right:
            return Example(question, passage, None if perhaps else False, perhaps=perhaps)
        unit = right[0]
        start, end = self.right[sums[unit]]
        answer = passage.units[unit][start:end] if start >= 0 else ""
        at = {"unit": unit, "start": start, "end": end}
        others = perhaps | frozenset(right[1:])
        return Example(question, passage, answers=True, **at, answer=answer, verdict=self.verdict, perhaps=others)


def sum_of(text: str) -> str:
    """The checksum by which a label names a question or a sentence."""
    return sha256(_compact(text).encode()).hexdigest()[:12]


def judged(file: Path) -> dict[str, Judged]:
    """The judged questions, by their checksums."""
    found = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        right = {one: (start, end) for one, start, end in row["right"]}
        found[row["sum"]] = Judged(right, frozenset(row["perhaps"]), row["verdict"])
    return found


def squad(file: Path, passages: Sequence[Passage]) -> Iterator[Example]:
    """Questions that people wrote for the training pages of the SQuAD book."""
    by_title: dict[str, list[Passage]] = {}
    for one in passages:
        if one.source == "squad":
            by_title.setdefault(plain(one.title), []).append(one)
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        found = [
            example
            for passage in by_title.get(plain(row["path"]), ())
            for answer in row["answers"][:1]
            if (example := located(row["question"], answer, passage)) is not None and example.start >= 0
        ]
        if found:
            asked = content(row["question"])
            yield max(found, key=lambda one: len(asked & content(" ".join(one.passage.units))))


VERDICTS: dict[bool | None, Verdict] = {True: "yes", False: "no"}


def boolq(lines: Sequence[str], passages: Sequence[Passage]) -> Iterator[Example]:
    """Yes-no questions, as people typed them."""
    by_text = {" ".join(one.units): one for one in passages if one.source == "boolq"}
    for line in lines:
        row = json.loads(line)
        text = " ".join(row["passage"].partition(" -- ")[2].split())
        passage = by_text.get(text)
        if passage is not None:
            yield Example(row["question"], passage, answers=True, verdict=VERDICTS.get(row.get("label"), ""))
