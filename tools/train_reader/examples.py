"""Examples to train on: a question and a passage, with the sentences and the words that answer it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tools.train_reader.passage import Passage
from tools.train_reader.split import plain

from kiwiresearch.reader.form import Mention, Text

UNKNOWN = -100
PERHAPS = 2
"""Of a sentence: it has the answer's words, and may be the one that answers."""
ORDINARY, BY_PEOPLE = 1, 2
"""How much a group counts: what people wrote counts more than what a language model wrote."""
Verdict = Literal["yes", "no", ""]
QUESTIONS = Path(__file__).parent / "labels" / "questions.jsonl"
"""Written for this model by reading: places in passages, and no word of them."""
MOST_ANSWER = 160
LIKE_ENOUGH = 0.75
WORD = re.compile(r"\w+")
SILENT = frozenset(
    """
    a an the of in on at to by for with and or is are was were be been it its he his she
    her they their that this which who what when where why how from as
    """.split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Example:
    """What is asked of which passage, and what is right."""

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

    text: Text
    at: int
    end: int
    names: tuple[Mention, ...]
    meant: tuple[int, ...] = ()
    """Of each name, 1 or 0; empty where nobody has said."""


def content(text: str) -> set[str]:
    return {word for word in WORD.findall(text.casefold()) if word not in SILENT}


def located(question: str, answer: str, passage: Passage) -> Example | None:
    """The answer in the sentence that shares most words with the question; None where it is not there."""
    answer = answer.strip().strip("\"'").rstrip(".")
    if not answer or len(answer) > MOST_ANSWER or answer.casefold() in question.casefold():
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
    """Where an answer stands as whole words; -1 where it does not."""
    found = re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", unit, re.IGNORECASE)
    return found.start() if found else -1


def written(file: Path, passages: Sequence[Passage]) -> Iterator[Example]:
    """What a language model wrote, where the passage bears it out."""
    by_id = {one.id: one for one in passages}
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        for question, answer in row["pairs"]:
            found = located(question, answer, by_id[row["id"]]) if row["id"] in by_id else None
            if found is not None:
                yield found


def ours(file: Path, passages: Sequence[Passage]) -> Iterator[Example]:
    """What was written for this model, by reading: each names its passage, the sentence, and where the words stand."""
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


def squad(file: Path, passages: Sequence[Passage]) -> Iterator[Example]:
    """What people wrote for the training pages of the SQuAD book."""
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
    """Questions for yes or no, as people typed them."""
    by_text = {" ".join(one.units): one for one in passages if one.source == "boolq"}
    for line in lines:
        row = json.loads(line)
        text = " ".join(row["passage"].partition(" -- ")[2].split())
        passage = by_text.get(text)
        if passage is not None:
            yield Example(row["question"], passage, answers=True, verdict=VERDICTS.get(row.get("label"), ""))
