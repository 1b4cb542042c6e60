"""The proof summary of a person, as genealogists write one: question, conclusion, evidence, conflicts, searches.

It repeats what the case has stored, as it is shown to this reader, and concludes nothing of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from kiwiresearch.cases.json_records import EvidenceRecord, FactRecord, LoggedSearch, NamedConflict, NamedPerson
from kiwiresearch.cases.record_builder import conflict_records, evidence_records, log_records
from kiwiresearch.codec import Record
from kiwiresearch.document import Block, Document, Heading, LineList, Paragraph, Span, line_of
from kiwiresearch.kin import FieldName, PersonId
from kiwiresearch.kin.report import family_markdown, family_page
from kiwiresearch.messages import LocalText, Message, render
from kiwiresearch.text import fold

if TYPE_CHECKING:
    from kiwiresearch.cases.case import Case
    from kiwiresearch.kin.privacy import PrivacyMode
    from kiwiresearch.messages import Catalogue

ProofFormat = Literal["html", "markdown"]
PROOF_FILES: dict[ProofFormat, str] = {"html": "proof.html", "markdown": "proof.md"}
QUESTIONS: dict[str, tuple[FieldName, ...]] = {
    "birth": ("birth_date", "birth_place"),
    "baptism": ("baptism_date", "baptism_place"),
    "death": ("death_date", "death_place"),
    "burial": ("burial_date", "burial_place"),
    "parents": ("father", "mother", "parent"),
    "grandparents": ("grandparent",),
    "spouses": ("spouse", "partner", "marriage_date", "marriage_place"),
    "children": ("child",),
    "siblings": ("sibling",),
}
ALWAYS_ASKED = frozenset({"birth", "death", "parents", "spouses"})
"""Questions that are asked even if nothing answers them; the others only where there is something to say."""
LANGUAGE_CODES = {"en": "eng", "fr": "fra", "es": "spa"}


@dataclass(frozen=True, slots=True)
class ProofQuestion(Record):
    """A question about a person, with what answers it."""

    question: str
    """A key of `QUESTIONS`."""
    conclusions: tuple[FactRecord, ...]
    rejected: tuple[FactRecord, ...]
    conflicts: tuple[NamedConflict, ...]


@dataclass(frozen=True, slots=True)
class ProofSummary(Record):
    """What is concluded about a person, on what evidence, and what was searched for without result."""

    person: NamedPerson
    questions: tuple[ProofQuestion, ...]
    sources: tuple[str, ...]
    searches: tuple[LoggedSearch, ...]
    """Those for this person that found nothing. They prove nothing."""


def proof_summary(case: Case, person: PersonId, mode: PrivacyMode) -> ProofSummary:
    """The proof summary of a person, as far as this reader may see it."""
    shown = case.tree(mode).persons[person]
    facts = evidence_records(case, person, None, mode)
    conflicts = [conflict for conflict in conflict_records(case, mode) if conflict.person == person]
    questions = (_asked(question, fields, facts, conflicts) for question, fields in QUESTIONS.items())
    answered = tuple(one for one in questions if one.conclusions or one.rejected or one.question in ALWAYS_ASKED)
    sources = dict.fromkeys(
        _source(evidence)
        for one in answered
        for fact in (*one.conclusions, *one.rejected)
        for evidence in fact.evidence
        if evidence.source
    )
    is_hidden = isinstance(shown.name, Message)
    names = () if is_hidden else tuple(fold(name) for name in (shown.name, *shown.names) if name)
    searches = tuple(
        search for search in log_records(case, mode) if search.negative and _is_for(fold(search.query), names)
    )
    return ProofSummary(NamedPerson(person, shown.name), answered, tuple(sources), searches)


def _asked(
    question: str, fields: Sequence[FieldName], facts: Sequence[FactRecord], conflicts: Sequence[NamedConflict]
) -> ProofQuestion:
    about = sorted((fact for fact in facts if fact.field in fields), key=lambda fact: fields.index(fact.field))
    return ProofQuestion(
        question,
        tuple(fact for fact in about if fact.standing.status != "rejected"),
        tuple(fact for fact in about if fact.standing.status == "rejected"),
        tuple(conflict for conflict in conflicts if conflict.field in fields),
    )


def _is_for(query: str, names: Sequence[str]) -> bool:
    return any(f" {name} " in f" {query} " for name in names)


def _source(evidence: EvidenceRecord) -> str:
    """The citation of a source: its title, the section, and the book."""
    book = evidence.book if evidence.book != evidence.source else ""
    return ", ".join(filter(None, (evidence.source, book)))


def proof_file(summary: ProofSummary, file_format: ProofFormat, words: Catalogue) -> str:
    """The proof summary as a file in the language of a catalogue."""
    document = proof_document(summary, words)
    return family_page(document) if file_format == "html" else family_markdown(document)


def proof_document(summary: ProofSummary, words: Catalogue) -> Document:
    """The proof summary as a document in the language of a catalogue."""
    return _ProofWriter(summary, words).document()


@dataclass(frozen=True, slots=True)
class _ProofWriter:
    summary: ProofSummary
    words: Catalogue

    def document(self) -> Document:
        name = self._said(self.summary.person.name)
        return Document(
            self.words("family.proof.title", name=name), tuple(self._blocks()), LANGUAGE_CODES[self.words.language]
        )

    def _blocks(self) -> Iterator[Block]:
        yield self._paragraph("family.proof.lead", "note")
        if isinstance(self.summary.person.name, Message):
            yield Paragraph(line_of(self.words("family.person.kept")), "note")
        for question in self.summary.questions:
            yield from self._question(question)
        yield Heading(line_of(self.words("family.proof.search")))
        if self.summary.sources:
            yield self._paragraph("family.proof.sources")
            yield LineList(tuple(line_of(Span(self._said(source), foreign=True)) for source in self.summary.sources))
        if self.summary.searches:
            yield self._paragraph("family.proof.in_vain")
            yield LineList(
                tuple(
                    line_of(Span(self._said(search.query), foreign=True), f" ({search.source})")
                    for search in self.summary.searches
                )
            )
        else:
            yield self._paragraph("family.proof.none_in_vain")

    def _question(self, one: ProofQuestion) -> Iterator[Block]:
        yield Heading(line_of(self.words(f"family.proof.question.{one.question}")))
        yield Heading(line_of(self.words("family.proof.conclusion")), 3)
        if not one.conclusions:
            yield self._paragraph("family.proof.no_conclusion")
        else:
            yield LineList(tuple(line_of(*self._statement(fact)) for fact in one.conclusions))
        evidence = [(fact, quote) for fact in (*one.conclusions, *one.rejected) for quote in fact.evidence]
        if evidence:
            yield Heading(line_of(self.words("family.proof.evidence")), 3)
            yield LineList(tuple(line_of(*self._quote(fact, quote)) for fact, quote in evidence), numbered=True)
        if one.conflicts or one.rejected:
            yield Heading(line_of(self.words("family.proof.conflicts")), 3)
            for conflict in one.conflicts:
                yield from self._conflict(conflict)
            if one.rejected:
                yield self._paragraph("family.proof.rejected")
                yield LineList(tuple(line_of(*self._value(fact)) for fact in one.rejected))

    def _statement(self, fact: FactRecord) -> Iterator[str | Span]:
        """A conclusion with its status."""
        yield from self._value(fact)
        status = self.words(f"family.standing.{fact.standing.status}")
        yield f" ({status}, {self.words(f'family.sure.{fact.standing.confidence}')})"

    def _value(self, fact: FactRecord) -> Iterator[str | Span]:
        yield Span(f"{self.words(f'family.field.{fact.field}')}{self.words.locale.colon}", strong=True)
        notes = [self.words.named("family.note", fact.qualifier) if fact.qualifier else "", self._said(fact.when or "")]
        noted = ", ".join(filter(None, notes))
        yield Span(f" {self._said(fact.value)}", foreign=True)
        yield f" ({noted})" if noted else ""

    def _quote(self, fact: FactRecord, quote: EvidenceRecord) -> Iterator[str | Span]:
        """The words of a source, its citation, and the class of evidence."""
        yield Span(self.words("kinds.quoted", words=self._said(quote.quote)), foreign=True)
        cited = ", ".join(filter(None, (_source(quote), quote.locator)))
        yield Span(f" — {cited}" if cited else " —", foreign=True)
        yield f" ({self._said(quote.class_)}). {self.words(f'family.field.{fact.field}')}{self.words.locale.colon} "
        yield Span(self._said(fact.value), foreign=True)

    def _conflict(self, conflict: NamedConflict) -> Iterator[Block]:
        """The competing values in the order of their ranks, and how the conflict was resolved."""
        yield Paragraph(line_of(Span(self.words(f"family.field.{conflict.field}"), strong=True)))
        ranks = sorted(conflict.evidence_ranking, key=lambda rank: rank.rank)
        yield LineList(
            tuple(
                line_of(
                    Span(self._said(conflict.competing_assertions[rank.claim_index].value), foreign=True),
                    f"{self.words.locale.colon} {self._said(rank.reason)}" if rank.reason else "",
                )
                for rank in ranks
            )
        )
        state = self.words(f"family.proof.state.{conflict.resolution_status}")
        yield Paragraph(line_of(f"{state} {self._said(conflict.analysis)}".strip()))

    def _paragraph(self, key: str, css_class: str = "") -> Paragraph:
        return Paragraph(line_of(self.words(key)), css_class)

    def _said(self, text: str) -> str:
        """A stored text in the language: messages and dates are translated, the words of sources are not."""
        if isinstance(text, Message):
            return render(text, self.words) or str(text)
        return text.in_language(self.words.language) if isinstance(text, LocalText) else " ".join(text.split())
