"""An answer in the books' own words: search by words, read the best passages by meaning, build the answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from kiwiresearch.ask.answer import Answer, Cited
from kiwiresearch.ask.choosing import passages_of
from kiwiresearch.ask.conversation import Resolved, resolve
from kiwiresearch.ask.danger import Danger, danger_of
from kiwiresearch.ask.desk import Desk
from kiwiresearch.ask.ladder import Evidence
from kiwiresearch.ask.question import Question, read_question
from kiwiresearch.ask.spelling import corrected
from kiwiresearch.ask.telling import Telling
from kiwiresearch.ask.wish import AskWish
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.text.fold import fold
from kiwiresearch.text.languages import words_of
from kiwiresearch.zim.entry import EntryRef
from kiwiresearch.zim.guarded import HiddenName, hidden_among

READ_LANGUAGE = "eng"
"""The language the reading model was trained for."""

BESIDE = 0.3
"""How sure an answer may be at most where the page that the question names is hidden: others seldom have it."""


@dataclass(frozen=True, slots=True)
class Ruled:
    """An answer by rule, and what a model needs that may put it into words."""

    answer: Answer
    danger: Danger | None = None
    """Why no model may."""
    offered: tuple[Cited, ...] = ()
    """A citation for each passage, under its key, with its best sentence; none where nothing answers."""


def answer_by_rule(desk: Desk, question: str, wish: AskWish, page: EntryRef | None = None) -> Ruled:
    """Climb the ladder, or stay on one page, and say what was found there."""
    return gather(desk, question, wish, page).reread().ruled()


def gather(desk: Desk, question: str, wish: AskWish, page: EntryRef | None = None) -> Gathered:
    """What the words of a question find in the books, or on one page."""
    language = desk.language_of(question)
    resolved = _as_meant(resolve(question, wish.turns, language), desk.books, language)
    asked = read_question(resolved.text, language)
    climber = desk.climber(asked)
    if page is None:
        evidence = climber.climb()
        missed = _missed(desk.books, asked, evidence)
        evidence = _held_back(evidence) if missed else evidence
    else:
        evidence = climber.on_page(next(book for book in desk.books if book.book.id == page.book), page.path)
        missed = None
    return Gathered(desk, question, resolved, asked, evidence, wish, missed)


@dataclass(frozen=True, slots=True)
class Gathered:
    """Evidence for a question, to be read by meaning and told."""

    desk: Desk
    typed: str
    resolved: Resolved
    asked: Question
    evidence: Evidence
    wish: AskWish
    missed: HiddenName | None = None
    """The page that the question names, where it is hidden."""

    @property
    def is_readable(self) -> bool:
        """Whether the reading model can be asked: there is one, it is wanted, and it knows the language."""
        return self.desk.reader is not None and not self.wish.fast and self.asked.language == READ_LANGUAGE

    def reread(self) -> Gathered:
        """The same with the evidence read by meaning, where that can be done. No book is opened for it."""
        if self.desk.reader is None or not self.is_readable:
            return self
        from kiwiresearch.ask.rereading import reread

        evidence = reread(self.desk.reader, self.asked, self.evidence, self.desk.settings.least_confidence)
        return replace(self, evidence=_held_back(evidence) if self.missed else evidence)

    def ruled(self) -> Ruled:
        """The answer in the books' own words."""
        settings, evidence = self.desk.settings, self.evidence
        passages = passages_of(evidence.units, settings, self.wish.passages or settings.passages)
        found = danger_of(self.asked.text, [passage.text for passage in passages], self.asked.language)
        danger = found if settings.verbatim_dangers else None
        parts = (self.desk, self.typed, self.resolved, self.asked, evidence, passages, danger, self.wish, self.missed)
        telling = Telling(*parts)
        answer = telling.answer()
        return Ruled(answer, danger, telling.offered() if answer.grounded else ())


def _as_meant(resolved: Resolved, books: Sequence[OpenBook], language: str) -> Resolved:
    """The question without slips, where its language is one whose common words are known."""
    text = corrected(resolved.text, books) if language == READ_LANGUAGE else resolved.text
    if text == resolved.text:
        return resolved
    return replace(resolved, text=text, why=f"{resolved.why} Understood as {text!r}.".strip())


def _missed(books: Sequence[OpenBook], asked: Question, evidence: Evidence) -> HiddenName | None:
    """The page that the question names and a policy hides, unless what answers is named by it more closely."""
    names = [asked.query.core, *asked.query.phrases()]
    names += list(_with_article(asked, names))
    hidden = hidden_among([book.archive for book in books], names)
    if hidden is None or not evidence.units:
        return hidden
    title, name = fold(evidence.units[0].read.page.title), fold(hidden.name)
    is_closer = title != name and f" {name} " in f" {title} " and title in map(fold, names)
    return None if is_closer else hidden


def _with_article(asked: Question, names: Iterable[str]) -> Iterator[str]:
    """'The Beatles': the names with the small word that the question has before them, which may be part of a title."""
    small, text = words_of(asked.language).stop_words, f" {fold(asked.text)} "
    for name in names:
        before = text.partition(f" {fold(name)} ")[0].rpartition(" ")[2]
        if before in small:
            yield f"{before} {name}"


def _held_back(evidence: Evidence) -> Evidence:
    strength = evidence.strength
    return replace(evidence, strength=strength._replace(right=min(strength.right, BESIDE)))
