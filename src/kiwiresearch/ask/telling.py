"""Builds an answer from its evidence: the sentences and rows that answer best, with citations and notices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from kiwiresearch.ask.answer import Answer, BookNote, Cited, Line
from kiwiresearch.ask.choosing import lines_of
from kiwiresearch.ask.conversation import Resolved
from kiwiresearch.ask.danger import Danger, verbatim_notice
from kiwiresearch.ask.desk import Desk, note_of
from kiwiresearch.ask.disagreeing import disagreements
from kiwiresearch.ask.kinds import can_be
from kiwiresearch.ask.ladder import Evidence
from kiwiresearch.ask.passages import Passage, key_of
from kiwiresearch.ask.question import Kind, Question
from kiwiresearch.ask.short import short_answer
from kiwiresearch.ask.weighing import Weighed
from kiwiresearch.ask.whole_quotes import with_context
from kiwiresearch.ask.wish import AskWish
from kiwiresearch.evidence.citation import Citation, place_of
from kiwiresearch.evidence.quote import span
from kiwiresearch.search.find import hidden_for
from kiwiresearch.search.senses import Sense
from kiwiresearch.zim.book import Book
from kiwiresearch.zim.guarded import HiddenName
from kiwiresearch.zim.policy import NONE_HIDDEN, Hidden

SURE = 0.55
"""By words alone, a short answer is marked only where the sentence around it is right often enough."""
LONGEST_SHORT = 100
FACTS: frozenset[Kind] = frozenset({"person", "date", "place", "number", "choice"})
"""Kinds of questions that a few words answer; of others, words are marked only where the model prefers them to none."""
SAFE = 0.5
"""How sure an answer must be where a wrong one can hurt."""
UNSAFE = "What comes nearest is not sure enough for a question where a wrong answer can hurt."
LEADS_ONLY = "The book {title!r} holds introductions only: what it lacks, the full book may have."
MISSED = "The page {title!r} is hidden by {whose}: what other pages say may not be about that."
NEWER = "A newer book on the shelf has this page too: {title}, {date}."


@dataclass(frozen=True, slots=True)
class Telling:
    """Builds an answer from its evidence."""

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
            reader=self._reader(),
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

    def _reader(self) -> str:
        """The id of the reading model that the answer rests on; empty if none was used."""
        is_read = any("relevance" in one.parts for one in self.evidence.units[:1])
        return self.desk.reader.id if self.desk.reader and is_read else ""

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
            return self._read_off(best, line)
        if self.evidence.strength.right < SURE or best.parts.get("names missing"):
            return -1, ""
        found = short_answer(line, self.asked, is_box=best.read.units[best.unit].kind == "box")
        return (found.start, line[found.start : found.end]) if found else (-1, "")

    def _read_off(self, best: Weighed, line: str) -> tuple[int, str]:
        """The words that the reading model marks, where they can be the whole answer."""
        if self.asked.kind == "yes_no" or (self.asked.kind not in FACTS and best.parts["answer's words"] <= 0):
            return -1, ""
        start, end = best.words or (-1, -1)
        is_label = "\t" in line and start <= line.index("\t")
        if is_label or not 0 < end - start <= LONGEST_SHORT or not can_be(line[start:end], self.asked):
            return -1, ""
        return start, line[start:end]

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
