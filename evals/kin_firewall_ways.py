"""Ways to corrupt a true assertion about a person, as a careless reader or a model would.

A corruption that happens to be true is none. It is left out where the page's own
facts say the same: a date that fits one of the field's, a place or name that the
quote has, a relative who is told to be so as well. Which other page, date or name
is taken is decided by a hash.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from kiwiresearch.kin.source_facts import ExtractedFact, Snippet
from kiwiresearch.kin.tree import DATE_FIELDS, PLACE_FIELDS, RELATION_FIELDS, FieldName, Sex
from kiwiresearch.text.dates.calendar import astronomical_year, calendar_year, day_number
from kiwiresearch.text.dates.mentions import DateMention
from kiwiresearch.text.dates.ranges import DateRange, date_relation
from kiwiresearch.text.words import fold

FLIPPED: dict[FieldName, tuple[FieldName, ...]] = {
    "father": ("child", "spouse", "mother"),
    "mother": ("child", "spouse", "father"),
    "parent": ("child", "spouse", "sibling"),
    "spouse": ("father", "mother", "child"),
    "partner": ("child", "sibling"),
    "child": ("father", "mother", "spouse"),
    "sibling": ("father", "mother", "child"),
}
PARENTS: frozenset[FieldName] = frozenset({"father", "mother", "parent"})
LONGEST_SENTENCE = 600


@dataclass(frozen=True, slots=True)
class About:
    """A page of a person, and what it truly says."""

    path: str
    text: str
    subject: str
    also: tuple[str, ...]
    sex: Sex
    urls: frozenset[str]
    facts: tuple[ExtractedFact, ...]
    dates: tuple[DateMention, ...]
    sentences: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One true assertion of a page, and the other pages to take foreign words from."""

    about: About
    fact: ExtractedFact
    others: Sequence[About]

    def pick(self, number: int, *salt: str) -> int:
        """A number below `number` that only depends on what the case is."""
        parts = (self.about.path, self.fact.field, self.fact.value, *salt)
        return int.from_bytes(hashlib.sha256("\x1f".join(parts).encode()).digest()[:8]) % number


Way = Callable[[Case], ExtractedFact | None]


def no_citation(case: Case) -> ExtractedFact | None:
    return replace(case.fact, snippet=Snippet(0, 0, ""))


def paraphrased(case: Case) -> ExtractedFact | None:
    """The quote with two words changing places, or one word more."""
    words = case.fact.snippet.words.split(" ")
    at = case.pick(max(1, len(words) - 1))
    swapped = [*words[:at], *reversed(words[at : at + 2]), *words[at + 2 :]]
    said = " ".join(swapped if swapped != words else [*words, "indeed"])
    return replace(case.fact, snippet=replace(case.fact.snippet, words=said))


def sure_beyond(case: Case) -> ExtractedFact | None:
    return replace(case.fact, confidence=1.3)


def made_up_address(case: Case) -> ExtractedFact | None:
    return replace(case.fact, target=f"https://records.example.org/{case.pick(10**6)}")


def made_up_target(case: Case) -> ExtractedFact | None:
    return replace(case.fact, target=f"Nobody_{case.pick(10**6)}")


def a_year_off(case: Case) -> ExtractedFact | None:
    """The date, one year earlier or later."""
    when = case.fact.when
    if case.fact.field not in DATE_FIELDS or when is None:
        return None
    by = 1 if case.pick(2) else -1
    shifted = replace(when, earliest=_year_later(when.earliest, when, by), latest=_year_later(when.latest, when, by))
    return _dated(case, shifted)


def other_date(case: Case) -> ExtractedFact | None:
    """Another date of the page, with the quote of the true one."""
    other = _other(case)
    return _dated(case, other.when) if other else None


def other_date_and_quote(case: Case) -> ExtractedFact | None:
    """Another date of the page, with the sentence it stands in."""
    other = _other(case)
    where = next((s for s in case.about.sentences if other and s[0] <= other.start and other.end <= s[1]), None)
    if other is None or where is None or where[1] - where[0] > LONGEST_SENTENCE:
        return None
    found = _dated(case, other.when)
    return replace(found, snippet=Snippet(*where, case.about.text[slice(*where)])) if found else None


def invented_day(case: Case) -> ExtractedFact | None:
    """A day for a date of which only the month or year is told."""
    when = case.fact.when
    if case.fact.field not in DATE_FIELDS or when is None or when.earliest == when.latest:
        return None
    day = when.earliest + case.pick(when.latest - when.earliest + 1)
    return _dated(case, replace(when, earliest=day, latest=day, precision="day", lasts=False), may_agree=True)


def foreign_place(case: Case) -> ExtractedFact | None:
    return _foreign(case, PLACE_FIELDS)


def foreign_name(case: Case) -> ExtractedFact | None:
    return _foreign(case, RELATION_FIELDS)


def flipped(case: Case) -> ExtractedFact | None:
    """The same person and quote as another relative."""
    ways = FLIPPED.get(case.fact.field, ())
    start = case.pick(len(ways)) if ways else 0
    for field in (*ways[start:], *ways[:start]):
        if not _is_told(case, field, case.fact.value):
            return replace(case.fact, field=field)
    return None


def swapped(case: Case) -> ExtractedFact | None:
    """Another relative of the page in this one's place: one the quote names, if there is one."""
    if case.fact.field not in RELATION_FIELDS:
        return None
    known = [one.value for one in case.about.facts if one.field in RELATION_FIELDS]
    others = [name for name in dict.fromkeys(known) if not _is_told(case, case.fact.field, name)]
    near = [name for name in others if name in case.fact.snippet.words]
    names = near or others
    return replace(case.fact, value=names[case.pick(len(names))]) if names else None


DENIALS: dict[str, tuple[str, str]] = {
    "birth": (r"\b(was|were) (?=born\b)", "not"),
    "death": (r"(?<!who )\b()(?=died\b)", "never"),
    "spouse": (r"(?<!who )\b()(?=married\b)", "never"),
    "father": (r"\b(was) (?=(?:an?|the)\b[^.,;]*\b(?:son|daughter|child) of\b)", "not"),
}
DENIALS["mother"] = DENIALS["parent"] = DENIALS["father"]


def denied(case: Case) -> Case | None:
    """The page with a word put into the quote that makes it say the opposite, and that quote."""
    pattern, word = DENIALS.get(case.fact.field.removesuffix("_date").removesuffix("_place"), ("", ""))
    said = case.fact.snippet
    at = said.words.find(case.fact.value) if case.fact.field not in DATE_FIELDS else len(said.words)
    places = list(re.finditer(pattern, said.words[: max(at, 0)])) if pattern and "\t" not in said.words else []
    # Where another clause follows, or the verb stands twice, the value may be told without the one denied.
    if len(places) != 1 or re.search(r"[,;(]", said.words[places[0].end() : max(at, 0)]):
        return None
    cut = places[0].end()
    words = f"{said.words[:cut]}{word} {said.words[cut:]}"
    text = f"{case.about.text[: said.start]}{words}{case.about.text[said.end :]}"
    fact = replace(case.fact, snippet=Snippet(said.start, said.start + len(words), words))
    return replace(case, about=replace(case.about, text=text), fact=fact)


WAYS: dict[str, Way] = {
    "null_citation": no_citation,
    "paraphrased_citation": paraphrased,
    "confidence_1_3": sure_beyond,
    "fabricated_url": made_up_address,
    "fabricated_target": made_up_target,
    "date_one_year_off": a_year_off,
    "other_date": other_date,
    "other_date_own_quote": other_date_and_quote,
    "invented_day": invented_day,
    "foreign_place": foreign_place,
    "foreign_name": foreign_name,
    "relation_flipped": flipped,
    "swapped_relative": swapped,
}


def _dated(case: Case, when: DateRange, *, may_agree: bool = False) -> ExtractedFact | None:
    true = [one.when for one in case.about.facts if one.field == case.fact.field and one.when]
    if not may_agree and any(date_relation(one, when) != "apart" for one in true):
        return None
    return replace(case.fact, value=when.edtf(), when=when)


def _year_later(day: int, when: DateRange, by: int) -> int:
    first = when.first_day if day == when.earliest else when.last_day
    year = calendar_year(astronomical_year(first.year) + by)
    return day_number(year, first.month, min(first.day, 28) if first.month == 2 else first.day, when.calendar_on(day))


def _other(case: Case) -> DateMention | None:
    """A date of the page that is apart from all that are told for this field."""
    if case.fact.field not in DATE_FIELDS or case.fact.when is None:
        return None
    true = [one.when for one in case.about.facts if one.field == case.fact.field and one.when]
    others = [d for d in case.about.dates if all(date_relation(when, d.when) == "apart" for when in true)]
    return others[case.pick(len(others), "date")] if others else None


def _foreign(case: Case, fields: frozenset[FieldName]) -> ExtractedFact | None:
    """The value that another page has for such a field, unless the quote has its words as well."""
    if case.fact.field not in fields:
        return None
    here = set(fold(case.fact.snippet.words).split())
    for value in _values_elsewhere(case, fields):
        if not set(fold(value).split()) <= here:
            return replace(case.fact, value=value, target="")
    return None


def _values_elsewhere(case: Case, fields: frozenset[FieldName]) -> Iterator[str]:
    start = case.pick(len(case.others), "page")
    for at in range(20):
        other = case.others[(start + at) % len(case.others)]
        if other.path != case.about.path:
            yield from (one.value for one in other.facts if one.field in fields)


def _is_told(case: Case, field: FieldName, value: str) -> bool:
    """Whether the page says that this person is such a relative too; one name may be part of the other."""
    fields = PARENTS if field == "parent" else frozenset({field, "parent"}) if field in PARENTS else frozenset({field})
    words = set(fold(value).split())
    told = (set(fold(one.value).split()) for one in case.about.facts if one.field in fields)
    return any(words <= other or other <= words for other in told)
