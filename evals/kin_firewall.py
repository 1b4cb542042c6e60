"""The firewall on real people pages: how many true assertions does it reject, how many corrupted ones does it catch?

The assertions are read from boxes and first sentences by a few lines of this file, and by the extractor of the
program. Each is corrupted in the ways of `kin_firewall_ways`.

python -m evals.kin_firewall    the figures, and what went wrong
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from evals.data import SHARED_DATA, digest_of
from evals.kin_firewall_ways import WAYS, About, Case, denied
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
ISSUE = ("issue", "children")
LINE = re.compile(r"[^\n]+")
NAME = re.compile(r"[A-Z][\w.'’-]+(?: (?:[A-Z][\w.'’-]*|of|the|de|von|van))+")
"""Some capitals in a row at the start of a line: enough for a name that nobody doubts."""


DENIED = "denied"
EVERY = 3
"""The gate looks at each so many-th page, which gives more than 2,000 assertions; `python -m` at all."""


@dataclass(slots=True)
class Tally:
    """What the firewall did, and examples of where it was wrong."""

    rejected: list[tuple[Case, str]] = field(default_factory=list)
    tried: Counter[str] = field(default_factory=Counter)
    missed: list[tuple[str, Case, ExtractedFact]] = field(default_factory=list)


def measure() -> tuple[str, dict[str, float], dict[str, float]] | None:
    """The share caught of each way, and the share of true assertions kept."""
    if not all(book.is_file() for book in BOOKS):
        return None
    pages = people(every=EVERY)
    tally = tallied(pages)
    return digest_of(*BOOKS), *figures_of(tally)


def figures_of(tally: Tally) -> tuple[dict[str, float], dict[str, float]]:
    missed = Counter(way for way, _, _ in tally.missed)
    figures = {f"caught_{way}": 1 - missed[way] / tally.tried[way] for way in (*WAYS, DENIED) if tally.tried[way]}
    figures["true_kept"] = 1 - len(tally.rejected) / tally.tried["true"]
    return figures, {f"rows_{way}": float(number) for way, number in sorted(tally.tried.items())}


def tallied(pages: Sequence[About]) -> Tally:
    tally = Tally()
    for about in pages:
        for fact in about.facts:
            _try(Case(about, fact, pages), tally)
    return tally


def _try(case: Case, tally: Tally) -> None:
    about = case.about
    tally.tried["true"] += 1
    found = check(case.fact, about.text, about.subject, about.sex, other_names=about.also, urls=about.urls)
    if found:
        tally.rejected.append((case, " ".join(map(str, found))))
        return
    for way, corrupt in WAYS.items():
        wrong = corrupt(case)
        if wrong is None:
            continue
        tally.tried[way] += 1
        if not check(wrong, about.text, about.subject, about.sex, other_names=about.also, urls=about.urls):
            tally.missed.append((way, case, wrong))
    spoilt = denied(case)
    if spoilt is not None:
        tally.tried[DENIED] += 1
        if not check(spoilt.fact, spoilt.about.text, about.subject, about.sex, other_names=about.also, urls=about.urls):
            tally.missed.append((DENIED, spoilt, spoilt.fact))


def people(books: Iterable[Path] = BOOKS, every: int = 1) -> list[About]:
    """The pages of people, with what a few lines and the extractor read there; of each so many-th page."""
    return [about for book in books for about in _people_in(book, every)]


def _people_in(book: Path, every: int) -> Iterator[About]:
    archive = LibzimArchive(book)
    for path in sorted(archive.articles())[::every]:
        page = open_page(archive, path)
        person = read_person(page)
        if not person.is_person:
            continue
        facts = {_key(fact): fact for fact in (*_from_boxes(page), *person.facts)}
        yield About(
            path=f"{book.name}/{path}",
            text=page.text,
            subject=page.title,
            also=(person.name,) if person.name else (),
            sex=person.sex,
            urls=frozenset(link.target for link in page.links) | _box_targets(page),
            facts=tuple(facts.values()),
            dates=tuple(dates_in(page.text)),
            sentences=tuple(_sentences(page)),
        )
    archive.close()


def _key(fact: ExtractedFact) -> tuple[str, str, int, int]:
    return fact.field, fact.value, fact.snippet.start, fact.snippet.end


def _box_targets(page: PageDoc) -> frozenset[str]:
    return frozenset(link.target for box in page.infoboxes for row in box.rows for link in row.links)


def _sentences(page: PageDoc) -> Iterator[tuple[int, int]]:
    """Each sentence, up to the next or to the end of its line."""
    for start, after in zip(page.sentences, (*page.sentences[1:], len(page.text)), strict=True):
        line_end = page.text.find("\n", start)
        end = min(after, line_end if line_end >= 0 else after)
        yield start, start + len(page.text[start:end].rstrip())


def _from_boxes(page: PageDoc) -> Iterator[ExtractedFact]:
    """What rows of boxes say beyond doubt: the first date, the last line as place, names line by line."""
    for row in (row for box in page.infoboxes for row in box.rows):
        label = row.key.lower().rstrip(":")
        if label in EVENTS:
            yield from _event(page, row, EVENTS[label])
        if label in RELATIVES:
            yield from _names(page, row, RELATIVES[label], most=1)
        if label in ISSUE:
            yield from _names(page, row, "child", most=20)


def _event(page: PageDoc, row: InfoboxRow, event: str) -> Iterator[ExtractedFact]:
    lines = list(LINE.finditer(page.text, row.start, row.end))
    dated = dates_in(page.text[lines[0].start() : lines[0].end()]) if lines else []
    plain = len(dated) == 1 and "(" not in lines[0][0]
    if plain and not dated[0].when.lasts:
        yield _extracted(page, row, f"{event}_date", dated[0].when.edtf(), when=dated[0].when)
    if plain and len(lines) == 2 and NAME.match(lines[1][0]) and not re.search(r"[\d()]", lines[1][0]):
        yield _extracted(page, row, f"{event}_place", lines[1][0].strip())


def _names(page: PageDoc, row: InfoboxRow, relative: FieldName, *, most: int) -> Iterator[ExtractedFact]:
    for line in list(LINE.finditer(page.text, row.start, row.end))[:most]:
        found = NAME.match(line[0])
        if found and not found[0].endswith((" of", " the")):
            yield _extracted(page, row, relative, found[0])


def _extracted(page: PageDoc, row: InfoboxRow, name: str, value: str, when: DateRange | None = None) -> ExtractedFact:
    snippet = Snippet(row.start, row.end, page.text[row.start : row.end])
    plain = ExtractedFact("name", value, snippet, "infobox", 0.6, when=when, locator=row.key, rationale="row of a box")
    return replace(plain, field=name)  # type: ignore[arg-type] # 'birth' and '_date' make a name of a field


def main() -> None:
    tally = tallied(people())
    figures, beside = figures_of(tally)
    for name, value in (figures | beside).items():
        print(f"{name:40} {value:.4f}")
    for case, why in tally.rejected:
        print(
            "REJECTED",
            case.about.path,
            case.fact.field,
            repr(case.fact.value),
            repr(case.fact.snippet.words[:300]),
            why,
        )
    for way, case, wrong in tally.missed:
        print("MISSED", way, case.about.path, wrong.field, repr(wrong.value), repr(wrong.snippet.words[:300]))


if __name__ == "__main__":
    main()
