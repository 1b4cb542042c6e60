"""From a record to what may be kept: read by rule, each value held against its own quote, in the order of the pipeline.

Anchor, confidence, hypotheses, firewall: what passes is verified or waits for more,
what fails is kept as rejected with its reasons, and what is only guessed is a clue.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kiwiresearch.kin.extracted import Extracted, Hypothesis, ReadPerson
from kiwiresearch.kin.fields import FieldName, Method, Status
from kiwiresearch.kin.firewall.beside import check_beside
from kiwiresearch.kin.firewall.check import check
from kiwiresearch.kin.firewall.contracts import Contradiction, FieldResult, HypothesisOut, VerifierOut
from kiwiresearch.kin.firewall.violation import Violation
from kiwiresearch.kin.sources.source import Fetched

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
"""How far a value is trusted by where it stands; an encyclopedia is written from other books, whatever it says."""

SURE = 0.6
"""What a rule is less sure of waits for a second source."""


SINGLE: tuple[FieldName, ...] = ("birth_date", "death_date", "father", "mother")
LONGEST = 400


@dataclass(frozen=True, slots=True)
class Checked:
    """A value, what becomes of it, and why."""

    fact: Extracted
    status: Status
    confidence: float
    reliability: float
    violations: tuple[Violation, ...] = ()
    told: tuple[Checked, ...] = ()
    """Of a relative, what the same place says about them."""


@dataclass(frozen=True, slots=True)
class Verified:
    """A record, read and checked."""

    fetched: Fetched
    read: ReadPerson
    facts: tuple[Checked, ...] = ()
    hypotheses: tuple[Hypothesis, ...] = ()
    notes: tuple[str, ...] = ()
    """What a model said that was not taken, and what kept it from being asked."""

    @property
    def kept(self) -> tuple[Checked, ...]:
        return tuple(one for one in self.facts if one.status != "rejected")

    @property
    def rejected(self) -> tuple[Checked, ...]:
        return tuple(one for one in self.facts if one.status == "rejected")


def verified(fetched: Fetched) -> Verified | None:
    """Read a record and check all that was read in it; None where it has nothing to read."""
    # Its patterns take long to build: a server that reads no family does without.
    from kiwiresearch.kin.extract.read import read_person

    read = fetched.read or (read_person(fetched.page) if fetched.page else None)
    if read is None:
        return None
    if not read.is_person:
        return Verified(fetched, read)
    return Verified(fetched, read, tuple(checked(one, fetched, read) for one in read.facts), read.hypotheses)


def checked(fact: Extracted, fetched: Fetched, read: ReadPerson) -> Checked:
    """A value held against its quote, with what becomes of it."""
    violations = check(fact, fetched.text, read.title, read.sex, also=(read.name,) if read.name else ())
    return _judged(fact, violations, fetched.text, (fact.field,))


def _judged(fact: Extracted, violations: tuple[Violation, ...], text: str, line: tuple[FieldName, ...]) -> Checked:
    """What becomes of a value, and of what the same place says about the relative who stands on that line."""
    reliability = RELIABILITY[fact.method]
    if violations:
        return Checked(fact, "rejected", 0.0, reliability, violations)
    told = tuple(_judged(one, check_beside(one, text, line, fact.value), text, (*line, one.field)) for one in fact.told)
    confidence = round(min(fact.confidence, 1.0) * reliability, 4)
    status: Status = "verified" if fact.confidence >= SURE else "unverified"
    return Checked(fact, status, confidence, reliability, told=told)


def contract(record: Verified) -> VerifierOut:
    """The record in the form that a verifier answers in: verified or not, what differs, what is flagged."""
    results = [
        FieldResult(
            field=one.fact.field,
            value=one.fact.value[:LONGEST],
            status="Verified" if one.status == "verified" else "Unverified",
            confidence=one.confidence,
            citation_snippet=one.fact.snippet.words,
            locator=one.fact.locator or None,
            rationale=one.fact.rationale[:LONGEST],
        )
        for one in record.kept
    ]
    hypotheses = [
        HypothesisOut(
            type=one.type,
            text=one.text[:LONGEST],
            evidence_hint=one.evidence_hint[:LONGEST],
            priority=one.priority,
            suggested_queries=list(one.suggested_queries[:5]),
            is_fact=False,
        )
        for one in record.hypotheses
    ]
    flags = [f"{one.fact.field}: {one.violations[0]}"[:LONGEST] for one in record.rejected]
    return VerifierOut(
        verification_results=results,
        hypotheses=hypotheses,
        contradictions=list(_contradictions(record)),
        hallucination_flags=flags,
    )


def _contradictions(record: Verified) -> Iterator[Contradiction]:
    """Fields with one true value of which the record gives several."""
    for field in SINGLE:
        told = {one.fact.value: one.fact.snippet.words for one in record.kept if one.fact.field == field}
        if len(told) > 1:
            yield Contradiction(field=field, values=list(told), citation_snippets=list(told.values()))
