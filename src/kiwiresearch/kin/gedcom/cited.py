"""Citations as GEDCOM writes them: the source, the place in it, its words, and what they speak for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kiwiresearch.kin.gedcom.citations import HASH, SPEAKS_FOR, URL
from kiwiresearch.kin.gedcom.dates import MONTHS
from kiwiresearch.kin.gedcom.events import UNQUOTED, quality
from kiwiresearch.kin.gedcom.written import Writing
from kiwiresearch.kin.tree import Evidence, Source, SourceId

ISO_DAY = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
QUOTE = "Quote: "


@dataclass(slots=True)
class SourcesOut:
    """The sources of a tree, and those that the file has cited so far."""

    sources: Mapping[SourceId, Source]
    xrefs: dict[SourceId, str] = field(default_factory=dict)

    def xref(self, number: SourceId) -> str:
        """What a source is called in the file, from its first citation on."""
        return self.xrefs.setdefault(number, f"S{len(self.xrefs) + 1}")


def write_citations(
    out: Writing, level: int, sources: SourcesOut, cited: Iterable[tuple[str, Sequence[Evidence]]]
) -> None:
    """The evidence for the parts of an event; a citation says for which, where it is not for all."""
    parts = tuple(cited)
    found: dict[tuple[str, str, str, str], tuple[Evidence, list[str]]] = {}
    for part, evidence in parts:
        for one in evidence:
            if one.source in sources.sources:
                key = (one.source, one.locator, one.snippet, quality(one.reliability))
                found.setdefault(key, (one, []))[1].append(part)
    names = list(dict.fromkeys(part for part, _ in parts))
    for key in sorted(found):
        one, spoken = found[key]
        given = list(dict.fromkeys(spoken))
        _write_citation(out, level, sources, one, [] if given == names else given)


def _write_citation(out: Writing, level: int, sources: SourcesOut, one: Evidence, parts: list[str]) -> None:
    out.pointer(level, "SOUR", sources.xref(one.source))
    if one.locator:
        out.line(level + 1, "PAGE", one.locator)
    accessed = gedcom_day(sources.sources[one.source].accessed_at)
    words = "" if UNQUOTED in one.rationale else one.snippet
    if accessed or words:
        out.line(level + 1, "DATA")
        if accessed:
            out.date(level + 2, accessed)
        if words:
            out.text(level + 2, "TEXT", words)
    if parts:
        out.line(level + 1, "NOTE", SPEAKS_FOR + ", ".join(parts))
    if words and out.version == "7.0":
        # Programs that read version 7 keep notes of citations, and not yet their texts.
        out.text(level + 1, "NOTE", QUOTE + words)
    out.line(level + 1, "QUAY", quality(one.reliability))


def gedcom_day(iso: str) -> str:
    """'2026-11-15T12:00:00Z' as '15 NOV 2026'; what is no such day is nothing."""
    found = ISO_DAY.match(iso)
    if not found or not 1 <= int(found[2]) <= 12 or not 1 <= int(found[3]) <= 31:
        return ""
    return f"{int(found[3])} {MONTHS[int(found[2]) - 1]} {found[1]}"


def write_sources(out: Writing, sources: SourcesOut) -> None:
    """The records of what was cited, and where each is kept."""
    names = sorted({sources.sources[number].name for number in sources.xrefs} - {""})
    places = {name: f"R{at}" for at, name in enumerate(names, 1)}
    for number, xref in sources.xrefs.items():
        source = sources.sources[number]
        out.record(xref, "SOUR")
        out.line(1, "TITL", source.title or source.name or source.url)
        if source.name:
            out.line(1, "ABBR", source.name)
            out.pointer(1, "REPO", places[source.name])
        for lead, value in ((URL, source.url), (HASH, source.content_hash)):
            if value:
                out.line(1, "NOTE", lead + value)
    for name, xref in places.items():
        out.record(xref, "REPO")
        out.line(1, "NAME", name)
