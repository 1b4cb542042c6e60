"""Questions that the book cannot answer: are they refused, and without citing a wrong page?

There are two kinds: SQuAD's questions whose answer is not on the page of 2007, and a hundred made from templates.
`python -m evals.absent` prints the figures and the questions that were not refused.
`python -m evals.absent --curve` prints a Markdown table of what each threshold would answer and refuse.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

from evals.absences import LABELS, absent_rows
from evals.ask import SETS, gate_sample
from evals.asked import DEFAULTS, JudgedAnswer, ask_all
from evals.data import SHARED_DATA, digest_of
from evals.golds import Row, load_rows, sample
from kiwiresearch.zim.libzim import LibzimArchive

SCHOOLS = SETS["squad_in_schools"]
SUBJECTS = SHARED_DATA / "zims" / "schools-2007.subjects.json"
THRESHOLDS = tuple(step / 20 for step in range(20))


def measure() -> tuple[str, dict[str, float], dict[str, float]] | None:
    """The shares refused and the shares without a citation of a wrong page; by kind of question they are not pinned."""
    files = sorted(
        {LABELS, SUBJECTS, *(file for question_set in SETS.values() for file in (question_set.rows, question_set.zim))}
    )
    if not all(file.is_file() for file in files):
        return None
    squad_answers = gate_sample()["squad_in_schools"].answers
    unanswerable = [answer for answer in squad_answers if not answer.answerable]
    rows, answers = ask_absent()
    answers_by_kind = {
        "names": [answer for row, answer in zip(rows, answers, strict=True) if not row.path],
        "pages": [answer for row, answer in zip(rows, answers, strict=True) if row.path],
    }
    figures = {
        "refused_absent": _share_refused(answers),
        "refused_squad_absent": _share_refused(unanswerable),
        "no_wrong_page_absent": _share_without_wrong_page(answers),
        "no_wrong_page_squad_absent": _share_without_wrong_page(unanswerable),
    }
    unpinned = {
        f"refused_absent_{kind}": _share_refused(kind_answers) for kind, kind_answers in answers_by_kind.items()
    }
    unpinned |= {"rows_absent": len(answers), "rows_squad_absent": len(unanswerable)}
    return digest_of(*files), figures, unpinned


def ask_absent() -> tuple[list[Row], list[JudgedAnswer]]:
    """Ask the hundred questions; returns them and the judged answers."""
    rows = absent_rows(LibzimArchive(SCHOOLS.zim), SUBJECTS)
    answers_by_way, _ = ask_all(SCHOOLS.zim, {"titles": rows}, lambda: None)
    return rows, answers_by_way["titles"]


@dataclass(frozen=True, slots=True)
class Point:
    """The effect of a threshold on the confidence of answers."""

    threshold: float
    answered: float
    """Of the questions that the book can answer, the share that is answered."""
    right: float
    """Of the same questions, the share whose answer has the gold."""
    squad_refused: float
    absent_refused: float


def curve(
    answerable: Sequence[JudgedAnswer], squad: Sequence[JudgedAnswer], absent: Sequence[JudgedAnswer]
) -> list[Point]:
    """The points by threshold, the lowest first."""
    return [
        Point(
            threshold,
            _share([answer.answered and answer.confidence >= threshold for answer in answerable]),
            _share([answer.gold_in_answer and answer.confidence >= threshold for answer in answerable]),
            _share([not answer.answered or answer.confidence < threshold for answer in squad]),
            _share([not answer.answered or answer.confidence < threshold for answer in absent]),
        )
        for threshold in THRESHOLDS
    ]


def curve_table(points: Sequence[Point]) -> list[str]:
    """The curve as a Markdown table."""
    header = (
        "sure at least",
        "answered",
        "answered and right",
        "right among answered",
        "SQuAD refused",
        "hundred refused",
    )
    lines = [f"| {' | '.join(header)} |", "|" + " ---: |" * len(header)]
    for point in points:
        precision = point.right / point.answered if point.answered else 0.0
        shares = (point.answered, point.right, precision, point.squad_refused, point.absent_refused)
        lines.append(f"| {point.threshold:.2f} | {' | '.join(f'{share:.2f}' for share in shares)} |")
    return lines


def measure_curve() -> list[Point]:
    """The curve for the gate's rows about the book of 2007, asked with thresholds of 0."""
    never_refusing = replace(DEFAULTS, sim_threshold=0.0, sim_threshold_meaning=0.0)
    sets = [question_set for question_set in SETS.values() if question_set.zim == SCHOOLS.zim]
    rows = [
        row
        for question_set in sets
        for row in sample(load_rows(question_set.rows), question_set.every)
        if not row.yes_or_no
    ]
    absent = absent_rows(LibzimArchive(SCHOOLS.zim), SUBJECTS)
    answers_by_way, _ = ask_all(SCHOOLS.zim, {"titles": [*rows, *absent]}, lambda: None, never_refusing)
    real_answers, absent_answers = answers_by_way["titles"][: len(rows)], answers_by_way["titles"][len(rows) :]
    squad_rows = set(sample(load_rows(SCHOOLS.rows), SCHOOLS.every))
    return curve(
        [answer for answer in real_answers if answer.answerable],
        [answer for row, answer in zip(rows, real_answers, strict=True) if row in squad_rows and not answer.answerable],
        absent_answers,
    )


def _share_refused(answers: Sequence[JudgedAnswer]) -> float:
    return _share([not answer.answered for answer in answers])


def _share_without_wrong_page(answers: Sequence[JudgedAnswer]) -> float:
    return _share([not answer.cites_other_page for answer in answers])


def _share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags) if flags else 0.0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="evals.absent")
    parser.add_argument("--curve", action="store_true", help="print the curve as a Markdown table")
    if parser.parse_args(arguments).curve:
        print("\n".join(curve_table(measure_curve())))
        return 0
    rows, answers = ask_absent()
    for row, answer in zip(rows, answers, strict=True):
        if answer.answered:
            print(f"{answer.confidence:.2f} {row.question} -> {answer.text[:150]!r} {answer.top_pages[:1]}")
    refused, without_wrong_page = _share_refused(answers), _share_without_wrong_page(answers)
    print(f"refused {refused:.4f}, without a citation of a wrong page {without_wrong_page:.4f}, of {len(rows)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
