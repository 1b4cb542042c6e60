"""Fit the weight of the reading model in an answer, and the confidence of the answers it chose.

python -m tools.fit_answers gather SHARED OUT [--work WORK]   ask the questions and save the results
python -m tools.fit_answers fit OUT                           print the tables for ask/data/weights.toml

The questions are the development rows of the shared sets (`tools/train_reader/split.py`) and, from the folder of a
training, questions that were not trained on (`tools/train_reader/groups.py`): real users' questions, and our own on
pages that were used to evaluate the training. Rows for the final evaluation are never used.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
from evals.golds import holds, normal, rows_of, sample
from tools.train_reader.examples import JUDGED_TEXTS, QUESTIONS, judged, ours, sum_of
from tools.train_reader.groups import is_held_back, is_judged
from tools.train_reader.passage import load as passages_in
from tools.train_reader.people import SCHOOLS, asked
from tools.train_reader.split import drawn, judging_part, questioned, squad_part

from kiwiresearch.ask import reranker
from kiwiresearch.ask.by_rule import gather_evidence
from kiwiresearch.ask.context import AskContext, answer_units
from kiwiresearch.ask.page_units import PageCache
from kiwiresearch.ask.question import Question, read_question
from kiwiresearch.ask.score import ScoredUnit, Strength, reader_features, unit_weights
from kiwiresearch.ask.settings import AskOptions, AskSettings
from kiwiresearch.page.html import bare_text
from kiwiresearch.reader.reader import shared_reader
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.zim.libzim import LibzimArchive

SETS = {
    "nq": ("schools-2007.zim", "schools/nq.jsonl", 1),
    "cmu": ("schools-2007.zim", "schools/cmu.jsonl", 3),
    "squad_in_schools": ("schools-2007.zim", "schools/squad.jsonl", 12),
    "squad_book": ("squad.zim", "squad/questions.jsonl", 6),
}
SAID = ("relevance", "answer's words", "passage answers")
MAX_UNREAD = 3
STIFFNESS = 6.0
"""How strongly the weights of a curve are held near 0."""

BY_HAND = {"unknown words": -2.0, "names missing": -0.5}
"""What too few of the questions have: what a book does not know, it does not answer."""

STEPS = 30
LONGEST_SHORT = 80
FOLDS = 5
MAX_OF_WORK, MAX_ORDINARY = 100, 220
"""How many questions are asked of people's and of ours each, and of those whose sentences were judged."""


@dataclass(frozen=True, slots=True)
class Asking:
    """A question for a book, and how to decide whether a text answers it."""

    name: str
    """The set that it is of."""
    book: str
    question: str
    is_right: Callable[[str], bool]
    path: str = ""
    """The page that the question is about, where that is known."""


def questions(shared: Path, work: Path | None) -> Iterator[Asking]:
    """All questions."""
    elsewhere = questioned(shared / "qa" / "schools")
    for name, (book, file, every) in SETS.items():
        rows = [row for row in rows_of(shared / "qa" / file) if not row.yes_or_no]
        part = (lambda path: squad_part(path, elsewhere)) if name == "squad_book" else judging_part
        for row in sample([row for row in rows if part(row.path) == "dev"], every):
            yield Asking(name, book, row.question, partial(holds, answers=row.answers), row.path)
    if work is None:
        return
    people = [one for one in asked(next((work / "wheels" / "people").glob("*.whl"))) if is_held_back(one.question)]
    written = [one for one in ours(QUESTIONS, passages_in(work / "passages.jsonl")) if one.answer]
    for name, some in (
        ("people", [(one.question, one.answers) for one in people]),
        ("ours", [(one.question, (one.answer,)) for one in written if is_judged(one.passage)]),
    ):
        for question, answers in sorted(some, key=lambda row: drawn(row[0], "fit"))[:MAX_OF_WORK]:
            gold = tuple(dict.fromkeys(filter(None, map(normal, answers))))
            yield Asking(name, SCHOOLS, question, partial(holds, answers=gold))
    by_sum = judged(JUDGED_TEXTS)
    ordinary = [json.loads(line)["question"] for line in JUDGED_TEXTS.read_text(encoding="utf-8").splitlines()]
    for question in [one for one in ordinary if one and is_held_back(one)][:MAX_ORDINARY]:
        yield Asking("ordinary", SCHOOLS, question, by_sum[sum_of(question)].is_right)


def write_down(shared: Path, out: Path, work: Path | None) -> None:
    """Write one line for each question: its units and which of them answer it."""
    settings = AskSettings()
    reader = shared_reader()
    desks: dict[str, AskContext] = {}
    with out.open("w", encoding="utf-8") as lines:
        for one in questions(shared, work):
            if one.book not in desks:
                archive = LibzimArchive(shared / "zims" / one.book)
                desks[one.book] = AskContext((OpenBook(archive),), settings, PageCache(settings), reader=reader)
            desk = desks[one.book]
            gathered = gather_evidence(desk, one.question, AskOptions(with_model=False))
            evidence = gathered.evidence
            if not evidence.units or evidence.part_count:
                continue
            read = gathered.rerank().evidence.units
            kept = [unit for unit in read if unit.features["relevance"] > reranker.UNREAD_RELEVANCE]
            kept += [unit for unit in read if unit.features["relevance"] <= reranker.UNREAD_RELEVANCE][:MAX_UNREAD]
            page = bare_text(desk.books[0].archive.read(one.path).content).text if one.path else ""
            row = {
                "set": one.name,
                "question": one.question,
                "answerable": one.is_right(page),
                "by_words": list(evidence.strength),
                "units": [_unit(unit, one) for unit in kept],
            }
            lines.write(json.dumps(row) + "\n")
            lines.flush()


def _unit(unit: ScoredUnit, one: Asking) -> dict[str, Any]:
    words = unit.text[slice(*unit.answer_span)] if unit.answer_span else ""
    return {
        "title": unit.segmented.page.title,
        "ref": str(unit.segmented.page.ref),
        "passage": unit.passage,
        "text": unit.text,
        "features": dict(unit.features),
        "total": sum(value * unit_weights()[name] for name, value in unit.features.items() if name not in SAID),
        "holds": one.is_right(reranker.reader_row(unit.segmented, unit.unit)),
        "short": one.is_right(words) and len(words) <= LONGEST_SHORT,
    }


@dataclass(frozen=True, slots=True)
class Seen:
    """A question as it was saved."""

    name: str
    question: Question
    answerable: bool
    by_words: Strength
    units: tuple[Any, ...]
    """As `ScoredUnit`, with `holds` and `short`."""


def load(file: Path) -> list[Seen]:
    found = []
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        units = []
        for one in row["units"]:
            page = SimpleNamespace(title=one["title"], ref=one["ref"])
            units.append(SimpleNamespace(**one, segmented=SimpleNamespace(page=page)))
        found.append(
            Seen(
                row["set"],
                read_question(row["question"]),
                row["answerable"],
                Strength(*row["by_words"]),
                tuple(units),
            )
        )
    return found


def ordered(seen: Seen, worth: Mapping[str, float]) -> list[Any]:
    """The units in the order that these weights give."""
    units = []
    for one in seen.units:
        total = one.total + sum(one.features[name] * worth[name] for name in SAID)
        units.append(SimpleNamespace(**{**vars(one), "total": total}))
    return sorted(units, key=lambda one: -one.total)


def shares(rows: Sequence[Seen], worth: Mapping[str, float]) -> dict[str, float]:
    """How often the first sentence, the sentences shown and the short answer are right."""
    first = shown = short = 0
    for seen in rows:
        units = ordered(seen, worth)
        first += units[0].holds
        short += units[0].short
        answering: Any = answer_units(cast("list[ScoredUnit]", units))
        shown += any(unit.holds for unit in answering)
    return {"first": first / len(rows), "shown": shown / len(rows), "short": short / len(rows)}


def curve(rows: Sequence[Seen], worth: Mapping[str, float]) -> dict[str, float]:
    """The logistic curve for whether the first sentence is right; the others are folded or further down."""
    examples, labels = [], []
    for seen in rows:
        units = cast("list[ScoredUnit]", ordered(seen, worth))
        examples.append(reader_features(units, seen.question, seen.by_words))
        labels.append(cast("Any", units[0]).holds)
    names = sorted({name for one in examples for name in one} - set(BY_HAND))
    known = np.array([sum(value * one.get(name, 0.0) for name, value in BY_HAND.items()) for one in examples])
    x = np.array([[one.get(name, 0.0) for name in names] for one in examples])
    y = np.array(labels, float)
    scale = np.maximum(x.std(0), 1e-3)
    scale[names.index("always")] = 1.0
    scaled, weights = x / scale, np.zeros(len(names))
    stiff = np.diag([STIFFNESS * (name != "always") for name in names]) + 1e-9 * np.eye(len(names))
    for _ in range(STEPS):  # Newton's method
        made = 1 / (1 + np.exp(-scaled @ weights - known))
        slope = scaled.T @ (made - y) + stiff @ weights
        weights -= np.linalg.solve(scaled.T @ (scaled * (made * (1 - made))[:, None]) + stiff, slope)
    fitted = zip(names, weights / scale, strict=True)
    return BY_HAND | {name: round(float(value), 3) for name, value in fitted if abs(value) > 0.02}


def apart(rows: Sequence[Seen], worth: Mapping[str, float]) -> np.ndarray[Any, Any]:
    """The confidence of each answer by a curve that was fitted on the others (cross-validation)."""
    sure = np.zeros(len(rows))
    fold_of = [int(drawn(seen.question.text, "fold") * FOLDS) for seen in rows]
    for fold in range(FOLDS):
        found = curve([seen for seen, of in zip(rows, fold_of, strict=True) if of != fold], worth)
        for at, seen in enumerate(rows):
            if fold_of[at] == fold:
                units = cast("list[ScoredUnit]", ordered(seen, worth))
                signs = reader_features(units, seen.question, seen.by_words)
                sure[at] = 1 / (1 + math.exp(-sum(value * found.get(name, 0.0) for name, value in signs.items())))
    return sure


def area(sure: np.ndarray[Any, Any], right: np.ndarray[Any, Any]) -> float:
    """How often a right answer has more confidence than a wrong one."""
    good, bad = sure[right == 1][:, None], sure[right == 0][None]
    return float(((good > bad) + 0.5 * (good == bad)).mean()) if good.size and bad.size else math.nan


def error(sure: np.ndarray[Any, Any], right: np.ndarray[Any, Any]) -> float:
    """The expected calibration error over ten bins."""
    bins = np.minimum((sure * 10).astype(int), 9)
    return float(
        sum(abs(sure[bins == one].mean() - right[bins == one].mean()) * (bins == one).mean() for one in set(bins))
    )


def _has_answer(seen: Seen) -> bool:
    """Whether the text found for a question without a known page answers it."""
    return seen.name not in SETS and any(one.holds for one in seen.units)


def fit(file: Path) -> None:
    rows = load(file)
    names = sorted({seen.name for seen in rows})
    can = {
        name: [seen for seen in rows if seen.name == name and (seen.answerable or _has_answer(seen))] for name in names
    }
    for relevance in (0.0, 0.5, 0.75, 1.0, 1.5, 2.0):
        for passage in (0.0, 0.25, 0.5):
            for words in (0.0, 0.1, 0.25):
                worth = dict(zip(SAID, (relevance, words, passage), strict=True))
                line = "; ".join(
                    f"{name} " + " ".join(f"{value:.3f}" for value in shares(some, worth).values())
                    for name, some in can.items()
                    if some
                )
                print(f"{relevance} {words} {passage}: {line}")
    worth = {name: unit_weights()[name] for name in SAID}
    sure = apart(rows, worth)
    right = np.array([float(ordered(seen, worth)[0].holds) for seen in rows])
    print("| | questions | right | said | error | area |\n| --- | ---: | ---: | ---: | ---: | ---: |")
    for of in zip(*(("all", seen.name, f"kind: {seen.question.kind}") for seen in rows), strict=True):
        for name in sorted(set(of)):
            here = np.array(of) == name
            figures = (
                right[here].mean(),
                sure[here].mean(),
                error(sure[here], right[here]),
                area(sure[here], right[here]),
            )
            print(f"| {name} | {here.sum()} | " + " | ".join(f"{value:.2f}" for value in figures) + " |")
    found = curve(rows, worth)
    print("[reader_confidence]")
    for name, value in found.items():
        print(f'"{name}" = {value}')


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    steps = parser.add_subparsers(dest="step", required=True)
    asking = steps.add_parser("gather")
    asking.add_argument("shared", type=Path)
    asking.add_argument("out", type=Path)
    asking.add_argument("--work", type=Path)
    fitting = steps.add_parser("fit")
    fitting.add_argument("out", type=Path)
    given = parser.parse_args()
    if given.step == "gather":
        write_down(given.shared, given.out, given.work)
    else:
        fit(given.out)


if __name__ == "__main__":
    main()
