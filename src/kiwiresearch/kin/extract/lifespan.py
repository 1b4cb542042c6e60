"""When a person lived, as the first sentence puts it in brackets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kiwiresearch.kin.extract.patterns import regex
from kiwiresearch.kin.extract.spans import Span
from kiwiresearch.text.when import DateRange, dates_in

OLDEST = 122
DASH = regex.compile(r"\s*(?:[–—−-]|\bto\b)\s*")
REIGN = regex.compile(
    r"\b(?:reign\w*|ruled?|r\.|fl\.|floruit|flourished|active|served|in office|founded|sometimes)", regex.IGNORECASE
)
BORN = regex.compile(r"\b(?:born|b\.|né)(?!\w)", regex.IGNORECASE)
DIED = regex.compile(r"\b(?:died|d\.|killed|executed|assassinated)(?!\w)", regex.IGNORECASE)
BAPTISED = regex.compile(r"\b(?:bap\w*|bapt\.|chr(?:istened|\.))", regex.IGNORECASE)
OPEN_END = regex.compile(r"(?:[–—-]\s*(?:present|now|\?|\))?|present)\s*$", regex.IGNORECASE)
UNKNOWN = regex.compile(r"\?|unknown|uncertain|before|after", regex.IGNORECASE)
ERA_AFTER = regex.compile(r"\b(BCE?|B\.C\.(?:E\.)?)")
ERA = regex.compile(r"\b(?:BCE?|AD|CE|A\.D\.|B\.C\.)")
DOUBT = regex.compile(r"(?<=[\p{L}\d])\?(?= \d)")


@dataclass(frozen=True, slots=True)
class Lifespan:
    """Both ends of a life, where the words gave them."""

    birth: DateRange | None = None
    death: DateRange | None = None
    is_baptism: bool = False

    @property
    def is_plausible(self) -> bool:
        if not self.birth or not self.death:
            return True
        years = (self.death.latest - self.birth.earliest) / 365.25
        return 0 <= years <= OLDEST + 20 * (self.birth.qualifier != "" or self.birth.precision not in ("day", "year"))


def date_in(text: str, language: str, *, last: bool = False) -> DateRange | None:
    """The first or last date of a few words; a bare '849' counts as well where nothing else does."""
    plain = DOUBT.sub("", text)
    found = [dated for dated in dates_in(plain, language) if not dated.when.lasts or dated.when.qualifier]
    if found:
        return found[-1 if last else 0].when
    if regex.fullmatch(r"\s*\d{2,4}\s*(?:BC|AD)?\s*", text):
        lent = dates_in(f"in {text.strip()}", language)
        return lent[0].when if lent else None
    return None


def brackets_in(text: str) -> Iterator[Span]:
    """The outermost brackets, without their signs."""
    depth = start = 0
    for at, sign in enumerate(text):
        if sign == "(":
            depth += 1
            if depth == 1:
                start = at + 1
        elif sign == ")" and depth:
            depth -= 1
            if not depth:
                yield Span(start, at)


def lifespan_in(words: str, language: str) -> Lifespan | None:
    """What a bracket says of birth and death; None where it speaks of something else."""
    for part in regex.split(r";", words):
        found = _read(part, language)
        if found and (found.birth or found.death) and found.is_plausible:
            return found
    return None


def _year_in(text: str, language: str) -> DateRange | None:
    """The year of a date whose day cannot be read: 'September 5/ 6, 1566'."""
    years = regex.findall(r"(?<![\d/])\d{3,4}(?![\d/])", text)
    lent = dates_in(f"in {years[0]}", language) if len(years) == 1 else []
    return lent[0].when if lent else None


def _read(part: str, language: str) -> Lifespan | None:
    if REIGN.search(part):
        return None
    for dash in DASH.finditer(part):
        left, right = part[: dash.start()], part[dash.end() :]
        first = date_in(left, language, last=True)
        second = date_in(right, language) or (_year_in(right, language) if first else None)
        if not second:
            continue
        era = ERA_AFTER.search(right)
        if first and era and not ERA.search(left):
            first = date_in(f"{left.strip()} {era[1]}", language, last=True)
        if first:
            return Lifespan(first, second, bool(BAPTISED.search(left)))
        if UNKNOWN.search(left) and not DIED.search(left):
            return Lifespan(None, second)
    died = DIED.search(part)
    if died and BORN.search(part, 0, died.start()):
        return Lifespan(date_in(part[: died.start()], language), date_in(part[died.start() :], language))
    only = date_in(part, language)
    if not only:
        return None
    if DIED.search(part):
        return Lifespan(None, only)
    if BAPTISED.search(part):
        return Lifespan(only, None, is_baptism=True)
    return Lifespan(only) if BORN.search(part) or OPEN_END.search(part) else None
