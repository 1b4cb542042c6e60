"""Examples to train on: a question and a passage, with the sentences and the words that answer it.

One form serves all tasks, and the product uses it too (`kiwiresearch.reader.form`):

    [CLS] question [SEP] title [T] heading [S] first sentence [S] second sentence … [SEP]

A pronoun is asked for like anything else: the question is the pronoun, which is marked with [P] in the text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tools.train_reader.passage import Passage
from tools.train_reader.split import drawn, plain

Verdict = Literal["yes", "no", ""]
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
    answers: bool
    """Whether the passage answers the question."""
    unit: int = -1
    """The sentence that does; -1 where that is not known."""
    start: int = -1
    end: int = -1
    """The words in that sentence; -1 where only the sentence is known."""
    answer: str = ""
    verdict: Verdict = ""
    is_pronoun: bool = False


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


NAME = re.compile(r"\b[A-Z][a-zà-ž]+(?:[ -](?:(?:of|de|von|van|the|la)\s)?[A-Z][a-zà-ž]+)*")
PRONOUNS = {
    "he": re.compile(r"\b(?:he|him|his)\b", re.IGNORECASE),
    "she": re.compile(r"\b(?:she|her|hers)\b", re.IGNORECASE),
}
FORMS = {"he": ("he", "him", "his"), "she": ("she", "her", "her"), "it": ("it", "it", "its")}
PLACED = re.compile(r"\b(?:in|at|of|from|to|near|the|into)\s$", re.IGNORECASE)
ACTING = re.compile(r"^\s(?:was|is|had|has|did|would|could|became|[a-z]+ed)\b")
STANDING = re.compile(r"^(?:['’]s\s|[,.;:)]|\s(?:and|in|to|for|with|on|at|by|from|as|during|when|after|before)\b|$)")
"""What may follow a name that a pronoun can stand for: not a noun that the name belongs to."""
PLURAL = re.compile(r"^\s(?:are|were|have)\b")
NAMES_BEFORE = 2
SHORTEST_NAME = 4


def pronouns(passages: Sequence[Passage]) -> Iterator[Example]:
    """A name that is repeated, with a pronoun in its place: the name before it is what the pronoun means."""
    for passage in passages:
        if passage.kind == "text":
            found = _repeated(passage)
            if found is not None:
                yield found


def _repeated(passage: Passage) -> Example | None:
    text = " ".join(passage.units)
    persons = [word for word, pattern in PRONOUNS.items() if pattern.search(text)]
    if len(persons) > 1:
        return None
    word = persons[0] if persons else "it"
    ways = []
    for number in range(1, len(passage.units)):
        unit = passage.units[number]
        before = [name for one in passage.units[:number] for name in NAME.findall(one)]
        if len(set(before)) < NAMES_BEFORE:
            continue
        for found in NAME.finditer(unit):
            name = found[0]
            rest = unit[found.end() :]
            fits = ACTING.match(rest) or STANDING.match(rest)
            if len(name) < SHORTEST_NAME or name not in before or not fits or PLURAL.match(rest):
                continue
            if word != "it" and PLACED.search(unit[: found.start()]):
                continue
            ways.append((drawn(f"{passage.id}:{number}:{found.start()}", "pronoun"), number, found.start(), name))
    if not ways:
        return None
    _, number, at, name = min(ways)
    return _with_pronoun(passage, number, at, name, word)


def _with_pronoun(passage: Passage, number: int, at: int, name: str, word: str) -> Example | None:
    unit = passage.units[number]
    rest = unit[at + len(name) :]
    subject, other, owning = FORMS[word]
    if rest.startswith(("'s ", "’s ")):
        form, rest = owning, rest[2:]
    else:
        form = subject if at == 0 or ACTING.match(rest) else other
    form = form.capitalize() if at == 0 else form
    # The nearest mention before it, in the sentences that are kept.
    first = max(0, number - 4)
    for place in range(number - 1, first - 1, -1):
        start = passage.units[place].rfind(name)
        if start >= 0:
            units = (*passage.units[first:number], f"{unit[:at]}[P] {form}{rest}")
            kept = Passage(passage.source, passage.title, passage.heading, units)
            return Example(
                form.lower(),
                kept,
                answers=True,
                unit=place - first,
                start=start,
                end=start + len(name),
                answer=name,
                is_pronoun=True,
            )
    return None
