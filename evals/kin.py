"""Families: what `read_person` reads from real pages, against family trees made by others.

The trees have more than the pages, so recall counts only relatives that the page states: where a sentence, a row of a
box or an item of a list has a word for that relationship (or is in a section with such a heading) and the relative's
given name in any of its common forms. A value is right if it matches a name of the tree, or one that `kin_gold` lists
with the reason why the tree lacks it.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise

from evals.data import SHARED_DATA, digest_of
from evals.kin_gold import MISSING_RELATIVES, OTHER_YEARS, WRONG_DATES
from kiwiresearch.kin.extract.person_reader import read_person
from kiwiresearch.kin.names import name_similarity, parse_name, token_similarity
from kiwiresearch.kin.source_facts import PersonReading
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.page.parser import open_page
from kiwiresearch.text.dates.ranges import DateRange
from kiwiresearch.zim.libzim import LibzimArchive

ROWS = SHARED_DATA / "kin" / "schools-families.jsonl"
SCHOOLS = SHARED_DATA / "zims" / "schools-2007.zim"

GROUPS = {
    "parents": ("father", "mother", "parent"),
    "spouses": ("spouse", "partner"),
    "children": ("child",),
}
CUES = {
    "parents": re.compile(r"\b(?:father|mother|parents?|(?:son|daughter|child|children) of|born to)\b", re.I),
    "spouses": re.compile(
        r"\b(?:married|marri(?:es|age|ages)|wi(?:fe|ves)|husband|spouse|consort|widow|queen)\b", re.I
    ),
    "children": re.compile(r"\b(?:children|child|sons?|daughters?|issue|born|father of|mother of)\b", re.I),
}
MIN_NAME_SIMILARITY = 0.78
MIN_GIVEN_SIMILARITY = 0.9
MAX_YEARS_APART = 6


@dataclass(slots=True)
class Tally:
    """What was read, right and wrong, and what should have been read."""

    right: int = 0
    wrong: list[str] = field(default_factory=list)
    stated: int = 0
    missed: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        found = self.right + len(self.wrong)
        return self.right / found if found else 1.0

    @property
    def recall(self) -> float:
        return 1 - len(self.missed) / self.stated if self.stated else 1.0


@dataclass(frozen=True, slots=True)
class Gold:
    """A page, and what the trees say about its person."""

    path: str
    years: dict[str, frozenset[int]]
    relatives: dict[str, tuple[str, ...]]


def measure() -> tuple[str, dict[str, float], dict[str, float]] | None:
    """All figures, or nothing where the data is missing."""
    if not ROWS.is_file() or not SCHOOLS.is_file():
        return None
    tallies, verbatim = tally()
    figures = {"verbatim": verbatim}
    for name, field_tally in sorted(tallies.items()):
        figures[f"{name}_precision"] = field_tally.precision
        figures[f"{name}_recall"] = field_tally.recall
    return (
        digest_of(ROWS, SCHOOLS),
        figures,
        {f"{name}_stated": float(field_tally.stated) for name, field_tally in tallies.items()},
    )


def tally() -> tuple[dict[str, Tally], float]:
    """The counts of each field over all pages, and the share of quotes that are on their page."""
    tallies: dict[str, Tally] = defaultdict(Tally)
    quotes = verbatim = 0
    archive = LibzimArchive(SCHOOLS)
    for gold in load_golds():
        page = open_page(archive, gold.path)
        person = read_person(page)
        for fact in person.facts:
            quotes += 1
            is_verbatim = page.text[fact.snippet.start : fact.snippet.end] == fact.snippet.words
            verbatim += is_verbatim and (
                fact.when is not None or fact.field == "sex" or fact.value in fact.snippet.words
            )
        _count_dates(gold, person, page, tallies)
        for group in GROUPS:
            _count_relatives(gold, person, page, group, tallies[group])
    archive.close()
    return dict(tallies), verbatim / quotes if quotes else 0.0


@cache
def load_golds() -> tuple[Gold, ...]:
    """The rows, combined by page."""
    found: dict[str, list[dict[str, object]]] = defaultdict(list)
    for line in ROWS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        found[row["path"]].append(row)
    return tuple(_combine(path, rows) for path, rows in sorted(found.items()))


def _combine(path: str, rows: list[dict[str, object]]) -> Gold:
    years = {
        name: frozenset(year for row in rows for year in _years(str(row[name] or ""))) for name in ("birth", "death")
    }
    relatives = {group: tuple(dict.fromkeys(_names(row[group] for row in rows))) for group in GROUPS}
    return Gold(path, years, relatives)


def _names(lists: Iterable[object]) -> Iterator[str]:
    for names in lists:
        for name in names if isinstance(names, list) else ():
            plain = re.sub(r"\([^()]*\)", " ", str(name).replace("_", " ")).strip()
            if plain and plain.lower() not in ("son", "daughter") and plain[0].isalpha():
                yield plain


def _years(date: str) -> Iterator[int]:
    for year in re.findall(r"\b\d{3,4}\b", date):
        yield -int(year) if "BC" in date else int(year)


def _count_dates(gold: Gold, person: PersonReading, page: PageDoc, tallies: dict[str, Tally]) -> None:
    for name in ("birth", "death"):
        years = gold.years[name]
        reason = WRONG_DATES.get((gold.path, name))
        if not years or reason:
            continue
        tally = tallies[f"{name}_year"]
        found = [fact for fact in person.facts if fact.field == f"{name}_date" and fact.when]
        stated = any(re.search(rf"\b{abs(year)}\b", page.text) for year in years)
        tally.stated += stated
        is_found = False
        for fact in found:
            when = fact.when
            is_right = when is not None and any(_is_near(when, year) for year in years)
            is_found = is_found or is_right
            if is_right or (when is not None and when.first_year in OTHER_YEARS.get((gold.path, name), ())):
                tally.right += 1
            else:
                tally.wrong.append(f"{gold.path}: {name} {fact.value}, gold {sorted(years)}")
        if stated and not is_found:
            tally.missed.append(f"{gold.path}: {name} {sorted(years)}")


def _is_near(when: DateRange, year: int) -> bool:
    return when.first_year <= year <= when.last_year or bool(
        when.qualifier and abs(when.first_year - year) < MAX_YEARS_APART
    )


def _count_relatives(gold: Gold, person: PersonReading, page: PageDoc, group: str, tally: Tally) -> None:
    stated_by_tree = gold.relatives[group]
    found = list(dict.fromkeys(fact.value for fact in person.facts if fact.field in GROUPS[group]))
    missing = MISSING_RELATIVES.get((gold.path, group), {})
    for value in found:
        if any(names_match(value, name, person.name) for name in stated_by_tree) or any(
            name_similarity(value, name) >= MIN_NAME_SIMILARITY for name in missing
        ):
            tally.right += 1
        else:
            tally.wrong.append(f"{gold.path}: {group} {value!r}, gold {list(stated_by_tree)}")
    for name in stated_by_tree:
        if not states_relative(page, name, group):
            continue
        tally.stated += 1
        if not any(names_match(value, name, person.name) for value in found):
            tally.missed.append(f"{gold.path}: {group} {name!r}")


def names_match(value: str, name: str, subject: str) -> bool:
    """Whether a name of a page is a name of a tree.

    Given names must agree. Surnames may differ if the page has a wife's or mother's married name, which is also the
    subject's: the tree has her name at birth.
    """
    if name_similarity(value, name) >= MIN_NAME_SIMILARITY:
        return True
    name_read, gold_name = parse_name(value), parse_name(name)
    given_names_match = any(
        token_similarity(a, b) >= MIN_GIVEN_SIMILARITY for a in name_read.given for b in gold_name.given
    )
    shared = {*name_read.given, name_read.surname} & {*gold_name.given, gold_name.surname} - {""}
    is_married_name = bool(name_read.surname) and name_read.surname == parse_name(subject).surname
    return given_names_match and bool(
        len(shared) > 1 or not name_read.surname or not gold_name.surname or is_married_name
    )


def states_relative(page: PageDoc, name: str, group: str) -> bool:
    """Whether the page states this relative, as described at the top of this module."""
    given_names = parse_name(name).given[:1]
    cue = CUES[group]
    for line in _lines_with_cue(page, cue):
        if any(
            token_similarity(given_name, word) >= MIN_WORD_SIMILARITY
            for given_name in given_names
            for word in re.findall(r"[^\W\d_]{2,}", line)
        ):
            return True
    return False


MIN_WORD_SIMILARITY = 0.95


def _lines_with_cue(page: PageDoc, cue: re.Pattern[str]) -> Iterator[str]:
    headed = [
        (section.start, section.end)
        for section in page.sections
        if section.heading and cue.search(section.heading) and len(section.heading) < 40
    ]
    for start, end in pairwise([*page.sentences, len(page.text)]):
        line = page.text[start:end]
        in_list = any(first <= start < last for first, last in headed) and len(line) < 200
        if in_list or cue.search(line):
            yield line
    for box in page.infoboxes:
        for row in box.rows:
            if cue.search(row.key):
                yield row.value


def main() -> None:
    """Print the figures, and what was wrong or missed."""
    tallies, verbatim = tally()
    print(f"verbatim {verbatim:.4f}")
    for name, field_tally in tallies.items():
        found = field_tally.right + len(field_tally.wrong)
        precision = f"precision {field_tally.precision:.3f} of {found}"
        print(f"{name:12} {precision}  recall {field_tally.recall:.3f} of {field_tally.stated}")
    for field_tally in tallies.values():
        for line in field_tally.wrong:
            print(f"  wrong  {line}")
        for line in field_tally.missed:
            print(f"  missed {line}")


if __name__ == "__main__":
    main()
