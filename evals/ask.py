"""Answers without a model: is the gold answer in the passages shown, and in the sentence that answers?

Every set is asked with and without a title index. The baseline, in the same run, shows the best six of all 160-word
windows of the book by BM25. The gate asks every n-th row of the large sets; the baseline always indexes the whole book.

python -m evals.ask                    the rows that the gate asks, as a table
python -m evals.ask --all              all rows
python -m evals.ask nq cmu --every 4   every fourth row of these sets
python -m evals.ask nq --rows FILE     also write the result of each row, as JSON lines
Add --titles or --bare to ask only with or only without the title index, and --alone to leave out the baseline.
"""

from __future__ import annotations

import argparse
import functools
import json
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from evals.asked import WAYS, JudgedAnswer, ask_all
from evals.data import SHARED_DATA, digest_of
from evals.golds import Row, load_rows, sample
from evals.windows import BaselineResult, search_windows


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Questions about a book."""

    book: str
    file: str
    every: int
    """The gate asks every n-th of them."""

    @property
    def zim(self) -> Path:
        return SHARED_DATA / "zims" / self.book

    @property
    def rows(self) -> Path:
        return SHARED_DATA / "qa" / self.file


SETS = {
    "nq": QuestionSet("schools-2007.zim", "schools/nq.jsonl", 1),
    "cmu": QuestionSet("schools-2007.zim", "schools/cmu.jsonl", 6),
    "squad_in_schools": QuestionSet("schools-2007.zim", "schools/squad.jsonl", 28),
    "squad_book": QuestionSet("squad.zim", "squad/questions.jsonl", 40),
}
BARE_EVERY = 2
"""Every n-th row of a sample is also asked without the title index."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SetResults:
    """Rows of a set, asked in one way, with the results of the baseline and our answers."""

    rows: tuple[Row, ...]
    baseline: tuple[BaselineResult, ...]
    answers: tuple[JudgedAnswer, ...]


def measure() -> tuple[str, dict[str, float], dict[str, float]] | None:
    """For the gate's rows, our shares by set and way; the baseline's, on the same rows, are not pinned."""
    files = sorted({file for question_set in SETS.values() for file in (question_set.rows, question_set.zim)})
    if not all(file.is_file() for file in files):
        return None
    figures: dict[str, float] = {}
    unpinned: dict[str, float] = {}
    for name, results in gate_sample().items():
        figures |= {f"{name}_{figure}": value for figure, value in _our_figures(results.answers).items()}
        unpinned |= {
            f"{name}_{figure}": value
            for figure, value in (_baseline_figures(results) | _other_figures(results)).items()
        }
    return digest_of(*files), figures | _smallest_leads(gate_sample()), unpinned


@functools.cache
def gate_sample() -> dict[str, SetResults]:
    """The results of the gate's rows, which are asked only once for all evaluations that use them."""
    return measure_sets({name: question_set.every for name, question_set in SETS.items()})


def measure_sets(
    every: Mapping[str, int], ways: Sequence[str] = WAYS, *, bare_every: int = BARE_EVERY, with_baseline: bool = True
) -> dict[str, SetResults]:
    """Ask every n-th row of these sets. Results without the title index are named "…_bare"."""
    rows: dict[str, dict[str, list[Row]]] = {way: {} for way in ways}
    for name, step in every.items():
        set_rows = sample(load_rows(SETS[name].rows), step)
        for way in ways:
            rows[way][name] = sample(set_rows, bare_every) if way == "bare" and step > 1 else set_rows
    results = {}
    for zim in sorted({SETS[name].zim for name in every}):
        names = [name for name in every if SETS[name].zim == zim]
        rows_by_way = {way: [row for name in names for row in rows_by_set[name]] for way, rows_by_set in rows.items()}
        distinct_rows = list(dict.fromkeys(row for way_rows in rows_by_way.values() for row in way_rows))
        answers_by_way, baseline_results = ask_all(
            zim, rows_by_way, partial(search_windows if with_baseline else _skip_baseline, zim, distinct_rows)
        )
        baseline = dict(zip(distinct_rows, baseline_results, strict=True))
        for way, rows_by_set in rows.items():
            way_answers = iter(answers_by_way[way])
            for name in names:
                answers = tuple(next(way_answers) for _ in rows_by_set[name])
                result_name = name if way == "titles" else f"{name}_{way}"
                results[result_name] = SetResults(
                    tuple(rows_by_set[name]), tuple(baseline[row] for row in rows_by_set[name]), answers
                )
    return results


def _skip_baseline(_: Path, rows: Sequence[Row]) -> list[BaselineResult]:
    return [BaselineResult(gold_in_passages=False, top_pages=())] * len(rows)


def _baseline_figures(results: SetResults) -> dict[str, float]:
    pairs = list(zip(results.rows, results.baseline, strict=True))
    return {
        "windows_held_in_passages": _share(pairs, lambda pair: pair[1].gold_in_passages),
        "windows_page_at_3": _share(pairs, lambda pair: pair[0].path in pair[1].top_pages),
    }


def _our_figures(answers: Sequence[JudgedAnswer]) -> dict[str, float]:
    answerable = [answer for answer in answers if answer.answerable]
    with_citations = [answer for answer in answers if answer.has_citations]
    return {
        "held_in_passages": _share(answers, lambda answer: answer.gold_in_passages),
        "page_at_3": _share(answers, lambda answer: answer.gold_page_in_top_3),
        "sentence_holds": _share(answerable, lambda answer: answer.gold_in_answer),
        "first_sentence_holds": _share(answerable, lambda answer: answer.gold_in_first_sentence),
        "not_refused_wrongly": _share(answerable, lambda answer: answer.answered),
        "right_page_cited": _share(with_citations, lambda answer: not answer.cites_other_page),
        "within_bounds": _share(answers, lambda answer: answer.within_limits),
    }


def _other_figures(results: SetResults) -> dict[str, float]:
    answers = results.answers
    answerable = [answer for answer in answers if answer.answerable]
    with_citations = [answer for answer in answers if answer.has_citations]
    with_short_answer = [answer for answer in answerable if answer.has_short_answer]
    open_answers = [answer for row, answer in zip(results.rows, answers, strict=True) if not row.yes_or_no]
    routes = Counter(answer.route for answer in answers)
    return {
        "rows": len(answers),
        "answerable": _share(answers, lambda answer: answer.answerable),
        "held_without_yes_no": _share(open_answers, lambda answer: answer.gold_in_passages),
        "short_marked": _share(answerable, lambda answer: answer.has_short_answer),
        "short_right": _share(with_short_answer, lambda answer: answer.short_answer_is_right),
        "cited": _share(answers, lambda answer: answer.has_citations),
        "first_cited_right": _share(with_citations, lambda answer: answer.first_citation_is_right),
    } | {f"route_{route}": routes[route] / len(answers) for route in ("title", "fulltext", "widened", "none")}


def _smallest_leads(results_by_set: Mapping[str, SetResults]) -> dict[str, float]:
    """How far we are ahead of the baseline on the set where the lead is smallest."""
    figure_pairs = [(_our_figures(results.answers), _baseline_figures(results)) for results in results_by_set.values()]
    return {
        lead: min(ours[figure] - baseline[f"windows_{figure}"] for ours, baseline in figure_pairs)
        for lead, figure in (("least_lead", "held_in_passages"), ("least_lead_page_at_3", "page_at_3"))
    }


def _share(items: Sequence[T], is_good: Callable[[T], bool]) -> float:
    return sum(map(is_good, items)) / len(items) if items else 0.0


def table(results_by_set: Mapping[str, SetResults]) -> list[str]:
    """All figures as a Markdown table with a column for each set and way."""
    columns = {
        name: _our_figures(results.answers) | _baseline_figures(results) | _other_figures(results)
        for name, results in results_by_set.items()
    }
    figures = list(next(iter(columns.values())))
    lines = [f"| figure | {' | '.join(columns)} |", f"| --- |{' ---: |' * len(columns)}"]
    for figure in figures:
        values = (column[figure] for column in columns.values())
        lines.append(f"| {figure} | {' | '.join(f'{v:.0f}' if figure == 'rows' else f'{v:.4f}' for v in values)} |")
    return lines


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="evals.ask")
    parser.add_argument("only", nargs="*", help=f"the sets to ask: {', '.join(SETS)}; by default all of them")
    parser.add_argument("--all", action="store_true", help="all rows instead of the gate's sample")
    parser.add_argument("--every", type=int, default=0, metavar="N", help="every N-th row")
    parser.add_argument("--titles", action="store_true", help="only with the title index")
    parser.add_argument("--bare", action="store_true", help="only without the title index")
    parser.add_argument("--alone", action="store_true", help="without the baseline, which saves half a minute")
    parser.add_argument("--rows", type=Path, metavar="FILE", help="write the result of each row to this file")
    options = parser.parse_args(arguments)
    every = {name: 1 if options.all else options.every or SETS[name].every for name in options.only or SETS}
    ways = [way for way in WAYS if getattr(options, way)] or WAYS
    bare_every = 1 if options.every or options.bare else BARE_EVERY
    results = measure_sets(every, ways, bare_every=bare_every, with_baseline=not options.alone)
    print("\n".join(table(results)))
    if options.rows:
        options.rows.write_text("".join(_records(results)), encoding="utf-8")
    return 0


def _records(results_by_set: Mapping[str, SetResults]) -> list[str]:
    rows = [
        {"set": name, **asdict(row), "windows": asdict(baseline_result), **asdict(answer)}
        for name, results in results_by_set.items()
        for row, baseline_result, answer in zip(results.rows, results.baseline, results.answers, strict=True)
    ]
    return [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]


if __name__ == "__main__":
    sys.exit(main())
