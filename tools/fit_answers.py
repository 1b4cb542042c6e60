"""Fit the weight of the reading model in answers, and the confidence of the answers that it chose.

python -m tools.fit_answers gather SHARED OUT [--work WORK]   ask the questions and save the results
python -m tools.fit_answers fit OUT                           print the tables for ask/data/weights.toml

The questions are the development rows of the shared sets (`tools/train_reader/split.py`) and, from the folder of a
training, questions that were not used for it (`tools/train_reader/groups.py`): real users' questions, and our own about
validation pages. Rows for the final evaluation are never used.
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
from evals.golds import has_answer, load_rows, normalize, sample
from tools.train_reader.examples import JUDGED_QUESTIONS, QUESTIONS, checksum, load_judged, load_own
from tools.train_reader.groups import is_held_back, is_validation
from tools.train_reader.passage import load_passages
from tools.train_reader.people import SCHOOLS, load_people_questions
from tools.train_reader.split import evaluation_part, squad_part, stable_fraction, titles_with_questions

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
READER_FEATURES = ("relevance", "answer's words", "passage answers")
MAX_UNREAD_UNITS = 3
STIFFNESS = 6.0
"""How strongly the weights of a curve are held near 0."""

BY_HAND = {"unknown words": -2.0, "names missing": -0.5}
"""Weights that are set by hand, because too few of the questions have these features."""

STEPS = 30
MAX_SHORT_CHARS = 80
FOLDS = 5
MAX_WORK_QUESTIONS, MAX_JUDGED_QUESTIONS = 100, 220
"""The limits for people's questions and for our own, and for those whose sentences were judged."""


@dataclass(frozen=True, slots=True)
class FitQuestion:
    """A question for a book, and how to decide whether a text answers it."""

    name: str
    """The set of the question."""
    book: str
    question: str
    is_right: Callable[[str], bool]
    path: str = ""
    """The page that the question is about, if that is known."""


def questions(shared: Path, work: Path | None) -> Iterator[FitQuestion]:
    """The questions of all sets."""
    schools_titles = titles_with_questions(shared / "qa" / "schools")
    for name, (book, file, every) in SETS.items():
        rows = [row for row in load_rows(shared / "qa" / file) if not row.yes_or_no]
        part = (lambda path: squad_part(path, schools_titles)) if name == "squad_book" else evaluation_part
        for row in sample([row for row in rows if part(row.path) == "dev"], every):
            yield FitQuestion(name, book, row.question, partial(has_answer, answers=row.answers), row.path)
    if work is None:
        return
    wheel = next((work / "wheels" / "people").glob("*.whl"))
    people = [asked for asked in load_people_questions(wheel) if is_held_back(asked.question)]
    own = [example for example in load_own(QUESTIONS, load_passages(work / "passages.jsonl")) if example.answer]
    for name, source_questions in (
        ("people", [(asked.question, asked.answers) for asked in people]),
        ("ours", [(example.question, (example.answer,)) for example in own if is_validation(example.passage)]),
    ):
        for question, answers in sorted(source_questions, key=lambda row: stable_fraction(row[0], "fit"))[
            :MAX_WORK_QUESTIONS
        ]:
            golds = tuple(dict.fromkeys(filter(None, map(normalize, answers))))
            yield FitQuestion(name, SCHOOLS, question, partial(has_answer, answers=golds))
    judged = load_judged(JUDGED_QUESTIONS)
    judged_questions = [
        json.loads(line)["question"] for line in JUDGED_QUESTIONS.read_text(encoding="utf-8").splitlines()
    ]
    for question in [question for question in judged_questions if question and is_held_back(question)][
        :MAX_JUDGED_QUESTIONS
    ]:
        yield FitQuestion("ordinary", SCHOOLS, question, judged[checksum(question)].is_right)


def gather(shared: Path, out: Path, work: Path | None) -> None:
    """Ask all questions, and write a line for each with its units and which of them answer it."""
    settings = AskSettings()
    reader = shared_reader()
    contexts: dict[str, AskContext] = {}
    with out.open("w", encoding="utf-8") as out_file:
        for question in questions(shared, work):
            if question.book not in contexts:
                archive = LibzimArchive(shared / "zims" / question.book)
                contexts[question.book] = AskContext((OpenBook(archive),), settings, PageCache(settings), reader=reader)
            context = contexts[question.book]
            gathered = gather_evidence(context, question.question, AskOptions(with_model=False))
            evidence = gathered.evidence
            if not evidence.units or evidence.part_count:
                continue
            reranked = gathered.rerank().evidence.units
            kept = [unit for unit in reranked if unit.features["relevance"] > reranker.UNREAD_RELEVANCE]
            kept += [unit for unit in reranked if unit.features["relevance"] <= reranker.UNREAD_RELEVANCE][
                :MAX_UNREAD_UNITS
            ]
            page = bare_text(context.books[0].archive.read(question.path).content).text if question.path else ""
            row = {
                "set": question.name,
                "question": question.question,
                "answerable": question.is_right(page),
                "by_words": list(evidence.strength),
                "units": [_unit_record(unit, question) for unit in kept],
            }
            out_file.write(json.dumps(row) + "\n")
            out_file.flush()


def _unit_record(unit: ScoredUnit, question: FitQuestion) -> dict[str, Any]:
    words = unit.text[slice(*unit.answer_span)] if unit.answer_span else ""
    return {
        "title": unit.segmented.page.title,
        "ref": str(unit.segmented.page.ref),
        "passage": unit.passage,
        "text": unit.text,
        "features": dict(unit.features),
        "total": sum(
            value * unit_weights()[name] for name, value in unit.features.items() if name not in READER_FEATURES
        ),
        "holds": question.is_right(reranker.reader_row(unit.segmented, unit.unit)),
        "short": question.is_right(words) and len(words) <= MAX_SHORT_CHARS,
    }


@dataclass(frozen=True, slots=True)
class SavedQuestion:
    """A question that was asked, as it was saved."""

    name: str
    question: Question
    answerable: bool
    by_words: Strength
    units: tuple[Any, ...]
    """Like `ScoredUnit`, with `holds` and `short`: whether the unit, and its short answer, answer the question."""


def load_saved(file: Path) -> list[SavedQuestion]:
    saved = []
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        units = []
        for unit_record in row["units"]:
            page = SimpleNamespace(title=unit_record["title"], ref=unit_record["ref"])
            units.append(SimpleNamespace(**unit_record, segmented=SimpleNamespace(page=page)))
        saved.append(
            SavedQuestion(
                row["set"],
                read_question(row["question"]),
                row["answerable"],
                Strength(*row["by_words"]),
                tuple(units),
            )
        )
    return saved


def order_units(question: SavedQuestion, weights: Mapping[str, float]) -> list[Any]:
    """The units in their order by these weights."""
    units = []
    for unit in question.units:
        total = unit.total + sum(unit.features[name] * weights[name] for name in READER_FEATURES)
        units.append(SimpleNamespace(**{**vars(unit), "total": total}))
    return sorted(units, key=lambda unit: -unit.total)


def measure_shares(rows: Sequence[SavedQuestion], weights: Mapping[str, float]) -> dict[str, float]:
    """How often the first sentence, the sentences shown and the short answer are right."""
    first = shown = short = 0
    for question in rows:
        units = order_units(question, weights)
        first += units[0].holds
        short += units[0].short
        answering: Any = answer_units(cast("list[ScoredUnit]", units))
        shown += any(unit.holds for unit in answering)
    return {"first": first / len(rows), "shown": shown / len(rows), "short": short / len(rows)}


def fit_curve(rows: Sequence[SavedQuestion], weights: Mapping[str, float]) -> dict[str, float]:
    """The weights of a logistic curve for whether the first sentence is right."""
    examples, labels = [], []
    for question in rows:
        units = cast("list[ScoredUnit]", order_units(question, weights))
        examples.append(reader_features(units, question.question, question.by_words))
        labels.append(cast("Any", units[0]).holds)
    names = sorted({name for features in examples for name in features} - set(BY_HAND))
    fixed = np.array([sum(value * features.get(name, 0.0) for name, value in BY_HAND.items()) for features in examples])
    x = np.array([[features.get(name, 0.0) for name in names] for features in examples])
    y = np.array(labels, float)
    scale = np.maximum(x.std(0), 1e-3)
    scale[names.index("always")] = 1.0
    scaled, coefficients = x / scale, np.zeros(len(names))
    penalty = np.diag([STIFFNESS * (name != "always") for name in names]) + 1e-9 * np.eye(len(names))
    for _ in range(STEPS):  # Newton's method
        predicted = 1 / (1 + np.exp(-scaled @ coefficients - fixed))
        gradient = scaled.T @ (predicted - y) + penalty @ coefficients
        coefficients -= np.linalg.solve(
            scaled.T @ (scaled * (predicted * (1 - predicted))[:, None]) + penalty, gradient
        )
    fitted = zip(names, coefficients / scale, strict=True)
    return BY_HAND | {name: round(float(value), 3) for name, value in fitted if abs(value) > 0.02}


def cross_validate(rows: Sequence[SavedQuestion], weights: Mapping[str, float]) -> np.ndarray[Any, Any]:
    """The confidence of each answer by a curve that was fitted on other questions (cross-validation)."""
    confidence = np.zeros(len(rows))
    fold_of = [int(stable_fraction(question.question.text, "fold") * FOLDS) for question in rows]
    for fold in range(FOLDS):
        others = [question for question, fold_number in zip(rows, fold_of, strict=True) if fold_number != fold]
        fitted = fit_curve(others, weights)
        for number, question in enumerate(rows):
            if fold_of[number] == fold:
                units = cast("list[ScoredUnit]", order_units(question, weights))
                features = reader_features(units, question.question, question.by_words)
                log_odds = sum(value * fitted.get(name, 0.0) for name, value in features.items())
                confidence[number] = 1 / (1 + math.exp(-log_odds))
    return confidence


def area_under_curve(confidence: np.ndarray[Any, Any], right: np.ndarray[Any, Any]) -> float:
    """How often a right answer has more confidence than a wrong one: the area under the ROC curve."""
    good, bad = confidence[right == 1][:, None], confidence[right == 0][None]
    return float(((good > bad) + 0.5 * (good == bad)).mean()) if good.size and bad.size else math.nan


def calibration_error(confidence: np.ndarray[Any, Any], right: np.ndarray[Any, Any]) -> float:
    """The expected calibration error over ten bins."""
    bins = np.minimum((confidence * 10).astype(int), 9)
    groups = [bins == number for number in set(bins)]
    return float(sum(abs(confidence[group].mean() - right[group].mean()) * group.mean() for group in groups))


def _has_answer(question: SavedQuestion) -> bool:
    """Whether any text found for a question without a known page answers it."""
    return question.name not in SETS and any(unit.holds for unit in question.units)


def print_fit(file: Path) -> None:
    rows = load_saved(file)
    names = sorted({question.name for question in rows})
    answerable = {
        name: [
            question for question in rows if question.name == name and (question.answerable or _has_answer(question))
        ]
        for name in names
    }
    for relevance in (0.0, 0.5, 0.75, 1.0, 1.5, 2.0):
        for passage in (0.0, 0.25, 0.5):
            for words in (0.0, 0.1, 0.25):
                weights = dict(zip(READER_FEATURES, (relevance, words, passage), strict=True))
                line = "; ".join(
                    f"{name} " + " ".join(f"{value:.3f}" for value in measure_shares(set_rows, weights).values())
                    for name, set_rows in answerable.items()
                    if set_rows
                )
                print(f"{relevance} {words} {passage}: {line}")
    weights = {name: unit_weights()[name] for name in READER_FEATURES}
    confidence = cross_validate(rows, weights)
    right = np.array([float(order_units(question, weights)[0].holds) for question in rows])
    print("| | questions | right | confidence | error | area |\n| --- | ---: | ---: | ---: | ---: | ---: |")
    for labels in zip(*(("all", question.name, f"kind: {question.question.kind}") for question in rows), strict=True):
        for name in sorted(set(labels)):
            is_in_group = np.array(labels) == name
            figures = (
                right[is_in_group].mean(),
                confidence[is_in_group].mean(),
                calibration_error(confidence[is_in_group], right[is_in_group]),
                area_under_curve(confidence[is_in_group], right[is_in_group]),
            )
            print(f"| {name} | {is_in_group.sum()} | " + " | ".join(f"{value:.2f}" for value in figures) + " |")
    fitted = fit_curve(rows, weights)
    print("[reader_confidence]")
    for name, value in fitted.items():
        print(f'"{name}" = {value}')


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    steps = parser.add_subparsers(dest="step", required=True)
    gather_parser = steps.add_parser("gather")
    gather_parser.add_argument("shared", type=Path)
    gather_parser.add_argument("out", type=Path)
    gather_parser.add_argument("--work", type=Path)
    fit_parser = steps.add_parser("fit")
    fit_parser.add_argument("out", type=Path)
    options = parser.parse_args()
    if options.step == "gather":
        gather(options.shared, options.out, options.work)
    else:
        print_fit(options.out)


if __name__ == "__main__":
    main()
