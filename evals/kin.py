"""Families: what `read_person` reads from real pages, against family trees made by others.

The trees hold more than the pages. A page states a gold relative where a sentence, a row of
a box or table, or an item of a list holds a word of that relation (or stands in a section
headed by one) together with the relative's given name, in any of its common forms. Recall
counts only those. A value counts as right where a gold name fits it, or where `kin_gold`
names it with the reason why the tree lacks it.
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
from evals.kin_gold import MORE, PAGE_DATES, WRONG_DATES
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
SAME = 0.78
GIVEN = 0.9
ABOUT = 6


@dataclass(slots=True)
class Tally:
    """What was found, what of it is right, and what should have been."""

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
    """One page with what the trees say of its person."""

    path: str
    years: dict[str, frozenset[int]]
    relatives: dict[str, tuple[str, ...]]


def measure() -> tuple[str, dict[str, float], dict[str, float]] | None:
    """All figures, or nothing where the data is missing."""
    if not ROWS.is_file() or not SCHOOLS.is_file():
        return None
    tallies, verbatim = tally()
    figures = {"verbatim": verbatim}
    for name, one in sorted(tallies.items()):
        figures[f"{name}_precision"] = one.precision
        figures[f"{name}_recall"] = one.recall
    return digest_of(ROWS, SCHOOLS), figures, {f"{name}_stated": float(one.stated) for name, one in tallies.items()}


def tally() -> tuple[dict[str, Tally], float]:
    """The counts for each field over all pages, and the share of quotes that stand on their page."""
    tallies: dict[str, Tally] = defaultdict(Tally)
    quotes = true = 0
    archive = LibzimArchive(SCHOOLS)
    for gold in golds():
        page = open_page(archive, gold.path)
        person = read_person(page)
        for fact in person.facts:
            quotes += 1
            cited = page.text[fact.snippet.start : fact.snippet.end] == fact.snippet.words
            true += cited and (fact.when is not None or fact.field == "sex" or fact.value in fact.snippet.words)
        _dates(gold, person, page, tallies)
        for group in GROUPS:
            _relatives(gold, person, page, group, tallies[group])
    archive.close()
    return dict(tallies), true / quotes if quotes else 0.0


@cache
def golds() -> tuple[Gold, ...]:
    """The rows, those of one page put together."""
    found: dict[str, list[dict[str, object]]] = defaultdict(list)
    for line in ROWS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        found[row["path"]].append(row)
    return tuple(_gold(path, rows) for path, rows in sorted(found.items()))


def _gold(path: str, rows: list[dict[str, object]]) -> Gold:
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


def _dates(gold: Gold, person: PersonReading, page: PageDoc, tallies: dict[str, Tally]) -> None:
    for name in ("birth", "death"):
        years = gold.years[name]
        reason = WRONG_DATES.get((gold.path, name))
        if not years or reason:
            continue
        one = tallies[f"{name}_year"]
        found = [fact for fact in person.facts if fact.field == f"{name}_date" and fact.when]
        stated = any(re.search(rf"\b{abs(year)}\b", page.text) for year in years)
        one.stated += stated
        hit = False
        for fact in found:
            when = fact.when
            good = when is not None and any(_near(when, year) for year in years)
            hit = hit or good
            if good or (when is not None and when.first_year in PAGE_DATES.get((gold.path, name), ())):
                one.right += 1
            else:
                one.wrong.append(f"{gold.path}: {name} {fact.value}, gold {sorted(years)}")
        if stated and not hit:
            one.missed.append(f"{gold.path}: {name} {sorted(years)}")


def _near(when: DateRange, year: int) -> bool:
    return when.first_year <= year <= when.last_year or bool(when.qualifier and abs(when.first_year - year) < ABOUT)


def _relatives(gold: Gold, person: PersonReading, page: PageDoc, group: str, one: Tally) -> None:
    wanted = gold.relatives[group]
    found = list(dict.fromkeys(fact.value for fact in person.facts if fact.field in GROUPS[group]))
    more = MORE.get((gold.path, group), {})
    for value in found:
        if any(fits(value, name, person.name) for name in wanted) or any(
            name_similarity(value, name) >= SAME for name in more
        ):
            one.right += 1
        else:
            one.wrong.append(f"{gold.path}: {group} {value!r}, gold {list(wanted)}")
    for name in wanted:
        if not states(page, name, group):
            continue
        one.stated += 1
        if not any(fits(value, name, person.name) for value in found):
            one.missed.append(f"{gold.path}: {group} {name!r}")


def fits(value: str, name: str, subject: str) -> bool:
    """Whether a name of a page is that of a tree.

    Given names must agree. Surnames need not where the page gives a wife or mother the
    subject's own, which she took when she married: the tree has the one she was born with.
    """
    if name_similarity(value, name) >= SAME:
        return True
    one, other = parse_name(value), parse_name(name)
    given = any(token_similarity(a, b) >= GIVEN for a in one.given for b in other.given)
    shared = {*one.given, one.surname} & {*other.given, other.surname} - {""}
    married = bool(one.surname) and one.surname == parse_name(subject).surname
    return given and bool(len(shared) > 1 or not one.surname or not other.surname or married)


def states(page: PageDoc, name: str, group: str) -> bool:
    """Whether the page names this relative as such: see the top of this module."""
    calls = parse_name(name).given[:1]
    cue = CUES[group]
    for line in _lines(page, cue):
        if any(token_similarity(call, word) >= PET for call in calls for word in re.findall(r"[^\W\d_]{2,}", line)):
            return True
    return False


PET = 0.95


def _lines(page: PageDoc, cue: re.Pattern[str]) -> Iterator[str]:
    headed = [(s.start, s.end) for s in page.sections if s.heading and cue.search(s.heading) and len(s.heading) < 40]
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
    """Print the figures and what was wrong or missed."""
    tallies, verbatim = tally()
    print(f"verbatim {verbatim:.4f}")
    for name, one in tallies.items():
        found = one.right + len(one.wrong)
        print(f"{name:12} precision {one.precision:.3f} of {found}  recall {one.recall:.3f} of {one.stated}")
    for one in tallies.values():
        for line in one.wrong:
            print(f"  wrong  {line}")
        for line in one.missed:
            print(f"  missed {line}")


if __name__ == "__main__":
    main()
