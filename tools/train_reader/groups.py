"""Encoding the training data: groups of a question and the passages that compete to answer it.

This takes longer than the training itself, so it is done without an accelerator. The same groups are written twice, in
the teacher's tokens and in the network's, so that the network can learn from the teacher's scores.
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
from tools.train_reader.batches import Row, RowEncoder
from tools.train_reader.examples import (
    JUDGED_QUESTIONS,
    ONCE,
    QUESTIONS,
    TWICE,
    VALIDATION,
    Example,
    JudgedQuestion,
    Pronoun,
    checksum,
    content_words,
    find_whole_words,
    load_boolq,
    load_judged,
    load_own,
    load_squad,
    locate_answer,
    move_to,
    narrow,
)
from tools.train_reader.passage import Passage, load_passages
from tools.train_reader.pronouns import read_pronouns
from tools.train_reader.split import stable_fraction
from tools.train_reader.teacher import MARKS

from kiwiresearch.reader.reader import InputEncoder, tokenizer_of

MAX_ROWS = 7
MIN_SHARED = 2
HELD_BACK = 0.15
"""The share of people's questions that is not used for training, because the confidence of answers is fitted on it."""
VALIDATION_SHARE = 0.04
"""The share of the pages that questions were written for whose questions and pronouns are for validation."""
MAX_TEACHER_TOKENS = 560
BATCH = 512

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Group:
    """The examples of one question, or one pronoun."""

    examples: tuple[Example, ...] = ()
    pronoun: Pronoun | None = None
    weight: int = ONCE


def is_held_back(question: str) -> bool:
    return stable_fraction(question, "held back") < HELD_BACK


def is_validation(passage: Passage) -> bool:
    return stable_fraction(passage.title, "judged") < VALIDATION_SHARE


def read_searched(file: Path, known: Mapping[str, Example], judged: Mapping[str, JudgedQuestion]) -> Iterator[Group]:
    """The groups of questions with the passages that the product's own search found for them.

    For some questions, each sentence was judged. If the passage with the answer is known, it is included. Otherwise a
    passage is right if it has the words of the answer; if none has them, there is no label, and only the teacher's
    scores are used.
    """
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        question = row["question"]
        passages = [Passage(**{**passage, "units": tuple(passage["units"])}) for passage in row["passages"]]
        if question in known:
            yield _group_known(known[question], passages)
        elif is_held_back(question):
            continue
        elif (judgement := judged.get(checksum(question))) is not None:
            examples = [judgement.example(question, passage) for passage in passages]
            examples.sort(key=lambda example: example.answers is not True)
            yield Group(tuple(examples[:MAX_ROWS]), weight=TWICE)
        else:
            yield _group_by_words(question, row["answers"], passages)


def _group_known(example: Example, passages: Sequence[Passage]) -> Group:
    examples: list[Example] = []
    for passage in passages:
        moved = move_to(example, passage)
        may_answer = not example.answer or _units_with([example.answer], passage)
        examples.append(moved or Example(example.question, passage, None if may_answer else False))
    answering = [candidate for candidate in examples if candidate.unit >= 0] or [narrow(example)]
    others = [candidate for candidate in examples if candidate.unit < 0]
    return Group((answering[0], *others[: MAX_ROWS - 1]), weight=_weight(example.passage))


def _weight(passage: Passage) -> int:
    if is_validation(passage):
        return VALIDATION
    return TWICE if passage.source == "squad" else ONCE


def _group_by_words(question: str, answers: Sequence[str], passages: Sequence[Passage]) -> Group:
    candidates = [_best_example(question, answers, passage) for passage in passages]
    question_words = content_words(question)
    shared_words = [
        len(question_words & content_words(f"{candidate.passage.title} {candidate.passage.units[candidate.unit]}"))
        if candidate
        else -1
        for candidate in candidates
    ]
    if max(shared_words) < MIN_SHARED:
        return Group(tuple(Example(question, passage, None) for passage in passages[:MAX_ROWS]))
    best = shared_words.index(max(shared_words))
    examples = []
    for number, passage in enumerate(passages):
        units_with_answer = _units_with(answers, passage)
        candidate = candidates[number] if number == best else None
        example = candidate or Example(question, passage, None if units_with_answer else False)
        examples.append(replace(example, perhaps=units_with_answer - {example.unit}))
    return Group(
        (examples[best], *[candidate for number, candidate in enumerate(examples) if number != best][: MAX_ROWS - 1]),
        weight=TWICE,
    )


def _best_example(question: str, answers: Sequence[str], passage: Passage) -> Example | None:
    examples = [
        example
        for answer in answers
        if (example := locate_answer(question, answer, passage)) is not None and example.start >= 0
    ]
    question_words = content_words(question)
    return max(
        examples,
        key=lambda example: (
            len(question_words & content_words(passage.units[example.unit])),
            example.end - example.start,
        ),
        default=None,
    )


def _units_with(answers: Sequence[str], passage: Passage) -> frozenset[int]:
    return frozenset(
        number
        for number, unit in enumerate(passage.units)
        if any(find_whole_words(answer, unit) >= 0 for answer in answers)
    )


def _pronoun_group(pronoun: Pronoun) -> Group:
    weight = _weight(Passage("schools", pronoun.text.title, "", ()))
    return Group(pronoun=pronoun, weight=TWICE if weight and pronoun.meant else weight)


def encode_groups(
    groups: Iterable[Group], network_encoder: InputEncoder, teacher_encoder: InputEncoder
) -> Iterator[tuple[int, list[Row], list[Row]]]:
    """For each group its weight, its rows for the network, and the same rows for the teacher."""
    for_network, for_teacher = RowEncoder(network_encoder), RowEncoder(teacher_encoder)
    for group in groups:
        if group.pronoun is not None:
            readable = for_network.keep_readable(group.pronoun)
            rows = (
                [(for_network.encode_pronoun(readable), for_teacher.encode_pronoun(readable))] if readable.names else []
            )
        else:
            encoded = [(for_network.encode(example), example) for example in group.examples]
            rows = [(row, for_teacher.encode_units(example, row.units)) for row, example in encoded]
        rows = [(row, teacher_row) for row, teacher_row in rows if len(teacher_row.ids) <= MAX_TEACHER_TOKENS]
        if rows:
            yield group.weight, [row for row, _ in rows], [teacher_row for _, teacher_row in rows]


@cache
def _encoders(folder: Path) -> tuple[InputEncoder, InputEncoder]:
    words = (folder / "words.txt").read_text(encoding="utf-8").split("\n")
    teacher = Tokenizer.from_file(str(folder / "teacher_tokenizer.json"))
    return InputEncoder(tokenizer_of(words)), InputEncoder(teacher, MARKS, max_tokens=4 * MAX_TEACHER_TOKENS)


def _encode_groups(folder: Path, groups: Sequence[Group]) -> list[tuple[int, list[Row], list[Row]]]:
    return list(encode_groups(groups, *_encoders(folder)))


def save_groups(groups: Sequence[tuple[int, list[Row]]], file: Path) -> None:
    """Save the rows of all groups one after another, with their lengths and the number of rows in each group."""
    rows = [row for _, group in groups for row in group]

    def flatten(sequences: Iterable[Sequence[int]], dtype: str) -> Array:
        return np.array([value for row in sequences for value in row], dtype)

    np.savez_compressed(
        file,
        weights=np.array([weight for weight, _ in groups], "i1"),
        sizes=np.array([len(group) for _, group in groups], "i2"),
        lengths=np.array([len(row.ids) for row in rows], "i2"),
        ids=flatten((row.ids for row in rows), "i4"),
        asked=np.array([row.question_tokens for row in rows], "i2"),
        counts=np.array([len(row.marks) for row in rows], "i2"),
        marks=flatten((row.marks for row in rows), "i2"),
        right=flatten((row.right for row in rows), "i2"),
        told=np.array([(row.start, row.end, row.answers, row.verdict) for row in rows], "i2"),
        name_counts=np.array([len(row.names) for row in rows], "i2"),
        names=np.array([place for row in rows for place in row.names], "i2").reshape(-1, 2),
        meant=flatten((row.meant for row in rows), "i2"),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("folder", type=Path, help="the folder with the files of the previous steps")
    parser.add_argument("--most", type=int, default=1_000_000, help="at most this many of each kind, to rehearse")
    options = parser.parse_args()
    folder, limit = options.folder, options.most
    passages = load_passages(folder / "passages.jsonl")
    lines = (folder / "boolq.jsonl").read_text(encoding="utf-8").splitlines()
    own_examples, squad_examples = (
        list(load_own(QUESTIONS, passages))[:limit],
        list(load_squad(folder / "squad.jsonl", passages))[:limit],
    )
    known_examples = {
        example.question: example for example in (*own_examples, *squad_examples) if example.answers and example.answer
    }
    groups = list(read_searched(folder / "searched.jsonl", known_examples, load_judged(JUDGED_QUESTIONS)))[: 3 * limit]
    done_questions = {group.examples[0].question for group in groups}
    groups += (
        Group((narrow(example),), weight=_weight(example.passage))
        for example in known_examples.values()
        if example.question not in done_questions
    )
    groups += (
        Group((example,), weight=_weight(example.passage))
        for example in own_examples
        if example.question not in known_examples
    )
    groups += (Group((example,)) for example in list(load_boolq(lines, passages))[:limit])
    groups += map(_pronoun_group, list(read_pronouns(folder / "pronouns.jsonl"))[:limit])
    parts = [groups[start : start + BATCH] for start in range(0, len(groups), BATCH)]
    with ProcessPoolExecutor() as pool:
        encoded = [example for part in pool.map(_encode_groups, [folder] * len(parts), parts) for example in part]
    save_groups([(weight, rows) for weight, rows, _ in encoded], folder / "groups.npz")
    save_groups([(weight, rows) for weight, _, rows in encoded], folder / "teacher_groups.npz")
    print(f"{len(encoded)} groups, {sum(len(rows) for _, rows, _ in encoded)} rows")


if __name__ == "__main__":
    main()
