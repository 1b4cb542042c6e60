"""Fits what the reading model counts in an answer, and how sure answers are that it chose.

python -m tools.fit_answers gather SHARED OUT [--people FILE]   ask, and write down what was read
python -m tools.fit_answers fit OUT                             print the tables for ask/data/weights.toml

Asked are the rows for choosing of the shared sets (`tools/train_reader/split.py`) and the questions of people that
were held back from training (`tools/train_reader/groups.py`). Rows for the final judgement are never used.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
from evals.golds import Row, holds, normal, rows_of, sample
from tools.train_reader.groups import is_held_back
from tools.train_reader.split import judging_part, questioned, squad_part

from kiwiresearch.ask import rereading
from kiwiresearch.ask.answering import gather
from kiwiresearch.ask.choosing import lines_of
from kiwiresearch.ask.desk import Desk
from kiwiresearch.ask.question import Question, read_question
from kiwiresearch.ask.reading import Reading
from kiwiresearch.ask.settings import AskSettings
from kiwiresearch.ask.strength import Strength, read_signs
from kiwiresearch.ask.weighing import Weighed, table
from kiwiresearch.ask.wish import AskWish
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
MOST_UNREAD = 3
STIFFNESS = 6.0
"""How strongly the weights of a curve are held near 0."""

BY_HAND = {"unknown words": -2.0, "names missing": -0.5}
"""What too few of the questions have: what a book does not know, it does not answer."""

STEPS = 30


def rows_to_ask(shared: Path, people: Path | None) -> Iterator[tuple[str, str, Row]]:
    """Set, book and row."""
    elsewhere = questioned(shared / "qa" / "schools")
    for name, (book, file, every) in SETS.items():
        rows = [row for row in rows_of(shared / "qa" / file) if not row.yes_or_no]
        part = (lambda path: squad_part(path, elsewhere)) if name == "squad_book" else judging_part
        for row in sample([row for row in rows if part(row.path) == "dev"], every):
            yield name, book, row
    if people:
        for line in people.read_text(encoding="utf-8").splitlines():
            found = json.loads(line)
            if is_held_back(found["question"]):
                answers = tuple(dict.fromkeys(filter(None, map(normal, found["answers"]))))
                yield "people", "schools-2007.zim", Row(found["question"], answers, "")


def write_down(shared: Path, out: Path, people: Path | None) -> None:
    """One line for each question: what its units say and which of them hold the answer."""
    settings = AskSettings()
    reader = shared_reader()
    desks: dict[str, Desk] = {}
    with out.open("w", encoding="utf-8") as lines:
        for name, book, row in rows_to_ask(shared, people):
            if book not in desks:
                archive = LibzimArchive(shared / "zims" / book)
                desks[book] = Desk((OpenBook(archive),), settings, Reading(settings), reader=reader)
            desk = desks[book]
            gathered = gather(desk, row.question, AskWish(with_model=False))
            evidence = gathered.evidence
            if not evidence.units or evidence.parts:
                continue
            read = gathered.reread().evidence.units
            kept = [one for one in read if one.parts["relevance"] > rereading.UNREAD]
            kept += [one for one in read if one.parts["relevance"] <= rereading.UNREAD][:MOST_UNREAD]
            page = bare_text(desk.books[0].archive.read(row.path).content).text if row.path else ""
            lines.write(
                json.dumps(
                    {
                        "set": name,
                        "question": row.question,
                        "answerable": holds(page, row.answers),
                        "by_words": list(evidence.strength),
                        "units": [_unit(one, row) for one in kept],
                    }
                )
                + "\n"
            )
            lines.flush()


def _unit(one: Weighed, row: Row) -> dict[str, Any]:
    words = one.text[slice(*one.words)] if one.words else ""
    return {
        "title": one.read.page.title,
        "ref": str(one.read.page.ref),
        "passage": one.passage,
        "text": one.text,
        "parts": dict(one.parts),
        "total": sum(value * table()[name] for name, value in one.parts.items() if name not in SAID),
        "holds": holds(one.text, row.answers),
        "short": holds(words, row.answers) and len(words) <= 80,
    }


@dataclass(frozen=True, slots=True)
class Seen:
    """A question as it was written down."""

    name: str
    question: Question
    answerable: bool
    by_words: Strength
    units: tuple[Any, ...]
    """As `Weighed`, with `holds` and `short`."""


def load(file: Path) -> list[Seen]:
    found = []
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        units = []
        for one in row["units"]:
            page = SimpleNamespace(title=one["title"], ref=one["ref"])
            units.append(SimpleNamespace(**one, read=SimpleNamespace(page=page)))
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
    """The units as these weights put them."""
    units = []
    for one in seen.units:
        total = one.total + sum(one.parts[name] * worth[name] for name in SAID)
        units.append(SimpleNamespace(**{**vars(one), "total": total}))
    return sorted(units, key=lambda one: -one.total)


def shares(rows: Sequence[Seen], worth: Mapping[str, float]) -> dict[str, float]:
    """How often the first sentence, the sentences shown and the short answer are right."""
    first = shown = short = 0
    for seen in rows:
        units = ordered(seen, worth)
        first += units[0].holds
        short += units[0].short
        shown += any(one.holds for one in lines_of(cast("list[Weighed]", units)))
    return {"first": first / len(rows), "shown": shown / len(rows), "short": short / len(rows)}


def curve(rows: Sequence[Seen], worth: Mapping[str, float]) -> dict[str, float]:
    """The logistic curve for whether the sentences shown hold the answer."""
    examples, labels = [], []
    for seen in rows:
        units = cast("list[Weighed]", ordered(seen, worth))
        examples.append(read_signs(units, seen.question, seen.by_words))
        labels.append(any(one.holds for one in cast("list[Any]", lines_of(units))))
    names = sorted({name for one in examples for name in one} - set(BY_HAND))
    known = np.array([sum(value * one.get(name, 0.0) for name, value in BY_HAND.items()) for one in examples])
    x = np.array([[one.get(name, 0.0) for name in names] for one in examples])
    y = np.array(labels, float)
    scale = np.maximum(x.std(0), 1e-3)
    scale[names.index("always")] = 1.0
    scaled, weights = x / scale, np.zeros(len(names))
    stiff = np.diag([STIFFNESS * (name != "always") for name in names]) + 1e-9 * np.eye(len(names))
    for _ in range(STEPS):  # Newton's
        made = 1 / (1 + np.exp(-scaled @ weights - known))
        slope = scaled.T @ (made - y) + stiff @ weights
        weights -= np.linalg.solve(scaled.T @ (scaled * (made * (1 - made))[:, None]) + stiff, slope)
    fitted = zip(names, weights / scale, strict=True)
    return BY_HAND | {name: round(float(value), 3) for name, value in fitted if abs(value) > 0.02}


def error(sure: np.ndarray[Any, Any], right: np.ndarray[Any, Any]) -> float:
    """The expected calibration error over ten bins."""
    bins = np.minimum((sure * 10).astype(int), 9)
    return float(
        sum(abs(sure[bins == one].mean() - right[bins == one].mean()) * (bins == one).mean() for one in set(bins))
    )


def fit(file: Path) -> None:
    rows = load(file)
    names = sorted({seen.name for seen in rows})
    can = {
        name: [seen for seen in rows if seen.name == name and (seen.answerable or name == "people")] for name in names
    }
    can["people"] = [seen for seen in can.get("people", []) if any(one.holds for one in seen.units)]
    for relevance in (0.0, 0.5, 0.75, 1.0, 1.5, 2.0):
        for passage in (0.0, 0.25, 0.5):
            for words in (0.0, 0.1, 0.25):
                worth = dict(zip(SAID, (relevance, words, passage), strict=True))
                told = "; ".join(
                    f"{name} " + " ".join(f"{value:.3f}" for value in shares(some, worth).values())
                    for name, some in can.items()
                    if some
                )
                print(f"{relevance} {words} {passage}: {told}")
    worth = {name: table()[name] for name in SAID}
    found = curve(rows, worth)
    sure, right, of = [], [], []
    for seen in rows:
        units = cast("list[Weighed]", ordered(seen, worth))
        total = sum(
            value * found.get(name, 0.0) for name, value in read_signs(units, seen.question, seen.by_words).items()
        )
        sure.append(1 / (1 + math.exp(-total)))
        right.append(float(any(one.holds for one in cast("list[Any]", lines_of(units)))))
        of.append(seen.name)
    for name in names:
        here = np.array([one == name for one in of])
        print(f"# {name}: {here.sum()} rows, error {error(np.array(sure)[here], np.array(right)[here]):.3f}")
    print(f"# all: error {error(np.array(sure), np.array(right)):.3f}")
    print("[right_reader]")
    for name, value in found.items():
        print(f'"{name}" = {value}')


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    steps = parser.add_subparsers(dest="step", required=True)
    asking = steps.add_parser("gather")
    asking.add_argument("shared", type=Path)
    asking.add_argument("out", type=Path)
    asking.add_argument("--people", type=Path)
    fitting = steps.add_parser("fit")
    fitting.add_argument("out", type=Path)
    given = parser.parse_args()
    if given.step == "gather":
        write_down(given.shared, given.out, given.people)
    else:
        fit(given.out)


if __name__ == "__main__":
    main()
