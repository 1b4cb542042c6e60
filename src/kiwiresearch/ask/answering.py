"""An answer in the books' own words: the sentences and rows that answer best, with their citations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from kiwiresearch.ask.answer import Answer, BookNote, Cited, Line
from kiwiresearch.ask.choosing import lines_of, passages_of
from kiwiresearch.ask.conversation import Resolved, resolve
from kiwiresearch.ask.danger import Danger, danger_of, verbatim_notice
from kiwiresearch.ask.disagreeing import disagreements
from kiwiresearch.ask.draft import snippet_of
from kiwiresearch.ask.kinds import can_be
from kiwiresearch.ask.ladder import Climber, Evidence
from kiwiresearch.ask.passages import Passage, key_of
from kiwiresearch.ask.question import Kind, Question, read_question
from kiwiresearch.ask.reading import Reading
from kiwiresearch.ask.settings import AskSettings
from kiwiresearch.ask.short import short_answer
from kiwiresearch.ask.spelling import corrected
from kiwiresearch.ask.weighing import Weighed
from kiwiresearch.ask.whole_quotes import with_context
from kiwiresearch.ask.wish import AskWish
from kiwiresearch.evidence.citation import Citation, place_of
from kiwiresearch.evidence.quote import span
from kiwiresearch.page.read import open_page
from kiwiresearch.search.find import Advice, hidden_for
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.senses import Sense
from kiwiresearch.text.fold import fold
from kiwiresearch.text.languages import has_words, words_of
from kiwiresearch.text.words import level
from kiwiresearch.zim.book import Book
from kiwiresearch.zim.entry import EntryRef
from kiwiresearch.zim.guarded import HiddenName, hidden_among
from kiwiresearch.zim.policy import NONE_HIDDEN, Hidden

if TYPE_CHECKING:
    from kiwiresearch.embed.embedder import Embedder
    from kiwiresearch.reader.reader import Reader

SURE = 0.55
"""A short answer is marked only where the sentence around it is right often enough."""

READ_LANGUAGE = "eng"
"""The language the reading model was trained for."""

LONGEST_SHORT = 100
FACTS: frozenset[Kind] = frozenset({"person", "date", "place", "number", "choice"})
"""Kinds of questions that a few words answer; of others, words are marked only where the model prefers them to none."""
SAFE = 0.5
BESIDE = 0.3
"""How sure an answer may be at most where the page that the question names is hidden: others seldom have it."""
UNSAFE = "What comes nearest is not sure enough for a question where a wrong answer can hurt."
LEADS_ONLY = "The book {title!r} holds introductions only: what it lacks, the full book may have."


@dataclass(frozen=True, slots=True)
class Desk:
    """What answers are made with: books, settings, pages at hand, and who may be asked for help."""

    books: Sequence[OpenBook]
    settings: AskSettings
    reading: Reading
    advice: Advice = field(default_factory=Advice)
    embedder: Embedder | None = None
    max_books: int = 2
    reader: Reader | None = None

    def language_of(self, question: str) -> str:
        """The language of the books that has most of the question's small words; the first book's in doubt."""
        languages = list(dict.fromkeys(book.language for book in self.books)) or ["eng"]
        words = set(level(question).split())
        known = [language for language in languages if has_words(language)]
        best = max(known, key=lambda language: len(words & words_of(language).stop_words), default=languages[0])
        return best if words & words_of(best).stop_words else languages[0]

    def climber(self, question: Question) -> Climber:
        return Climber(self.books, question, self.settings, self.reading, self.advice, self.max_books, self.embedder)

    def cited(self, passage: Passage, start: int, end: int) -> Cited:
        """Words of a passage as a citation, looked up on their page again."""
        book = next(book for book in self.books if book.book.id == passage.ref.book)
        read = self.reading.page(book, passage.ref.path)
        page = read.page if read else open_page(book.archive, passage.ref.path)
        quote = span(page, passage.start + start, passage.start + end)
        citation = Citation(quote, book.book.name, page.title, passage.section, passage.anchor)
        return Cited(passage.key, citation, note_of(book.book), snippet_of(passage.text, start, end))

    def passages(self, ref: EntryRef, question: str, most: int) -> tuple[Passage, ...]:
        """The passages of one page that are nearest to a question, for a model that asks for the page."""
        book = next(book for book in self.books if book.book.id == ref.book)
        found = self.climber(read_question(question, book.language)).on_page(book, ref.path)
        return passages_of(found.units, self.settings, most)


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
        told = (self.desk, self.typed, self.resolved, self.asked, evidence, passages, danger, self.wish, self.missed)
        telling = _Telling(*told)
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


@dataclass(frozen=True, slots=True)
class _Telling:
    """All that an answer is told from."""

    desk: Desk
    typed: str
    resolved: Resolved
    asked: Question
    evidence: Evidence
    passages: tuple[Passage, ...]
    danger: Danger | None
    wish: AskWish
    missed: HiddenName | None = None
    """The page that the question names, where it is hidden."""

    @property
    def is_answered(self) -> bool:
        """Whether the evidence is shown as an answer; where it can hurt, only if it is more likely right than not."""
        evidence = self.evidence
        is_safe = self.danger is None or evidence.strength.right >= SAFE
        return evidence.route != "none" and bool(evidence.units) and is_safe

    def answer(self) -> Answer:
        evidence = self.evidence
        books: dict[str, Book] = {book.book.id: book.book for book in self.desk.books}
        refused = Answer(
            self.typed,
            self.asked.text,
            evidence.route if self.is_answered else "none",
            " ".join(filter(None, (self.resolved.why, evidence.why if self.is_answered else self._why_not()))),
            grounded=False,
            passages=self.passages,
            pages=evidence.pages,
            sure=evidence.strength.right,
            notices=tuple(self._notices(books)),
            mode=self.wish.mode,
            subject=self._subject(),
            senses=self._senses(),
            present=self._present(books),
        )
        if not self.is_answered:
            closest = [self._cited(one, books) for one in lines_of(evidence.units)]
            return replace(refused, closest=self._numbered(_apart(closest)))
        chosen = evidence.units[: evidence.parts] if evidence.parts else lines_of(evidence.units)
        if evidence.senses:  # one page is about one of them
            chosen = tuple(one for one in chosen if one.read.page.ref == chosen[0].read.page.ref)
        citations = self._numbered(_apart([self._cited(one, books) for one in chosen]))
        lines = tuple(Line(one.citation.quote.text, (one.key,)) for one in citations)
        at, short = self._short(chosen[0], lines[0].text)
        return replace(
            refused,
            grounded=True,
            text="\n".join(line.text for line in lines),
            short=short,
            short_at=at,
            verdict=evidence.verdict,
            chosen=evidence.chosen,
            score=chosen[0].score(),
            lines=lines,
            citations=citations,
            conflicts=() if evidence.parts else disagreements(chosen, evidence.units, self.asked.language),
            books=tuple(dict.fromkeys(one.book for one in citations)),
        )

    def _why_not(self) -> str:
        return self.evidence.why if self.evidence.route == "none" else UNSAFE

    def _senses(self) -> tuple[Sense, ...]:
        """What else the name may mean, where the answer is about one of several."""
        senses, units = self.evidence.senses, self.evidence.units
        shown = units[0].read.page.ref if units and self.is_answered else None
        others = tuple(one for one in senses if one.ref != shown)
        return others if len(senses) > 1 else ()

    def _present(self, books: Mapping[str, Book]) -> BookNote | None:
        """The book that a question about the present is answered from, where it has a date."""
        if not self.asked.asks_about_present or not self.evidence.units:
            return None
        book = books[self.evidence.units[0].read.page.ref.book]
        return note_of(book) if book.date else None

    def _subject(self) -> str:
        """What the question is about: the page it names, else what it says by itself, else where it led."""
        best = self.evidence.units[0].read.page.title if self.evidence.units else ""
        return best if self.evidence.named else self.resolved.subject or best

    def offered(self) -> tuple[Cited, ...]:
        """What a model may cite, before it has said a word."""
        books: dict[str, Book] = {book.book.id: book.book for book in self.desk.books}
        found = []
        for passage in self.passages:
            best = next(one for one in self.evidence.units if _is_in(one, passage))
            found.append(replace(self._cited(best, books), key=passage.key))
        return self._numbered(found)

    def _numbered(self, found: Iterable[Cited]) -> tuple[Cited, ...]:
        """Each once, with its number."""
        once = {cited.key: cited for cited in found}
        return tuple(replace(cited, number=number) for number, cited in enumerate(once.values(), start=1))

    def _short(self, best: Weighed, line: str) -> tuple[int, str]:
        """The short answer and its place in the line; none where the sentence may be about something else."""
        if self.evidence.parts or line != best.text:
            return -1, ""
        if "relevance" in best.parts:
            start, end = best.words or (-1, -1)
            is_sought = self.asked.kind in FACTS or best.parts["answer's words"] > 0
            is_sought = is_sought and self.asked.kind != "yes_no"
            is_label = "\t" in line and start <= line.index("\t")
            is_shown = is_sought and not is_label and 0 < end - start <= LONGEST_SHORT
            is_shown = is_shown and can_be(line[start:end], self.asked)
            return (start, line[start:end]) if is_shown else (-1, "")
        if self.evidence.strength.right < SURE or best.parts.get("names missing"):
            return -1, ""
        found = short_answer(line, self.asked, is_box=best.read.units[best.unit].kind == "box")
        return (found.start, line[found.start : found.end]) if found else (-1, "")

    def _cited(self, one: Weighed, books: Mapping[str, Book]) -> Cited:
        """The citation of a unit; a number that can hurt is never quoted without what it depends on."""
        page = one.read.page
        unit = one.read.units[one.unit]
        start, end = unit.start, unit.end
        if self.danger is not None:
            start, end = with_context(page.text, start, end, page.sentences, page.blocks, page.language)
        quote = span(page, start, end)
        book = books[page.ref.book]
        place = place_of(page, quote.start)
        above = one.read.contexts[one.read.context_of[one.unit]] if unit.kind == "box" else ""
        section = f"{place.section}, {above}" if above else place.section
        return Cited(
            key_of(page.ref, quote.start, quote.end),
            Citation(quote, book.name, page.title, section, place.anchor),
            note_of(book),
            one.read.passage(one.passage).text,
        )

    def _newer(self, books: Mapping[str, Book]) -> list[str]:
        """Newer books among those asked that have the page which answers."""
        shown = self.evidence.units[0].read.page
        same = [one for one in self.evidence.pages if one.ref == shown.ref or one.title == shown.title]
        refs = [ref for one in same for ref in (one.ref, *one.copies)]
        newer = [books[ref.book] for ref in refs if books[ref.book].date > books[shown.ref.book].date]
        return [NEWER.format(title=book.title or book.name, date=book.date) for book in dict.fromkeys(newer)]

    def _notices(self, books: Mapping[str, Book]) -> list[str]:
        found = [verbatim_notice(self.danger, self.asked.language)] if self.danger and self.is_answered else []
        found += self._newer(books) if self.is_answered else []
        if not self.is_answered:
            found += [LEADS_ONLY.format(title=book.title or book.name) for book in books.values() if book.lead_only]
        hidden = self._hidden()
        if self.missed:
            found.append(MISSED.format(title=self.missed.title, whose=self.missed.whose))
        told = hidden.sentence("page", "that may answer this") if not self.missed or hidden.pages > 1 else ""
        return [*found, *filter(None, [told])]

    def _hidden(self) -> Hidden:
        """The pages that the policy of this desk keeps from the question."""
        most = self.desk.settings.top_pages
        return sum((hidden_for(book, self.asked.query, most) for book in self.desk.books), NONE_HIDDEN)


MISSED = "The page {title!r} is hidden by {whose}: what other pages say may not be about that."
NEWER = "A newer book on the shelf has this page too: {title}, {date}."


def _apart(found: Sequence[Cited]) -> list[Cited]:
    """Without quotes that stand within another one, or share words with one before: a dose is not told twice."""
    by_size = sorted(found, key=lambda one: one.citation.quote.start - one.citation.quote.end)
    whole = [one for at, one in enumerate(by_size) if not any(_is_within(one, other) for other in by_size[:at])]
    kept: list[Cited] = []
    for one in found:
        if one in whole and not any(_share_words(one, other) for other in kept):
            kept.append(one)
    return kept


def _is_within(one: Cited, other: Cited) -> bool:
    small, large = one.citation.quote, other.citation.quote
    return small.ref == large.ref and large.start <= small.start and small.end <= large.end


def _share_words(one: Cited, other: Cited) -> bool:
    a, b = one.citation.quote, other.citation.quote
    return a.ref == b.ref and a.start < b.end and b.start < a.end


def _is_in(one: Weighed, passage: Passage) -> bool:
    page, unit = one.read.page, one.read.units[one.unit]
    return page.ref == passage.ref and passage.start <= unit.start < passage.end


def note_of(book: Book) -> BookNote:
    return BookNote(book.id, book.name, book.title, book.date, book.flavour, book.language)
