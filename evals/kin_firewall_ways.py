"""Ways to turn a true assertion about a person into a false one, with the mistakes of a careless reader or a model.

The result must not happen to be true. So a way gives nothing if the page's own facts say the same: a date that fits
another one of the field, a place or name that is in the quote, or a relative who is that relative as well. A hash
decides which other page, date or name is used.
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

OTHER_RELATIONS: dict[FieldName, tuple[FieldName, ...]] = {
    "father": ("child", "spouse", "mother"),
    "mother": ("child", "spouse", "father"),
    "parent": ("child", "spouse", "sibling"),
    "spouse": ("father", "mother", "child"),
    "partner": ("child", "sibling"),
    "child": ("father", "mother", "spouse"),
    "sibling": ("father", "mother", "child"),
}
PARENTS: frozenset[FieldName] = frozenset({"father", "mother", "parent"})
MAX_SENTENCE_CHARS = 600


@dataclass(frozen=True, slots=True)
class PersonPage:
    """A page about a person, and the facts that it states."""

    path: str
    text: str
    subject: str
    other_names: tuple[str, ...]
    sex: Sex
    urls: frozenset[str]
    facts: tuple[ExtractedFact, ...]
    dates: tuple[DateMention, ...]
    sentences: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Case:
    """A true assertion of a page, and other pages to take names and places from."""

    page: PersonPage
    fact: ExtractedFact
    others: Sequence[PersonPage]

    def pick(self, number: int, *salt: str) -> int:
        """A number below `number` that depends on nothing but the case."""
        parts = (self.page.path, self.fact.field, self.fact.value, *salt)
        return int.from_bytes(hashlib.sha256("\x1f".join(parts).encode()).digest()[:8]) % number


Way = Callable[[Case], ExtractedFact | None]


def drop_citation(case: Case) -> ExtractedFact | None:
    return replace(case.fact, snippet=Snippet(0, 0, ""))


def paraphrase_citation(case: Case) -> ExtractedFact | None:
    """The quote with two words swapped, or with another word."""
    words = case.fact.snippet.words.split(" ")
    position = case.pick(max(1, len(words) - 1))
    swapped_words = [*words[:position], *reversed(words[position : position + 2]), *words[position + 2 :]]
    paraphrase = " ".join(swapped_words if swapped_words != words else [*words, "indeed"])
    return replace(case.fact, snippet=replace(case.fact.snippet, words=paraphrase))


def exceed_confidence(case: Case) -> ExtractedFact | None:
    return replace(case.fact, confidence=1.3)


def invent_url(case: Case) -> ExtractedFact | None:
    return replace(case.fact, target=f"https://records.example.org/{case.pick(10**6)}")


def invent_target(case: Case) -> ExtractedFact | None:
    return replace(case.fact, target=f"Nobody_{case.pick(10**6)}")


def shift_year(case: Case) -> ExtractedFact | None:
    """The date, one year earlier or later."""
    when = case.fact.when
    if case.fact.field not in DATE_FIELDS or when is None:
        return None
    years = 1 if case.pick(2) else -1
    shifted = replace(
        when, earliest=_shift_day(when.earliest, when, years), latest=_shift_day(when.latest, when, years)
    )
    return _with_date(case, shifted)


def take_other_date(case: Case) -> ExtractedFact | None:
    """Another date of the page, with the quote of the true one."""
    other = _pick_other_date(case)
    return _with_date(case, other.when) if other else None


def take_other_date_and_quote(case: Case) -> ExtractedFact | None:
    """Another date of the page, with the sentence it is in as the quote."""
    other = _pick_other_date(case)
    span = next(
        (
            sentence
            for sentence in case.page.sentences
            if other and sentence[0] <= other.start and other.end <= sentence[1]
        ),
        None,
    )
    if other is None or span is None or span[1] - span[0] > MAX_SENTENCE_CHARS:
        return None
    fact = _with_date(case, other.when)
    return replace(fact, snippet=Snippet(*span, case.page.text[slice(*span)])) if fact else None


def invent_day(case: Case) -> ExtractedFact | None:
    """A day for a date of which the page gives only the month or year."""
    when = case.fact.when
    if case.fact.field not in DATE_FIELDS or when is None or when.earliest == when.latest:
        return None
    day = when.earliest + case.pick(when.latest - when.earliest + 1)
    return _with_date(case, replace(when, earliest=day, latest=day, precision="day", lasts=False), may_agree=True)


def take_foreign_place(case: Case) -> ExtractedFact | None:
    return _take_foreign_value(case, PLACE_FIELDS)


def take_foreign_name(case: Case) -> ExtractedFact | None:
    return _take_foreign_value(case, RELATION_FIELDS)


def flip_relation(case: Case) -> ExtractedFact | None:
    """The same person and quote, with another relationship."""
    relations = OTHER_RELATIONS.get(case.fact.field, ())
    start = case.pick(len(relations)) if relations else 0
    for field in (*relations[start:], *relations[:start]):
        if not _is_stated(case, field, case.fact.value):
            return replace(case.fact, field=field)
    return None


def swap_relative(case: Case) -> ExtractedFact | None:
    """Another relative of the page instead of this one; if possible one in the quote."""
    if case.fact.field not in RELATION_FIELDS:
        return None
    relatives = [fact.value for fact in case.page.facts if fact.field in RELATION_FIELDS]
    others = [name for name in dict.fromkeys(relatives) if not _is_stated(case, case.fact.field, name)]
    in_quote = [name for name in others if name in case.fact.snippet.words]
    names = in_quote or others
    return replace(case.fact, value=names[case.pick(len(names))]) if names else None


DENIALS: dict[str, tuple[str, str]] = {
    "birth": (r"\b(was|were) (?=born\b)", "not"),
    "death": (r"(?<!who )\b()(?=died\b)", "never"),
    "spouse": (r"(?<!who )\b()(?=married\b)", "never"),
    "father": (r"\b(was) (?=(?:an?|the)\b[^.,;]*\b(?:son|daughter|child) of\b)", "not"),
}
DENIALS["mother"] = DENIALS["parent"] = DENIALS["father"]


def deny(case: Case) -> Case | None:
    """The page and the quote with a word inserted that makes the quote say the opposite."""
    pattern, word = DENIALS.get(case.fact.field.removesuffix("_date").removesuffix("_place"), ("", ""))
    quote = case.fact.snippet
    value_start = quote.words.find(case.fact.value) if case.fact.field not in DATE_FIELDS else len(quote.words)
    places = (
        list(re.finditer(pattern, quote.words[: max(value_start, 0)])) if pattern and "\t" not in quote.words else []
    )
    # If another clause follows, or the verb occurs twice, the quote may state the value in spite of the denial.
    if len(places) != 1 or re.search(r"[,;(]", quote.words[places[0].end() : max(value_start, 0)]):
        return None
    cut = places[0].end()
    words = f"{quote.words[:cut]}{word} {quote.words[cut:]}"
    text = f"{case.page.text[: quote.start]}{words}{case.page.text[quote.end :]}"
    fact = replace(case.fact, snippet=Snippet(quote.start, quote.start + len(words), words))
    return replace(case, page=replace(case.page, text=text), fact=fact)


WAYS: dict[str, Way] = {
    "null_citation": drop_citation,
    "paraphrased_citation": paraphrase_citation,
    "confidence_1_3": exceed_confidence,
    "fabricated_url": invent_url,
    "fabricated_target": invent_target,
    "date_one_year_off": shift_year,
    "other_date": take_other_date,
    "other_date_own_quote": take_other_date_and_quote,
    "invented_day": invent_day,
    "foreign_place": take_foreign_place,
    "foreign_name": take_foreign_name,
    "relation_flipped": flip_relation,
    "swapped_relative": swap_relative,
}


def _with_date(case: Case, when: DateRange, *, may_agree: bool = False) -> ExtractedFact | None:
    true_dates = [fact.when for fact in case.page.facts if fact.field == case.fact.field and fact.when]
    if not may_agree and any(date_relation(true_date, when) != "apart" for true_date in true_dates):
        return None
    return replace(case.fact, value=when.edtf(), when=when)


def _shift_day(day: int, when: DateRange, years: int) -> int:
    first = when.first_day if day == when.earliest else when.last_day
    year = calendar_year(astronomical_year(first.year) + years)
    return day_number(year, first.month, min(first.day, 28) if first.month == 2 else first.day, when.calendar_on(day))


def _pick_other_date(case: Case) -> DateMention | None:
    """A date of the page that does not fit any that it gives for this field."""
    if case.fact.field not in DATE_FIELDS or case.fact.when is None:
        return None
    true_dates = [fact.when for fact in case.page.facts if fact.field == case.fact.field and fact.when]
    others = [
        mention
        for mention in case.page.dates
        if all(date_relation(when, mention.when) == "apart" for when in true_dates)
    ]
    return others[case.pick(len(others), "date")] if others else None


def _take_foreign_value(case: Case, fields: frozenset[FieldName]) -> ExtractedFact | None:
    """The value that another page has for one of these fields, unless the quote has its words as well."""
    if case.fact.field not in fields:
        return None
    quote_words = set(fold(case.fact.snippet.words).split())
    for value in _values_elsewhere(case, fields):
        if not set(fold(value).split()) <= quote_words:
            return replace(case.fact, value=value, target="")
    return None


def _values_elsewhere(case: Case, fields: frozenset[FieldName]) -> Iterator[str]:
    start = case.pick(len(case.others), "page")
    for offset in range(20):
        other = case.others[(start + offset) % len(case.others)]
        if other.path != case.page.path:
            yield from (fact.value for fact in other.facts if fact.field in fields)


def _is_stated(case: Case, field: FieldName, value: str) -> bool:
    """Whether the page also states this relationship of that person; one name may be part of the other."""
    fields = PARENTS if field == "parent" else frozenset({field, "parent"}) if field in PARENTS else frozenset({field})
    words = set(fold(value).split())
    stated_names = (set(fold(fact.value).split()) for fact in case.page.facts if fact.field in fields)
    return any(words <= stated or stated <= words for stated in stated_names)
