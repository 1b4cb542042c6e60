"""Dates as they are written: EDTF for storage, words for readers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from kiwiresearch.text.dates import calendar
from kiwiresearch.text.dates.calendar import FIRST_GREGORIAN_DAY, SEASON_MONTHS, Day, DaySpan, astronomical_year
from kiwiresearch.text.dates.language import WrittenForms, written_forms

if TYPE_CHECKING:
    from kiwiresearch.text.dates.ranges import DateRange

EDTF_SEASONS = {"spring": 21, "summer": 22, "autumn": 23, "winter": 24}


def edtf(when: DateRange) -> str:
    sign = "~" if when.qualifier == "about" else ""
    unit = _edtf_unit(when)
    first, last = _edtf_day(when, when.first_day, "earliest") + sign, _edtf_day(when, when.last_day, "latest") + sign
    if when.qualifier == "before":
        return f"../{unit or last}" if when.lasts else f"[..{unit or last}]"
    if when.qualifier == "after":
        return f"{unit or first}/.." if when.lasts else f"[{unit or first}..]"
    if unit and not when.lasts:
        return unit + sign
    return f"{first}/{last}" if when.lasts else f"[{first}..{last}]"


def _edtf_unit(when: DateRange) -> str:
    """The single EDTF date that covers exactly this range; empty if there is none."""
    span, day = (when.earliest, when.latest), when.first_day
    if when.earliest == when.latest:
        return _edtf_day(when, day, "earliest")
    if span == calendar.years(day.year, day.year):
        return _edtf_year(day.year)
    if day.year > 0 and span == calendar.month_days(day.year, day.month):
        return f"{_edtf_year(day.year)}-{day.month:02}"
    if day.year >= 1000 and day.year % 10 == 0 and span == calendar.years(*calendar.rounded(day.year, 10, bc=False)):
        return f"{_edtf_year(day.year)[:-1]}X"
    seasons = (name for name in SEASON_MONTHS if span == calendar.season(day.year, name))
    return next((f"{_edtf_year(day.year)}-{EDTF_SEASONS[name]}" for name in seasons), "")


def _edtf_day(when: DateRange, day: Day, end: str) -> str:
    if when.precision not in ("day", "month", "season") and (day.month, day.day) == (
        (1, 1) if end == "earliest" else (12, 31)
    ):
        return _edtf_year(day.year)
    return f"{_edtf_year(day.year)}-{day.month:02}-{day.day:02}"


def _edtf_year(year: int) -> str:
    count = astronomical_year(year)
    if abs(count) > 9999:
        return f"Y{count}"
    return f"-{-count:04}" if count < 0 else f"{count:04}"


WHOLE = (0, 100)
NOUNS = ("decade", "century", "millennium")
SAID_ONCE = ("day", "month", "century", "millennium")
MAX_DASHED_YEARS = 400
MIN_AGO = 1000
"""Fewer years ago are written as years."""
MAX_DATED = 1_000_000
"""More years before present than radiometric dating of this kind can measure."""
ALWAYS_A_YEAR = range(1000, 2101)
"""Years that need no era to be known as years."""


class NamedSpan(NamedTuple):
    """A period and its name; the era is separate, since a range gives it only once."""

    span: DaySpan
    text: str
    era: str = ""


def words(when: DateRange, language: str) -> str:
    forms = written_forms(language)
    lasting = {"before": "until", "after": "since"} if when.lasts else {}
    form = lasting.get(when.qualifier, when.qualifier)
    text = _age(when, forms) if when.precision == "age" else _single(when, forms)
    if text and form not in ("", "about"):
        text = _noun(text, when, forms)
    text = text or _pair(when, forms)
    if when.calendar == "julian" and when.latest >= FIRST_GREGORIAN_DAY:
        text = forms.fill("old_style", text)
    elif when.calendar == "gregorian" and when.latest < FIRST_GREGORIAN_DAY:
        text = forms.fill("new_style", text)
    return forms.fill(form, text) if form else text


def _noun(text: str, when: DateRange, forms: WrittenForms) -> str:
    """'the 1960s': the text with an article, if it needs one after words such as 'since'."""
    article = forms.templates["article"]
    return article + text if when.precision in NOUNS and not text.startswith(article) else text


def _single(when: DateRange, forms: WrittenForms) -> str:
    """The name of a range that is exactly one day, month, century or the like, or a part of one."""
    for day in (when.first_day, when.last_day):
        for name in _names(when, day, forms):
            if name.span == (when.earliest, when.latest):
                return _with_era(name.text, name.era, forms)
    return ""


def _pair(when: DateRange, forms: WrittenForms) -> str:
    """A range as its first and its last unit; in days if no larger unit fits."""
    first = next((name for name in _names(when, when.first_day, forms) if name.span.earliest == when.earliest), None)
    last = next((name for name in _names(when, when.last_day, forms) if name.span.latest == when.latest), None)
    if first is None or last is None:
        first, last = (_year(day, forms) for day in (when.first_day, when.last_day))
    if (first.span.earliest, last.span.latest) != (when.earliest, when.latest):
        first, last = (_day(when, day, forms) for day in (when.first_day, when.last_day))
    whole_years = when.precision not in ("day", "month")
    once = first.era == last.era == "bc" and whole_years
    start = first.text if once else _with_era(first.text, first.era, forms)
    end = _with_era(last.text, last.era, forms)
    if first.era == "bc" and end.isdigit():
        end = forms.fill("ad", end)
    if not when.lasts:
        return forms.fill("between", _noun(start, when, forms), _noun(end, when, forms))
    if _needs_words(start, end):
        return forms.fill("from", start, end)
    if when.precision in SAID_ONCE and first.era == last.era and (whole_years or when.first_year == when.last_year):
        start = _without_end(start, last.text if once else end)
    ad = forms.fill("ad", "")
    if when.precision == "year" and start.startswith(ad):
        end = end.removeprefix(ad)
    short = " " not in start.removeprefix(ad) and end[0].isdigit()
    return f"{start}–{end}" if short else f"{start} – {end}"


def _needs_words(start: str, end: str) -> bool:
    """Whether two years with a dash could be taken for a range of counts: '1000–1500'."""
    if not (start.isdigit() and end.isdigit()):
        return False
    first, last = int(start), int(end)
    return last - first > MAX_DASHED_YEARS or (first % 100 == 0 and last % 100 == 0)


def _without_end(text: str, other: str) -> str:
    """'5 June' of '5 June 1944' before '9 July 1944': without the end that both have in common."""
    words, others = text.split(" "), other.split(" ")
    while len(words) > 1 and len(others) > 1 and words[-1] == others[-1]:
        words.pop()
        others.pop()
    return " ".join(words)


def _with_era(text: str, era: str, forms: WrittenForms) -> str:
    return forms.fill(era, text) if era else text


def _names(when: DateRange, day: Day, forms: WrittenForms) -> list[NamedSpan]:
    """The unit of the range's precision that a day is in, complete first, then its parts."""
    if when.precision == "day":
        return [_day(when, day, forms)]
    if when.precision == "season":
        return _seasons(day, forms)
    makers = {"month": _month, "decade": _decade, "century": _century, "millennium": _millennium}
    make = makers.get(when.precision)
    if make is None:
        return [_year(day, forms)]
    parts = [("", WHOLE), *((part.written, part.percent) for part in forms.parts)]
    return [name for text, percent in parts for name in make(day, text, percent, forms)]


def _day(when: DateRange, day: Day, forms: WrittenForms) -> NamedSpan:
    number = when.earliest if day == when.first_day else when.latest
    return NamedSpan(DaySpan(number, number), _filled("day", day, forms), _after(day))


def _filled(form: str, day: Day, forms: WrittenForms, **more: str) -> str:
    return forms.fill(form, day=day.day, month=forms.months[day.month - 1], year=_figure(day, forms), **more)


def _figure(day: Day, forms: WrittenForms) -> str:
    """The year as it is written after a month: BC comes after everything, AD before the year."""
    text = f"{abs(day.year):,}" if abs(day.year) >= 10_000 else str(abs(day.year))
    return text if day.year < 0 or day.year in ALWAYS_A_YEAR else forms.fill("ad", text)


def _after(day: Day) -> str:
    return "bc" if day.year < 0 else ""


def _year(day: Day, forms: WrittenForms) -> NamedSpan:
    return NamedSpan(calendar.years(day.year, day.year), _figure(day, forms), _after(day))


def _month(day: Day, part: str, percent: tuple[int, int], forms: WrittenForms) -> list[NamedSpan]:
    span = calendar.month_days(day.year, day.month, percent)
    return [NamedSpan(span, part + _filled("month", day, forms), _after(day))]


def _seasons(day: Day, forms: WrittenForms) -> list[NamedSpan]:
    found = []
    for year in (day.year, day.year - 1 if day.year != 1 else -1):
        at = Day(year, 1, 1)
        for name in SEASON_MONTHS:
            text = _filled("season", at, forms, season=forms.seasons[name])
            found.append(NamedSpan(calendar.season(year, name), text, _after(at)))
    for part in forms.parts:
        span = calendar.part_of_year(day.year, part.percent)
        found.append(NamedSpan(span, part.written + _figure(day, forms), _after(day)))
    return found


def _decade(day: Day, part: str, percent: tuple[int, int], forms: WrittenForms) -> list[NamedSpan]:
    first = abs(day.year) // 10 * 10
    # 'The 1900s' are read as a hundred years.
    return _rounded(first, 10, day, part, percent, forms) if first % 100 or first == 2000 else []


def _century(day: Day, part: str, percent: tuple[int, int], forms: WrittenForms) -> list[NamedSpan]:
    hundreds = abs(day.year) // 100 * 100
    rounded = _rounded(hundreds, 100, day, part, percent, forms) if hundreds not in (0, 2000) else []
    return [*_grouped("century", 100, day, part, percent, forms), *rounded]


def _millennium(day: Day, part: str, percent: tuple[int, int], forms: WrittenForms) -> list[NamedSpan]:
    return _grouped("millennium", 1000, day, part, percent, forms)


def _rounded(
    first: int, size: int, day: Day, part: str, percent: tuple[int, int], forms: WrittenForms
) -> list[NamedSpan]:
    bounds = calendar.rounded(first, size, bc=day.year < 0)
    text = forms.fill("decade", first)
    article = _article(part, forms) or (forms.templates["article"] if not part and 0 < day.year < 1000 else "")
    era = "ad_after" if 0 < day.year < 100 else _after(day)
    return [NamedSpan(calendar.years(*bounds, percent), part + article + text, era)]


def _grouped(
    form: str, size: int, day: Day, part: str, percent: tuple[int, int], forms: WrittenForms
) -> list[NamedSpan]:
    number = (abs(day.year) - 1) // size + 1
    names = []
    # The turn of a century starts in the one before.
    for at in (number, number - 1, number + 1) if percent[0] < 0 else (number,):
        if at > 0:
            bounds = calendar.grouped(at, size, bc=day.year < 0)
            text = part + _article(part, forms) + forms.fill(form, _ordinal(at, forms))
            names.append(NamedSpan(calendar.years(*bounds, percent), text, _after(day)))
    return names


def _article(part: str, forms: WrittenForms) -> str:
    return forms.templates["article"] if " " in part.strip() else ""


def _ordinal(number: int, forms: WrittenForms) -> str:
    endings = forms.ordinals
    template = endings.get(str(number % 100)) or endings.get(str(number % 10)) or endings["other"]
    return template.format(number)


def _age(when: DateRange, forms: WrittenForms) -> str:
    """'66 million years ago', if a round number covers exactly this time."""
    first, last = astronomical_year(when.first_year), astronomical_year(when.last_year)
    is_pair = when.lasts and when.qualifier in ("", "about")
    for present, form in ((calendar.AGO_FROM, "ago"), (calendar.PRESENT, "present")):
        back = present - (first + last) // 2
        if not is_pair and back >= MIN_AGO and calendar.ago(back, back, present) == (when.earliest, when.latest):
            return forms.fill(form, _scaled(back, forms))
    ends, form = [calendar.AGO_FROM - year for year in (first, last)], "ago"
    if ends[1] < MIN_AGO:
        return ""
    dated = [calendar.PRESENT - year for year in (first, last)]
    if dated[1] >= MIN_AGO and dated[0] < MAX_DATED and _zeros(dated) > _zeros(ends):
        ends, form = dated, "present"
    most, least = (_scaled(number, forms) for number in ends)
    if any(scaled == f"{number:,}" for scaled, number in zip((most, least), ends, strict=True)):
        most, least = (f"{number:,}" for number in ends)  # 'million' after the second would apply to both
    return forms.fill("from" if when.lasts else "between", most, forms.fill(form, least))


def _zeros(numbers: Sequence[int]) -> int:
    """How round some numbers are: the zeros they end in."""
    return sum(len(str(number)) - len(str(number).rstrip("0")) for number in numbers)


def _scaled(number: int, forms: WrittenForms) -> str:
    for scale, name in forms.scales:
        if number >= scale and number * 1000 % scale == 0:
            return f"{number / scale:g} {name}" if number < 1000 * scale else f"{number // scale:,} {name}"
    return f"{number:,}"
