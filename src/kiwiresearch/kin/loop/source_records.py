"""Records of the sources: searched by person, read by rule, each value checked against its own quote."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from kiwiresearch.errors import HostUnreachable, KiwiError, SourceRateLimited, SourceRefused
from kiwiresearch.kin.extract import read_person
from kiwiresearch.kin.firewall import MIN_CONFIDENCE, Violation, check_relative
from kiwiresearch.kin.firewall.check import check
from kiwiresearch.kin.source_facts import ExtractedFact, Hypothesis, PersonReading
from kiwiresearch.kin.sources import BookSource, EvidenceSource, FetchedRecord, PersonQuery
from kiwiresearch.kin.tree import FieldName, Method, Person, Status
from kiwiresearch.text import count_of
from kiwiresearch.text.dates import DateRange

RELIABILITY: Mapping[Method, float] = {
    "lead": 0.65,
    "infobox": 0.60,
    "prose": 0.55,
    "wikidata": 0.60,
    "plugin": 0.50,
    "gedcom": 0.40,
    "model": 0.48,
    "user": 0.80,
}
"""How far a value is trusted by how it was found; an encyclopedia is itself based on other books."""


@dataclass(frozen=True, slots=True)
class CheckedFact:
    """What the firewall found of an extracted fact: its status, and the reason if it was rejected."""

    fact: ExtractedFact
    status: Status
    confidence: float
    reliability: float
    violations: tuple[Violation, ...] = ()
    relative_facts: tuple[CheckedFact, ...] = ()
    """What the same passage says about the relative."""


@dataclass(frozen=True, slots=True)
class CheckedRecord:
    """A record, read and checked."""

    fetched: FetchedRecord
    reading: PersonReading
    facts: tuple[CheckedFact, ...] = ()
    hypotheses: tuple[Hypothesis, ...] = ()
    notes: tuple[str, ...] = ()
    """Why values of a model were not accepted, and why it could not be asked."""

    @property
    def accepted(self) -> tuple[CheckedFact, ...]:
        return tuple(fact for fact in self.facts if fact.status != "rejected")

    @property
    def rejected(self) -> tuple[CheckedFact, ...]:
        return tuple(fact for fact in self.facts if fact.status == "rejected")


def check_record(fetched: FetchedRecord) -> CheckedRecord | None:
    """Read a record and check all its values; None if there is nothing to read."""
    reading = fetched.reading or (read_person(fetched.page) if fetched.page else None)
    if reading is None:
        return None
    if not reading.is_person:
        return CheckedRecord(fetched, reading)
    facts = tuple(check_fact(fact, fetched, reading) for fact in reading.facts)
    return CheckedRecord(fetched, reading, facts, reading.hypotheses)


def check_fact(fact: ExtractedFact, fetched: FetchedRecord, reading: PersonReading) -> CheckedFact:
    """Check a value against its quote."""
    violations = check(
        fact, fetched.text, reading.title, reading.sex, other_names=(reading.name,) if reading.name else ()
    )
    return _assess(fact, violations, fetched.text, (fact.field,), reading)


def _assess(
    fact: ExtractedFact,
    violations: tuple[Violation, ...],
    text: str,
    descent: tuple[FieldName, ...],
    reading: PersonReading,
) -> CheckedFact:
    """The status of a value, and of what the same passage says about the relative that `descent` leads to."""
    reliability = RELIABILITY[fact.method]
    if violations:
        return CheckedFact(fact, "rejected", 0.0, reliability, violations)
    relative_facts = tuple(
        _assess(
            extracted_fact,
            check_relative(
                extracted_fact,
                text,
                descent,
                fact.value,
                subject=reading.title,
                sex=reading.sex,
                other_names=(reading.name,) if reading.name else (),
            ),
            text,
            (*descent, extracted_fact.field),
            reading,
        )
        for extracted_fact in fact.relative_facts
    )
    confidence = round(min(fact.confidence, 1.0) * reliability, 4)
    status: Status = "verified" if fact.confidence >= MIN_CONFIDENCE else "unverified"
    return CheckedFact(fact, status, confidence, reliability, relative_facts=relative_facts)


BRACKETED_HINT = re.compile(r"\s*\([^()]*\)\s*$")
"""What a repeated search adds for the log, as in 'Ann Smith (born 1801)'; sources get the name and the years."""
Outcome = Literal["found", "known", "nothing", "not asked", "no answer"]


@dataclass(frozen=True, slots=True)
class SearchTarget:
    """Whom to search for. `person` is the tree's, and decides whether other sources may be asked about them."""

    name: str
    person: Person | None = None
    address: str = ""
    """The address of their own page, if known."""
    source: str = ""
    """The only source to ask; all of them if empty."""

    def query(self) -> PersonQuery:
        person = self.person
        name = BRACKETED_HINT.sub("", self.name)
        if person is None:
            return PersonQuery(name)
        return PersonQuery(
            name, birth_year=exact_year(person.birth), death_year=exact_year(person.death), living=person.living
        )


@dataclass(frozen=True, slots=True)
class SourceAnswer:
    """The result of the search in one source."""

    source: str
    outcome: Outcome
    why: str = ""

    @property
    def log_label(self) -> str:
        """The source as the research log names it, with the reason if it was not asked or did not answer."""
        return f"{self.source} ({self.outcome}: {self.why})" if self.why else self.source


@dataclass(frozen=True, slots=True)
class SourceSearch:
    """The record found, if any, and the answer of each source."""

    record: CheckedRecord | None = None
    source: EvidenceSource | None = None
    answers: tuple[SourceAnswer, ...] = ()
    retry_after_s: float | None = None
    """How long to leave a source alone that was not asked."""

    @property
    def is_known(self) -> bool:
        """Whether a source has the record, but the case has it already."""
        return any(answer.outcome == "known" for answer in self.answers)

    def summary(self, new: int) -> str:
        """The result in a sentence that names no person."""
        if self.record:
            return f"1 record, {count_of(new, 'new fact')}."
        return "Already known." if self.is_known else "No results."

    @property
    def sources_without_hit(self) -> tuple[str, ...]:
        """Sources that searched and found nothing."""
        return tuple(answer.source for answer in self.answers if answer.outcome == "nothing")


def exact_year(when: DateRange | None) -> int | None:
    """The year of a date, if it can only be one."""
    return when.first_year if when and when.first_year == when.last_year else None


def is_local(source: EvidenceSource) -> bool:
    """Whether a source is on this machine; it may be asked about anybody at any time."""
    return isinstance(source, BookSource)


def search_sources(
    sources: Sequence[EvidenceSource],
    target: SearchTarget,
    is_about: Callable[[CheckedRecord], bool],
    is_known: Callable[[FetchedRecord], bool],
) -> SourceSearch:
    """The first record about the person; later sources are not asked."""
    answers: list[SourceAnswer] = []
    retry_after_s: float | None = None
    for source in sources:
        if target.source not in ("", source.id):
            continue
        try:
            record, is_old = _ask_source(source, target, is_about, is_known)
        except SourceRateLimited as problem:
            retry_after_s = max(retry_after_s or 0.0, problem.retry_after_s)
            answers.append(SourceAnswer(source.id, "no answer", "resting"))
            continue
        except SourceRefused as problem:
            answers.append(SourceAnswer(source.id, "not asked", problem.rule))
            continue
        except HostUnreachable:
            raise  # a book of an unreachable host may have the record
        except KiwiError as problem:
            answers.append(SourceAnswer(source.id, "no answer", _failure_kind(problem)))
            continue
        # A record that the case has already ends the search too: other sources would only repeat it.
        if is_old:
            return SourceSearch(answers=(*answers, SourceAnswer(source.id, "known")))
        if record:
            return SourceSearch(record, source, (*answers, SourceAnswer(source.id, "found")))
        answers.append(SourceAnswer(source.id, "nothing"))
    return SourceSearch(answers=tuple(answers), retry_after_s=retry_after_s)


def _ask_source(
    source: EvidenceSource,
    target: SearchTarget,
    is_about: Callable[[CheckedRecord], bool],
    is_known: Callable[[FetchedRecord], bool],
) -> tuple[CheckedRecord | None, bool]:
    """A new record of a source, and whether it has one that is already in the case."""
    if target.address:
        if not is_local(source) and (target.person is None or target.person.living != "deceased"):
            raise SourceRefused(
                f"The source {source.id!r} is never searched for people who may be living.", rule="privacy"
            )
        fetched: Sequence[FetchedRecord] = [source.fetch(target.address)]
    else:
        fetched = source.search(target.query())
    is_old = False
    for item in fetched:
        record = check_record(item)
        if record is None or not record.reading.is_person or not (target.address or is_about(record)):
            continue
        if not is_known(item):
            return record, False
        is_old = True
    return None, is_old


def _failure_kind(problem: KiwiError) -> str:
    """The kind of failure for the log; its message may name a person."""
    # 'SourceRateLimited' becomes 'rate limited'.
    words = re.sub(r"(?<!^)(?=[A-Z])", " ", type(problem).__name__).lower()
    return words.removeprefix("source ")
