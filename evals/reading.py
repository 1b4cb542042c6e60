"""The reading model beside words alone: which sentence comes first, which words are marked, what is refused.

Only rows of pages that trained nothing are asked (`tools/train_reader/split.py`); `--part test` is for the end.

python -m evals.reading                      all sets, the rows for choosing
python -m evals.reading nq cmu --every 3     these sets, each third row
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace

from tools.train_reader.split import judging_part, questioned, squad_part

from evals.ask import SETS
from evals.asked import Seen, judge
from evals.data import SHARED_DATA
from evals.golds import Row, normal, rows_of, sample
from kiwiresearch.ask.answering import Desk, answer_by_rule
from kiwiresearch.ask.reading import Reading
from kiwiresearch.ask.settings import AskSettings
from kiwiresearch.ask.wish import AskWish
from kiwiresearch.page.html import bare_text
from kiwiresearch.reader.reader import shared_reader
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.zim.libzim import LibzimArchive

WISH = AskWish(with_model=False)


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
    words = Desk((OpenBook(archive),), settings, Reading(settings))
    desks = {"words": words, "reader": replace(words, reader=shared_reader())}
    found: dict[str, list[Seen]] = {way: [] for way in desks}
    for row in rows:
        page = normal(bare_text(archive.read(row.path).content).text)
        for way, desk in desks.items():
            found[way].append(judge(row, answer_by_rule(desk, row.question, WISH).answer, page))
    return found


def figures(seen: Sequence[Seen]) -> dict[str, float]:
    """Shares of the rows whose answer stands on the page."""
    rows = [one for one in seen if one.answerable] or [*seen]
    return {
        "rows": len(rows),
        "first sentence": sum(one.first_holds for one in rows) / len(rows),
        "sentences shown": sum(one.text_holds for one in rows) / len(rows),
        "short answer": sum(one.short_right for one in rows) / len(rows),
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
