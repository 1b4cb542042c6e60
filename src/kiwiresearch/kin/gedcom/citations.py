"""What a GEDCOM file gives as its evidence, or else its own lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from kiwiresearch.kin.fields import Method
from kiwiresearch.kin.gedcom.dates import read_date
from kiwiresearch.kin.gedcom.events import QUALITY, UNQUOTED, UNRATED
from kiwiresearch.kin.gedcom.lines import Line, Notes
from kiwiresearch.kin.identity import id_of
from kiwiresearch.kin.tree import Evidence, Source, SourceId

LONGEST_QUOTE = 600
"""Longer records are quoted by the one line that says it."""
METHOD: Method = "gedcom"
SPEAKS_FOR = "Speaks for: "
"""How a note begins that names the parts of an event a citation is about."""
URL, HASH = "Address: ", "Content hash: "
"""How the notes of a source begin that tell where it is, and the hash of its words."""


@dataclass(frozen=True, slots=True)
class Cited:
    """A piece of evidence and the parts of its event that it speaks for: none named means all of them."""

    evidence: Evidence
    parts: frozenset[str] = frozenset()

    def speaks_for(self, part: str) -> bool:
        return not self.parts or part in self.parts


@dataclass(slots=True)
class GedcomFile:
    """A file while it is read: its text, its records, what was noted and which sources it names."""

    name: str
    digest: str
    text: str
    records: Mapping[str, Line]
    notes: Notes
    sources: dict[SourceId, Source] = field(default_factory=dict)

    def id_of(self, kind: str, *parts: str) -> str:
        return id_of(kind, METHOD, self.digest, *parts)

    def record(self, line: Line, tag: str) -> Line | None:
        """The record that a line points to; where it is missing, that is noted."""
        xref = line.points_to
        found = self.records.get(xref)
        if found is None or found.tag != tag:
            if xref or line.value.strip(" @") not in ("", "VOID"):
                self.notes.add(line.number, f"{line.tag} points to {line.value[:40]!r}, and no {tag} is there")
            return None
        return found

    def own_lines(self, record: Line, first: Line, last: Line | None = None, *, why: str = "") -> Evidence:
        """The lines of the file themselves, as evidence of what they say."""
        start, end = first.start, (last or first).end
        if end - start > LONGEST_QUOTE:
            line = last or first
            start = line.start
            stop = min((below.start for below in line.below), default=line.end)
            end = start + len(self.text[start : min(stop, start + LONGEST_QUOTE)].rstrip("\r\n"))
        source = self._own_source()
        locator = f"{record.xref}, line {first.number}"
        words = self.text[start:end]
        number = self.id_of("evidence", str(start), str(end), why)
        return Evidence(number, source, words, start, end, locator, METHOD, UNRATED, rationale=why)

    def _own_source(self) -> SourceId:
        number = self.id_of("source")
        if number not in self.sources:
            self.sources[number] = Source(
                number,
                f"gedcom:{self.name}",
                self.name,
                self.name,
                content_hash=self.digest,
                origin_group=f"gedcom:{self.digest}",
                form="derivative",
            )
        return number


def cited(file: GedcomFile, record: Line, lines: Iterable[Line]) -> list[Cited]:
    """The evidence that the SOUR lines below some lines name."""
    return [_cited(file, record, line) for above in lines for line in above.all("SOUR")]


def _cited(file: GedcomFile, record: Line, line: Line) -> Cited:
    target = file.record(line, "SOUR") if line.points_to else None
    source = _source(file, target) if target else _named_source(file, line)
    data = line.first("DATA")
    _give_access(file, source, data)
    texts = [*(data.all("TEXT") if data else ()), *line.all("TEXT")]
    words = "\n".join(text.value for text in texts)
    quality = line.get("QUAY")
    said = [note.value for note in line.all("NOTE") if note.value.startswith(SPEAKS_FOR)]
    parts = [part for words_for in said for part in words_for.removeprefix(SPEAKS_FOR).split(", ")]
    evidence = Evidence(
        file.id_of("evidence", record.xref, str(line.number)),
        source,
        words if words.strip() else file.text[line.start : min(line.end, line.start + LONGEST_QUOTE)],
        locator=line.get("PAGE"),
        method=METHOD,
        reliability=QUALITY.get(quality, UNRATED),
        directness="direct" if words.strip() else "indirect",
        rationale="" if words.strip() else UNQUOTED,
    )
    return Cited(evidence, frozenset(parts))


def _source(file: GedcomFile, record: Line) -> SourceId:
    number = file.id_of("source", record.xref)
    if number not in file.sources:
        notes = [line.value.strip() for line in record.all("NOTE")]
        given = {lead: note.removeprefix(lead) for note in notes for lead in (URL, HASH) if note.startswith(lead)}
        title, name = record.get("TITL"), record.get("ABBR")
        url = given.get(URL) or f"gedcom:{file.name}#{record.xref}"
        file.sources[number] = Source(
            number,
            url,
            name or title or record.xref,
            title or name,
            content_hash=given.get(HASH, ""),
            origin_group=url,
            form="derivative",
        )
    return number


def _named_source(file: GedcomFile, line: Line) -> SourceId:
    """A source that is named in the citation itself, or is missing from the file."""
    name = " ".join(line.value.split())[:200] or "unnamed source"
    number = file.id_of("source", "named", name)
    if number not in file.sources:
        url = f"gedcom:{file.name}#{line.points_to}" if line.points_to else f"gedcom:{file.name}"
        file.sources[number] = Source(number, url, name, name, origin_group=f"{url} {name}", form="derivative")
    return number


def _give_access(file: GedcomFile, number: SourceId, data: Line | None) -> None:
    """The day on which a source was read, which GEDCOM keeps with each citation."""
    when = read_date(data.get("DATE")) if data else None
    source = file.sources[number]
    if when and when.precision == "day" and not when.qualifier and not source.accessed_at:
        file.sources[number] = replace(source, accessed_at=when.edtf())
