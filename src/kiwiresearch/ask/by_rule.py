"""An answer in the words of the books: the question corrected, evidence retrieved, the answer built."""

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
from kiwiresearch.ask.retrieval import RetrievedEvidence
from kiwiresearch.ask.settings import AskOptions
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.text.languages import language_words
from kiwiresearch.text.words import fold
from kiwiresearch.zim.archive import EntryRef
from kiwiresearch.zim.policy import HiddenName, hidden_name_among

WORD = re.compile(r"(?<![\w'’-])[^\W\d_]+(?![\w'’-])")
SHORTEST = 3
MAX_DISTANCE = 2
LONG = 7
"""A shorter word is not taken for one that neither sounds like it nor has the same letters, nor doubled."""

CLEARLY = 50
"""A word that the book has is a slip only if so many times as many of its pages have the other one."""

FEW = 3
MAX_COMMON = 100
"""Nor is it one if more pages than these have it, unless it stands for one of the commonest words: 'teh'."""


ABBREVIATIONS = {"ww1": "World War I", "wwi": "World War I", "ww2": "World War II", "wwii": "World War II"}
"""What people write in short, and books in full."""
ABBREVIATION = re.compile(rf"\b(?:{'|'.join(ABBREVIATIONS)})\b", re.IGNORECASE)


class _Near(NamedTuple):
    """A common word: letters that differ, whether it does not look or sound like a slip, its rank, and itself."""

    distance: int
    is_unlike: bool
    rank: int
    word: str


def correct_spelling(text: str, books: Sequence[OpenBook]) -> str:
    """The question as it was meant; itself where nothing seems wrong."""
    is_small = text == text.lower() or text == text.upper()
    text = ABBREVIATION.sub(lambda found: ABBREVIATIONS[found[0].lower()], text)

    def pages(word: str) -> int:
        return sum(book.frequency(word) for book in books)

    def better(found: re.Match[str]) -> str:
        word = found[0]
        if len(word) < SHORTEST or not word.isascii() or (not is_small and found.start() > 0 and word != word.lower()):
            return word
        return _better(word.lower(), pages) or word

    return WORD.sub(better, text)


def _better(word: str, pages: Callable[[str], int]) -> str:
    """What a word stands for; empty where it is right, or nothing is near."""
    if word in common_words():
        return ""
    own = pages(word)
    doubled = [other for other in _with_doubled_letter(word) if pages(other) > own * CLEARLY]
    if doubled:
        return max(doubled, key=lambda other: (pages(other), other))
    words = list(common_words())
    near = sorted(
        _Near(int(distance), not _is_like(word, other), rank, other)
        for other, distance, rank in process.extract(
            word, words, scorer=DamerauLevenshtein.distance, score_cutoff=MAX_DISTANCE, limit=None
        )
    )
    fits = [one for one in near if not one.is_unlike or (not own and len(word) > LONG)]
    fits = [one for one in fits if not own or (one.distance < MAX_DISTANCE and (own <= FEW or one.rank < MAX_COMMON))]
    best = min(fits, key=lambda one: (one.is_unlike, one.distance, one.rank), default=None)
    return best.word if best and pages(best.word) > own * CLEARLY else ""


def _is_like(word: str, other: str) -> bool:
    """Whether letters are missing, two are swapped, or both sound alike."""
    letters = iter(other)
    is_short = all(letter in letters for letter in word)
    return is_short or sorted(word) == sorted(other) or jellyfish.metaphone(word) == jellyfish.metaphone(other)


def _with_doubled_letter(word: str) -> list[str]:
    """With one letter doubled: 'penicilin' is a word that no list of common words has."""
    return [word[: at + 1] + word[at:] for at in range(len(word)) if len(word) >= LONG]


@cache
def common_words() -> dict[str, int]:
    """The words that the reading model knows whole, the commonest first."""
    text = (files("kiwiresearch.reader") / "data" / "words.txt").read_text(encoding="utf-8")
    words = (word for word in text.split("\n") if len(word) >= SHORTEST and word.isascii() and word.isalpha())
    return {word: rank for rank, word in enumerate(words)}


READER_LANGUAGE = "eng"
"""The language the reading model was trained for."""

MAX_WITHOUT_NAMED_PAGE = 0.3
"""How sure an answer may be at most where the page that the question names is hidden: others seldom have it."""


@dataclass(frozen=True, slots=True)
class RuleAnswer:
    """An answer by rule, and what a model needs that may put it into words."""

    answer: Answer
    danger: Danger | None = None
    """Why no model may."""
    offered: tuple[AnswerCitation, ...] = ()
    """A citation for each passage, under its key, with its best sentence; none where nothing answers."""


def answer_by_rule(desk: AskContext, question: str, wish: AskOptions, page: EntryRef | None = None) -> RuleAnswer:
    """Climb the ladder, or stay on one page, and say what was found there."""
    return gather_evidence(desk, question, wish, page).rerank().answer()


def gather_evidence(
    desk: AskContext, question: str, wish: AskOptions, page: EntryRef | None = None
) -> GatheredEvidence:
    """What the words of a question find in the books, or on one page."""
    language = desk.language_of(question)
    resolved = _corrected_question(resolve(question, wish.turns, language), desk.books, language)
    asked = read_question(resolved.text, language)
    climber = desk.retriever(asked)
    if page is None:
        evidence = climber.retrieve()
        missed = _hidden_page(desk.books, asked, evidence)
        evidence = _with_capped_confidence(evidence) if missed else evidence
    else:
        evidence = climber.on_page(next(book for book in desk.books if book.book.id == page.book), page.path)
        missed = None
    return GatheredEvidence(desk, question, resolved, asked, evidence, wish, missed)


@dataclass(frozen=True, slots=True)
class GatheredEvidence:
    """Evidence for a question, to be read by meaning and told."""

    desk: AskContext
    typed: str
    resolved: ResolvedQuestion
    asked: Question
    evidence: RetrievedEvidence
    wish: AskOptions
    hidden_page: HiddenName | None = None
    """The page that the question names, where it is hidden."""

    @property
    def is_readable(self) -> bool:
        """Whether the reading model can be asked: there is one, it is wanted, and it knows the language."""
        return self.desk.reader is not None and not self.wish.fast and self.asked.language == READER_LANGUAGE

    def rerank(self) -> GatheredEvidence:
        """The same with the evidence read by meaning, where that can be done. No book is opened for it."""
        if self.desk.reader is None or not self.is_readable:
            return self
        from kiwiresearch.ask.reranker import rerank

        evidence = rerank(self.desk.reader, self.asked, self.evidence, self.desk.settings.least_confidence)
        return replace(self, evidence=_with_capped_confidence(evidence) if self.hidden_page else evidence)

    def answer(self) -> RuleAnswer:
        """The answer in the books' own words."""
        settings, evidence = self.desk.settings, self.evidence
        passages = passages_of(evidence.units, settings, self.wish.passages or settings.passages)
        found = danger_of(self.asked.text, [passage.text for passage in passages], self.asked.language)
        danger = found if settings.verbatim_dangers else None
        parts = (
            self.desk,
            self.typed,
            self.resolved,
            self.asked,
            evidence,
            passages,
            danger,
            self.wish,
            self.hidden_page,
        )
        telling = AnswerBuilder(*parts)
        answer = telling.build()
        return RuleAnswer(answer, danger, telling.offered() if answer.grounded else ())


def _corrected_question(resolved: ResolvedQuestion, books: Sequence[OpenBook], language: str) -> ResolvedQuestion:
    """The question without slips, where its language is one whose common words are known."""
    text = correct_spelling(resolved.text, books) if language == READER_LANGUAGE else resolved.text
    if text == resolved.text:
        return resolved
    return replace(resolved, text=text, why=f"{resolved.why} Understood as {text!r}.".strip())


def _hidden_page(books: Sequence[OpenBook], asked: Question, evidence: RetrievedEvidence) -> HiddenName | None:
    """The page that the question names and a policy hides, unless what answers is named by it more closely."""
    names = [asked.query.core, *asked.query.phrases()]
    names += list(_with_article(asked, names))
    hidden = hidden_name_among([book.archive for book in books], names)
    if hidden is None or not evidence.units:
        return hidden
    title, name = fold(evidence.units[0].read.page.title), fold(hidden.name)
    is_closer = title != name and f" {name} " in f" {title} " and title in map(fold, names)
    return None if is_closer else hidden


def _with_article(asked: Question, names: Iterable[str]) -> Iterator[str]:
    """'The Beatles': the names with the small word that the question has before them, which may be part of a title."""
    small, text = language_words(asked.language).stop_words, f" {fold(asked.text)} "
    for name in names:
        before = text.partition(f" {fold(name)} ")[0].rpartition(" ")[2]
        if before in small:
            yield f"{before} {name}"


def _with_capped_confidence(evidence: RetrievedEvidence) -> RetrievedEvidence:
    strength = evidence.strength
    return replace(
        evidence, strength=strength._replace(answer_confidence=min(strength.answer_confidence, MAX_WITHOUT_NAMED_PAGE))
    )
