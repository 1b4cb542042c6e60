"""The firewall on real pages about people: how many true assertions does it reject, how many false ones does it catch?

The true assertions are read from pages by the program's extractor, and from boxes by a few simple rules in this file.
The false ones are made from them in the ways of `kin_firewall_ways`.

python -m evals.kin_firewall    print the figures, and the assertions that were judged wrongly
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from evals.data import SHARED_DATA, digest_of
from evals.kin_firewall_ways import WAYS, Case, PersonPage, deny
from kiwiresearch.kin.extract.person_reader import read_person
from kiwiresearch.kin.firewall.check import check
from kiwiresearch.kin.source_facts import ExtractedFact, Snippet
from kiwiresearch.kin.tree import FieldName
from kiwiresearch.page.doc import InfoboxRow, PageDoc
from kiwiresearch.page.parser import open_page
from kiwiresearch.text.dates.mentions import dates_in
from kiwiresearch.text.dates.ranges import DateRange
from kiwiresearch.zim.libzim import LibzimArchive

ZIMS = SHARED_DATA / "zims"
BOOKS = (
    ZIMS / "schools-2007.zim",
    ZIMS / "real" / "wikipedia_en_ray_charles_2015-06.zim",
    ZIMS / "real" / "wikipedia_en_ray_charles_maxi_2023-09.zim",
    ZIMS / "real" / "wikipedia_en_100_mini_2022-10.zim",
)
EVENTS: dict[str, str] = {"born": "birth", "died": "death", "birth": "birth", "death": "death", "baptised": "baptism"}
RELATIVES: dict[str, FieldName] = {"father": "father", "mother": "mother", "spouse": "spouse", "consort": "spouse"}
CHILDREN = ("issue", "children")
LINE = re.compile(r"[^\n]+")
NAME = re.compile(r"[A-Z][\w.'’-]+(?: (?:[A-Z][\w.'’-]*|of|the|de|von|van))+")
"""Several capitalised words at the start of a line, which are certainly a name."""


DENIED = "denied"
PAGE_STEP = 3
"""The gate reads every n-th page, which gives more than 2,000 assertions; `python -m` reads all pages."""


@dataclass(slots=True)
class Tally:
    """How many assertions were tried in each way, and those where the firewall was wrong."""

    rejected: list[tuple[Case, str]] = field(default_factory=list)
    tried: Counter[str] = field(default_factory=Counter)
    missed: list[tuple[str, Case, ExtractedFact]] = field(default_factory=list)


def measure() -> tuple[str, dict[str, float], dict[str, float]] | None:
    """The share caught in each way, and the share of true assertions kept; the counts are not pinned."""
    if not all(book.is_file() for book in BOOKS):
        return None
    pages = read_people(every=PAGE_STEP)
    tally = tally_pages(pages)
    return digest_of(*BOOKS), *figures_of(tally)


def figures_of(tally: Tally) -> tuple[dict[str, float], dict[str, float]]:
    missed = Counter(way for way, _, _ in tally.missed)
    figures = {f"caught_{way}": 1 - missed[way] / tally.tried[way] for way in (*WAYS, DENIED) if tally.tried[way]}
    figures["true_kept"] = 1 - len(tally.rejected) / tally.tried["true"]
    return figures, {f"rows_{way}": float(number) for way, number in sorted(tally.tried.items())}


def tally_pages(pages: Sequence[PersonPage]) -> Tally:
    tally = Tally()
    for page in pages:
        for fact in page.facts:
            _try_case(Case(page, fact, pages), tally)
    return tally


def _try_case(case: Case, tally: Tally) -> None:
    page = case.page
    tally.tried["true"] += 1
    reasons = check(case.fact, page.text, page.subject, page.sex, other_names=page.other_names, urls=page.urls)
    if reasons:
        tally.rejected.append((case, " ".join(map(str, reasons))))
        return
    for way, corrupt in WAYS.items():
        false_fact = corrupt(case)
        if false_fact is None:
            continue
        tally.tried[way] += 1
        if not check(false_fact, page.text, page.subject, page.sex, other_names=page.other_names, urls=page.urls):
            tally.missed.append((way, case, false_fact))
    denied = deny(case)
    if denied is not None:
        tally.tried[DENIED] += 1
        if not check(
            denied.fact, denied.page.text, page.subject, page.sex, other_names=page.other_names, urls=page.urls
        ):
            tally.missed.append((DENIED, denied, denied.fact))


def read_people(books: Iterable[Path] = BOOKS, every: int = 1) -> list[PersonPage]:
    """Pages about people and the facts that were read from them; every n-th page of the books is read."""
    return [page for book in books for page in _people_in_book(book, every)]


def _people_in_book(book: Path, every: int) -> Iterator[PersonPage]:
    archive = LibzimArchive(book)
    for path in sorted(archive.articles())[::every]:
        page = open_page(archive, path)
        person = read_person(page)
        if not person.is_person:
            continue
        facts = {_fact_key(fact): fact for fact in (*_from_boxes(page), *person.facts)}
        yield PersonPage(
            path=f"{book.name}/{path}",
            text=page.text,
            subject=page.title,
            other_names=(person.name,) if person.name else (),
            sex=person.sex,
            urls=frozenset(link.target for link in page.links) | _box_targets(page),
            facts=tuple(facts.values()),
            dates=tuple(dates_in(page.text)),
            sentences=tuple(_sentences(page)),
        )
    archive.close()


def _fact_key(fact: ExtractedFact) -> tuple[str, str, int, int]:
    return fact.field, fact.value, fact.snippet.start, fact.snippet.end


def _box_targets(page: PageDoc) -> frozenset[str]:
    return frozenset(link.target for box in page.infoboxes for row in box.rows for link in row.links)


def _sentences(page: PageDoc) -> Iterator[tuple[int, int]]:
    """The span of each sentence, up to the next one or to the end of its line."""
    for start, after in zip(page.sentences, (*page.sentences[1:], len(page.text)), strict=True):
        line_end = page.text.find("\n", start)
        end = min(after, line_end if line_end >= 0 else after)
        yield start, start + len(page.text[start:end].rstrip())


def _from_boxes(page: PageDoc) -> Iterator[ExtractedFact]:
    """What rows of boxes clearly state: a date in the first line, a place in the second, and names line by line."""
    for row in (row for box in page.infoboxes for row in box.rows):
        label = row.key.lower().rstrip(":")
        if label in EVENTS:
            yield from _read_event(page, row, EVENTS[label])
        if label in RELATIVES:
            yield from _read_names(page, row, RELATIVES[label], limit=1)
        if label in CHILDREN:
            yield from _read_names(page, row, "child", limit=20)


def _read_event(page: PageDoc, row: InfoboxRow, event: str) -> Iterator[ExtractedFact]:
    lines = list(LINE.finditer(page.text, row.start, row.end))
    dated = dates_in(page.text[lines[0].start() : lines[0].end()]) if lines else []
    is_plain = len(dated) == 1 and "(" not in lines[0][0]
    if is_plain and not dated[0].when.lasts:
        yield _make_fact(page, row, f"{event}_date", dated[0].when.edtf(), when=dated[0].when)
    if is_plain and len(lines) == 2 and NAME.match(lines[1][0]) and not re.search(r"[\d()]", lines[1][0]):
        yield _make_fact(page, row, f"{event}_place", lines[1][0].strip())


def _read_names(page: PageDoc, row: InfoboxRow, relative: FieldName, *, limit: int) -> Iterator[ExtractedFact]:
    for line in list(LINE.finditer(page.text, row.start, row.end))[:limit]:
        found = NAME.match(line[0])
        if found and not found[0].endswith((" of", " the")):
            yield _make_fact(page, row, relative, found[0])


def _make_fact(page: PageDoc, row: InfoboxRow, name: str, value: str, when: DateRange | None = None) -> ExtractedFact:
    snippet = Snippet(row.start, row.end, page.text[row.start : row.end])
    fact = ExtractedFact("name", value, snippet, "infobox", 0.6, when=when, locator=row.key, rationale="row of a box")
    return replace(fact, field=name)  # type: ignore[arg-type] # "birth" and "_date" make the name of a field


def main() -> None:
    tally = tally_pages(read_people())
    figures, unpinned = figures_of(tally)
    for name, value in (figures | unpinned).items():
        print(f"{name:40} {value:.4f}")
    for case, why in tally.rejected:
        print(
            "REJECTED",
            case.page.path,
            case.fact.field,
            repr(case.fact.value),
            repr(case.fact.snippet.words[:300]),
            why,
        )
    for way, case, false_fact in tally.missed:
        print(
            "MISSED",
            way,
            case.page.path,
            false_fact.field,
            repr(false_fact.value),
            repr(false_fact.snippet.words[:300]),
        )


if __name__ == "__main__":
    main()
