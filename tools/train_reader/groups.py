"""A question with its passage and others that look right: what the second part of training is made of.

Prepared without an accelerator, since that takes longer than the training itself.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from tools.train_reader.base import tokenizer_of
from tools.train_reader.batches import Numbering, Row
from tools.train_reader.examples import Example, content, pronouns, squad, written
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
    parser.add_argument("--most", type=int, default=1_000_000)
    given = parser.parse_args()
    passages = load(given.folder / "passages.jsonl")
    people = list(squad(given.folder / "squad.jsonl", passages))
    by_model = [one for one in written(given.folder / "questions.jsonl", passages) if one.start >= 0]
    asked = sorted([*by_model, *people * PEOPLE], key=lambda one: drawn(one.question, "order"))[: given.most]
    words = (given.folder / "words.txt").read_text(encoding="utf-8").split("\n")
    numbering = Numbering(tokenizer_of(words))
    found = list(groups_of(passages, asked, numbering))
    found += [Group((numbering.row(one),)) for one in list(pronouns(passages))[: given.most // 4]]
    save(found, given.out)
    print(f"{len(found)} groups, {sum(len(one.rows) for one in found)} rows")


if __name__ == "__main__":
    main()
