"""Questions that the book cannot answer: are they refused, and does nobody get a citation of a wrong page?

Two kinds: SQuAD's questions whose answer is not on the page of 2007, and a hundred made by rule.
`python -m evals.absent` shows the figures and what was not refused.
`python -m evals.absent --curve` shows, as a Markdown table, what each threshold would answer and refuse.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

from evals.absences import LABELS, absent_rows
from evals.ask import SETS, gate_sample
from evals.asked import DEFAULTS, Seen, ask_all
from evals.data import SHARED_DATA, digest_of
from evals.golds import Row, rows_of, sample
from kiwiresearch.zim.libzim import LibzimArchive

SCHOOLS = SETS["squad_in_schools"]
SUBJECTS = SHARED_DATA / "zims" / "schools-2007.subjects.json"
THRESHOLDS = tuple(step / 20 for step in range(20))


def measure() -> tuple[str, dict[str, float], dict[str, float]] | None:
    """Shares refused, and shares without a citation of a wrong page; beside them what a refusal costs."""
    files = sorted({LABELS, SUBJECTS, *(file for one in SETS.values() for file in (one.rows, one.zim))})
    if not all(file.is_file() for file in files):
        return None
    asked = gate_sample()["squad_in_schools"].seen
    of_squad = [one for one in asked if not one.answerable]
    rows, seen = ask_absent()
    about = {
        "names": [one for row, one in zip(rows, seen, strict=True) if not row.path],
        "pages": [one for row, one in zip(rows, seen, strict=True) if row.path],
    }
    figures = {
        "refused_absent": _refused(seen),
        "refused_squad_absent": _refused(of_squad),
        "no_wrong_page_absent": _no_wrong_page(seen),
        "no_wrong_page_squad_absent": _no_wrong_page(of_squad),
    }
    beside = {f"refused_absent_{kind}": _refused(some) for kind, some in about.items()}
    beside |= {"rows_absent": len(seen), "rows_squad_absent": len(of_squad)}
    return digest_of(*files), figures, beside


def ask_absent() -> tuple[list[Row], list[Seen]]:
    """The hundred, and what became of them."""
    rows = absent_rows(LibzimArchive(SCHOOLS.zim), SUBJECTS)
    by_way, _ = ask_all(SCHOOLS.zim, {"titles": rows}, lambda: None)
    return rows, by_way["titles"]


@dataclass(frozen=True, slots=True)
class Point:
    """What a threshold on how sure an answer is would do."""

    threshold: float
    answered: float
    """Of the questions that the book can answer."""
    right: float
    """Of the same: answered, and the gold stands in the answer."""
    squad_refused: float
    absent_refused: float


def curve(answerable: Sequence[Seen], squad: Sequence[Seen], absent: Sequence[Seen]) -> list[Point]:
    """The trade-off, the lowest threshold first."""
    return [
        Point(
            at,
            _share([one.answered and one.sure >= at for one in answerable]),
            _share([one.text_holds and one.sure >= at for one in answerable]),
            _share([not one.answered or one.sure < at for one in squad]),
            _share([not one.answered or one.sure < at for one in absent]),
        )
        for at in THRESHOLDS
    ]


def markdown(points: Sequence[Point]) -> list[str]:
    """The trade-off as a table."""
    head = (
        "sure at least",
        "answered",
        "answered and right",
        "right among answered",
        "SQuAD refused",
        "hundred refused",
    )
    lines = [f"| {' | '.join(head)} |", "|" + " ---: |" * len(head)]
    for point in points:
        among = point.right / point.answered if point.answered else 0.0
        shares = (point.answered, point.right, among, point.squad_refused, point.absent_refused)
        lines.append(f"| {point.threshold:.2f} | {' | '.join(f'{share:.2f}' for share in shares)} |")
    return lines


def measured_curve() -> list[Point]:
    """The curve over the gate's rows on the book of 2007, asked with nothing refused for being weak."""
    bold = replace(DEFAULTS, sim_threshold=0.0, sim_threshold_meaning=0.0)
    sets = [one for one in SETS.values() if one.zim == SCHOOLS.zim]
    rows = [row for one in sets for row in sample(rows_of(one.rows), one.every) if not row.yes_or_no]
    made = absent_rows(LibzimArchive(SCHOOLS.zim), SUBJECTS)
    by_way, _ = ask_all(SCHOOLS.zim, {"titles": [*rows, *made]}, lambda: None, bold)
    real, absent = by_way["titles"][: len(rows)], by_way["titles"][len(rows) :]
    squad = set(sample(rows_of(SCHOOLS.rows), SCHOOLS.every))
    return curve(
        [one for one in real if one.answerable],
        [one for row, one in zip(rows, real, strict=True) if row in squad and not one.answerable],
        absent,
    )


def _refused(seen: Sequence[Seen]) -> float:
    return _share([not one.answered for one in seen])


def _no_wrong_page(seen: Sequence[Seen]) -> float:
    return _share([not one.cited_wrong for one in seen])


def _share(good: Sequence[bool]) -> float:
    return sum(good) / len(good) if good else 0.0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="evals.absent")
    parser.add_argument("--curve", action="store_true", help="the trade-off, as a Markdown table")
    if parser.parse_args(arguments).curve:
        print("\n".join(markdown(measured_curve())))
        return 0
    rows, seen = ask_absent()
    for row, one in zip(rows, seen, strict=True):
        if one.answered:
            print(f"{one.sure:.2f} {row.question} -> {one.text[:150]!r} {one.pages[:1]}")
    print(
        f"refused {_refused(seen):.4f}, without a citation of a wrong page {_no_wrong_page(seen):.4f}, of {len(rows)}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
