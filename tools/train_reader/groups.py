"""The training data as numbers: groups of a question and the passages that compete to answer it.

They are prepared without an accelerator, since that takes longer than the training itself. The same groups are written
twice, in the teacher's tokens and in the network's, so that the network can learn from the teacher's scores.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer
from tools.train_reader.batches import Numbering, Row
from tools.train_reader.examples import (
    JUDGED,
    JUDGED_TEXTS,
    ORDINARY,
    QUESTIONS,
    TWICE,
    Example,
    Judged,
    Pronoun,
    boolq,
    content,
    found_in,
    judged,
    located,
    narrowed,
    ours,
    squad,
    sum_of,
    whole,
)
from tools.train_reader.passage import Passage, load
from tools.train_reader.pronouns import read_pronouns
from tools.train_reader.split import drawn
from tools.train_reader.teacher import MARKS

from kiwiresearch.reader.reader import InputEncoder, tokenizer_of

ROWS = 7
MIN_SHARED = 2
HELD_BACK = 0.15
"""Of what people asked, the share that never trains: how sure an answer is, is fitted on it."""
JUDGED_SHARE = 0.04
"""Of the pages that questions were written for, the share whose questions and pronouns judge the training."""
MAX_OF_TEACHER = 560
AT_ONCE = 512

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Group:
    """Examples of one question, or one pronoun."""

    examples: tuple[Example, ...] = ()
    pronoun: Pronoun | None = None
    weight: int = ORDINARY


def is_held_back(question: str) -> bool:
    return drawn(question, "held back") < HELD_BACK


def is_judged(passage: Passage) -> bool:
    return drawn(passage.title, "judged") < JUDGED_SHARE


def searched(file: Path, known: Mapping[str, Example], by_sum: Mapping[str, Judged]) -> Iterator[Group]:
    """Questions with the passages that the product's own search found for them.

    Some were judged. If the passage with the answer is known, it is included. Otherwise a passage is right if it has
    the words of the answer; if none has them, there is no label, and only the teacher's score is used.
    """
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        question = row["question"]
        passages = [Passage(**{**one, "units": tuple(one["units"])}) for one in row["passages"]]
        if question in known:
            yield _known(known[question], passages)
        elif is_held_back(question):
            continue
        elif (judgement := by_sum.get(sum_of(question))) is not None:
            rows = [judgement.example(question, one) for one in passages]
            rows.sort(key=lambda one: one.answers is not True)
            yield Group(tuple(rows[:ROWS]), weight=TWICE)
        else:
            yield _by_words(question, row["answers"], passages)


def _known(example: Example, passages: Sequence[Passage]) -> Group:
    rows: list[Example] = []
    for passage in passages:
        same = found_in(example, passage)
        holding = not example.answer or _having([example.answer], passage)
        rows.append(same or Example(example.question, passage, None if holding else False))
    right = [one for one in rows if one.unit >= 0] or [narrowed(example)]
    others = [one for one in rows if one.unit < 0]
    return Group((right[0], *others[: ROWS - 1]), weight=_weight(example.passage))


def _weight(passage: Passage) -> int:
    if is_judged(passage):
        return JUDGED
    return TWICE if passage.source == "squad" else ORDINARY


def _by_words(question: str, answers: Sequence[str], passages: Sequence[Passage]) -> Group:
    found = [_best(question, answers, one) for one in passages]
    asked = content(question)
    shared = [
        len(asked & content(f"{one.passage.title} {one.passage.units[one.unit]}")) if one else -1 for one in found
    ]
    if max(shared) < MIN_SHARED:
        return Group(tuple(Example(question, one, None) for one in passages[:ROWS]))
    first = shared.index(max(shared))
    rows = []
    for at, passage in enumerate(passages):
        holding = _having(answers, passage)
        one = found[at] if at == first else None
        example = one or Example(question, passage, None if holding else False)
        rows.append(replace(example, perhaps=holding - {example.unit}))
    return Group((rows[first], *[one for at, one in enumerate(rows) if at != first][: ROWS - 1]), weight=TWICE)


def _best(question: str, answers: Sequence[str], passage: Passage) -> Example | None:
    found = [one for answer in answers if (one := located(question, answer, passage)) is not None and one.start >= 0]
    asked = content(question)
    return max(
        found, key=lambda one: (len(asked & content(passage.units[one.unit])), one.end - one.start), default=None
    )


def _having(answers: Sequence[str], passage: Passage) -> frozenset[int]:
    return frozenset(
        number for number, unit in enumerate(passage.units) if any(whole(answer, unit) >= 0 for answer in answers)
    )


def _of_pronoun(one: Pronoun) -> Group:
    weight = _weight(Passage("schools", one.text.title, "", ()))
    return Group(pronoun=one, weight=TWICE if weight and one.meant else weight)


def numbered(
    groups: Iterable[Group], ours: InputEncoder, theirs: InputEncoder
) -> Iterator[tuple[int, list[Row], list[Row]]]:
    """Each group's weight, its rows for the network, and the same for the teacher."""
    mine, other = Numbering(ours), Numbering(theirs)
    for group in groups:
        if group.pronoun is not None:
            one = mine.readable(group.pronoun)
            rows = [(mine.pronoun(one), other.pronoun(one))] if one.names else []
        else:
            read = [(mine.row(example), example) for example in group.examples]
            rows = [(row, other.same(example, row.units)) for row, example in read]
        rows = [(row, same) for row, same in rows if len(same.ids) <= MAX_OF_TEACHER]
        if rows:
            yield group.weight, [row for row, _ in rows], [same for _, same in rows]


@cache
def _forms(folder: Path) -> tuple[InputEncoder, InputEncoder]:
    words = (folder / "words.txt").read_text(encoding="utf-8").split("\n")
    teacher = Tokenizer.from_file(str(folder / "teacher_tokenizer.json"))
    return InputEncoder(tokenizer_of(words)), InputEncoder(teacher, MARKS, max_tokens=4 * MAX_OF_TEACHER)


def _numbered(folder: Path, groups: Sequence[Group]) -> list[tuple[int, list[Row], list[Row]]]:
    return list(numbered(groups, *_forms(folder)))


def save(groups: Sequence[tuple[int, list[Row]]], file: Path) -> None:
    """All rows one after another, with their lengths, and how many rows a group has."""
    rows = [row for _, group in groups for row in group]

    def flat(values: Iterable[Sequence[int]], kind: str) -> Array:
        return np.array([one for row in values for one in row], kind)

    np.savez_compressed(
        file,
        weights=np.array([weight for weight, _ in groups], "i1"),
        sizes=np.array([len(group) for _, group in groups], "i2"),
        lengths=np.array([len(row.ids) for row in rows], "i2"),
        ids=flat((row.ids for row in rows), "i4"),
        asked=np.array([row.asked for row in rows], "i2"),
        counts=np.array([len(row.marks) for row in rows], "i2"),
        marks=flat((row.marks for row in rows), "i2"),
        right=flat((row.right for row in rows), "i2"),
        told=np.array([(row.start, row.end, row.answers, row.verdict) for row in rows], "i2"),
        name_counts=np.array([len(row.names) for row in rows], "i2"),
        names=np.array([place for row in rows for place in row.names], "i2").reshape(-1, 2),
        meant=flat((row.meant for row in rows), "i2"),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("folder", type=Path, help="what the steps before have made")
    parser.add_argument("--most", type=int, default=1_000_000, help="of each kind, to rehearse")
    given = parser.parse_args()
    folder, most = given.folder, given.most
    passages = load(folder / "passages.jsonl")
    lines = (folder / "boolq.jsonl").read_text(encoding="utf-8").splitlines()
    by_us, by_people = list(ours(QUESTIONS, passages))[:most], list(squad(folder / "squad.jsonl", passages))[:most]
    known = {one.question: one for one in (*by_us, *by_people) if one.answers and one.answer}
    found = list(searched(folder / "searched.jsonl", known, judged(JUDGED_TEXTS)))[: 3 * most]
    done = {group.examples[0].question for group in found}
    found += (
        Group((narrowed(one),), weight=_weight(one.passage)) for one in known.values() if one.question not in done
    )
    found += (Group((one,), weight=_weight(one.passage)) for one in by_us if one.question not in known)
    found += (Group((one,)) for one in list(boolq(lines, passages))[:most])
    found += map(_of_pronoun, list(read_pronouns(folder / "pronouns.jsonl"))[:most])
    parts = [found[start : start + AT_ONCE] for start in range(0, len(found), AT_ONCE)]
    with ProcessPoolExecutor() as pool:
        made = [one for some in pool.map(_numbered, [folder] * len(parts), parts) for one in some]
    save([(weight, rows) for weight, rows, _ in made], folder / "groups.npz")
    save([(weight, rows) for weight, _, rows in made], folder / "teacher_groups.npz")
    print(f"{len(made)} groups, {sum(len(rows) for _, rows, _ in made)} rows")


if __name__ == "__main__":
    main()
