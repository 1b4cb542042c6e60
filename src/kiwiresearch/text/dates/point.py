"""One date in a text, and the words around a number that show whether it is a year."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from kiwiresearch.text.dates.calendar import FIRST_YEAR, LAST_YEAR, Calendar
from kiwiresearch.text.dates.ranges import Precision
from kiwiresearch.text.dates.reading_words import DateWords

MAX_CONTEXT_CHARS = 48
NEXT_WORD = re.compile(r"[ \u00a0-]([^\W\d_]+(?:['’][^\W\d_]+)?)(?:[ \u00a0]([^\W\d_]+))?")
AND_YEAR = re.compile(r" [^\W\d_]{1,3} [12][0-9]{3}(?![0-9,])")
"""A short word and another year: ' and 1924'."""

OPENERS = "([{\"“„«'‘"
# After one of these a number is complete: no noun follows that it could count.
EDGES = frozenset(".,;:)]}!?–—\n\t\"”»'’/|")
EDGES_APART = frozenset((" –", " —", " -", " (", " |", " }"))
OPENING_QUOTES = "\"“„«'‘"
CLOSING_QUOTES = "\"”»'’"
DASHES = frozenset("–—-")
OPEN_START = re.compile(r"[(\[]\s?\??\s?[–—-]\s?$")
"""A range without a first year: '(–1803)', '(? – 1803)'."""

ENDS_RANGE = re.compile(r"(?<![0-9.,])(?<!/ )[0-9]{1,2} [–-] $")
"""'45 – 1050': a range whose first number is not a year is a range of counts, except 'Apollo 11 – 1969'."""
# 'd. Paris ' and 'born at Upper Slaughter '; not 'he went ', where a verb is in between.
AT_PLACE = re.compile(r"(?:^|[\s(;,])[^\s(;,]+(?: (?:at|in|near|of|the)| [^\W\d_a-z][\w.'’-]*,?){1,5} $")
MEASURES = frozenset("%‰°×+=*^$€£²³")
FIRST_CLEAR_YEAR = 1600
"""From here on, a number that is not round is rarely a count without a comma."""
CERTAIN_YEAR = 1999
"""Given to `is_counted` for any number that is a year unless a unit or a counted noun follows."""


def words_before(text: str, start: int) -> list[str]:
    """The last words before an offset, within its line and brackets, in lower case."""
    context = text[max(0, start - MAX_CONTEXT_CHARS) : start]
    for stop in "\n([;":
        if stop in context:
            context = context[context.rfind(stop) + 1 :]
    words = context.replace("-", " ").lower().split()
    if not context.isascii() or '"' in context or "'" in context:
        words = [word.lstrip(OPENING_QUOTES) if len(word) > 2 else word for word in words]
    # At full length, the first word may be cut off.
    return words[1:] if len(context) == MAX_CONTEXT_CHARS else words


def is_counted(text: str, end: int, year: int, date_words: DateWords) -> bool:
    """Whether a unit or a noun follows that the number counts."""
    if end >= len(text) or text[end] in EDGES:
        return text[end : end + 1] == "." and text[end + 1 : end + 2].isdigit()
    if text[end] in MEASURES or text[end + 1 : end + 2] in MEASURES:
        return True
    found = NEXT_WORD.match(text, end)
    if not found:
        return text[end] not in " \u00a0-"
    word = found[1].lower()
    if word in date_words.evidence.counted_nouns:
        return True
    if word in date_words.evidence.after or found[1][0].isupper():
        return False
    return not _is_clear(year) and (_is_plural(word) or _is_plural((found[2] or "").lower(), date_words))


def _is_clear(year: int) -> bool:
    return year >= FIRST_CLEAR_YEAR and year % 100 != 0


def _is_plural(word: str, date_words: DateWords | None = None) -> bool:
    if date_words and word in date_words.evidence.after:
        return False
    return len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is"))


def is_year(text: str, start: int, end: int, before: Sequence[str], date_words: DateWords) -> bool:
    """Whether the number from `start` to `end` is a year, judging by what is around it."""
    year = int(text[start:end])
    before = _without_doubt_words(before, date_words)
    last = before[-1] if before else ""
    if last in date_words.evidence.year_nouns and year <= LAST_YEAR:
        return True
    if is_counted(text, end, CERTAIN_YEAR if last in date_words.evidence.circa else year, date_words):
        return False
    if year < FIRST_YEAR:
        return end - start == 3 and _is_small_year(text, start, end, before, date_words)
    return year <= LAST_YEAR and _has_year_context(text, start, end, before, date_words)


def _without_doubt_words(before: Sequence[str], date_words: DateWords) -> Sequence[str]:
    """The words before a number without those that only express doubt: 'born probably 1803', 'm. 1st 1803'."""
    words, left = date_words.evidence, len(before)
    while left and (before[left - 1] in words.doubt_words or before[left - 1] in words.estimated):
        left -= 1
    # An estimate without any other sign of a year is more often a count.
    return before if not left and before and before[-1] in words.estimated else before[:left]


def is_bound(before: Sequence[str], date_words: DateWords) -> bool:
    """'no later than 1803': a bound of several words, whose last word alone would suggest a count."""
    phrases = (" ".join(before[-size:]) for size in (2, 3) if len(before) >= size)
    return any((prefix := date_words.prefixes.get(phrase)) and prefix.kind in ("before", "after") for phrase in phrases)


def _is_small_year(text: str, start: int, end: int, before: Sequence[str], date_words: DateWords) -> bool:
    if not before or text[start - 1] in OPENERS:
        return False
    prefix = date_words.prefixes.get(before[-1])
    opens = prefix is not None and prefix.kind in ("from", "between")
    if opens and not date_words.evidence.reign_words.isdisjoint(before[-5:-1]):
        return True
    if before[-1] not in date_words.evidence.before_three_digits:
        return False
    if len(before) > 1 and before[-1] in date_words.evidence.weak_before and before[-2] in date_words.evidence.amounts:
        return False
    if len(before) > 1 and before[-2].isdigit():
        return False
    if _at_edge(text, end):
        return True
    found = NEXT_WORD.match(text, end)
    return found is not None and (found[1].lower() in date_words.evidence.after or found[1][0].isupper())


def _at_edge(text: str, end: int) -> bool:
    if end >= len(text) or text[end] in EDGES or text[end : end + 2] in EDGES_APART:
        return True
    return text[end] == "-" and text[end + 1 : end + 2].isdigit()


def _has_year_context(text: str, start: int, end: int, before: Sequence[str], date_words: DateWords) -> bool:
    # From the clearest context to the vaguest: the first that applies decides.
    if start == 0 or text[start - 1] == "\n":
        return _opens_line(text, end, date_words)
    if text[start - 1] in OPENERS:
        return _at_edge(text, end) or text[start - 1] in "(["
    if text[start - 1] == "c" or is_bound(before, date_words):
        return True
    if OPEN_START.search(text, max(0, start - 5), start):
        return _at_edge(text, end)
    words = date_words.evidence
    last = before[-1] if before else ""
    second = before[-2] if len(before) > 1 else ""
    if not last:
        return _at_edge(text, end)
    if last in words.weak_before and (second in words.amounts or f"{second} {last}" in words.amounts):
        return False
    if last in words.before:
        return True
    if last in words.determiners or last.endswith(("'s", "’s")):
        # 'Between 45 and 1050 in all': if one end cannot be a year, the other is a count too.
        ends_count = (
            last in date_words.both and second.isdigit() and len(second) < 3 and not _is_clear(int(text[start:end]))
        )
        return not (_at_edge(text, end) or ends_count)
    if last == "to":
        return second in words.before_to
    if text[end : end + 1] == ")" and (second in words.authors or _opens_bracket(text, start, last)):
        return True
    return _after_comma(text, start, end, last) or _after_place(text, start, end, before, date_words)


def _after_place(text: str, start: int, end: int, before: Sequence[str], date_words: DateWords) -> bool:
    """'d. Paris 1803' and 'born at Upper Slaughter 1803;': only names are between the event and the number."""
    if date_words.evidence.life_events.isdisjoint(before) or not _at_edge(text, end):
        return False
    found = AT_PLACE.search(text, max(0, start - MAX_CONTEXT_CHARS), start)
    return found is not None and found[0].strip(" (;,").split()[0].lower() in date_words.evidence.life_events


def _opens_bracket(text: str, start: int, last: str) -> bool:
    """'(Sliwa 2004)': only one word is between the bracket and the number."""
    bracket = text.rfind("(", max(0, start - len(last) - 2), start)
    return bracket >= 0 and text[bracket + 1 : start - 1].lower() == last


def _opens_line(text: str, end: int, date_words: DateWords) -> bool:
    if _at_edge(text, end) or text[end] == "-":
        return True
    found = NEXT_WORD.match(text, end)
    return found is not None and (found[1][0].isupper() or found[1].lower() in date_words.evidence.after)


def _after_comma(text: str, start: int, end: int, last: str) -> bool:
    """'Paris, 1944.' and 'Reims (France), 1944': the number is alone between two punctuation marks."""
    mark = last.rstrip(CLOSING_QUOTES)[-1:]
    if (
        text[start - 1] == " "
        and ((mark and mark in ",;:–—") or text[start - 3 : start] == " - ")
        and not last[0].isdigit()
        and (_is_clear(int(text[start:end])) or not ENDS_RANGE.search(text, max(0, start - 8), start))
    ):
        return _at_edge(text, end) or bool(AND_YEAR.match(text, end))
    return False


Era = Literal["", "bc", "ad"]

WORD = re.compile(r"[^\s()\[\];-]+")


@dataclass(slots=True)
class DatePoint:
    """One date in a text; what it lacks may be completed from a neighbouring one."""

    start: int
    end: int
    precision: Precision
    number: int = 0
    """The year, the first year of a decade, the number of a century, or the years ago."""
    last: int = 0
    """If the point is a pair, the last year, century or number of years ago."""
    month: int = 0
    last_month: int = 0
    day: int = 0
    last_day: int = 0
    era: Era = ""
    counted_from: int = 0
    """The year from which an age is counted back."""
    is_hundreds: bool = False
    """Whether a century is given by its first year: '1800s'."""
    part: str = ""
    last_part: str = ""
    season: str = ""
    qualifier: str = ""
    """The kind of its prefix, if that qualifies it: about, before, after, until, since."""
    range_word: str = ""
    """'from' or 'between', if the point starts a range; 'list' for 'the 13th and 12th centuries'."""
    calendar: Calendar | None = None
    either: bool = False
    """Whether one of the two is meant, and not the time between them: '3 or 4 May 1803'."""
    is_certain: bool = True
    """Whether it is certainly a date, even if nothing else confirms it."""
    range_start: int = -1
    """Where the range starts, including its 'from' or 'between'."""

    def __post_init__(self) -> None:
        self.range_start = self.start if self.range_start < 0 else self.range_start

    def is_pair(self) -> bool:
        """Whether it has two ends, whatever it means by them."""
        has_last = self.last > 0 or self.precision == "age"  # an age may reach to no years ago
        return (has_last and self.last != self.number) or bool(self.last_month or self.last_day)


def with_leading_words(text: str, point: DatePoint, before: Sequence[str], date_words: DateWords) -> DatePoint:
    """Apply the words before a date that change its meaning."""
    core = point.range_start = point.start
    if core and text[core - 1] in OPENERS:
        return point
    left = len(before)
    while left and before[left - 1] in date_words.prefix_ends:
        # The longest phrase first: 'no later than' means 'before', although 'than' alone means nothing.
        for size in (4, 3, 2, 1):
            prefix = date_words.prefixes.get(" ".join(before[left - size : left])) if size <= left else None
            if prefix:
                break
        if not prefix or (prefix.kind == "before" and _is_attributive(text, point, before[left - 1], date_words)):
            break
        if not _apply(point, prefix.kind, prefix.value):
            break
        left -= size
        if prefix.kind != "skippable":
            point.range_start = start_of(text, core, len(before) - left)
        if prefix.kind not in ("skippable", "from", "between"):
            point.start = point.range_start
    return point


def _is_attributive(text: str, point: DatePoint, word: str, date_words: DateWords) -> bool:
    """'by the 18th century physician': the date only describes a noun."""
    if word not in date_words.evidence.before_attributes or point.precision not in ("century", "millennium"):
        return False
    found = NEXT_WORD.match(text, point.end)
    return found is not None and found[1].lower() not in date_words.evidence.after


def _apply(point: DatePoint, kind: str, value: str) -> bool:
    """Apply a prefix phrase; False if it does not fit the date."""
    if kind == "part":
        if point.part or point.precision in ("day", "age"):
            return False
        point.part = value
    elif kind == "season":
        if point.precision != "year" or point.season:
            return False
        point.season = value
    elif kind in ("older", "younger"):
        if point.precision != "age" or point.qualifier:
            return False
        point.qualifier = "before" if kind == "older" else "after"
    elif kind == "ad":
        point.era = "ad"
    elif kind in ("from", "between"):
        point.range_word = kind
    elif kind != "skippable":
        if point.qualifier:
            return False
        point.qualifier = kind
    return True


def start_of(text: str, end: int, count: int) -> int:
    """Where the last `count` words before an offset start."""
    first = max(0, end - MAX_CONTEXT_CHARS)
    start = [word.start() for word in WORD.finditer(text, first, end)][-count]
    while text[start] in OPENING_QUOTES:
        start += 1
    return start


def read_era(text: str, point: DatePoint, date_words: DateWords) -> None:
    found = date_words.era.match(text, point.end)
    if found and not found["not"]:
        point.end = found.end()
        point.era = "bc" if found["bc"] else "ad"
