"""An answer in the books' own words: corrects the question, retrieves evidence, and builds the answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import jellyfish
from rapidfuzz import process
from rapidfuzz.distance import DamerauLevenshtein

from kiwiresearch.ask.answer import Answer, AnswerCitation
from kiwiresearch.ask.answer_builder import AnswerBuilder
from kiwiresearch.ask.context import AskContext, passages_of
from kiwiresearch.ask.conversation import ResolvedQuestion, resolve
from kiwiresearch.ask.danger import Danger, danger_of
from kiwiresearch.ask.question import Question, read_question
from kiwiresearch.ask.score import RetrievedEvidence
from kiwiresearch.ask.settings import AskOptions
from kiwiresearch.search import OpenBook
from kiwiresearch.text import fold, language_words
from kiwiresearch.zim import EntryRef, HiddenName, hidden_name_among

WORD = re.compile(r"(?<![\w'’-])[^\W\d_]+(?![\w'’-])")
MIN_LETTERS = 3
MAX_DISTANCE = 2
LONG_WORD = 7
"""Shorter words are corrected only to words with the same letters or the same sound, and never by doubling one."""

MIN_RATIO = 50
"""A word that the books have is a typo only if the other word is on this many times as many pages."""

MAX_TYPO_PAGES = 3
"""A word on at most this many pages may be a typo of any common word."""

MAX_RANK = 100
"""A word on more pages than `MAX_TYPO_PAGES` is only a typo of one of the most common words, up to this rank: 'teh'."""


ABBREVIATIONS = {"ww1": "World War I", "wwi": "World War I", "ww2": "World War II", "wwii": "World War II"}
"""Short forms that people type and books spell out."""
ABBREVIATION = re.compile(rf"\b(?:{'|'.join(ABBREVIATIONS)})\b", re.IGNORECASE)


class _Candidate(NamedTuple):
    """A common word as a correction: how many letters differ, whether it neither looks nor sounds alike, its rank."""

    distance: int
    is_unlike: bool
    rank: int
    word: str


def correct_spelling(text: str, books: Sequence[OpenBook]) -> str:
    """The question with typing errors corrected."""
    # Without capitals, or with capitals only, names cannot be distinguished from other words.
    is_one_case = text == text.lower() or text == text.upper()
    text = ABBREVIATION.sub(lambda found: ABBREVIATIONS[found[0].lower()], text)

    def pages(word: str) -> int:
        return sum(book.frequency(word) for book in books)

    def corrected(found: re.Match[str]) -> str:
        word = found[0]
        may_be_name = not is_one_case and found.start() > 0 and word != word.lower()
        if len(word) < MIN_LETTERS or not word.isascii() or may_be_name:
            return word
        return _correction(word.lower(), pages) or word

    return WORD.sub(corrected, text)


def _correction(word: str, pages: Callable[[str], int]) -> str:
    """The word that was meant; empty if the word is right, or none is similar."""
    if word in common_words():
        return ""
    own = pages(word)
    # A doubled letter may give a word that is not among the common ones: 'penicilin'.
    doubled = [word[: at + 1] + word[at:] for at in range(len(word)) if len(word) >= LONG_WORD]
    doubled = [other for other in doubled if pages(other) > own * MIN_RATIO]
    if doubled:
        return max(doubled, key=lambda other: (pages(other), other))
    words = list(common_words())
    similar = sorted(
        _Candidate(int(distance), not _is_alike(word, other), rank, other)
        for other, distance, rank in process.extract(
            word, words, scorer=DamerauLevenshtein.distance, score_cutoff=MAX_DISTANCE, limit=None
        )
    )
    fits = [candidate for candidate in similar if not candidate.is_unlike or (not own and len(word) > LONG_WORD)]
    if own:
        fits = [
            candidate
            for candidate in fits
            if candidate.distance < MAX_DISTANCE and (own <= MAX_TYPO_PAGES or candidate.rank < MAX_RANK)
        ]
    best = min(fits, key=lambda candidate: (candidate.is_unlike, candidate.distance, candidate.rank), default=None)
    return best.word if best and pages(best.word) > own * MIN_RATIO else ""


def _is_alike(word: str, other: str) -> bool:
    """Whether letters are missing, letters are swapped, or both sound alike."""
    letters = iter(other)
    has_missing_letters = all(letter in letters for letter in word)
    has_same_letters = sorted(word) == sorted(other)
    return has_missing_letters or has_same_letters or jellyfish.metaphone(word) == jellyfish.metaphone(other)


@cache
def common_words() -> dict[str, int]:
    """The ranks of the words that are one token for the reading model, most common first."""
    text = (files("kiwiresearch.reader") / "data" / "words.txt").read_text(encoding="utf-8")
    words = (word for word in text.split("\n") if len(word) >= MIN_LETTERS and word.isascii() and word.isalpha())
    return {word: rank for rank, word in enumerate(words)}


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
    context: AskContext, question: str, options: AskOptions, page: EntryRef | None = None
) -> GatheredEvidence:
    """The evidence that a question's words find in the books, or on one page."""
    language = context.language_of(question)
    resolved = _with_correct_spelling(resolve(question, options.turns, language), context.books, language)
    asked = read_question(resolved.text, language)
    retriever = context.retriever(asked)
    if page is None:
        evidence = retriever.retrieve()
        hidden = _hidden_page(context.books, asked, evidence)
        evidence = _with_capped_confidence(evidence) if hidden else evidence
    else:
        evidence = retriever.on_page(next(book for book in context.books if book.book.id == page.book), page.path)
        hidden = None
    return GatheredEvidence(context, question, resolved, asked, evidence, options, hidden)


@dataclass(frozen=True, slots=True)
class GatheredEvidence:
    """The evidence for a question, which may be reranked before the answer is built."""

    context: AskContext
    typed: str
    resolved: ResolvedQuestion
    asked: Question
    evidence: RetrievedEvidence
    options: AskOptions
    hidden_page: HiddenName | None = None
    """The page that the question names, if it is hidden."""

    @property
    def can_rerank(self) -> bool:
        """Whether the reading model can be used: it is available, enabled, and knows the language."""
        return self.context.reader is not None and not self.options.fast and self.asked.language == READER_LANGUAGE

    def rerank(self) -> GatheredEvidence:
        """A copy with the evidence ranked by the reading model, if it can be used. No book is opened."""
        if self.context.reader is None or not self.can_rerank:
            return self
        from kiwiresearch.ask.reranker import rerank

        evidence = rerank(self.context.reader, self.asked, self.evidence, self.context.settings.least_confidence)
        return replace(self, evidence=_with_capped_confidence(evidence) if self.hidden_page else evidence)

    def answer(self) -> RuleAnswer:
        """The answer in the books' own words."""
        settings, units = self.context.settings, self.evidence.units
        passages = passages_of(units, settings, self.options.passages or settings.passages)
        found = danger_of(self.asked.text, [passage.text for passage in passages], self.asked.language)
        danger = found if settings.verbatim_dangers else None
        builder = AnswerBuilder(
            context=self.context,
            typed=self.typed,
            resolved=self.resolved,
            asked=self.asked,
            evidence=self.evidence,
            passages=passages,
            danger=danger,
            options=self.options,
            hidden_page=self.hidden_page,
        )
        answer = builder.build()
        return RuleAnswer(answer, danger, builder.offered() if answer.grounded else ())


def _with_correct_spelling(resolved: ResolvedQuestion, books: Sequence[OpenBook], language: str) -> ResolvedQuestion:
    """The question without typing errors, if the common words of its language are known."""
    text = correct_spelling(resolved.text, books) if language == READER_LANGUAGE else resolved.text
    if text == resolved.text:
        return resolved
    return replace(resolved, text=text, why=f"{resolved.why} Understood as {text!r}.".strip())


def _hidden_page(books: Sequence[OpenBook], asked: Question, evidence: RetrievedEvidence) -> HiddenName | None:
    """The hidden page that the question names, unless the page that answers fits the name better."""
    names = [asked.query.core, *asked.query.phrases()]
    names += list(_with_article(asked, names))
    hidden = hidden_name_among([book.archive for book in books], names)
    if hidden is None or not evidence.units:
        return hidden
    title, name = fold(evidence.units[0].segmented.page.title), fold(hidden.name)
    is_closer = title != name and f" {name} " in f" {title} " and title in map(fold, names)
    return None if is_closer else hidden


def _with_article(asked: Question, names: Iterable[str]) -> Iterator[str]:
    """The names with the stop word before them in the question, which may be part of a title: 'The Beatles'."""
    stop_words, text = language_words(asked.language).stop_words, f" {fold(asked.text)} "
    for name in names:
        before = text.partition(f" {fold(name)} ")[0].rpartition(" ")[2]
        if before in stop_words:
            yield f"{before} {name}"


def _with_capped_confidence(evidence: RetrievedEvidence) -> RetrievedEvidence:
    strength = evidence.strength
    return replace(
        evidence, strength=strength._replace(answer_confidence=min(strength.answer_confidence, MAX_WITHOUT_NAMED_PAGE))
    )
