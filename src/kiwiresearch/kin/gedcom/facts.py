"""Facts while a file is read: a value told twice is one fact with more evidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from kiwiresearch.kin.fields import FieldName
from kiwiresearch.kin.gedcom.citations import Cited, GedcomFile, cited
from kiwiresearch.kin.gedcom.dates import other_calendar, read_date
from kiwiresearch.kin.gedcom.events import EventFields
from kiwiresearch.kin.gedcom.lines import Line
from kiwiresearch.kin.identity import id_of
from kiwiresearch.kin.tree import Evidence, Fact, PersonId
from kiwiresearch.text.when import DateRange

AS_READ = "Date as read: "
"""How a note begins that tells a date better than GEDCOM can."""


@dataclass(frozen=True, slots=True)
class ReadEvent:
    """An event of a person or a couple, its date and place with the evidence of each."""

    date: str
    when: DateRange | None
    place: str
    cited: tuple[Cited, ...]

    def evidence(self, part: str) -> tuple[Evidence, ...]:
        return tuple(one.evidence for one in self.cited if one.speaks_for(part))


@dataclass(slots=True)
class FactsOfPerson:
    """The facts of one person, each field's first one preferred."""

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
            id_of("fact", self.person, name, value),
            self.person,
            name,
            value,
            when,
            "unverified",
            max((one.reliability for one in together), default=0.0),
            preferred or (known.preferred if known else not self.all(name)),
            together,
        )

    def add_event(self, fields: EventFields, event: ReadEvent, *, preferred: bool = False) -> None:
        """The facts of an event; of several marriages each is preferred, for they do not compete."""
        self.add(fields.date, event.date, event.evidence("date"), event.when, preferred=preferred)
        self.add(fields.place, event.place, event.evidence("place"), preferred=preferred)

    def all(self, name: FieldName) -> list[Fact]:
        return [fact for (field_name, _), fact in self.found.items() if field_name == name]

    def first(self, name: FieldName) -> Fact | None:
        return next(iter(self.all(name)), None)


def read_event(file: GedcomFile, record: Line, line: Line) -> ReadEvent:
    """The date and the place of an event, and what speaks for them."""
    date, when = _date(file, line)
    place_line = line.first("PLAC")
    place = " ".join(place_line.value.split()) if place_line else ""
    evidence = cited(file, record, [line, *([place_line] if place_line else [])])
    told = {"date": date, "place": place}
    missing = {part for part, value in told.items() if value and not any(one.speaks_for(part) for one in evidence)}
    if missing or not evidence:
        evidence.append(Cited(_own(file, record, line), frozenset(missing) if evidence else frozenset()))
    return ReadEvent(date, when, place, tuple(evidence))


def _date(file: GedcomFile, line: Line) -> tuple[str, DateRange | None]:
    """What a date fact is to hold: EDTF, or the words of the file where they have no range."""
    date = line.first("DATE")
    written = " ".join(date.value.split()) if date else ""
    when = _better(line, date, read_date(written))
    if when:
        return when.edtf(), when
    if date is None:
        return next(_as_read(line), ""), None
    phrase = written[1:-1] if written.startswith("(") and written.endswith(")") else date.get("PHRASE")
    phrase = phrase or other_calendar(written, "5.5.1")
    if written and not phrase:
        file.notes.add(date.number, f"{written[:60]!r} is no date that can be placed in time; it is kept as it stands")
    return phrase or written, None


def _better(line: Line, date: Line | None, when: DateRange | None) -> DateRange | None:
    """The range that a phrase or a note gives, where it fits the date."""
    phrases = [phrase.value for phrase in date.all("PHRASE")] if date else []
    for words in (*phrases, *_as_read(line)):
        better = read_date(words)
        if better and (when is None or _fits(better, when)):
            return better
    return when


def _as_read(line: Line) -> Iterator[str]:
    return (note.value.removeprefix(AS_READ) for note in line.all("NOTE") if note.value.startswith(AS_READ))


def _fits(better: DateRange, when: DateRange) -> bool:
    return (better.earliest, better.latest) == (when.earliest, when.latest)


def _own(file: GedcomFile, record: Line, line: Line) -> Evidence:
    """The lines from the event to its date and place."""
    last = _last(line.all("DATE", "PLAC"))
    return file.own_lines(record, line, last) if last else file.own_lines(record, line)


def _last(lines: Iterable[Line]) -> Line | None:
    return max(lines, key=lambda line: line.start, default=None)
