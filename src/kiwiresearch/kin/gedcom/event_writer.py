"""Writes citations, sources and events."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kiwiresearch.kin.gedcom.dates import MONTHS, Version, other_calendar, read_date, write_date
from kiwiresearch.kin.gedcom.facts_reader import DATE_NOTE, FILE_SCHEME, HASH_NOTE, SCOPE_NOTE, URL_NOTE
from kiwiresearch.kin.gedcom.nodes import GedcomWriter, Node
from kiwiresearch.kin.gedcom.tags import SOURCE_WITHOUT_TEXT, EventFields, quality_mark
from kiwiresearch.kin.tree import DISCARDED, Evidence, Fact, Source, SourceId
from kiwiresearch.text.dates import DateRange

ISO_DAY = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
QUOTE_NOTE = "Quote: "


@dataclass(slots=True)
class CitedSources:
    """The sources of a tree, and those cited in the file so far."""

    sources: Mapping[SourceId, Source]
    xrefs: dict[SourceId, str] = field(default_factory=dict)
    repositories: dict[str, str] = field(default_factory=dict)
    """The xref of each repository, by its name."""

    def xref(self, number: SourceId) -> str:
        """The xref of a source in the file, assigned at its first citation."""
        return self.xrefs.setdefault(number, f"S{len(self.xrefs) + 1}")

    def repository(self, name: str) -> str:
        """The xref of the repository of that name."""
        return self.repositories.setdefault(name, f"R{len(self.repositories) + 1}")


def write_citations(
    out: GedcomWriter, level: int, sources: CitedSources, cited: Iterable[tuple[str, Sequence[Evidence]]]
) -> None:
    """The evidence for the parts of an event; a citation names the parts unless it supports all."""
    parts = tuple(cited)
    found: dict[tuple[str, str, str, str], tuple[Evidence, list[str]]] = {}
    for part, evidence in parts:
        for citation in evidence:
            if citation.source in sources.sources:
                key = (citation.source, citation.locator, citation.snippet, quality_mark(citation.reliability))
                found.setdefault(key, (citation, []))[1].append(part)
    names = list(dict.fromkeys(part for part, _ in parts))
    for key in sorted(found):
        citation, supported = found[key]
        given = list(dict.fromkeys(supported))
        _write_citation(out, level, sources, citation, [] if given == names else given)


def _write_citation(out: GedcomWriter, level: int, sources: CitedSources, evidence: Evidence, parts: list[str]) -> None:
    out.pointer(level, "SOUR", sources.xref(evidence.source))
    if evidence.locator:
        out.line(level + 1, "PAGE", evidence.locator)
    accessed = gedcom_day(sources.sources[evidence.source].accessed_at)
    words = "" if SOURCE_WITHOUT_TEXT in evidence.rationale else evidence.snippet
    if accessed or words:
        out.line(level + 1, "DATA")
        if accessed:
            out.date(level + 2, accessed)
        if words:
            out.text(level + 2, "TEXT", words)
    if parts:
        out.line(level + 1, "NOTE", SCOPE_NOTE + ", ".join(parts))
    if words and out.version == "7.0":
        # Programs that read version 7 import notes of citations, but not yet their texts.
        out.text(level + 1, "NOTE", QUOTE_NOTE + words)
    out.line(level + 1, "QUAY", quality_mark(evidence.reliability))


def gedcom_day(iso: str) -> str:
    """'2026-11-15T12:00:00Z' as '15 NOV 2026'; empty if it is not a day."""
    found = ISO_DAY.match(iso)
    if not found or not 1 <= int(found[2]) <= 12 or not 1 <= int(found[3]) <= 31:
        return ""
    return f"{int(found[3])} {MONTHS[int(found[2]) - 1]} {found[1]}"


def write_source(sources: CitedSources, number: SourceId, version: Version) -> Node:
    """The record of a source. One that an imported file describes gets nothing that the file does not say."""
    source, out = sources.sources[number], GedcomWriter(version)
    is_described = source.url.startswith(FILE_SCHEME)
    out.record(sources.xref(number), "SOUR")
    out.line(1, "TITL", source.title or source.name or source.url)
    if source.name and not (is_described and source.name == source.title):
        out.line(1, "ABBR", source.name)
    if source.name and not is_described:
        out.pointer(1, "REPO", sources.repository(source.name))
    for lead, value in ((URL_NOTE, source.url), (HASH_NOTE, "" if is_described else source.content_hash)):
        if value:
            out.line(1, "NOTE", lead + value)
    return out.records[0]


@dataclass(frozen=True, slots=True)
class EventVersion:
    """One version of an event: a date, a place, or both."""

    date: Fact | None = None
    place: Fact | None = None


def included_facts(facts: Iterable[Fact]) -> list[Fact]:
    return [fact for fact in facts if fact.status not in DISCARDED]


def event_versions(facts: Sequence[Fact], fields: EventFields) -> list[EventVersion]:
    """The versions of an event, the preferred one first; a date and a place from the same words are one version."""
    dates = [fact for fact in included_facts(facts) if fact.field == fields.date]
    places = [fact for fact in included_facts(facts) if fact.field == fields.place]
    found = _paired(dates, places, (_quotes, _sources))
    # Readers take the first date and the first place for the event, so the two preferred values must stand together.
    first = next((version for version in found if version.place), None)
    if dates and places and (first is None or first.place is not places[0] or first.date is None):
        # Readers prefer the first place, so it stands with the first date if nothing says with which.
        found = [EventVersion(dates[0], places[0]), *_paired(dates[1:], places[1:], (_sources,))]
    return found


def _paired(
    dates: Sequence[Fact], places: Sequence[Fact], kinds: Iterable[Callable[[Fact], set[tuple[str, ...]]]]
) -> list[EventVersion]:
    """The dates, each with a place from the same words or else the same source, and the places that are left."""
    left, pairs = list(places), dict[str, Fact]()
    for quotes in kinds:
        for date in dates:
            place = next((place for place in left if quotes(place) & quotes(date)), None)
            if place and date.id not in pairs:
                left.remove(place)
                pairs[date.id] = place
    found = [EventVersion(date, pairs.get(date.id)) for date in dates]
    return [*found, *(EventVersion(None, place) for place in left)]


def _quotes(fact: Fact) -> set[tuple[str, ...]]:
    return {(evidence.source, evidence.locator, evidence.snippet) for evidence in fact.evidence}


def _sources(fact: Fact) -> set[tuple[str, ...]]:
    return {(evidence.source,) for evidence in fact.evidence}


def write_event(
    out: GedcomWriter,
    level: int,
    tag: str,
    event_version: EventVersion,
    sources: CitedSources,
    *,
    kind: str = "",
    union: Sequence[Evidence] = (),
    start: DateRange | None = None,
) -> None:
    """An event with its sources; `union` and `start` are what a tie says about a marriage."""
    when = event_version.date.when if event_version.date else start
    is_bare = not (event_version.date or event_version.place or start or kind)
    # 'Y' says that it happened; an event without it and without lines below says nothing.
    out.line(level, tag, "Y" if is_bare else "")
    if kind:
        out.line(level + 1, "TYPE", kind)
    write_date_lines(out, level + 1, when, event_version.date.value if event_version.date else "")
    if event_version.place:
        out.line(level + 1, "PLAC", event_version.place.value)
    parts = [("marriage", union)] if union else []
    if event_version.date or start:
        parts.append(("date", event_version.date.evidence if event_version.date else union))
    if event_version.place:
        parts.append(("place", event_version.place.evidence))
    write_citations(out, level + 1, sources, parts)


def write_date_lines(out: GedcomWriter, level: int, when: DateRange | None, value: str = "") -> None:
    """Write a date, with a phrase for what GEDCOM cannot express."""
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
        out.line(level, "NOTE", DATE_NOTE + when.words())


def _write_verbatim(out: GedcomWriter, level: int, value: str) -> None:
    """Write a date without a range: of another calendar, or as a phrase."""
    date = other_calendar(value, out.version)
    if date:
        out.date(level, date)
    elif out.version == "5.5.1":
        out.line(level, "DATE", f"({value.strip('()')})")
    else:
        # A date that is only a phrase is allowed, but programs that read version 7 fail on it.
        out.line(level, "NOTE", DATE_NOTE + value)
