"""Events as GEDCOM writes them: a date and a place that go together, and those that compete with them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kiwiresearch.kin.gedcom.cited import SourcesOut, write_citations
from kiwiresearch.kin.gedcom.couples import LEFT_OUT
from kiwiresearch.kin.gedcom.dates import other_calendar, read_date, write_date
from kiwiresearch.kin.gedcom.events import EventFields
from kiwiresearch.kin.gedcom.facts import AS_READ
from kiwiresearch.kin.gedcom.written import Writing
from kiwiresearch.kin.tree import Evidence, Fact
from kiwiresearch.text.when import DateRange


@dataclass(frozen=True, slots=True)
class Happening:
    """One telling of an event: a date, a place, or both."""

    date: Fact | None = None
    place: Fact | None = None


def kept(facts: Iterable[Fact]) -> list[Fact]:
    return [fact for fact in facts if fact.status not in LEFT_OUT]


def happenings(facts: Sequence[Fact], fields: EventFields) -> list[Happening]:
    """The tellings of an event, the preferred one first; a date and a place of one source are one telling."""
    dates = [fact for fact in kept(facts) if fact.field == fields.date]
    places = [fact for fact in kept(facts) if fact.field == fields.place]
    found = [Happening(dates.pop(0) if dates else None, places.pop(0) if places else None)]
    for date in dates:
        place = next((place for place in places if _sources(place) & _sources(date)), None)
        if place:
            places.remove(place)
        found.append(Happening(date, place))
    found.extend(Happening(None, place) for place in places)
    return [one for one in found if one.date or one.place]


def _sources(fact: Fact) -> set[str]:
    return {one.source for one in fact.evidence}


def write_happening(
    out: Writing,
    level: int,
    tag: str,
    one: Happening,
    sources: SourcesOut,
    *,
    kind: str = "",
    union: Sequence[Evidence] = (),
    start: DateRange | None = None,
) -> None:
    """An event with its sources; `union` and `start` are what a tie says of a marriage."""
    when = one.date.when if one.date else start
    is_bare = not (one.date or one.place or start or kind)
    out.line(level, tag, "Y" if is_bare else "")
    if kind:
        out.line(level + 1, "TYPE", kind)
    write_when(out, level + 1, when, one.date.value if one.date else "")
    if one.place:
        out.line(level + 1, "PLAC", one.place.value)
    parts = [("marriage", union)] if union else []
    if one.date or start:
        parts.append(("date", one.date.evidence if one.date else union))
    if one.place:
        parts.append(("place", one.place.evidence))
    write_citations(out, level + 1, sources, parts)


def write_when(out: Writing, level: int, when: DateRange | None, value: str = "") -> None:
    """A date, with what GEDCOM cannot say of it in words."""
    if when is None:
        if value:
            _write_verbatim(out, level, value)
        return
    date = write_date(when, out.version)
    if date:
        out.date(level, date)
    if date and read_date(date) == when:
        return
    if date and out.version == "7.0":
        out.line(level + 1, "PHRASE", when.words())
    else:
        out.line(level, "NOTE", AS_READ + when.words())


def _write_verbatim(out: Writing, level: int, value: str) -> None:
    """Words that are no range: of another calendar, or of nothing that GEDCOM takes for a date."""
    date = other_calendar(value, out.version)
    if date:
        out.date(level, date)
    elif out.version == "5.5.1":
        out.line(level, "DATE", f"({value.strip('()')})")
    else:
        # A date of nothing but a phrase is allowed, and stops programs that read version 7.
        out.line(level, "NOTE", AS_READ + value)
