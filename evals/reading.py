"""The reading model beside words alone and vectors alone: which sentence comes first, which words are marked, what is
refused.

Only rows of pages that trained nothing are asked (`tools/train_reader/split.py`); `--part test` is for the end.
Vectors alone put the sentences that words found in the order of their likeness to the question, and refuse nothing.

python -m evals.reading                      all sets, the rows for choosing
python -m evals.reading nq cmu --every 3     these sets, each third row
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tools.train_reader.split import judging_part, questioned, squad_part

from evals.absences import LABELS, absent_rows
from evals.absent import SUBJECTS
from evals.ask import SETS
from evals.asked import Seen, answer_by_rule, judge
from evals.data import SHARED_DATA, digest_of
from evals.golds import Row, holds, normal, rows_of, sample
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

WISH = AskOptions(with_model=False)
GATE = {"nq": 1, "cmu": 4, "squad_book": 18}
"""The sets that the gate asks, and each how manyth row of them."""

UNITS = 60
"""So many sentences, the best by words, are put in order by vectors."""


def measure() -> tuple[str, dict[str, float], dict[str, float]] | None:
    """With the reading model; beside it, by words and by vectors alone. And the hundred that the book cannot know."""
    files = sorted({LABELS, SUBJECTS, *(file for name in GATE for file in (SETS[name].rows, SETS[name].zim))})
    if not all(file.is_file() for file in files):
        return None
    with_reader: dict[str, float] = {}
    beside: dict[str, float] = {}
    for name, every in GATE.items():
        for way, seen in asked(name, judging_rows(name, "dev", every)).items():
            to = with_reader if way == "reader" else beside
            before = f"{name}_" if way == "reader" else f"{name}_{way}_"
            to |= {before + figure.replace(" ", "_"): value for figure, value in figures(seen).items()}
    for name in GATE:
        beside |= {f"{name}_{figure}": with_reader.pop(f"{name}_{figure}") for figure in ("rows", "refused")}
    absent = list(asked_absent())
    weak = [not one.grounded or Confidence.of(one.confidence).level == "low" for one in absent]
    with_reader["absent_refused_or_low"] = sum(weak) / len(absent)
    beside["absent_refused"] = sum(not one.grounded for one in absent) / len(absent)
    return digest_of(*files), with_reader, beside


def asked_absent() -> Iterator[Answer]:
    """The answers to a hundred questions that the book of 2007 cannot know."""
    archive = LibzimArchive(SETS["nq"].zim)
    settings = AskSettings()
    desk = AskContext((OpenBook(archive),), settings, PageCache(settings), reader=shared_reader())
    for row in absent_rows(archive, SUBJECTS):
        yield answer_by_rule(desk, row.question, WISH).answer


def judging_rows(name: str, part: str, every: int) -> list[Row]:
    """The rows of a set whose pages are in this part; questions for yes or no are left out."""
    elsewhere = questioned(SHARED_DATA / "qa" / "schools")

    def part_of(row: Row) -> str:
        return squad_part(row.path, elsewhere) if name == "squad_book" else judging_part(row.path)

    rows = [row for row in rows_of(SETS[name].rows) if not row.yes_or_no and part_of(row) == part]
    return sample(rows, every)


def asked(name: str, rows: Sequence[Row]) -> dict[str, list[Seen]]:
    """Each row's answer by words, and with the reading model."""
    archive = LibzimArchive(SETS[name].zim)
    settings = AskSettings()
    words = AskContext((OpenBook(archive),), settings, PageCache(settings))
    desks = {"words": words, "reader": replace(words, reader=shared_reader())}
    found: dict[str, list[Seen]] = {way: [] for way in (*desks, "vectors")}
    for row in rows:
        page = normal(bare_text(archive.read(row.path).content).text)
        for way, desk in desks.items():
            found[way].append(judge(row, answer_by_rule(desk, row.question, WISH).answer, page))
        found["vectors"].append(_by_vectors(words, row, found["words"][-1]))
    return found


def _by_vectors(desk: AskContext, row: Row, by_words: Seen) -> Seen:
    """What the first sentences hold if likeness to the question alone puts them in order."""
    units = gather_evidence(desk, row.question, WISH).evidence.units[:UNITS]
    texts = [f"{one.segmented.page.title}. {one.text}" for one in units]
    question, *others = shared_reader().vectors([row.question, *texts])
    order = sorted(range(len(units)), key=lambda at: -float(question @ others[at]))
    hit = [holds(units[at].text, row.answers) for at in order[:MAX_LINES]]
    found = replace(by_words, first_holds=any(hit[:1]), text_holds=any(hit), answered=True)
    return replace(found, short="", short_right=False, short_f1=0.0)


def figures(seen: Sequence[Seen]) -> dict[str, float]:
    """Shares of the rows whose answer stands on the page."""
    rows = [one for one in seen if one.answerable] or [*seen]
    return {
        "rows": len(rows),
        "first sentence": sum(one.first_holds for one in rows) / len(rows),
        "sentences shown": sum(one.text_holds for one in rows) / len(rows),
        "short answer": sum(one.short_right for one in rows) / len(rows),
        "short exact": sum(one.short_f1 == 1 for one in rows) / len(rows),
        "short f1": sum(one.short_f1 for one in rows) / len(rows),
        "refused": sum(not one.answered for one in rows) / len(rows),
    }


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="evals.reading")
    parser.add_argument("only", nargs="*", help=f"which sets: {', '.join(SETS)}; all if none is named")
    parser.add_argument("--part", choices=("dev", "test"), default="dev")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="each N-th row")
    options = parser.parse_args(arguments)
    for name in options.only or SETS:
        found = asked(name, judging_rows(name, options.part, options.every))
        for way, seen in found.items():
            told = ", ".join(f"{figure} {value:.3g}" for figure, value in figures(seen).items())
            print(f"{name}, {way}: {told}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
