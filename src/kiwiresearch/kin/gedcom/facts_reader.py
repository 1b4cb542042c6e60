"""Facts of a GEDCOM file, with the sources it cites or else its own lines as evidence."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kiwiresearch.kin.gedcom.dates import other_calendar, read_date
from kiwiresearch.kin.gedcom.lines import GedcomLine, ImportNotes
from kiwiresearch.kin.gedcom.tags import QUALITY, SOURCE_WITHOUT_TEXT, UNRATED, EventFields
from kiwiresearch.kin.tree import Evidence, Fact, FieldName, Method, PersonId, Source, SourceId, row_id
from kiwiresearch.text.dates import DateRange

MAX_QUOTE_CHARS = 600
"""Longer records are quoted by the one line that states the fact."""
METHOD: Method = "gedcom"
SCOPE_NOTE = "Speaks for: "
"""Prefix of a note that names the parts of an event a citation supports."""
FILE_SCHEME = "gedcom:"
"""The start of the address of a source that an imported file describes, or of the file itself."""
URL_NOTE, HASH_NOTE = "Address: ", "Content hash: "
"""Prefixes of a source's notes with its address and the hash of its content."""


@dataclass(frozen=True, slots=True)
class CitedEvidence:
    """A piece of evidence and the parts of its event that it supports; none named means all of them."""

    evidence: Evidence
    parts: frozenset[str] = frozenset()

    def speaks_for(self, part: str) -> bool:
        return not self.parts or part in self.parts


@dataclass(slots=True)
class GedcomFile:
    """A file being read: its text, records, problems and sources."""

    name: str
    digest: str
    text: str
    records: Mapping[str, GedcomLine]
    notes: ImportNotes
    sources: dict[SourceId, Source] = field(default_factory=dict)

    def id_of(self, kind: str, *parts: str) -> str:
        return row_id(kind, METHOD, self.digest, *parts)

    def record(self, line: GedcomLine, tag: str) -> GedcomLine | None:
        """The record that a line points to; if it is missing, that is noted."""
        xref = line.points_to
        found = self.records.get(xref)
        if found is None or found.tag != tag:
            if xref or line.value.strip(" @") not in ("", "VOID"):
                self.notes.add(
                    line.number,
                    f"{line.tag} points to {line.value[:40]!r}, but the file has no {tag} record of that name",
                )
            return None
        return found

    def quote_lines(self, record: GedcomLine, first: GedcomLine, last: GedcomLine | None = None) -> Evidence:
        """The lines of the file as evidence of what they say."""
        start, end = first.start, (last or first).end
        # Only the line that states the fact, without those below it.
        if end - start > MAX_QUOTE_CHARS:
            line = last or first
            start = line.start
            stop = min((below.start for below in line.children), default=line.end)
            end = start + len(self.text[start : min(stop, start + MAX_QUOTE_CHARS)].rstrip("\r\n"))
        source = self.own_source()
        locator = f"{record.xref}, line {first.number}"
        words = self.text[start:end]
        number = self.id_of("evidence", str(start), str(end), "")
        return Evidence(number, source, words, start, end, locator, METHOD, UNRATED)

    def own_source(self) -> SourceId:
        """The file itself as a source."""
        number = self.id_of("source")
        if number not in self.sources:
            self.sources[number] = Source(
                number,
                f"{FILE_SCHEME}{self.name}",
                self.name,
                self.name,
                content_hash=self.digest,
                origin_group=f"{FILE_SCHEME}{self.digest}",
                form="derivative",
            )
        return number


def citations_below(file: GedcomFile, record: GedcomLine, lines: Iterable[GedcomLine]) -> list[CitedEvidence]:
    """The evidence that the SOUR lines below these lines cite."""
    return [_read_citation(file, record, line) for above in lines for line in above.all("SOUR")]


def _read_citation(file: GedcomFile, record: GedcomLine, line: GedcomLine) -> CitedEvidence:
    target = file.record(line, "SOUR") if line.points_to else None
    source = recorded_source(file, target) if target else named_source(file, line)
    data = line.first("DATA")
    _set_access_date(file, source, data)
    texts = [*(data.all("TEXT") if data else ()), *line.all("TEXT")]
    words = "\n".join(text.value for text in texts)
    quality = line.get("QUAY")
    said = [note.value for note in line.all("NOTE") if note.value.startswith(SCOPE_NOTE)]
    parts = [part for words_for in said for part in words_for.removeprefix(SCOPE_NOTE).split(", ")]
    evidence = Evidence(
        file.id_of("evidence", record.xref, str(line.number)),
        source,
        words if words.strip() else file.text[line.start : min(line.end, line.start + MAX_QUOTE_CHARS)],
        locator=line.get("PAGE"),
        method=METHOD,
        reliability=QUALITY.get(quality, UNRATED),
        directness="direct" if words.strip() else "indirect",
        rationale="" if words.strip() else SOURCE_WITHOUT_TEXT,
    )
    return CitedEvidence(evidence, frozenset(parts))


def recorded_source(file: GedcomFile, record: GedcomLine) -> SourceId:
    """The source that a record describes."""
    number = file.id_of("source", record.xref)
    if number not in file.sources:
        notes = [line.value.strip() for line in record.all("NOTE")]
        given = {
            lead: note.removeprefix(lead) for note in notes for lead in (URL_NOTE, HASH_NOTE) if note.startswith(lead)
        }
        title, name = record.get("TITL"), record.get("ABBR")
        url = given.get(URL_NOTE) or f"{FILE_SCHEME}{file.name}#{record.xref}"
        file.sources[number] = Source(
            number,
            url,
            name or title or record.xref,
            title or name,
            content_hash=given.get(HASH_NOTE) or _digest(file.text[record.start : record.end]),
            origin_group=url,
            form="derivative",
        )
    return number


def _digest(text: str) -> str:
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def named_source(file: GedcomFile, line: GedcomLine) -> SourceId:
    """A source described in the citation itself, or missing from the file."""
    name = " ".join(line.value.split())[:200] or "unnamed source"
    number = file.id_of("source", "named", name)
    if number not in file.sources:
        url = f"{FILE_SCHEME}{file.name}#{line.points_to}" if line.points_to else f"{FILE_SCHEME}{file.name}"
        file.sources[number] = Source(number, url, name, name, origin_group=f"{url} {name}", form="derivative")
    return number


def _set_access_date(file: GedcomFile, number: SourceId, data: GedcomLine | None) -> None:
    """The day on which a source was read, which GEDCOM stores in each citation."""
    when = read_date(data.get("DATE")) if data else None
    source = file.sources[number]
    if when and when.precision == "day" and not when.qualifier and not source.accessed_at:
        file.sources[number] = replace(source, accessed_at=when.edtf())


DATE_NOTE = "Date as read: "
"""Prefix of a note with a date that GEDCOM cannot express."""


@dataclass(frozen=True, slots=True)
class ReadEvent:
    """An event of a person or a couple: its date and place, each with its evidence."""

    date: str
    when: DateRange | None
    place: str
    cited: tuple[CitedEvidence, ...]

    def evidence(self, part: str) -> tuple[Evidence, ...]:
        return tuple(cited_evidence.evidence for cited_evidence in self.cited if cited_evidence.speaks_for(part))


@dataclass(slots=True)
class PersonFacts:
    """The facts of one person; the first of each field is preferred."""

    person: PersonId
    found: dict[tuple[FieldName, str], Fact] = field(default_factory=dict)

    def add(
        self,
        name: FieldName,
        value: str,
        evidence: Sequence[Evidence],
        when: DateRange | None = None,
        *,
        preferred: bool = False,
    ) -> None:
        if not value:
            return
        known = self.found.get((name, value))
        together = tuple(dict.fromkeys((*(known.evidence if known else ()), *evidence)))
        self.found[name, value] = Fact(
            row_id("fact", self.person, name, value),
            self.person,
            name,
            value,
            when,
            "unverified",
            max((item.reliability for item in together), default=0.0),
            # GEDCOM has no mark for it: the first of several values is the preferred one.
            preferred or (known.preferred if known else not self.all(name)),
            together,
        )

    def add_event(self, fields: EventFields, event: ReadEvent, *, preferred: bool = False) -> None:
        """The facts of an event; of several marriages each is preferred, since they do not compete."""
        self.add(fields.date, event.date, event.evidence("date"), event.when, preferred=preferred)
        self.add(fields.place, event.place, event.evidence("place"), preferred=preferred)

    def all(self, name: FieldName) -> list[Fact]:
        return [fact for (field_name, _), fact in self.found.items() if field_name == name]

    def first(self, name: FieldName) -> Fact | None:
        return next(iter(self.all(name)), None)


def read_event(file: GedcomFile, record: GedcomLine, line: GedcomLine) -> ReadEvent:
    """The date and place of an event, and their evidence."""
    date, when = _date(file, line)
    place_line = line.first("PLAC")
    place = " ".join(place_line.value.split()) if place_line else ""
    evidence = citations_below(file, record, [line, *([place_line] if place_line else [])])
    parts = {"date": date, "place": place}
    missing = {
        part
        for part, value in parts.items()
        if value and not any(cited_evidence.speaks_for(part) for cited_evidence in evidence)
    }
    if missing or not evidence:
        last = max(line.all("DATE", "PLAC"), key=lambda below: below.start, default=None)
        own = file.quote_lines(record, line, last)
        evidence.append(CitedEvidence(own, frozenset(missing) if evidence else frozenset()))
    return ReadEvent(date, when, place, tuple(evidence))


def _date(file: GedcomFile, line: GedcomLine) -> tuple[str, DateRange | None]:
    """The value of a date fact: EDTF, or the words of the file if they have no range."""
    date = line.first("DATE")
    written = " ".join(date.value.split()) if date else ""
    when = _more_exact(line, date, read_date(written))
    if when:
        return when.edtf(), when
    if date is None:
        return next(_date_notes(line), ""), None
    phrase = written[1:-1] if written.startswith("(") and written.endswith(")") else date.get("PHRASE")
    phrase = phrase or other_calendar(written, "5.5.1")
    if written and not phrase:
        file.notes.add(date.number, f"{written[:60]!r} is not a date that can be understood; kept as written")
    return phrase or written, None


def _more_exact(line: GedcomLine, date: GedcomLine | None, when: DateRange | None) -> DateRange | None:
    """The range that a phrase or note gives, if it fits the date."""
    phrases = [phrase.value for phrase in date.all("PHRASE")] if date else []
    for words in (*phrases, *_date_notes(line)):
        better = read_date(words)
        # A phrase may say more than the grammar of dates, but only about the same days.
        if better and (when is None or (better.earliest, better.latest) == (when.earliest, when.latest)):
            return better
    return when


def _date_notes(line: GedcomLine) -> Iterator[str]:
    return (note.value.removeprefix(DATE_NOTE) for note in line.all("NOTE") if note.value.startswith(DATE_NOTE))
