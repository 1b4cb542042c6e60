"""Facts that can have only one value, read from claims: when a person was born, how many people live in a town."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.resources import files
from itertools import chain
from typing import Any

from kiwiresearch.claims import Claim, Measure
from kiwiresearch.claims.conflicts import LIFE_YEARS, ComparedSentence, first_moment, last_moment
from kiwiresearch.evidence import INFOBOX
from kiwiresearch.text import Quantity, quantities_in
from kiwiresearch.text.dates import ENGLISH_MONTHS, DateMention, DateRange, date_relation

BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
NO_WORD = re.compile(r"[^\w ]+|\d+|_")
MONTHS = re.compile(rf"\b(?:{'|'.join(ENGLISH_MONTHS).lower()}|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b")


@lru_cache(maxsize=4_096)
def plain_label(label: str) -> str:
    """A label without dates and qualifiers: 'Population, July 2005 estimate' is 'population'."""
    bare = MONTHS.sub(" ", NO_WORD.sub(" ", BRACKETS.sub(" ", label.lower())))
    return " ".join(word for word in bare.split() if word not in fact_words().aside)


@dataclass(frozen=True, slots=True)
class FactWords:
    """The vocabulary by which facts are recognized."""

    lasting: frozenset[str]
    changing: frozenset[str]
    aside: frozenset[str]
    people: frozenset[str]
    adjectives: dict[str, str]
    events: dict[str, str]
    measured: re.Pattern[str]
    happened: re.Pattern[str]
    adjective: re.Pattern[str]

    def cues(self) -> list[str]:
        """Cue words; every sentence that states a fact has at least one."""
        verbs = {cue.rpartition(" ")[2] for cue in self.events}
        return sorted({*self.lasting, *self.changing, *self.adjectives, *verbs})


@cache
def fact_words() -> FactWords:
    text = (files("kiwiresearch.atlas") / "data" / "facts.toml").read_text(encoding="utf-8")
    found: dict[str, Any] = tomllib.loads(text)
    events = {cue: event for event, cues in found["events"].items() for cue in cues}
    verbs = _any(cue for cue in events if cue.startswith("was ")) + r"|died|opened"
    names, hedges = _any([*found["lasting"], *found["changing"]]), _any(found["hedging"])
    return FactWords(
        lasting=frozenset(found["lasting"]),
        changing=frozenset(found["changing"]),
        aside=frozenset(found["aside"]),
        people=frozenset(found["people"]),
        adjectives=found["adjectives"],
        events=events,
        measured=re.compile(
            rf"(?:(?:^|(?<=\W))(?:{_any(found['before'])})\s+)*(?P<name>{names})\s+(?:{_any(found['linking'])})\s+"
            rf"(?:(?:{hedges})\s+)*$",
            re.IGNORECASE,
        ),
        # 'Ann Lee was born on ' and 'The bridge was opened in ', the words right before a date.
        happened=re.compile(rf"\s(?P<event>{verbs})(?: (?:on|in|around|about))?(?: the)? $", re.IGNORECASE),
        adjective=re.compile(rf"(?: \([^()]*\))? ({'|'.join(found['adjectives'])})\b"),
    )


def _any(words: Any) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=lambda word: (-len(word), word)))


Life = tuple[DateRange, DateRange]


@dataclass(frozen=True, slots=True)
class UniqueFact:
    """One value of one attribute of the claim's subject."""

    claim: Claim
    attribute: str
    value: Quantity | DateMention
    years: frozenset[int] = frozenset()
    """The years for which a number holds, if they are stated."""
    lasting: bool = True
    """Whether it hardly changes with time."""
    is_label: bool = False
    """Whether it comes from a labelled row of a table or box."""
    is_own: bool = False
    """Whether it is on the page about its subject."""
    life: Life | None = None
    """Birth and death, if both are in brackets after a name."""
    place: str = ""
    """Where on its page it is, if it has no section."""
    basis: str = ""
    """'census' or 'estimate', if a row says so."""

    @property
    def value_text(self) -> str:
        """The value as written in the claim."""
        return self.claim.text[self.value.start : self.value.end]

    def compared_sentence(self, language: str) -> ComparedSentence:
        """The fact in a uniform wording, so that only the values of two facts can differ."""
        text = f"{self.claim.subject} — {self.attribute}: {self.value_text}"
        value = self.value._replace(start=len(text) - len(self.value_text), end=len(text))
        quantities, dates = ((), (value,)) if isinstance(value, DateMention) else ((value,), ())
        return ComparedSentence(text, self.claim.subject, quantities, dates, language)

    def must_agree_with(self, other: UniqueFact) -> bool:
        """Whether both must be equal if both are right: the same attribute and time, stated in two places."""
        if self.attribute != other.attribute or self.claim.id == other.claim.id:
            return False
        is_row_twice = self.is_label and other.is_label
        is_near = self._section() == other._section()
        if self.claim.ref == other.claim.ref and (is_row_twice or is_near):
            return False  # two rows of one page are about different things
        if not self._is_one_life(other):
            return False
        # A lasting value must agree unless both state their years; one that changes only in a year that both state.
        return (self.lasting and not (self.years and other.years)) or bool(self.years & other.years)

    def _section(self) -> str:
        return self.claim.section or self.place

    def _is_one_life(self, other: UniqueFact) -> bool:
        """Whether both may be about one life: years after a name on another page may be a reign, unless an end fits."""
        for unique_fact, two in ((self, other), (other, self)):
            if unique_fact.life and not unique_fact.is_own:
                ends = zip(unique_fact.life, two.life, strict=True) if two.life else ()
                if not any(date_relation(first, second) != "apart" for first, second in ends):
                    return False
        return True


# 'Paris — Population (2019): 2,165,423', the text of a claim that was read from a row.
LABEL = re.compile(r"(?P<of>[^\n]{1,200}?) — (?P<label>[^\n]{1,120}): (?P<value>[^\n]+)")
MONTH = r"(?:0?[1-9]|1[0-2])"
YEAR = re.compile(
    rf"(?:(?<![0-9–—-])(?:(?:0?[1-9]|[12][0-9]|3[01])-{MONTH}-|{MONTH}-(?=1[789]|20))|(?<!\b[0-9][–—-])(?<!\b[0-9]{{2}}[–—-])\b)"
    r"(1[0-9]{3}|20[0-9]{2})\b"
)
"""A year, with or without day and month before it; not the end of '45-1050', which is another quantity."""
LEADING_PHRASE = r"(?:(?:As of|In|By|At|On|According to) [^,]{1,60}, )?"
"""Phrases that may precede the subject of a sentence: a time or a source."""
# 'The tower is about ', before '324 m tall'.
BEING_VERB = re.compile(r" (?:is|stands|rises|was)(?: about| approximately)? $")
NOT_LIFE = re.compile(r"reign|rule|\br\.|\bfl\.|active|office|in power|founded|c\.|circa|\?|floruit|\bor\b|/", re.I)
"""Words and signs in brackets which show that the dates are not those of a life, or are uncertain."""

UNIT = re.compile(r"\(([^()\d]{1,12})\)$")
"""The unit at the end of a label: 'Area (km²)'."""

BASES = ("census", "estimate")
MAX_VALUE_OFFSET = 6
"""A value that starts later in its row is one of several."""


def facts_of(claim: Claim, about: str, language: str = "eng") -> Iterator[UniqueFact]:
    """The facts of a claim about the page `about`."""
    row = LABEL.fullmatch(claim.text)
    if row:
        found = _of_row(claim, row)
    elif claim.hedges or language != "eng":
        return
    else:
        found = chain(_measured(claim), _dated(claim))
    for fact in found:
        yield replace(fact, is_own=claim.ref.path == about)


def _of_row(claim: Claim, row: re.Match[str]) -> Iterator[UniqueFact]:
    """The fact of a row of a box, or of a table if its label is unambiguous."""
    label, start = plain_label(row["label"]), row.start("value")
    event = fact_words().events.get(label)
    if event:
        dates = [dated for dated in claim.dates if dated.start >= start]
        is_one = len(dates) == 1 and len(YEAR.findall(row["value"])) <= 1
        if is_one and dates[0].start - start <= MAX_VALUE_OFFSET and not is_alternative(claim.text, dates[0]):
            yield _date_fact(claim, event, dates[0], is_label=True)
    elif label and (claim.section == INFOBOX or label in fact_words().lasting | fact_words().changing):
        values = [measure for measure in claim.measures if start <= measure.quantity.start <= start + MAX_VALUE_OFFSET]
        if values:
            yield _number_of_row(claim, row, label, min(values, key=lambda measure: measure.quantity.start))


def _number_of_row(claim: Claim, row: re.Match[str], label: str, first: Measure) -> UniqueFact:
    years = frozenset(map(int, YEAR.findall(claim.text[row.start("label") :])))
    basis = next((word for word in BASES if word[:3] in row["label"].lower()), "")
    measured = first._replace(quantity=_with_unit(first.quantity, row["label"], claim.text))
    return replace(_number_fact(claim, label, measured, years, is_label=True), basis=basis)


def _with_unit(quantity: Quantity, label: str, text: str) -> Quantity:
    """The number with the unit of its label, as in 'Area (km²)', unless it has its own."""
    unit = UNIT.search(label)
    if quantity.unit or not unit:
        return quantity
    read = quantities_in(f"{text[quantity.start : quantity.end]} {unit[1]}")
    is_complete = len(read) == 1 and read[0].unit
    return read[0]._replace(start=quantity.start, end=quantity.end) if is_complete else quantity


def lives_in(claim: Claim, name: str) -> Iterator[UniqueFact]:
    """Birth and death of a person named in a claim about something else: 'a book of Einstein (1879–1955)'."""
    if claim.hedges:
        return
    for dated in claim.dates:
        before = claim.text[: dated.start]
        follows_name = before.rstrip("( ").lower().endswith(name.lower()) and before.rstrip().endswith("(")
        if follows_name and claim.text[dated.end : dated.end + 1] == ")" and (life := _ends(dated)):
            of_them = replace(claim, subject=name)
            for event, end in zip(("birth", "death"), life, strict=True):
                yield _date_fact(of_them, event, end, life=(life[0].when, life[1].when))


def is_alternative(text: str, dated: DateMention) -> bool:
    """Whether a date is only one of several, as in '1601 or 1602'."""
    return bool(re.match(r"\s*(?:or\b|/|\?)", text[dated.end :]) or re.search(r"(?:\bor|/)\s*$", text[: dated.start]))


def _measured(claim: Claim) -> Iterator[UniqueFact]:
    """'X has a population of 5,000', 'The area of X is 12 km²', 'X is 324 m tall'."""
    known = fact_words()
    for measure in claim.measures:
        quantity = measure.quantity
        if quantity.converted or quantity.qualifier not in ("", "about"):
            continue
        before, after = claim.text[: quantity.start], claim.text[quantity.end :]
        named = known.measured.search(before)
        # Only the subject may precede the name of the measure.
        if named and quantity.counted.lower() in known.people and _is_subject(claim, before[: named.start()]):
            yield _number_fact(claim, named["name"].lower(), measure, _years(measure, claim))
            continue
        adjective = known.adjective.match(after)
        if adjective and _is_subject(claim, BEING_VERB.sub("", before)):
            yield _number_fact(claim, known.adjectives[adjective[1]], measure, _years(measure, claim))


def _dated(claim: Claim) -> Iterator[UniqueFact]:
    """'X was born on 14 March 1879', 'X (1879–1955) was …', 'X was founded in 1254'."""
    for dated in claim.dates:
        found = fact_words().happened.search(claim.text[: dated.start])
        if found and not is_alternative(claim.text, dated) and _is_subject(claim, claim.text[: found.start()]):
            yield _date_fact(claim, fact_words().events[found["event"].lower()], dated)
    for event, dated in zip(("birth", "death"), life := _life(claim), strict=False):
        yield _date_fact(claim, event, dated, life=(life[0].when, life[1].when))


def _life(claim: Claim) -> tuple[DateMention, ...]:
    """Birth and death in brackets right after the name that a sentence begins with, if they are there."""
    opening = claim.text.find("(")
    if opening < 0 or not _is_subject(claim, claim.text[:opening]):
        return ()
    inside = claim.text[opening : claim.text.find(")", opening) + 1]
    dates = [mention for mention in claim.dates if opening < mention.start < opening + len(inside)]
    if NOT_LIFE.search(inside) or len(dates) != 1:
        return ()
    return _ends(dates[0])


def _ends(mention: DateMention) -> tuple[DateMention, ...]:
    """The first and the last day of a period, if it is as long as a life."""
    is_life = mention.when.lasts and mention.when.precision in ("day", "year")
    if not is_life or mention.when.qualifier or mention.when.last_year - mention.when.first_year not in LIFE_YEARS:
        return ()
    return mention._replace(when=first_moment(mention.when)), mention._replace(when=last_moment(mention.when))


def _is_subject(claim: Claim, words: str) -> bool:
    """Whether the first words of a sentence are its subject and nothing else."""
    name = re.escape(claim.subject)
    opening = re.sub(r"(?:['’]s?|,| has| had)$", "", words.strip())
    is_subject = re.fullmatch(rf"{LEADING_PHRASE}(?:[Tt]he )?{name}", opening, re.IGNORECASE)
    return bool(is_subject) and _quote_names_subject(claim)


def _quote_names_subject(claim: Claim) -> bool:
    """Whether the page's own words name the subject.

    A claim has the name where the page says 'he', which on a page about a king may be another king.
    """
    quote = claim.quotes[0].text
    words = [word for word in re.findall(r"\w+", claim.subject) if len(word) > 2]
    return any(re.search(rf"\b{re.escape(word)}\b", quote) for word in words)


def _number_fact(
    claim: Claim, attribute: str, measure: Measure, years: frozenset[int], *, is_label: bool = False
) -> UniqueFact:
    quantity = measure.quantity
    named = f"{attribute} ({quantity.unit})" if quantity.unit else attribute
    return UniqueFact(claim, named, quantity, years, lasting=attribute in fact_words().lasting, is_label=is_label)


def _date_fact(
    claim: Claim, event: str, dated: DateMention, *, is_label: bool = False, life: Life | None = None
) -> UniqueFact:
    return UniqueFact(claim, event, dated, is_label=is_label, life=life)


def _years(measure: Measure, claim: Claim) -> frozenset[int]:
    """The years for which a sentence states a number: the last date before it, or the only one."""
    before = [dated.when for dated in claim.dates if dated.end <= measure.quantity.start]
    when = before[-1] if before else measure.when or (claim.dates[0].when if len(claim.dates) == 1 else None)
    return frozenset((when.first_year, when.last_year)) if when else frozenset()
