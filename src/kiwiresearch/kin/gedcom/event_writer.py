"""Writes GEDCOM lines, citations and events."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kiwiresearch.kin.gedcom.dates import MONTHS, Version, other_calendar, read_date, write_date
from kiwiresearch.kin.gedcom.facts_reader import DATE_NOTE, HASH_NOTE, SCOPE_NOTE, URL_NOTE
from kiwiresearch.kin.gedcom.tags import SOURCE_WITHOUT_TEXT, EventFields, quality_mark
from kiwiresearch.kin.tree import DISCARDED, Evidence, Fact, Source, SourceId
from kiwiresearch.text.dates import DateRange

MAX_LINE_CHARS = 250
"""GEDCOM 5.5.1 allows 255 characters in a line, including its level, tag and line end."""
BREAKS = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
FORBIDDEN = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")


def one_line(text: str) -> str:
    """A value on one line. Unlike `text.one_line`, it shows that a character is missing which GEDCOM forbids."""
    return " ".join(_clean(text).split())


def _clean(text: str) -> str:
    return FORBIDDEN.sub("\ufffd", BREAKS.sub("\n", text))


@dataclass(slots=True)
class GedcomWriter:
    """A file being written."""

    version: Version
    rows: list[str] = field(default_factory=list)

    def pointer(self, level: int, tag: str, xref: str) -> None:
        self.rows.append(f"{level} {tag} @{xref}@")

    def record(self, xref: str, tag: str) -> None:
        self.rows.append(f"0 @{xref}@ {tag}")

    def date(self, level: int, date: str) -> None:
        """A date, in which '@' is part of the grammar."""
        self.rows.append(f"{level} DATE {date}")

    def line(self, level: int, tag: str, value: str = "") -> None:
        self.text(level, tag, one_line(value))

    def text(self, level: int, tag: str, value: str) -> None:
        """A value with all its lines."""
        first, *more = _clean(value).split("\n")
        self._put(level, tag, first, level + 1)
        for line in more:
            self._put(level + 1, "CONT", line, level + 1)

    def _put(self, level: int, tag: str, value: str, below: int) -> None:
        if self.version == "7.0":
            escaped = "@" + value if value.startswith("@") else value
            self.rows.append(f"{level} {tag} {escaped}" if escaped else f"{level} {tag}")
            return
        rest = value.replace("@", "@@")
        lead = f"{level} {tag}"
        while True:
            cut = _cut(rest, MAX_LINE_CHARS - len(lead) - 1)
            self.rows.append(f"{lead} {rest[:cut]}" if rest else lead)
            rest = rest[cut:]
            if not rest:
                return
            lead = f"{below} CONC"

    def content(self) -> str:
        return "\r\n".join((*self.rows, ""))


def _cut(text: str, most: int) -> int:
    """Where to cut: not next to a space, which readers would lose, and not inside an escape."""
    if len(text) <= most:
        return len(text)
    for cut in range(most, most // 2, -1):
        if not (text[cut - 1].isspace() or text[cut].isspace() or "@" in text[cut - 1 : cut + 1]):
            return cut
    signs = most - len(text[:most].rstrip("@"))
    return most - signs % 2


ISO_DAY = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
QUOTE_NOTE = "Quote: "


@dataclass(slots=True)
class CitedSources:
    """The sources of a tree, and those cited in the file so far."""

    sources: Mapping[SourceId, Source]
    xrefs: dict[SourceId, str] = field(default_factory=dict)

    def xref(self, number: SourceId) -> str:
        """The xref of a source in the file, assigned at its first citation."""
        return self.xrefs.setdefault(number, f"S{len(self.xrefs) + 1}")


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


def write_sources(out: GedcomWriter, sources: CitedSources) -> None:
    """Write the records of the cited sources and their repositories."""
    names = sorted({sources.sources[index].name for index in sources.xrefs} - {""})
    places = {name: f"R{at}" for at, name in enumerate(names, 1)}
    for number, xref in sources.xrefs.items():
        source = sources.sources[number]
        out.record(xref, "SOUR")
        out.line(1, "TITL", source.title or source.name or source.url)
        if source.name:
            out.line(1, "ABBR", source.name)
            out.pointer(1, "REPO", places[source.name])
        for lead, value in ((URL_NOTE, source.url), (HASH_NOTE, source.content_hash)):
            if value:
                out.line(1, "NOTE", lead + value)
    for name, xref in places.items():
        out.record(xref, "REPO")
        out.line(1, "NAME", name)


@dataclass(frozen=True, slots=True)
class EventVersion:
    """One version of an event: a date, a place, or both."""

    date: Fact | None = None
    place: Fact | None = None


def included_facts(facts: Iterable[Fact]) -> list[Fact]:
    return [fact for fact in facts if fact.status not in DISCARDED]


def event_versions(facts: Sequence[Fact], fields: EventFields) -> list[EventVersion]:
    """The versions of an event, the preferred one first; a date and a place from one source are one version."""
    dates = [fact for fact in included_facts(facts) if fact.field == fields.date]
    places = [fact for fact in included_facts(facts) if fact.field == fields.place]
    found = [EventVersion(dates.pop(0) if dates else None, places.pop(0) if places else None)]
    for date in dates:
        place = next((place for place in places if _sources(place) & _sources(date)), None)
        if place:
            places.remove(place)
        found.append(EventVersion(date, place))
    found.extend(EventVersion(None, place) for place in places)
    return [event_version for event_version in found if event_version.date or event_version.place]


def _sources(fact: Fact) -> set[str]:
    return {evidence.source for evidence in fact.evidence}


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
