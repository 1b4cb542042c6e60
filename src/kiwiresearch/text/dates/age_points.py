"""Centuries, millennia and ages in a text: 'the late 12th century BC', '66 million years ago'."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kiwiresearch.text.dates.calendar import AGO_FROM, FIRST_YEAR, LAST_YEAR, PRESENT_YEAR, WHOLE_PERCENT
from kiwiresearch.text.dates.point import DatePoint, read_era, with_leading_words, words_before
from kiwiresearch.text.dates.reading_words import DateWords

MAX_AGE_CHARS = 15
MAX_YEARS_AGO = 10**11
FIRST_COMPANY_YEAR = 1900
MAYBE_COMPANY = re.compile(r"BP|B\. ?P\.?")
"""Letters that may also be a company or a person's initials: 'In 2005 BP was …', 'In 1863 B. P. Hasdeu …'."""
NAME_AFTER = re.compile(r"[ \u00a0][A-Z][a-z]")
GAP = " \u00a0-"
AFTER_INITIALS = frozenset(" \u00a0'’")
MILLION = 1_000_000
"""From here on, fifty years make no difference."""


def centuries(text: str, date_words: DateWords) -> Iterator[DatePoint]:
    for noun in date_words.century_nouns:
        at = text.find(noun)
        while at >= 0:
            point = _century(text, at, noun, date_words)
            if point:
                yield point
            at = text.find(noun, at + 1)


def _century(text: str, at: int, noun: str, date_words: DateWords) -> DatePoint | None:
    """The century whose noun starts at an offset, or the two of 'the 13th and 12th centuries'."""
    end = at + len(noun)
    # Read backwards from the noun, which is rarer than ordinals; 90 characters are enough for two with all their words.
    found = date_words.century_ordinals_before.search(text, max(0, at - 90), at)
    if found and not text[end : end + 1].isalnum() and not date_words.century_in_name.match(text, end):
        kind = date_words.century_nouns[noun]
        last = _ordinal(found["ordinal"], date_words)
        start = found.start("prefix")
        point = DatePoint(start, end, kind, last, part=_part(found["prefix"], date_words))
        joined = (found["join"] or "").strip(" -–—")
        if found["first"]:
            point.start = found.start("first_prefix")
            point.number, point.last = _ordinal(found["first"], date_words), last
            point.part, point.last_part = _part(found["first_prefix"], date_words), point.part
            point.range_word = "list" if joined in date_words.both else ""
        if 0 < point.number <= 100 and last <= 100:
            read_era(text, point, date_words)
            _count_back(text, point, date_words)
            return with_leading_words(text, point, words_before(text, point.start), date_words)
    return None


def _count_back(text: str, point: DatePoint, date_words: DateWords) -> None:
    """'The 10th millennium BP' is the time from 10,000 to 9,000 years before present."""
    found = date_words.before_present.match(text, point.end)
    size = 100 if point.precision == "century" else 1000
    if not found or point.era or (point.precision == "century" and _is_ad(text, point, found)):
        return
    last = point.last or point.number
    first_most, first_least = _years_back(point.number, size, point.part, date_words)
    last_most, last_least = _years_back(last, size, point.last_part if point.last else point.part, date_words)
    point.number, point.last = max(first_most, last_most), min(first_least, last_least)
    point.end, point.precision, point.counted_from = found.end(), "age", PRESENT_YEAR
    point.part = point.last_part = ""


def _is_ad(text: str, point: DatePoint, found: re.Match[str]) -> bool:
    """'In the 20th century BP drilled for oil', 'in the 12th century before the present church': both AD."""
    if found["counted"] or max(point.number, point.last) * 100 > LAST_YEAR:
        return False
    if MAYBE_COMPANY.fullmatch(found["sign"]):
        return text[found.end() : found.end() + 1] in AFTER_INITIALS
    return found["in_words"] is not None and found["is_end"] is None


def _years_back(number: int, size: int, part: str, date_words: DateWords) -> tuple[int, int]:
    """How many years ago a century or millennium before present starts and ends."""
    low, high = date_words.parts[part] if part else WHOLE_PERCENT
    return number * size - size * low // 100, number * size - size * high // 100


def _part(words: str, date_words: DateWords) -> str:
    phrase = words.strip(" -")
    phrase = phrase.removesuffix(" the") if phrase not in date_words.prefixes else phrase
    prefix = date_words.prefixes.get(phrase)
    return prefix.value if prefix and prefix.kind == "part" else ""


def _ordinal(word: str, date_words: DateWords) -> int:
    # '12th' has two digits, '5th' one; a word such as 'fifth' has none and is in the table.
    figures = word[:2] if word[:2].isdigit() else word[:1]
    return int(figures) if figures.isdigit() else date_words.ordinals.get(word, 0)


def ages_in_words(text: str, date_words: DateWords) -> Iterator[DatePoint]:
    for found in date_words.ago_words.finditer(text) if any(word in text for word in date_words.ago_signs) else ():
        number = date_words.numbers.get(found["number"], 1) * date_words.scales[found["scale"]]
        point = DatePoint(found.start(), found.end(), "age", number, number, counted_from=AGO_FROM)
        yield with_leading_words(text, point, words_before(text, point.start), date_words)


def age_point(text: str, start: int, end: int, date_words: DateWords) -> DatePoint | None:
    """'66 million years ago', '12,000 BP', '65.5 Ma'."""
    found = date_words.ago.match(text, end)
    if not found or "±" in text[max(0, start - 2) : start]:
        return None
    scale = date_words.scales.get(found["scale"] or found["short"] or "", 1)
    first_scale = found["first_scale"]
    first = _scaled(text[start:end], date_words.scales[first_scale] if first_scale else scale)
    last = _scaled(found["last"], scale) if found["last"] else first
    if (
        min(first, last) < FIRST_YEAR
        or max(first, last) > MAX_YEARS_AGO
        or _is_company(text, start, end, found, date_words)
    ):
        return None
    counted_from = PRESENT_YEAR if found["present"] and max(first, last) < MILLION else AGO_FROM
    point = DatePoint(start, found.end(), "age", max(first, last), min(first, last), counted_from=counted_from)
    return with_leading_words(text, point, words_before(text, start), date_words)


def _is_company(text: str, start: int, end: int, found: re.Match[str], date_words: DateWords) -> bool:
    """'In 2005 BP was …', 'In 1863 B. P. Hasdeu …': the number is a year, and the letters a company or a name."""
    figures, letters, after = text[start:end], found["present"] or "", found.end()
    if not MAYBE_COMPANY.fullmatch(letters) or text[end:after].lstrip(GAP) != letters or not figures.isdigit():
        return False
    is_name = "." in letters and NAME_AFTER.match(text, after) is not None
    may_be_year = (FIRST_YEAR if is_name else FIRST_COMPANY_YEAR) <= int(figures) <= LAST_YEAR
    # 'in' or a month before the number suggests a year rather than an age.
    last = "".join(words_before(text, start)[-1:])
    is_in_year = last in date_words.evidence.in_year or last.capitalize() in date_words.months
    return may_be_year and text[after : after + 1] in AFTER_INITIALS and is_in_year


def _scaled(figures: str, scale: int) -> int:
    """A written number times a thousand or a million; 0 if it is not a number."""
    integer, _, decimals = figures.replace(",", "").partition(".")
    # '1.2.3' is not a number. Digits are multiplied as integers, so that 0.1 million is exactly 100,000.
    if "." in decimals or len(integer + decimals) > MAX_AGE_CHARS:
        return 0
    return int(int(integer + decimals) * scale // 10 ** len(decimals))
