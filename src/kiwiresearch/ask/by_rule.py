"""An answer in the books' own words: corrects the question, retrieves evidence, and builds the answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from kiwiresearch.ask.answer import Answer, AnswerCitation
from kiwiresearch.ask.answer_builder import AnswerBuilder
from kiwiresearch.ask.context import AskContext, passages_of
from kiwiresearch.ask.conversation import ResolvedQuestion, resolve
from kiwiresearch.ask.danger import Danger, danger_of
from kiwiresearch.ask.question import Question, read_question
from kiwiresearch.ask.refusal import OTHER_LANGUAGE, is_clear_in_other_language, refuse_too_weak
from kiwiresearch.ask.retrieval import no_book_in_language
from kiwiresearch.ask.score import RetrievedEvidence
from kiwiresearch.ask.settings import AskOptions
from kiwiresearch.ask.spelling import correct_spelling
from kiwiresearch.search import OpenBook
from kiwiresearch.text import fold, language_words
from kiwiresearch.zim import EntryRef, HiddenName, hidden_name_among

READER_LANGUAGE = "eng"
"""The language the reading model was trained for."""

MAX_WITHOUT_NAMED_PAGE = 0.3
"""The highest confidence of an answer if the page that the question names is hidden: other pages seldom have it."""


@dataclass(frozen=True, slots=True)
class RuleAnswer:
    """An answer by rule, and what a model needs to word it."""

    answer: Answer
    danger: Danger | None = None
    """If set, no model may word it."""
    offered: tuple[AnswerCitation, ...] = ()
    """A citation of the best sentence of each passage, under the passage's key; none if nothing answers."""


def gather_evidence(
    context: AskContext, typed: str, options: AskOptions, page: EntryRef | None = None
) -> GatheredEvidence:
    """The evidence that the words that a user typed find in the books, or on one page."""
    language = context.language_of(typed)
    resolved = _spell_checked(resolve(typed, options.turns, language), context.books, language)
    question = read_question(resolved.text, language)
    retriever = context.retriever(question)
    if page is None:
        evidence = retriever.retrieve()
        if retriever.has_no_book_in_language and not is_clear_in_other_language(evidence.strength):
            evidence = refuse_too_weak(evidence)
        hidden = _hidden_page(context.books, question, evidence)
        evidence = _with_capped_confidence(evidence) if hidden else evidence
    else:
        evidence = retriever.on_page(next(book for book in context.books if book.id == page.book), page.path)
        hidden = None
    return GatheredEvidence(context, typed, resolved, question, evidence, options, hidden)


@dataclass(frozen=True, slots=True)
class GatheredEvidence:
    """The evidence for a question, which may be reranked before the answer is built."""

    context: AskContext
    typed: str
    resolved: ResolvedQuestion
    question: Question
    evidence: RetrievedEvidence
    options: AskOptions
    hidden_page: HiddenName | None = None
    """The page that the question names, if it is hidden."""

    @property
    def can_rerank(self) -> bool:
        """Whether the reading model can be used: it is available, enabled, and knows the language."""
        return self.context.reader is not None and not self.options.fast and self.question.language == READER_LANGUAGE

    def rerank(self) -> GatheredEvidence:
        """A copy with the evidence ranked by the reading model, if it can be used. No book is opened."""
        if self.context.reader is None or not self.can_rerank:
            return self
        from kiwiresearch.ask.reranker import rerank

        evidence = rerank(self.context.reader, self.question, self.evidence, self.context.settings.least_confidence)
        return replace(self, evidence=_with_capped_confidence(evidence) if self.hidden_page else evidence)

    def answer(self) -> RuleAnswer:
        """The answer in the books' own words."""
        settings, units = self.context.settings, self.evidence.units
        passages = passages_of(units, settings, self.options.passages or settings.passages)
        found = danger_of(self.question.text, [passage.text for passage in passages], self.question.language)
        danger = found if settings.verbatim_dangers else None
        builder = AnswerBuilder(
            context=self.context,
            typed=self.typed,
            resolved=self.resolved,
            question=self.question,
            evidence=self.evidence,
            passages=passages,
            danger=danger,
            options=self.options,
            hidden_page=self.hidden_page,
        )
        answer = builder.build()
        return RuleAnswer(answer, danger, builder.offered() if answer.grounded else ())


def _spell_checked(resolved: ResolvedQuestion, books: Sequence[OpenBook], language: str) -> ResolvedQuestion:
    """The question without typos, if the common words of its language are known and a book is in it."""
    if no_book_in_language(language, books):
        return replace(resolved, why=f"{resolved.why} {OTHER_LANGUAGE}".strip())
    text = correct_spelling(resolved.text, books) if language == READER_LANGUAGE else resolved.text
    if text == resolved.text:
        return resolved
    return replace(resolved, text=text, why=f"{resolved.why} Understood as {text!r}.".strip())


def _hidden_page(books: Sequence[OpenBook], question: Question, evidence: RetrievedEvidence) -> HiddenName | None:
    """The hidden page that the question names, unless the page that answers fits the name better."""
    names = [question.query.core, *question.query.phrases()]
    names += list(_with_article(question, names))
    hidden = hidden_name_among([book.archive for book in books], names)
    if hidden is None or not evidence.units:
        return hidden
    title, name = fold(evidence.units[0].segmented.page.title), fold(hidden.name)
    # 'Victoria' may be hidden, but if the question names 'Queen Victoria', that page is meant.
    is_closer = title != name and f" {name} " in f" {title} " and title in map(fold, names)
    return None if is_closer else hidden


def _with_article(question: Question, names: Iterable[str]) -> Iterator[str]:
    """The names with the stop word before them in the question, which may be part of a title: 'The Beatles'."""
    stop_words, text = language_words(question.language).stop_words, f" {fold(question.text)} "
    for name in names:
        before = text.partition(f" {fold(name)} ")[0].rpartition(" ")[2]
        if before in stop_words:
            yield f"{before} {name}"


def _with_capped_confidence(evidence: RetrievedEvidence) -> RetrievedEvidence:
    strength = evidence.strength
    return replace(
        evidence, strength=strength._replace(answer_confidence=min(strength.answer_confidence, MAX_WITHOUT_NAMED_PAGE))
    )
