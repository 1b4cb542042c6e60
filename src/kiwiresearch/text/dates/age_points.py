"""Centuries, millennia and ages in a text: 'the late 12th century BC', '66 million years ago'."""

from __future__ import annotations

from collections.abc import Iterator

from kiwiresearch.text.dates.evidence import FIRST_YEAR, words_before
from kiwiresearch.text.dates.language import DateWords
from kiwiresearch.text.dates.point import Point, give_era, led
from kiwiresearch.text.dates.units import AGO_FROM, PRESENT

LONGEST_AGE = 15
OLDEST = 10**11


def centuries(text: str, language: DateWords) -> Iterator[Point]:
    for noun in language.groups:
        at = text.find(noun)
        while at >= 0:
            point = _century(text, at, noun, language)
            if point:
                yield point
            at = text.find(noun, at + 1)


def _century(text: str, at: int, noun: str, language: DateWords) -> Point | None:
    """The century whose noun starts at a place, or the two of 'the 13th and 12th centuries'."""
    end = at + len(noun)
    found = language.group_before.search(text, max(0, at - 90), at)
    if found and not text[end : end + 1].isalnum() and not language.not_a_group.match(text, end):
        kind = language.groups[noun]
        last = _ordinal(found["ordinal"], language)
        start = found.start("lead")
        point = Point(start, end, kind, last, part=_part(found["lead"], language))
        joined = (found["join"] or "").strip(" -–—")
        if found["first"]:
            point.start = found.start("first_lead")
            point.number, point.last = _ordinal(found["first"], language), last
            point.part, point.last_part = _part(found["first_lead"], language), point.part
            point.opening = "list" if joined in language.both else ""
        if 0 < point.number <= 100 and last <= 100:
            give_era(text, point, language)
            return led(text, point, words_before(text, point.start), language)
    return None


def _part(words: str, language: DateWords) -> str:
    phrase = words.strip(" -")
    phrase = phrase.removesuffix(" the") if phrase not in language.leads else phrase
    lead = language.leads.get(phrase)
    return lead.value if lead and lead.kind == "part" else ""


def _ordinal(word: str, language: DateWords) -> int:
    figures = word[:2] if word[:2].isdigit() else word[:1]
    return int(figures) if figures.isdigit() else language.ordinals.get(word, 0)


def ages_in_words(text: str, language: DateWords) -> Iterator[Point]:
    for found in language.ago_words.finditer(text) if any(word in text for word in language.ago_signs) else ():
        number = language.numbers.get(found["number"], 1) * language.scales[found["scale"]]
        point = Point(found.start(), found.end(), "age", number, number, present=AGO_FROM)
        yield led(text, point, words_before(text, point.start), language)


def age(text: str, start: int, end: int, language: DateWords) -> Point | None:
    """'66 million years ago', '12,000 BP', '65.5 Ma'."""
    found = language.ago.match(text, end)
    if not found or "±" in text[max(0, start - 2) : start]:
        return None
    scale = language.scales.get(found["scale"] or found["short"] or "", 1)
    first_scale = found["first_scale"]
    first = _scaled(text[start:end], language.scales[first_scale] if first_scale else scale)
    last = _scaled(found["last"], scale) if found["last"] else first
    if min(first, last) < FIRST_YEAR or max(first, last) > OLDEST:
        return None
    point = Point(
        start, found.end(), "age", max(first, last), min(first, last), present=PRESENT if found["present"] else AGO_FROM
    )
    return led(text, point, words_before(text, start), language)


def _scaled(figures: str, scale: int) -> int:
    """A number as it is written, times a thousand or a million; 0 where it is none."""
    whole, _, part = figures.replace(",", "").partition(".")
    if "." in part or len(whole + part) > LONGEST_AGE:
        return 0
    return int(int(whole + part) * scale // 10 ** len(part))
