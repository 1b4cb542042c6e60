"""A question with its passage and others that look right: what the second part of training is made of.

Prepared without an accelerator, since that takes longer than the training itself.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from tools.train_reader.base import tokenizer_of
from tools.train_reader.batches import PERHAPS, UNKNOWN, Numbering, Row
from tools.train_reader.examples import Example, content, located, pronouns, squad, whole, written
from tools.train_reader.passage import Passage, load
from tools.train_reader.split import drawn

from kiwiresearch.embed.static import StaticEmbedder

SAME_PAGE, OTHER_PAGES = 2, 1
NEAREST = 12
PEOPLE = 3
"""What people wrote counts so many times as much as what a language model wrote."""

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Group:
    """Examples of one question; the first holds the answer."""

    rows: tuple[Row, ...]


def groups_of(passages: Sequence[Passage], examples: Sequence[Example], numbering: Numbering) -> Iterator[Group]:
    """Passages of the same page first, then the nearest of other pages; none that holds the answer's words."""
    embedder = StaticEmbedder()
    places = embedder.embed([f"{one.title}. {' '.join(one.units)[:700]}" for one in passages])
    questions = embedder.embed([one.question for one in examples])
    by_title: dict[str, list[int]] = {}
    for number, one in enumerate(passages):
        by_title.setdefault(one.title, []).append(number)
    for start in range(0, len(examples), 1024):
        near = np.argsort(-(questions[start : start + 1024] @ places.T), axis=1)[:, :NEAREST]
        for at, example in enumerate(examples[start : start + 1024]):
            own = by_title[example.passage.title]
            like = questions[start + at] @ places[own].T
            same = [own[place] for place in np.argsort(-like)]
            chosen = _wrong(example, [passages[one] for one in same])[:SAME_PAGE]
            if content(example.question) & content(example.passage.title):
                others = [passages[one] for one in near[at] if passages[one].title != example.passage.title]
                chosen += _wrong(example, others)[: OTHER_PAGES + SAME_PAGE - len(chosen)]
            wrong = [replace(example, passage=one, answers=False, unit=-1, start=-1, end=-1) for one in chosen]
            yield Group(tuple(numbering.row(one) for one in (example, *wrong)))


def _wrong(example: Example, passages: Sequence[Passage]) -> list[Passage]:
    answer = example.answer.casefold()
    return [one for one in passages if one.id != example.passage.id and answer not in " ".join(one.units).casefold()]


ROWS = 6
ABSENT_ROWS = 3
LEAST_SHARED = 2
ABSENT_SHARE = 0.15
HELD_BACK = 0.15
"""Of what people asked, the share that never trains: how sure an answer is, is fitted on it."""


def is_held_back(question: str) -> bool:
    return drawn(question, "held back") < HELD_BACK


def people_groups(file: Path, numbering: Numbering) -> Iterator[Group]:
    """Questions that people asked, with the passages that search found; some of those that nothing answers."""
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if is_held_back(row["question"]):
            continue
        passages = [Passage(**{**one, "units": tuple(one["units"])}) for one in row["passages"]]
        found = [_best(row["question"], row["answers"], one) for one in passages]
        right = [one for one in found if one is not None]
        if right:
            asked = content(row["question"])
            shared = [len(asked & content(f"{one.passage.title} {one.passage.units[one.unit]}")) for one in right]
            if max(shared) < LEAST_SHARED:
                continue
            best = right[shared.index(max(shared))]
            rows = [
                _row(one or _none(row["question"], passage), best, row["answers"], numbering)
                for one, passage in zip(found, passages, strict=True)
            ]
            first = found.index(best)
            yield Group((rows[first], *[one for at, one in enumerate(rows) if at != first][: ROWS - 1]))
        elif drawn(row["question"], "absent") < ABSENT_SHARE:
            yield Group(tuple(numbering.row(_none(row["question"], one)) for one in passages[:ABSENT_ROWS]))


def _best(question: str, answers: Sequence[str], passage: Passage) -> Example | None:
    found = [one for answer in answers if (one := located(question, answer, passage)) is not None and one.start >= 0]
    asked = content(question)
    return max(
        found, key=lambda one: (len(asked & content(passage.units[one.unit])), one.end - one.start), default=None
    )


def _none(question: str, passage: Passage) -> Example:
    return Example(question, passage, answers=False)


def _row(example: Example, best: Example, answers: Sequence[str], numbering: Numbering) -> Row:
    """Only the best sentence is called right; others with an answer's words may be, and compete beside it."""
    row = numbering.row(example)
    if not example.answers:
        return row
    first = example.unit - row.right.index(1) if 1 in row.right else 0
    right = []
    for at, value in enumerate(row.right):
        unit = example.passage.units[first + at]
        holds = value == 1 or any(whole(answer, unit) >= 0 for answer in answers)
        right.append(1 if value == 1 and example is best else PERHAPS if holds else value)
    return replace(row, right=right, answers=1 if example is best else UNKNOWN)


def save(groups: Sequence[Group], file: Path) -> None:
    """All rows one after another, with their lengths, and how many rows a group has."""
    rows = [row for group in groups for row in group.rows]

    def flat(values: Sequence[Sequence[int]], kind: str) -> Array:
        return np.array([one for row in values for one in row], kind)

    np.savez(
        file,
        sizes=np.array([len(group.rows) for group in groups], "i2"),
        lengths=np.array([len(row.ids) for row in rows], "i2"),
        ids=flat([row.ids for row in rows], "u2"),
        asked=np.array([row.kinds.count(0) for row in rows], "i2"),
        counts=np.array([len(row.marks) for row in rows], "i2"),
        marks=flat([row.marks for row in rows], "i2"),
        right=flat([row.right for row in rows], "i2"),
        told=np.array([(row.start, row.end, row.answers, row.verdict) for row in rows], "i2"),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("folder", type=Path, help="passages, questions and words")
    parser.add_argument("out", type=Path)
    parser.add_argument("--most", type=int, default=1_000_000, help="of the questions on passages")
    parser.add_argument("--people", type=Path, help="what people made")
    given = parser.parse_args()
    passages = load(given.folder / "passages.jsonl")
    people = list(squad(given.folder / "squad.jsonl", passages))
    by_model = [one for one in written(given.folder / "questions.jsonl", passages) if one.start >= 0]
    asked = sorted([*by_model, *people * PEOPLE], key=lambda one: drawn(one.question, "order"))[: given.most]
    words = (given.folder / "words.txt").read_text(encoding="utf-8").split("\n")
    numbering = Numbering(tokenizer_of(words))
    found = list(groups_of(passages, asked, numbering))
    found += [Group((numbering.row(one),)) for one in list(pronouns(passages))[: given.most // 4]]
    if given.people:
        found += people_groups(given.people, numbering)
    save(found, given.out)
    print(f"{len(found)} groups, {sum(len(one.rows) for one in found)} rows")


if __name__ == "__main__":
    main()
