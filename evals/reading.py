"""The reading model against words alone and vectors alone: the first sentence, the short answer, and refusals.

Only rows of pages that were not used for training are asked (`tools/train_reader/split.py`); `--part test` is for the
final evaluation. With vectors alone, the sentences found by words are sorted by their similarity to the question, and
nothing is refused.

python -m evals.reading                      all sets, development rows
python -m evals.reading nq cmu --every 3     every third row of these sets
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tools.train_reader.split import evaluation_part, squad_part, titles_with_questions

from evals.absences import LABELS, absent_rows
from evals.absent import SUBJECTS
from evals.ask import SETS
from evals.asked import JudgedAnswer, answer_by_rule, judge
from evals.data import SHARED_DATA, digest_of
from evals.golds import Row, has_answer, load_rows, normalize, sample
from kiwiresearch.ask.answer import Answer
from kiwiresearch.ask.by_rule import gather_evidence
from kiwiresearch.ask.context import MAX_LINES, AskContext
from kiwiresearch.ask.page_units import PageCache
from kiwiresearch.ask.presentation import Confidence
from kiwiresearch.ask.settings import AskOptions, AskSettings
from kiwiresearch.page.html import bare_text
from kiwiresearch.reader.reader import shared_reader
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.zim.libzim import LibzimArchive

OPTIONS = AskOptions(with_model=False)
GATE_SETS = {"nq": 1, "cmu": 4, "squad_book": 18}
"""The sets that the gate asks; it asks every n-th row."""

SORTED_UNITS = 60
"""How many sentences, the best by words, are sorted by their vectors."""


def measure() -> tuple[str, dict[str, float], dict[str, float]] | None:
    """The figures with the reading model, also for the hundred questions that the book cannot answer.

    The figures by words alone and by vectors alone are not pinned.
    """
    files = sorted({LABELS, SUBJECTS, *(file for name in GATE_SETS for file in (SETS[name].rows, SETS[name].zim))})
    if not all(file.is_file() for file in files):
        return None
    with_reader: dict[str, float] = {}
    unpinned: dict[str, float] = {}
    for name, every in GATE_SETS.items():
        for way, answers in ask_rows(name, load_rows_of_part(name, "dev", every)).items():
            target = with_reader if way == "reader" else unpinned
            prefix = f"{name}_" if way == "reader" else f"{name}_{way}_"
            target |= {prefix + figure.replace(" ", "_"): value for figure, value in figures(answers).items()}
    for name in GATE_SETS:
        unpinned |= {f"{name}_{figure}": with_reader.pop(f"{name}_{figure}") for figure in ("rows", "refused")}
    absent_answers = list(ask_absent())
    refused_or_low = [
        not answer.grounded or Confidence.of(answer.confidence).level == "low" for answer in absent_answers
    ]
    with_reader["absent_refused_or_low"] = sum(refused_or_low) / len(absent_answers)
    unpinned["absent_refused"] = sum(not answer.grounded for answer in absent_answers) / len(absent_answers)
    return digest_of(*files), with_reader, unpinned


def ask_absent() -> Iterator[Answer]:
    """The answers to the hundred questions that the book of 2007 cannot answer."""
    archive = LibzimArchive(SETS["nq"].zim)
    settings = AskSettings()
    context = AskContext((OpenBook(archive),), settings, PageCache(settings), reader=shared_reader())
    for row in absent_rows(archive, SUBJECTS):
        yield answer_by_rule(context, row.question, OPTIONS).answer


def load_rows_of_part(name: str, part: str, every: int) -> list[Row]:
    """The rows of a set whose pages are in this part, without yes-or-no questions."""
    schools_titles = titles_with_questions(SHARED_DATA / "qa" / "schools")

    def part_of(row: Row) -> str:
        return squad_part(row.path, schools_titles) if name == "squad_book" else evaluation_part(row.path)

    rows = [row for row in load_rows(SETS[name].rows) if not row.yes_or_no and part_of(row) == part]
    return sample(rows, every)


def ask_rows(name: str, rows: Sequence[Row]) -> dict[str, list[JudgedAnswer]]:
    """The judged answers to these rows, by words, with the reading model and by vectors."""
    archive = LibzimArchive(SETS[name].zim)
    settings = AskSettings()
    by_words = AskContext((OpenBook(archive),), settings, PageCache(settings))
    contexts = {"words": by_words, "reader": replace(by_words, reader=shared_reader())}
    answers_by_way: dict[str, list[JudgedAnswer]] = {way: [] for way in (*contexts, "vectors")}
    for row in rows:
        page_text = normalize(bare_text(archive.read(row.path).content).text)
        for way, context in contexts.items():
            answers_by_way[way].append(judge(row, answer_by_rule(context, row.question, OPTIONS).answer, page_text))
        answers_by_way["vectors"].append(_sort_by_vectors(by_words, row, answers_by_way["words"][-1]))
    return answers_by_way


def _sort_by_vectors(context: AskContext, row: Row, answer_by_words: JudgedAnswer) -> JudgedAnswer:
    """The answer if its sentences were sorted by nothing but their similarity to the question."""
    units = gather_evidence(context, row.question, OPTIONS).evidence.units[:SORTED_UNITS]
    texts = [f"{unit.segmented.page.title}. {unit.text}" for unit in units]
    question_vector, *vectors = shared_reader().vectors([row.question, *texts])
    order = sorted(range(len(units)), key=lambda number: -float(question_vector @ vectors[number]))
    has_gold = [has_answer(units[number].text, row.answers) for number in order[:MAX_LINES]]
    answer = replace(
        answer_by_words, gold_in_first_sentence=any(has_gold[:1]), gold_in_answer=any(has_gold), answered=True
    )
    return replace(answer, short_answer="", short_answer_is_right=False, short_answer_f1=0.0)


def figures(answers: Sequence[JudgedAnswer]) -> dict[str, float]:
    """Shares of the rows whose page has the answer."""
    rows = [answer for answer in answers if answer.answerable] or [*answers]
    return {
        "rows": len(rows),
        "first sentence": sum(answer.gold_in_first_sentence for answer in rows) / len(rows),
        "sentences shown": sum(answer.gold_in_answer for answer in rows) / len(rows),
        "short answer": sum(answer.short_answer_is_right for answer in rows) / len(rows),
        "short exact": sum(answer.short_answer_f1 == 1 for answer in rows) / len(rows),
        "short f1": sum(answer.short_answer_f1 for answer in rows) / len(rows),
        "refused": sum(not answer.answered for answer in rows) / len(rows),
    }


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="evals.reading")
    parser.add_argument("only", nargs="*", help=f"the sets to ask: {', '.join(SETS)}; by default all of them")
    parser.add_argument("--part", choices=("dev", "test"), default="dev")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every N-th row")
    options = parser.parse_args(arguments)
    for name in options.only or SETS:
        answers_by_way = ask_rows(name, load_rows_of_part(name, options.part, options.every))
        for way, answers in answers_by_way.items():
            summary = ", ".join(f"{figure} {value:.3g}" for figure, value in figures(answers).items())
            print(f"{name}, {way}: {summary}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
