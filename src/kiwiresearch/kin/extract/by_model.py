"""Fields that no rule found: a model points at sentences, and only values they contain verbatim are accepted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import resources
from typing import get_args

from pydantic import BaseModel, ConfigDict, Field

from kiwiresearch.errors import ModelError
from kiwiresearch.kin.extract.life_dates import date_in, snippet_at
from kiwiresearch.kin.extract.name_lists import TextSpan
from kiwiresearch.kin.extract.subject import SentenceSpan, sentences_of
from kiwiresearch.kin.firewall import is_stated
from kiwiresearch.kin.language import ENGLISH
from kiwiresearch.kin.source_facts import ExtractedFact, PersonReading
from kiwiresearch.kin.tree import DATE_FIELDS, RELATION_FIELDS, FieldName, Sex
from kiwiresearch.llm import Model, extraction_options, parse_prompt, structured_reply
from kiwiresearch.page import PageDoc
from kiwiresearch.text import printable

Check = Callable[[ExtractedFact, str, str, Sex], tuple[object, ...]]

MODEL_FIELDS: tuple[FieldName, ...] = (
    "birth_date", "birth_place", "death_date", "death_place", "father", "mother", "spouse", "child", "sibling",
)  # fmt: skip
MAX_FINDINGS = 12
MAX_SENTENCES = 40
REPLY_TOKENS = 1_000
# Also below `firewall.check.MIN_CONFIDENCE`, so that a model's value stays unverified.
MAX_CONFIDENCE = 0.5
"""Lower than that of any rule on running text."""
MAX_WORD = 40
# A word with a capital just before: 'Max ' before 'Carter', but not 'of ' before it.
NAME_BEFORE = re.compile(r"(?<![^\W_])([A-ZÀ-ÖØ-Þ][\w'’.-]*) $")
NAME_AFTER = re.compile(r" [A-ZÀ-ÖØ-Þ]")


class Finding(BaseModel):
    """A value that a model points at."""

    model_config = ConfigDict(extra="forbid")

    field: str
    value: str = Field(min_length=1, max_length=120)
    sentences: list[int] = Field(min_length=1, max_length=3)
    confidence: float = Field(default=0.5, ge=0, le=1)


class Findings(BaseModel):
    """A reply."""

    model_config = ConfigDict(extra="forbid")

    findings: list[Finding] = Field(max_length=2 * MAX_FINDINGS)


@dataclass(frozen=True, slots=True)
class RefusedFinding:
    """Why a value from the model was rejected."""

    reason: str


@dataclass(frozen=True, slots=True)
class ModelReading:
    """What a model found on a page, and what was rejected."""

    facts: tuple[ExtractedFact, ...] = ()
    refused: tuple[RefusedFinding, ...] = ()
    note: str = ""
    """Why the model could not be asked, if so."""


def read_missing_fields(page: PageDoc, person: PersonReading, model: Model, check: Check) -> ModelReading:
    """Ask a model for the fields that the rules did not find."""
    missing = tuple(field for field in MODEL_FIELDS if not any(fact.field == field for fact in person.facts))
    numbered = family_sentences(page)
    if not person.is_person or not missing or not numbered:
        return ModelReading()
    shown = "\n".join(
        f"[{number}] {page.text[sentence_span.start : sentence_span.end]}"
        for number, sentence_span in enumerate(numbered, 1)
    )
    file = resources.files("kiwiresearch.kin.extract") / "data" / "missing_fields.md"
    messages = parse_prompt("missing_fields", file.read_text(encoding="utf-8")).fill(
        name=person.name or person.title, sentences=shown, fields=", ".join(missing), most=MAX_FINDINGS
    )
    try:
        found = structured_reply(model, messages, Findings, extraction_options(max_tokens=REPLY_TOKENS)).findings
    except ModelError as problem:
        return ModelReading(note=printable(problem.message))
    facts: list[ExtractedFact] = []
    refused: list[RefusedFinding] = []
    for finding in found[:MAX_FINDINGS]:
        taken = _checked_finding(page, person, finding, numbered, missing, check)
        (facts if isinstance(taken, ExtractedFact) else refused).append(taken)  # type: ignore[arg-type]
    return ModelReading(tuple(facts), tuple(refused))


def family_sentences(page: PageDoc) -> list[SentenceSpan]:
    """The first sentences with a word about family, in order."""
    found = [
        sentence_span
        for sentence_span in sentences_of(page)
        if ENGLISH.family_cue.search(page.text, sentence_span.start, sentence_span.end)
    ]
    return found[:MAX_SENTENCES]


def _checked_finding(
    page: PageDoc,
    person: PersonReading,
    finding: Finding,
    numbered: list[SentenceSpan],
    missing: tuple[FieldName, ...],
    check: Check,
) -> ExtractedFact | RefusedFinding:
    field = next((name for name in missing if name == finding.field), None)
    if field is None:
        known = finding.field in get_args(FieldName)
        return RefusedFinding("a field that was not asked for" if known else "a field that does not exist")
    for sentence, at in _occurrences(page, finding, numbered):
        # The first sentence decides, so that a model cannot try several until one passes.
        if not is_stated(page.text[sentence.start : sentence.end], page.language):
            return RefusedFinding("the sentence does not state it")
        if field in RELATION_FIELDS and is_part_of_name(page.text, at, at + len(finding.value)):
            return RefusedFinding("it is part of a name")
        made = _fact_of_finding(page, field, finding, sentence, at)
        if made is None:
            return RefusedFinding("no date can be read from it")
        violations = check(made, page.text, person.name or person.title, person.sex)
        return RefusedFinding(f"the firewall: {violations[0]}") if violations else made
    return RefusedFinding("it is not in the sentences it cites")


def is_part_of_name(text: str, start: int, end: int) -> bool:
    """Whether the span is only part of a longer name: 'Carter' in 'Max Carter'."""
    before = NAME_BEFORE.search(text, max(0, start - MAX_WORD), start)
    return bool(NAME_AFTER.match(text, end)) or (
        before is not None and before[1].lower() not in ENGLISH.words["sentence_openers"]
    )


def _occurrences(page: PageDoc, finding: Finding, numbered: list[SentenceSpan]) -> Iterator[tuple[SentenceSpan, int]]:
    for number in finding.sentences:
        if 1 <= number <= len(numbered):
            sentence = numbered[number - 1]
            at = page.text.find(finding.value, sentence.start, sentence.end)
            if at >= 0:
                yield sentence, at


def _fact_of_finding(
    page: PageDoc, field: FieldName, finding: Finding, sentence: SentenceSpan, at: int
) -> ExtractedFact | None:
    when = date_in(finding.value, page.language) if field in DATE_FIELDS else None
    if field in DATE_FIELDS and when is None:
        return None
    return ExtractedFact(
        field,
        when.edtf() if when else page.text[at : at + len(finding.value)],
        snippet_at(page, TextSpan(sentence.start, sentence.end)),
        "model",
        min(finding.confidence, MAX_CONFIDENCE),
        when,
        target=next((link.target for link in page.links if at <= link.start < at + len(finding.value)), ""),
        rationale="a model pointed at the sentence",
    )
