"""Whether a bare number is a year: what stands before it, and what is counted behind it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kiwiresearch.text.dates.language import DateWords

LONGEST_LOOK = 48
NEXT_WORD = re.compile(r"[ \u00a0-]([^\W\d_]+(?:['’][^\W\d_]+)?)(?:[ \u00a0]([^\W\d_]+))?")
AND_YEAR = re.compile(r" [^\W\d_]{1,3} [12][0-9]{3}(?![0-9,])")
OPENERS = "([{\"“„«'‘"
EDGES = frozenset(".,;:)]}!?–—\n\t\"”»'’/|")
EDGES_APART = frozenset((" –", " —", " -", " (", " |", " }"))
OPENING_QUOTES = "\"“„«'‘"
CLOSING_QUOTES = "\"”»'’"
DASHES = "–—-"
OPEN_START = re.compile(r"[(\[]\s?\??\s?[–—-]\s?$")
ENDS_RANGE = re.compile(r"(?<![0-9.,])(?<!/ )[0-9]{1,2} [–-] $")
"""'45 – 1050': a range whose first figure is no year is one of counts, but for 'Apollo 11 – 1969'."""
AT_PLACE = re.compile(r"(?:^|[\s(;,])[^\s(;,]+(?: (?:at|in|near|of|the)| [^\W\d_a-z][\w.'’-]*,?){1,5} $")
MEASURES = frozenset("%‰°×+=*^$€£²³")
FIRST_YEAR, LAST_YEAR = 1000, 2100
FIRST_CLEAR_YEAR, CLEAR_YEAR = 1600, 1999
"""From here on a number that is not round is rarely a count that is written without a comma."""


def words_before(text: str, start: int) -> list[str]:
    """The last words before a place, on its line and in its brackets, in lower case."""
    look = text[max(0, start - LONGEST_LOOK) : start]
    for stop in "\n([;":
        if stop in look:
            look = look[look.rfind(stop) + 1 :]
    words = look.replace("-", " ").lower().split()
    if not look.isascii() or '"' in look or "'" in look:
        words = [word.lstrip(OPENING_QUOTES) if len(word) > 2 else word for word in words]
    # The first word of a long look may be cut.
    return words[1:] if len(look) == LONGEST_LOOK else words


def is_counted(text: str, end: int, year: int, language: DateWords) -> bool:
    """Whether what follows is a unit or a noun that the number counts."""
    if end >= len(text) or text[end] in EDGES:
        return text[end : end + 1] == "." and text[end + 1 : end + 2].isdigit()
    if text[end] in MEASURES or text[end + 1 : end + 2] in MEASURES:
        return True
    found = NEXT_WORD.match(text, end)
    if not found:
        return text[end] not in " \u00a0-"
    word = found[1].lower()
    if word in language.evidence.counted:
        return True
    if word in language.evidence.follows or found[1][0].isupper():
        return False
    return not _is_clear(year) and (_is_plural(word) or _is_plural((found[2] or "").lower(), language))


def _is_clear(year: int) -> bool:
    return year >= FIRST_CLEAR_YEAR and year % 100 != 0


def _is_plural(word: str, language: DateWords | None = None) -> bool:
    if language and word in language.evidence.follows:
        return False
    return len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is"))


def is_year(text: str, start: int, end: int, before: Sequence[str], language: DateWords) -> bool:
    """Whether the figures from `start` to `end` name a year, going by what stands around them."""
    year = int(text[start:end])
    before = _telling(before, language)
    last = before[-1] if before else ""
    if last in language.evidence.certain and year <= LAST_YEAR:
        return True
    if is_counted(text, end, CLEAR_YEAR if last in language.evidence.likely else year, language):
        return False
    if year < FIRST_YEAR:
        return end - start == 3 and _is_small_year(text, start, end, before, language)
    return year <= LAST_YEAR and _is_named(text, start, end, before, language)


def _telling(before: Sequence[str], language: DateWords) -> Sequence[str]:
    """The words before a number without those that only doubt it: 'born probably 1803', 'm. 1st 1803'."""
    words, left = language.evidence, len(before)
    while left and (before[left - 1] in words.passed or before[left - 1] in words.estimated):
        left -= 1
    # An estimate that nothing else tells to be of a time is more often a count.
    return before if not left and before and before[-1] in words.estimated else before[:left]


def is_bound(before: Sequence[str], language: DateWords) -> bool:
    """'no later than 1803': a bound of several words, of which the last alone would speak for a count."""
    phrases = (" ".join(before[-size:]) for size in (2, 3) if len(before) >= size)
    return any((lead := language.leads.get(phrase)) and lead.kind in ("before", "after") for phrase in phrases)


def _is_small_year(text: str, start: int, end: int, before: Sequence[str], language: DateWords) -> bool:
    if not before or text[start - 1] in OPENERS:
        return False
    lead = language.leads.get(before[-1])
    opens = lead is not None and lead.kind in ("from", "between")
    if opens and not language.evidence.reigns.isdisjoint(before[-5:-1]):
        return True
    if before[-1] not in language.evidence.small:
        return False
    if len(before) > 1 and before[-1] in language.evidence.weak and before[-2] in language.evidence.amounts:
        return False
    if len(before) > 1 and before[-2].isdigit():
        return False
    if _at_edge(text, end):
        return True
    found = NEXT_WORD.match(text, end)
    return found is not None and (found[1].lower() in language.evidence.follows or found[1][0].isupper())


def _at_edge(text: str, end: int) -> bool:
    if end >= len(text) or text[end] in EDGES or text[end : end + 2] in EDGES_APART:
        return True
    return text[end] == "-" and text[end + 1 : end + 2].isdigit()


def _is_named(text: str, start: int, end: int, before: Sequence[str], language: DateWords) -> bool:
    if start == 0 or text[start - 1] == "\n":
        return _opens_line(text, end, language)
    if text[start - 1] in OPENERS:
        return _at_edge(text, end) or text[start - 1] in "(["
    if text[start - 1] == "c" or is_bound(before, language):
        return True
    if OPEN_START.search(text, max(0, start - 5), start):
        return _at_edge(text, end)
    words = language.evidence
    last = before[-1] if before else ""
    second = before[-2] if len(before) > 1 else ""
    if not last:
        return _at_edge(text, end)
    if last in words.weak and (second in words.amounts or f"{second} {last}" in words.amounts):
        return False
    if last in words.before:
        return True
    if last in words.determiners or last.endswith(("'s", "’s")):
        # 'Between 45 and 1050 in all': figures that cannot be a year make a count of the other end.
        ends_count = (
            last in language.both and second.isdigit() and len(second) < 3 and not _is_clear(int(text[start:end]))
        )
        return not (_at_edge(text, end) or ends_count)
    if last == "to":
        return second in words.leading_to
    if text[end : end + 1] == ")" and (second in words.authors or _opens_bracket(text, start, last)):
        return True
    return _after_comma(text, start, end, last) or _after_place(text, start, end, before, language)


def _after_place(text: str, start: int, end: int, before: Sequence[str], language: DateWords) -> bool:
    """'d. Paris 1803' and 'born at Upper Slaughter 1803;': only names stand between the event and the figures."""
    if language.evidence.events.isdisjoint(before) or not _at_edge(text, end):
        return False
    found = AT_PLACE.search(text, max(0, start - LONGEST_LOOK), start)
    return found is not None and found[0].strip(" (;,").split()[0].lower() in language.evidence.events


def _opens_bracket(text: str, start: int, last: str) -> bool:
    """'(Sliwa 2004)': one word stands between the bracket and the figures."""
    bracket = text.rfind("(", max(0, start - len(last) - 2), start)
    return bracket >= 0 and text[bracket + 1 : start - 1].lower() == last


def _opens_line(text: str, end: int, language: DateWords) -> bool:
    if _at_edge(text, end) or text[end] == "-":
        return True
    found = NEXT_WORD.match(text, end)
    return found is not None and (found[1][0].isupper() or found[1].lower() in language.evidence.follows)


def _after_comma(text: str, start: int, end: int, last: str) -> bool:
    """'Paris, 1944.' and 'Reims (France), 1944': the figures stand alone between two marks."""
    mark = last.rstrip(CLOSING_QUOTES)[-1:]
    if (
        text[start - 1] == " "
        and ((mark and mark in ",;:–—") or text[start - 3 : start] == " - ")
        and not last[0].isdigit()
        and (_is_clear(int(text[start:end])) or not ENDS_RANGE.search(text, max(0, start - 8), start))
    ):
        return _at_edge(text, end) or bool(AND_YEAR.match(text, end))
    return False
