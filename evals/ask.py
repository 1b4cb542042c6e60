"""Answers without a model: does the gold answer stand in what is shown, and in the sentence that answers?

Every set is asked with and without a title index, beside an anchor in the same run:
the best six of all 160-word windows of the book, by BM25 over an index of every page.
The gate asks each n-th row of the large sets; the anchor's index is always of the whole book.

python -m evals.ask                    the rows the gate asks, as a table
python -m evals.ask --all              all rows
python -m evals.ask nq cmu --every 4   these sets, each fourth row
python -m evals.ask nq --rows FILE     and what became of each row, as JSON lines
Add --titles or --bare to ask only with or only without the title index, --alone to leave out the anchor.
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

from evals.asked import WAYS, Seen, ask_all
from evals.data import SHARED_DATA, digest_of
from evals.golds import Row, rows_of, sample
from evals.windows import Shown, shown_by_windows


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Questions on a book, and which of them the gate asks: each so many-th."""

    book: str
    file: str
    every: int

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
"""Of sampled sets, each so many-th row is also asked without the title index."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Measured:
    """A set's rows asked one way, what the anchor shows for them, and what we do."""

    rows: tuple[Row, ...]
    anchor: tuple[Shown, ...]
    seen: tuple[Seen, ...]


def measure() -> tuple[str, dict[str, float], dict[str, float]] | None:
    """What the gate asks: our shares by set and way, and beside them the anchor's on the same rows."""
    files = sorted({file for one in SETS.values() for file in (one.rows, one.zim)})
    if not all(file.is_file() for file in files):
        return None
    figures: dict[str, float] = {}
    beside: dict[str, float] = {}
    for name, done in gate_sample().items():
        figures |= {f"{name}_{figure}": value for figure, value in _of_ours(done.seen).items()}
        beside |= {f"{name}_{figure}": value for figure, value in (_of_anchor(done) | _of_ways(done)).items()}
    return digest_of(*files), figures | _least_leads(gate_sample()), beside


@functools.cache
def gate_sample() -> dict[str, Measured]:
    """The rows the gate asks, asked once for all who look at them."""
    return measured({name: one.every for name, one in SETS.items()})


def measured(
    every: Mapping[str, int], ways: Sequence[str] = WAYS, *, bare_every: int = BARE_EVERY, anchored: bool = True
) -> dict[str, Measured]:
    """The named sets, each so many-th of their rows; what is asked without the title index is called "…_bare"."""
    rows: dict[str, dict[str, list[Row]]] = {way: {} for way in ways}
    for name, step in every.items():
        taken = sample(rows_of(SETS[name].rows), step)
        for way in ways:
            rows[way][name] = sample(taken, bare_every) if way == "bare" and step > 1 else taken
    done = {}
    for zim in sorted({SETS[name].zim for name in every}):
        names = [name for name in every if SETS[name].zim == zim]
        asked = {way: [row for name in names for row in of_way[name]] for way, of_way in rows.items()}
        once = list(dict.fromkeys(row for some in asked.values() for row in some))
        found, shown = ask_all(zim, asked, partial(shown_by_windows if anchored else _not_shown, zim, once))
        anchor = dict(zip(once, shown, strict=True))
        for way, of_way in rows.items():
            coming = iter(found[way])
            for name in names:
                seen = tuple(next(coming) for _ in of_way[name])
                full = name if way == "titles" else f"{name}_{way}"
                done[full] = Measured(tuple(of_way[name]), tuple(anchor[row] for row in of_way[name]), seen)
    return done


def _not_shown(_: Path, rows: Sequence[Row]) -> list[Shown]:
    return [Shown(held=False, pages=())] * len(rows)


def _of_anchor(done: Measured) -> dict[str, float]:
    pairs = list(zip(done.rows, done.anchor, strict=True))
    return {
        "windows_held_in_passages": _share(pairs, lambda pair: pair[1].held),
        "windows_page_at_3": _share(pairs, lambda pair: pair[0].path in pair[1].pages),
    }


def _of_ours(seen: Sequence[Seen]) -> dict[str, float]:
    answerable = [one for one in seen if one.answerable]
    cited = [one for one in seen if one.cited]
    return {
        "held_in_passages": _share(seen, lambda one: one.held),
        "page_at_3": _share(seen, lambda one: one.at_3),
        "sentence_holds": _share(answerable, lambda one: one.text_holds),
        "first_sentence_holds": _share(answerable, lambda one: one.first_holds),
        "not_refused_wrongly": _share(answerable, lambda one: one.answered),
        "right_page_cited": _share(cited, lambda one: not one.cited_wrong),
        "within_bounds": _share(seen, lambda one: one.within),
    }


def _of_ways(done: Measured) -> dict[str, float]:
    seen = done.seen
    answerable = [one for one in seen if one.answerable]
    cited = [one for one in seen if one.cited]
    marked = [one for one in answerable if one.short_marked]
    open_rows = [one for row, one in zip(done.rows, seen, strict=True) if not row.yes_or_no]
    routes = Counter(one.route for one in seen)
    return {
        "rows": len(seen),
        "answerable": _share(seen, lambda one: one.answerable),
        "held_without_yes_no": _share(open_rows, lambda one: one.held),
        "short_marked": _share(answerable, lambda one: one.short_marked),
        "short_right": _share(marked, lambda one: one.short_right),
        "cited": _share(seen, lambda one: one.cited),
        "first_cited_right": _share(cited, lambda one: one.first_cited_right),
    } | {f"route_{route}": routes[route] / len(seen) for route in ("title", "fulltext", "widened", "none")}


def _least_leads(done: Mapping[str, Measured]) -> dict[str, float]:
    """By how much we are ahead of the anchor where it is least."""
    both = [(_of_ours(one.seen), _of_anchor(one)) for one in done.values()]
    return {
        lead: min(ours[figure] - anchor[f"windows_{figure}"] for ours, anchor in both)
        for lead, figure in (("least_lead", "held_in_passages"), ("least_lead_page_at_3", "page_at_3"))
    }


def _share(items: Sequence[T], good: Callable[[T], bool]) -> float:
    return sum(map(good, items)) / len(items) if items else 0.0


def table(done: Mapping[str, Measured]) -> list[str]:
    """All figures, a column for each set and way."""
    columns = {name: _of_ours(one.seen) | _of_anchor(one) | _of_ways(one) for name, one in done.items()}
    figures = list(next(iter(columns.values())))
    lines = [f"| figure | {' | '.join(columns)} |", f"| --- |{' ---: |' * len(columns)}"]
    for figure in figures:
        values = (column[figure] for column in columns.values())
        lines.append(f"| {figure} | {' | '.join(f'{v:.0f}' if figure == 'rows' else f'{v:.4f}' for v in values)} |")
    return lines


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="evals.ask")
    parser.add_argument("only", nargs="*", help=f"which sets: {', '.join(SETS)}; all if none is named")
    parser.add_argument("--all", action="store_true", help="all rows, not the gate's sample")
    parser.add_argument("--every", type=int, default=0, metavar="N", help="each N-th row")
    parser.add_argument("--titles", action="store_true", help="only with the title index")
    parser.add_argument("--bare", action="store_true", help="only without the title index")
    parser.add_argument("--alone", action="store_true", help="without the anchor, which saves half a minute")
    parser.add_argument("--rows", type=Path, metavar="FILE", help="write what became of each row")
    options = parser.parse_args(arguments)
    every = {name: 1 if options.all else options.every or SETS[name].every for name in options.only or SETS}
    ways = [way for way in WAYS if getattr(options, way)] or WAYS
    bare_every = 1 if options.every or options.bare else BARE_EVERY
    done = measured(every, ways, bare_every=bare_every, anchored=not options.alone)
    print("\n".join(table(done)))
    if options.rows:
        options.rows.write_text("".join(_records(done)), encoding="utf-8")
    return 0


def _records(done: Mapping[str, Measured]) -> list[str]:
    rows = [
        {"set": name, **asdict(row), "windows": asdict(shown), **asdict(seen)}
        for name, one in done.items()
        for row, shown, seen in zip(one.rows, one.anchor, one.seen, strict=True)
    ]
    return [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]


if __name__ == "__main__":
    sys.exit(main())
