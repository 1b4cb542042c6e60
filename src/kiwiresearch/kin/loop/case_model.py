"""The language model of a case: what it may be shown, and what it adds to a record read by rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from kiwiresearch.errors import ModelError, ModelUnreachable
from kiwiresearch.kin.extract import read_missing_fields
from kiwiresearch.kin.firewall import FieldResult, VerifierOut, is_denied_or_doubted, sentence_around
from kiwiresearch.kin.firewall.check import check
from kiwiresearch.kin.loop.planner_by_model import is_query
from kiwiresearch.kin.loop.settings import CaseSettings
from kiwiresearch.kin.loop.source_records import CheckedFact, CheckedRecord, check_fact
from kiwiresearch.kin.privacy import MAX_AGE, Mask, find_withheld
from kiwiresearch.kin.source_facts import ExtractedFact, Hypothesis, Snippet
from kiwiresearch.kin.store import CaseStore
from kiwiresearch.llm import (
    CircuitBreakerModel,
    MaskedModel,
    Model,
    extraction_options,
    model_label,
    prompt,
    structured_reply,
)
from kiwiresearch.text import fold, printable

REPLY_TOKENS = 1_200
MAX_TEXT = 6_000
MAX_FIELDS = 20
MAX_HYPOTHESES = 3
MAX_CLUE_PRIORITY = 0.6
"""A model's guess never comes before a clue found by rule."""

PassesFirewall = Callable[[ExtractedFact], bool]
"""Whether the firewall lets a value pass with its quote."""


@dataclass(frozen=True, slots=True)
class ModelReview:
    """Values that a quote of the model's confirms, guesses to follow, and what was not accepted."""

    confirmed: tuple[ExtractedFact, ...] = ()
    hypotheses: tuple[Hypothesis, ...] = ()
    flags: tuple[str, ...] = ()


def verify_by_model(
    url: str, text: str, facts: Sequence[ExtractedFact], model: Model, passes: PassesFirewall
) -> ModelReview:
    """Ask a model whether a source says these values; if it fails, the flags say why."""
    facts = facts[:MAX_FIELDS]
    if not facts:
        return ModelReview()
    messages = prompt("kin_verifier").fill(
        url=url,
        raw_text=_excerpt(text, facts),
        extracted_fields=_lines((extracted_fact.field, extracted_fact.value) for extracted_fact in facts),
        existing_citations=_lines((extracted_fact.field, extracted_fact.snippet.words) for extracted_fact in facts),
    )
    try:
        reply = structured_reply(model, messages, VerifierOut, extraction_options(max_tokens=REPLY_TOKENS))
    except ModelError as problem:
        return ModelReview(flags=(f"{model_label(model)} could not check the facts: {printable(problem.message)}",))
    confirmed, flags = [], list(map(printable, reply.hallucination_flags))
    for result in reply.verification_results:
        fact = next(
            (
                extracted_fact
                for extracted_fact in facts
                if (extracted_fact.field, extracted_fact.value) == (result.field, result.value)
            ),
            None,
        )
        if fact is None:
            flags.append(f"A value that was not asked about: {result.field}.")
        elif result.status == "Verified":
            if quoted := _with_quote(fact, result, text, passes):
                confirmed.append(quoted)
            else:
                flags.append(f"A quote that does not support its value: {result.field}.")
    return ModelReview(tuple(confirmed), _hypotheses(reply, text), tuple(flags))


def _excerpt(text: str, facts: Sequence[ExtractedFact]) -> str:
    """The part of the text that a model reads: the beginning, and the quotes further down."""
    parts = [text[:MAX_TEXT]]
    parts += [fact.snippet.words for fact in facts if fact.snippet.start >= MAX_TEXT]
    return "\n".join(dict.fromkeys(parts))


def _lines(rows: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"{field} | {printable(value)}" for field, value in rows)


def _with_quote(fact: ExtractedFact, result: FieldResult, text: str, passes: PassesFirewall) -> ExtractedFact | None:
    """The value with the model's quote, if the text has the quote and the firewall accepts both."""
    words = (result.citation_snippet or "").strip()
    # The quote is searched for in the whole text: a model gives words, and no positions that could be trusted.
    at = text.find(words) if words else -1
    if at < 0 or is_denied_or_doubted(sentence_around(text, at, at + len(words))):
        return None
    quoted = replace(fact, snippet=Snippet(at, at + len(words), words), rationale=f"{fact.rationale}; a model agrees")
    return quoted if passes(quoted) else None


def _hypotheses(reply: VerifierOut, text: str) -> tuple[Hypothesis, ...]:
    """The guesses with queries that share a word with the source and look like searches."""
    known = set(fold(text).split())
    found = []
    for hypothesis in reply.hypotheses[:MAX_HYPOTHESES]:
        queries = tuple(
            query.strip()
            for query in hypothesis.suggested_queries
            if is_query(query) and known & set(fold(query).split())
        )
        label = printable(hypothesis.text).removeprefix("HYPOTHESIS:").strip()
        if label and queries:
            priority = min(hypothesis.priority, MAX_CLUE_PRIORITY)
            found.append(
                Hypothesis(
                    printable(hypothesis.type),
                    f"HYPOTHESIS: {label}",
                    printable(hypothesis.evidence_hint),
                    priority,
                    queries,
                )
            )
    return tuple(found)


DEATH_DATES = frozenset({"death_date", "burial_date"})


def is_long_past(record: CheckedRecord, year: int) -> bool:
    """Whether everybody the person of a record knew must be dead.

    A page names children and grandchildren who are not in the tree yet, so no mask could hide them.
    """
    dates = [(checked.fact.field, checked.fact.when) for checked in record.accepted if checked.fact.when]
    # `MAX_AGE` years after a death, everybody who was alive then is dead; the death is at most as long after the birth.
    return any(
        (field in DEATH_DATES and when.last_year < year - MAX_AGE)
        or (field == "birth_date" and when.last_year < year - 2 * MAX_AGE)
        for field, when in dates
    )


def review_with_model(record: CheckedRecord, model: Model) -> CheckedRecord:
    """Add what a model finds and confirms, if it passes the firewall; nothing found by rule is lost."""
    notes: list[str] = []
    facts = record.facts
    page = record.fetched.page
    if page is not None:
        from_model = read_missing_fields(page, record.reading, model, check)
        facts = (
            *facts,
            *(check_fact(extracted_fact, record.fetched, record.reading) for extracted_fact in from_model.facts),
        )
        notes += [f"not taken: {finding.reason}" for finding in from_model.refused]
        notes += [from_model.note] if from_model.note else []
    # A model cannot confirm what it found itself.
    doubtful = tuple(
        checked.fact for checked in facts if checked.status == "unverified" and checked.fact.method != "model"
    )
    text, name, sex = record.fetched.text, record.reading.name or record.reading.title, record.reading.sex
    review = verify_by_model(
        record.fetched.source.url, text, doubtful, model, lambda fact: not check(fact, text, name, sex)
    )
    confirmed = {
        (str(extracted_fact.field), extracted_fact.value): extracted_fact for extracted_fact in review.confirmed
    }
    return replace(
        record,
        facts=tuple(_confirmed(checked, confirmed) for checked in facts),
        hypotheses=(*record.hypotheses, *review.hypotheses),
        notes=(*notes, *review.flags),
    )


def _confirmed(checked: CheckedFact, confirmed: Mapping[tuple[str, str], ExtractedFact]) -> CheckedFact:
    """An unverified value becomes verified if a model confirms it; its confidence stays the same."""
    fact = confirmed.get((checked.fact.field, checked.fact.value))
    return replace(checked, fact=fact, status="verified") if fact and checked.status == "unverified" else checked


class CaseModel:
    """Asks a model where the rules are not sure, if there is one."""

    def __init__(self, store: CaseStore, settings: CaseSettings, year: int, model: Model | None, *, is_local: bool):
        self._store = store
        self._settings = settings
        self._year = year
        self._model = CircuitBreakerModel(model) if model else None
        self._sees_living = is_local and settings.model_sees_living

    @property
    def problem(self) -> ModelUnreachable | None:
        """Why the model could not be reached; None if it could."""
        return self._model.problem if self._model else None

    def model(self) -> Model | None:
        """The model for use now: people who may be alive are masked in all prompts."""
        if self._model is None or self._sees_living:
            return self._model
        return MaskedModel(self._model, self._mask().text)

    def names_no_living_person(self, words: str) -> bool:
        """Whether words from a model may be sent to other sources."""
        return self._mask().text(words) == words

    def _mask(self) -> Mask:
        withheld = find_withheld(
            self._store.tree(),
            self._year,
            years_after_death=self._settings.years_after_death,
            overrides=self._store.living_overrides,
        )
        return Mask(withheld, "public")

    def review(self, record: CheckedRecord) -> CheckedRecord:
        """The record with what a model adds; only a local model may see a page that may name living people."""
        if self._model is None or not (self._sees_living or is_long_past(record, self._year)):
            return record
        model = self.model()
        return review_with_model(record, model) if model else record
