"""Facts that a thing has one of, as claims tell them: when somebody was born, how many live in a town.

In a whole book, two sentences that look alike are mostly about two things. A fact is only taken from a
claim that says in so many words of what it is: a label of a box or table, or a plain sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from kiwiresearch.atlas.fact import Fact, Life
from kiwiresearch.atlas.fact_words import plain_label, table
from kiwiresearch.claims.claim import Claim, Measure
from kiwiresearch.claims.conflicts.values import LIFE_YEARS, first_moment, last_moment
from kiwiresearch.evidence.citation import BOX
from kiwiresearch.text.quantities import Quantity, quantities_in
from kiwiresearch.text.when import Dated

LABEL = re.compile(r"(?P<of>[^\n]{1,200}?) — (?P<label>[^\n]{1,120}): (?P<value>[^\n]+)")
MONTH = r"(?:0?[1-9]|1[0-2])"
YEAR = re.compile(
    rf"(?:(?<![0-9–—-])(?:(?:0?[1-9]|[12][0-9]|3[01])-{MONTH}-|{MONTH}-(?=1[789]|20))|(?<!\b[0-9][–—-])(?<!\b[0-9]{{2}}[–—-])\b)"
    r"(1[0-9]{3}|20[0-9]{2})\b"
)
"""A year, with the day and month before it or without; not the end of '45-1050', which counts something else."""
LEADING = r"(?:(?:As of|In|By|At|On|According to) [^,]{1,60}, )?"
"""What may stand before the subject of a plain sentence: when, or who says so."""
BEING = re.compile(r" (?:is|stands|rises|was)(?: about| approximately)? $")
NOT_LIFE = re.compile(r"reign|rule|\br\.|\bfl\.|active|office|in power|founded|c\.|circa|\?|floruit|\bor\b|/", re.I)
UNIT = re.compile(r"\(([^()\d]{1,12})\)$")
BASES = ("census", "estimate")
OPENING = 6
"""A value stands at the beginning of its row, or it is one of several."""


def facts_of(claim: Claim, about: str, language: str = "eng") -> Iterator[Fact]:
    """The facts of a claim whose subject has the page `about`."""
    row = LABEL.fullmatch(claim.text)
    if row:
        found = _of_row(claim, row)
    elif claim.hedges or language != "eng":
        return
    else:
        found = chain(_measured(claim), _dated(claim))
    for fact in found:
        yield replace(fact, is_own=claim.ref.path == about)


def _of_row(claim: Claim, row: re.Match[str]) -> Iterator[Fact]:
    """What a row of a box says, or of a table whose label everybody uses in one sense."""
    label, start = plain_label(row["label"]), row.start("value")
    event = table().events.get(label)
    if event:
        dates = [dated for dated in claim.dates if dated.start >= start]
        is_one = len(dates) == 1 and len(YEAR.findall(row["value"])) <= 1
        if is_one and dates[0].start - start <= OPENING and not is_choice(claim.text, dates[0]):
            yield _date_fact(claim, event, dates[0], is_label=True)
    elif label and (claim.section == BOX or label in table().lasting | table().changing):
        values = [one for one in claim.measures if start <= one.quantity.start <= start + OPENING]
        if values:
            yield _number_of_row(claim, row, label, min(values, key=lambda one: one.quantity.start))


def _number_of_row(claim: Claim, row: re.Match[str], label: str, first: Measure) -> Fact:
    years = frozenset(map(int, YEAR.findall(claim.text[row.start("label") :])))
    basis = next((word for word in BASES if word[:3] in row["label"].lower()), "")
    measured = first._replace(quantity=_with_unit(first.quantity, row["label"], claim.text))
    return replace(_number_fact(claim, label, measured, years, is_label=True), basis=basis)


def _with_unit(quantity: Quantity, label: str, text: str) -> Quantity:
    """A number whose unit stands in the label, as in 'Area (km²)'."""
    unit = UNIT.search(label)
    if quantity.unit or not unit:
        return quantity
    read = quantities_in(f"{text[quantity.start : quantity.end]} {unit[1]}")
    is_whole = len(read) == 1 and read[0].unit
    return read[0]._replace(start=quantity.start, end=quantity.end) if is_whole else quantity


def lives_in(claim: Claim, name: str) -> Iterator[Fact]:
    """The birth and death of somebody whom a claim about something else names: 'a book of Einstein (1879–1955)'."""
    if claim.hedges:
        return
    for dated in claim.dates:
        before = claim.text[: dated.start]
        is_behind = before.rstrip("( ").lower().endswith(name.lower()) and before.rstrip().endswith("(")
        if is_behind and claim.text[dated.end : dated.end + 1] == ")" and (life := _ends(dated)):
            of_them = replace(claim, subject=name)
            for event, end in zip(("birth", "death"), life, strict=True):
                yield _date_fact(of_them, event, end, life=(life[0].when, life[1].when))


def is_choice(text: str, dated: Dated) -> bool:
    """'1601 or 1602' settles nothing."""
    return bool(re.match(r"\s*(?:or\b|/|\?)", text[dated.end :]) or re.search(r"(?:\bor|/)\s*$", text[: dated.start]))


def _measured(claim: Claim) -> Iterator[Fact]:
    """'X has a population of 5,000', 'The area of X is 12 km²', 'X is 324 m tall'."""
    known = table()
    for measure in claim.measures:
        quantity = measure.quantity
        if quantity.converted or quantity.qualifier not in ("", "about"):
            continue
        before, behind = claim.text[: quantity.start], claim.text[quantity.end :]
        named = known.measured.search(before)
        # What stands before the name of the measure is the subject and nothing else.
        if named and quantity.counted.lower() in known.people and _is_subject(claim, before[: named.start()]):
            yield _number_fact(claim, named["name"].lower(), measure, _years(measure, claim))
            continue
        adjective = known.adjective.match(behind)
        if adjective and _is_subject(claim, BEING.sub("", before)):
            yield _number_fact(claim, known.adjectives[adjective[1]], measure, _years(measure, claim))


def _dated(claim: Claim) -> Iterator[Fact]:
    """'X was born on 14 March 1879', 'X (1879–1955) was …', 'X was founded in 1254'."""
    for dated in claim.dates:
        told = table().happened.search(claim.text[: dated.start])
        if told and not is_choice(claim.text, dated) and _is_subject(claim, claim.text[: told.start()]):
            yield _date_fact(claim, table().events[told["event"].lower()], dated)
    for event, dated in zip(("birth", "death"), life := _life(claim), strict=False):
        yield _date_fact(claim, event, dated, life=(life[0].when, life[1].when))


def _life(claim: Claim) -> tuple[Dated, ...]:
    """Birth and death in brackets right behind the name that a sentence begins with; nothing where they are not."""
    opening = claim.text.find("(")
    if opening < 0 or not _is_subject(claim, claim.text[:opening]):
        return ()
    inside = claim.text[opening : claim.text.find(")", opening) + 1]
    dates = [one for one in claim.dates if opening < one.start < opening + len(inside)]
    if NOT_LIFE.search(inside) or len(dates) != 1:
        return ()
    return _ends(dates[0])


def _ends(one: Dated) -> tuple[Dated, ...]:
    """The first and the last day of a time as long as a life; nothing of any other."""
    is_life = one.when.lasts and one.when.precision in ("day", "year")
    if not is_life or one.when.qualifier or one.when.last_year - one.when.first_year not in LIFE_YEARS:
        return ()
    return one._replace(when=first_moment(one.when)), one._replace(when=last_moment(one.when))


def _is_subject(claim: Claim, words: str) -> bool:
    """Whether some words at the beginning of a sentence are its subject, with no other name beside it."""
    name = re.escape(claim.subject)
    said = re.sub(r"(?:['’]s?|,| has| had)$", "", words.strip())
    return bool(re.fullmatch(rf"{LEADING}(?:[Tt]he )?{name}", said, re.IGNORECASE)) and _names_itself(claim)


def _names_itself(claim: Claim) -> bool:
    """Whether the page's own words name the subject.

    A claim says the name where the page says 'he', and a page about a king speaks of other kings.
    """
    quote = claim.quotes[0].text
    words = [word for word in re.findall(r"\w+", claim.subject) if len(word) > 2]
    return any(re.search(rf"\b{re.escape(word)}\b", quote) for word in words)


def _number_fact(
    claim: Claim, attribute: str, measure: Measure, years: frozenset[int], *, is_label: bool = False
) -> Fact:
    quantity = measure.quantity
    named = f"{attribute} ({quantity.unit})" if quantity.unit else attribute
    return Fact(claim, named, quantity, years, lasting=attribute in table().lasting, is_label=is_label)


def _date_fact(claim: Claim, event: str, dated: Dated, *, is_label: bool = False, life: Life | None = None) -> Fact:
    return Fact(claim, event, dated, is_label=is_label, life=life)


def _years(measure: Measure, claim: Claim) -> frozenset[int]:
    """The years of which a sentence tells a number: the last that it names before it, or the only one."""
    before = [dated.when for dated in claim.dates if dated.end <= measure.quantity.start]
    when = before[-1] if before else measure.when or (claim.dates[0].when if len(claim.dates) == 1 else None)
    return frozenset((when.first_year, when.last_year)) if when else frozenset()
