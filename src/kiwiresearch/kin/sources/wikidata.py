"""Wikidata as a source: statements with precision, calendar, rank and qualifiers, each as a quotable line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from kiwiresearch.errors import SourceUnreachable
from kiwiresearch.ids import BookId
from kiwiresearch.kin.source_facts import ExtractedFact, PersonReading, Snippet
from kiwiresearch.kin.sources import wikidata_queries as queries
from kiwiresearch.kin.sources.gate import Gate
from kiwiresearch.kin.sources.plugin import Plugin
from kiwiresearch.kin.sources.request_limits import FetchedPage
from kiwiresearch.kin.sources.site import PluginSource, fetch_all, source_record
from kiwiresearch.kin.sources.source import FetchedRecord, PersonQuery, quotable_line
from kiwiresearch.kin.sources.wikidata_queries import Endpoint, Row
from kiwiresearch.kin.tree import DATE_FIELDS, RELATION_FIELDS, FieldName, Qualifier, Sex
from kiwiresearch.text.dates import (
    FIRST_GREGORIAN_DAY,
    Calendar,
    DateRange,
    Precision,
    calendar,
    calendar_year,
    dates_in,
    day_number,
    month_length,
)
from kiwiresearch.zim import EntryRef

# '+1815-12-10T00:00:00Z' and '-0043-00-00T…', where month and day are 0 if they are not given.
MOMENT = re.compile(r"([+-]?)(\d{4,9})-(\d\d)-(\d\d)T")
JULIAN = "Q1985786"
GREGORIAN = "Q1985727"
CIRCA = frozenset({"Q5727902", "circa"})
PRECISIONS: dict[int, Precision] = {6: "millennium", 7: "century", 8: "decade", 9: "year", 10: "month", 11: "day"}
# Higher numbers are hours, minutes and seconds.
DAY = 11


class Moment(NamedTuple):
    """A time value of Wikidata, as the endpoint gives it."""

    time: str
    precision: int
    calendar: str

    def when(self, *, about: bool = False) -> DateRange | None:
        """The days it means; None if it is vaguer than a millennium or not a date."""
        found = MOMENT.match(self.time)
        if not found or self.calendar not in ("", GREGORIAN, JULIAN):
            return None
        year, month, day = calendar_year(int(found[1] + found[2])), int(found[3]), int(found[4])
        precision = PRECISIONS.get(min(self.precision, DAY))
        span = _span(year, month, day, precision) if precision else None
        if span is None or precision is None:
            return None
        # Only days are converted: a year or a month has the same name in both calendars.
        is_julian = span.latest < FIRST_GREGORIAN_DAY or (precision == "day" and self.calendar == JULIAN)
        kind: Calendar = "julian" if is_julian else "gregorian"
        return DateRange(span.earliest, span.latest, precision, "about" if about else "", kind)


def _span(year: int, month: int, day: int, precision: Precision) -> calendar.DaySpan | None:
    if precision in ("day", "month") and not 1 <= month <= 12:
        return None
    if precision == "day":
        if not 1 <= day <= month_length(year, month, "gregorian"):
            return None
        # Whatever the calendar, the endpoint gives days of the Gregorian one.
        number = day_number(year, month, day, "gregorian")
        return calendar.DaySpan(number, number)
    if precision == "month":
        return calendar.month_days(year, month)
    if precision == "year":
        return calendar.years(year, year)
    if precision == "decade":
        return calendar.years(*calendar.figure_years(abs(year) // 10 * 10, 10, bc=year < 0))
    size = 100 if precision == "century" else 1000
    return calendar.years(*calendar.ordinal_years(-(-abs(year) // size), size, bc=year < 0))


# 'Q1035', but not 'P22' or 'Q01'.
ITEM = re.compile(r"Q[1-9]\d{0,11}")
SEXES: dict[str, Sex] = {"Q6581097": "male", "Q6581072": "female", "Q2449503": "male", "Q1052281": "female"}
KINDS: dict[str, Qualifier] = {
    "adopt": "adoptive",
    "step": "step",
    "foster": "foster",
    "half": "half",
    "illegitimate": "illegitimate",
    "biological": "biological",
}
"""The kind of a tie, by a word in its English label."""
SOURCED, UNSOURCED, PREFERRED = 0.60, 0.45, 0.05
"""The confidence of a statement with and without a reference, and what a preferred rank adds."""
MAX_LABEL = 300
ABOUT_PERSON = "an item of Wikidata about a person"
NOT_A_PERSON = "the item is not a person, or has no name in this language"
YEARS_APART = 3
"""How many years a query may be off: other sources differ by as much."""


@dataclass(slots=True)
class _Statement:
    """A statement, put together from its rows."""

    property: str
    value: str = ""
    label: str = ""
    rank: str = "normal"
    moment: Moment | None = None
    sourced: bool = False
    qualified: dict[str, Moment | str] = field(default_factory=dict)

    def moment_of(self, name: str) -> DateRange | None:
        found = self.qualified.get(name)
        return found.when() if isinstance(found, Moment) else None

    def said(self, name: str) -> str:
        """A qualifier that is a word."""
        found = self.qualified.get(name)
        return found if isinstance(found, str) else ""

    def is_divorced(self) -> bool:
        return "divorce" in self.said(queries.END_CAUSE).casefold()

    def when(self) -> DateRange | None:
        about = self.said(queries.CIRCUMSTANCES) in CIRCA
        # More exact than the main value, which is then often just a decade or a century.
        first, last = self.moment_of(queries.EARLIEST), self.moment_of(queries.LATEST)
        if first and last:  # some day between the two
            return DateRange(first.earliest, max(first.earliest, last.latest), "year", "", last.calendar)
        return self.moment.when(about=about) if self.moment else None


class WikidataSource(PluginSource):
    """An endpoint with Wikidata's data; locators are items, such as 'Q1035'."""

    def __init__(self, plugin: Plugin, gate: Gate, *, endpoint: str = "", language: str = "eng") -> None:
        super().__init__(plugin, gate)
        self._endpoint = Endpoint(plugin, gate, endpoint)
        self._language = language

    def search(self, query: PersonQuery) -> Sequence[FetchedRecord]:
        """People of this name whose years do not exclude them."""
        self._gate.check_query_allowed(self.plugin, query)
        if not query.name.strip():
            return []
        _, rows = self._endpoint.ask(queries.people(query.name.strip(), self._language))
        lived: dict[str, list[Row]] = {}
        for row in rows:
            lived.setdefault(_item(row.get("item", "")), []).append(row)
        chosen = [item for item, years in lived.items() if item and _fits(query, years)]
        return fetch_all(sorted(chosen, key=lambda item: int(item[1:]))[: queries.MAX_PEOPLE], self.fetch)

    def fetch(self, locator: str) -> FetchedRecord:
        self._gate.check_allowed(self.plugin)
        item = _item(locator)
        if not item:
            raise SourceUnreachable(f"{locator!r} is not a Wikidata item.", remedy="Use an ID such as 'Q1035'.")
        _, labels = self._endpoint.ask(queries.label(item, self._language))
        name = _plain(labels[0].get("label", "")) if labels and "person" in labels[0] else ""
        _, rows = self._endpoint.ask(queries.statements(item, self._language))
        page, notes = self._endpoint.ask(queries.qualifiers(item))
        return self._record(item, name, _statements(rows, notes), page.fetched_at)

    def _record(self, item: str, name: str, statements: Sequence[_Statement], fetched_at: float) -> FetchedRecord:
        lines: list[str] = []
        facts: list[ExtractedFact] = []
        if name:
            lines.append(quotable_line("", "name", name, {"item": item}))
            facts.append(_fact("name", name, lines[0], 0, SOURCED, item))
        at = sum(len(line) + 1 for line in lines)
        for statement in statements:
            lines.append(_line(item, name, statement))
            fact = _read(statement, lines[-1], at, item)
            at += len(lines[-1]) + 1
            if fact is not None:
                facts.append(fact)
        text = "\n".join(lines)
        url = f"https://www.wikidata.org/wiki/{item}"
        page = FetchedPage(url, 200, text.encode("utf-8", "replace"), "", fetched_at)
        sex = next((fact.value for fact in facts if fact.field == "sex"), "")
        reading = PersonReading(
            ref=EntryRef(BookId(self.plugin.plugin_id), item),
            title=name or item,
            is_person=bool(name),
            why=ABOUT_PERSON if name else NOT_A_PERSON,
            name=name,
            sex="male" if sex == "male" else "female" if sex == "female" else "",
            facts=tuple(facts),
        )
        source = source_record(self.plugin, page, self._gate.format_time(fetched_at), name)
        return FetchedRecord(source, text, reading=reading)


def _fits(query: PersonQuery, rows: Sequence[Row]) -> bool:
    for year, key in ((query.birth_year, "birth"), (query.death_year, "death")):
        found = [int(match[0]) for row in rows if (match := re.match(r"-?\d{4}", row.get(key, "")))]
        if year is not None and found and all(abs(year - index) > YEARS_APART for index in found):
            return False
    return True


def _statements(rows: Sequence[Row], notes: Sequence[Row]) -> list[_Statement]:
    """The rows as statements, in the order of the properties, preferred ones first."""
    found: dict[str, _Statement] = {}
    for row in rows:
        name = row.get("p", "").rpartition("/")[2]
        if name not in queries.PROPERTIES or "value" not in row:
            continue  # 'unknown' and 'none' have no value here
        entry = found.setdefault(row.get("s", ""), _Statement(name))
        entry.value = _item(row["value"]) or row["value"]
        entry.label = entry.label or _plain(row.get("label", ""))
        entry.rank = "preferred" if row.get("rank", "").endswith("PreferredRank") else "normal"
        entry.sourced = entry.sourced or "source" in row
        entry.moment = entry.moment or _moment(row)
    for row in notes:
        if row.get("s", "") in found:
            qualified = found[row["s"]].qualified
            value = _moment(row) or row.get("label") or _item(row.get("value", ""))
            qualified.setdefault(row.get("q", "").rpartition("/")[2], value)
    order = {name: index for index, name in enumerate(queries.PROPERTIES)}
    ordered = sorted(found.items(), key=lambda pair: (order[pair[1].property], pair[1].rank != "preferred", pair[0]))
    return [statement for _, statement in ordered]


def _moment(row: Row) -> Moment | None:
    precision = row.get("precision", "")
    if "time" not in row or not precision.isdigit():
        return None
    return Moment(row["time"], int(precision), row.get("calendar", "").rpartition("/")[2])


def _line(item: str, name: str, statement: _Statement) -> str:
    """The statement as one line, with dates written so that they can be parsed again."""
    when = statement.when()
    if statement.moment:
        value = when.words() if when else ""
    else:
        value = SEXES.get(statement.value, "") if statement.property == "P21" else statement.label
    rest = {
        "id": statement.property,
        "rank": statement.rank,
        "item": statement.value if ITEM.fullmatch(statement.value) else "",
        "day number": when.earliest if when and when.precision == "day" else None,
        "calendar": when.calendar if when and when.precision == "day" else "",
        "as": statement.said(queries.KINSHIP),
        "ended by": statement.said(queries.END_CAUSE),
    }
    words = f"{value or statement.value}{_duration(statement)}"
    return quotable_line(name or item, queries.PROPERTIES[statement.property][1], words, rest)


def _duration(statement: _Statement) -> str:
    """How long a tie lasted, as infoboxes write it."""
    start, ended = statement.moment_of(queries.START), statement.moment_of(queries.END)
    sign = "m. " if statement.property == "P26" else "from "
    if start and ended:
        return f" ({sign}{start.words()}{'; div. ' if statement.is_divorced() else ' to '}{ended.words()})"
    if start:
        return f" ({sign}{start.words()})"
    return f" (div. {ended.words()})" if ended and statement.is_divorced() else ""


def _read(statement: _Statement, line: str, at: int, item: str) -> ExtractedFact | None:
    """The fact that a line states; None if its value has no text, or a text that means another date."""
    name, _ = queries.PROPERTIES[statement.property]
    confidence = (SOURCED if statement.sourced else UNSOURCED) + (PREFERRED if statement.rank == "preferred" else 0.0)
    if name in DATE_FIELDS:
        when = statement.when()
        # The firewall will read the date from the line again, so it must be readable there.
        if when is None or all(found.when.edtf() != when.edtf() for found in dates_in(line)):
            return None
        return _fact(name, when.edtf(), line, at, confidence, item, when=when)
    if name == "sex":
        return _fact(name, SEXES[statement.value], line, at, confidence, item) if statement.value in SEXES else None
    if not statement.label:
        return None
    if name not in RELATION_FIELDS:
        return _fact(name, statement.label, line, at, confidence, item)
    start, ended = statement.moment_of(queries.START), statement.moment_of(queries.END)
    kinship = statement.said(queries.KINSHIP).casefold()
    kind: Qualifier = next((kind for word, kind in KINDS.items() if word in kinship), "")
    qualifier: Qualifier = "divorced" if statement.is_divorced() else kind
    target = statement.value if ITEM.fullmatch(statement.value) else ""
    until = ended if start or statement.is_divorced() else None
    fact = _fact(name, statement.label, line, at, confidence, item, when=start, until=until)
    return replace(fact, qualifier=qualifier, target=target)


def _fact(
    name: FieldName,
    value: str,
    line: str,
    at: int,
    confidence: float,
    item: str,
    *,
    when: DateRange | None = None,
    until: DateRange | None = None,
) -> ExtractedFact:
    return ExtractedFact(
        field=name,
        value=value,
        snippet=Snippet(at, at + len(line), line),
        method="wikidata",
        confidence=confidence,
        when=when,
        until=until,
        locator=item,
        rationale="a statement that is not deprecated",
    )


def _item(address: str) -> str:
    """The item of an address or locator; empty if it is not one."""
    last = address.rpartition("/")[2]
    return last if ITEM.fullmatch(last) else ""


def _plain(label: str) -> str:
    """A label in one line."""
    return " ".join(label.split())[:MAX_LABEL]
