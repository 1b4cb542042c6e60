"""Builds an answer from evidence: sentences with citations, disagreements between them, and notices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kiwiresearch.ask.answer import Answer, AnswerBook, AnswerCitation, AnswerConflict, AnswerSentence, Passage, key_of
from kiwiresearch.ask.answer_match import AnswerSpan, asked_end, can_be_answer, short_answer, with_other_values
from kiwiresearch.ask.context import AskContext, answer_book, answer_units
from kiwiresearch.ask.conversation import ResolvedQuestion
from kiwiresearch.ask.danger import Danger, verbatim_notice, widen_quote
from kiwiresearch.ask.headline import asks_for_several, dates_the_event, may_have_headline, whole_list
from kiwiresearch.ask.notices import introductions_only, newer_book, page_hidden, pages_hidden
from kiwiresearch.ask.question import AnswerKind, Question
from kiwiresearch.ask.refusal import reason_if_after_book, reason_to_refuse
from kiwiresearch.ask.retrieval import no_book_in_language
from kiwiresearch.ask.score import ANSWER_WORDS, NOT_THE_MOST, RetrievedEvidence, ScoredUnit
from kiwiresearch.ask.settings import AskOptions
from kiwiresearch.claims import claims_of
from kiwiresearch.claims.conflicts import ComparedSentence, Disagreement, compare_sentences
from kiwiresearch.evidence import Citation, place_of, quote_at
from kiwiresearch.page import page_from_text
from kiwiresearch.search import Sense, hidden_for
from kiwiresearch.text import fold, language_words, without_qualifier
from kiwiresearch.zim import NONE_HIDDEN, Book, HiddenName

MAX_COMPARED = 12
"""How many of the best sentences are compared with the ones that are shown."""

MAX_CONFLICTS = 3
MIN_STRENGTH = 0.6
"""Weaker contradictions are usually about two different things, since bare sentences and not claims are compared."""


def disagreements(
    shown: Sequence[ScoredUnit], others: Sequence[ScoredUnit], language: str
) -> tuple[AnswerConflict, ...]:
    """Contradictions between the shown and the next best sentences about the same thing; the clearest first."""
    prose = (
        scored_unit
        for scored_unit in (*shown, *others[:MAX_COMPARED])
        if scored_unit.segmented.units[scored_unit.unit].kind == "sentence"
    )
    # A unit that is shown is usually among the others as well, and is compared once.
    units = list({scored_unit.sort_key: scored_unit for scored_unit in prose}.values())
    said = [(unit, ComparedSentence.of(unit.text, unit.segmented.page.title, language)) for unit in units]
    keys = {scored_unit.sort_key for scored_unit in shown}
    found: list[tuple[Disagreement, ScoredUnit, ScoredUnit]] = []
    for index, (item, sentence) in enumerate(said):
        if item.sort_key not in keys:
            continue
        for other, other_sentence in said[index + 1 :]:
            disagreement = compare_sentences(sentence, other_sentence)
            is_clear = disagreement and disagreement.kind == "contradiction" and disagreement.strength >= MIN_STRENGTH
            if disagreement and is_clear and _same_subject(item, other, language):
                found.append((disagreement, item, other))
    found.sort(key=lambda row: (-row[0].strength, row[1].sort_key, row[2].sort_key))
    return tuple(_conflict(*row) for row in found[:MAX_CONFLICTS])


def _same_subject(one: ScoredUnit, other: ScoredUnit, language: str) -> bool:
    """Whether both are about the same thing: 'Einstein' and 'Albert Einstein', but not 'Einstein and his wife'."""
    names = one.segmented.page.title, other.segmented.page.title
    if names[0] != names[1] and without_qualifier(names[0]) == without_qualifier(names[1]):
        return False  # namesakes: 'Bach' and 'Bach (painter)'
    subjects = _subject(one, language), _subject(other, language)
    if not all(subjects) or subjects[0] == subjects[1]:
        # A sentence without a claim has no known subject, so nothing is said about a conflict.
        return all(subjects)
    titles = [frozenset(fold(name).split()) for name in names]
    # 'Einstein' and 'Albert Einstein' on the page of that title; a subject with other words is somebody else.
    return titles[0] == titles[1] and subjects[0] <= titles[0] and subjects[1] <= titles[0]


def _subject(unit: ScoredUnit, language: str) -> frozenset[str]:
    """The subject of a sentence, as words; empty if it makes no claim."""
    claims = claims_of(page_from_text(unit.text, unit.segmented.page.title, language))
    if not claims:
        return frozenset()
    words = frozenset(fold(claims[0].subject).split()) - language_words(language).stop_words
    return words or frozenset(fold(unit.segmented.page.title).split())  # a pronoun refers to the page's subject


def _conflict(found: Disagreement, one: ScoredUnit, other: ScoredUnit) -> AnswerConflict:
    a, b = one.text[slice(*found.a)], other.text[slice(*found.b)]
    where = one.segmented.page.title, other.segmented.page.title
    words = (
        f"One place of {where[0]!r} says {a!r}, another {b!r}."
        if where[0] == where[1]
        else f"{where[0]!r} says {a!r}, {where[1]!r} says {b!r}."
    )
    return AnswerConflict(found.kind, _key(one), _key(other), one.text, other.text, words)


def _key(scored_unit: ScoredUnit) -> str:
    unit = scored_unit.segmented.units[scored_unit.unit]
    return key_of(scored_unit.segmented.page.ref, unit.start, unit.end)


MIN_SHORT_CONFIDENCE = 0.55
"""Without the reading model, a short answer is marked only if the confidence is at least this."""
MAX_SHORT_CHARS = 100
MAX_SOMETHING_ELSE = 0.4
"""The highest confidence of an answer whose few words are probably of something else."""
MIN_SHORT_WORDS_SCORE = -5.0
"""If the reading model prefers no answer to the short one by more than this, the confidence is capped at
MAX_SOMETHING_ELSE. On a sample of NQ, SQuAD and CMU in the book of 2007, none of 24 such short answers was right.
"""
SHORT_ANSWER_KINDS: frozenset[AnswerKind] = frozenset({"person", "date", "place", "number", "choice"})
"""Questions that a few words answer; for others, words are marked only if the reading model prefers them to none."""


@dataclass(frozen=True, slots=True)
class AnswerBuilder:
    """Builds an answer from its evidence."""

    context: AskContext
    typed: str
    resolved: ResolvedQuestion
    question: Question
    evidence: RetrievedEvidence
    passages: tuple[Passage, ...]
    danger: Danger | None
    options: AskOptions
    hidden_page: HiddenName | None = None
    """The page that the question names, if it is hidden."""
    refusal: str = field(init=False)
    """Why there is no answer; empty if there is one."""

    def __post_init__(self) -> None:
        # The class is frozen, and the refusal is derived from its other fields.
        object.__setattr__(self, "refusal", self._refusal())

    @property
    def is_answered(self) -> bool:
        return not self.refusal

    def _refusal(self) -> str:
        # Too weak evidence comes first: the age of the book is only a reason if there would be an answer.
        units = answer_units(self.evidence.units)
        if (reason := reason_to_refuse(self.evidence, self.danger)) or not units:
            return reason
        ref = units[0].segmented.page.ref
        book = next(book.book for book in self.context.books if book.id == ref.book)
        return reason_if_after_book(self.question, book, units[0].text)

    def build(self) -> Answer:
        evidence = self.evidence
        books: dict[str, Book] = {book.id: book.book for book in self.context.books}
        refusal = self.refusal
        frame = Answer(
            self.typed,
            self.question.text,
            "none" if refusal else evidence.route,
            " ".join(filter(None, (self.resolved.why, refusal or evidence.why))),
            grounded=False,
            passages=self.passages,
            pages=evidence.pages,
            confidence=evidence.strength.answer_confidence,
            notices=tuple(self._notices(books)),
            mode=self.options.mode,
            reader=self._reader(),
            subject=self._subject(),
            senses=self._senses(),
            as_of_book=self._as_of_book(books),
        )
        if refusal:
            closest = [self._cited(unit, books) for unit in answer_units(evidence.units)]
            return replace(frame, refusal=refusal, closest=self._numbered(_without_overlaps(closest)))
        chosen = evidence.units[: evidence.part_count] if evidence.part_count else answer_units(evidence.units)
        if evidence.senses:  # senses must not be mixed, and each page is about one of them
            chosen = tuple(unit for unit in chosen if unit.segmented.page.ref == chosen[0].segmented.page.ref)
        citations = self._numbered(_without_overlaps([self._cited(unit, books) for unit in chosen]))
        lines = tuple(AnswerSentence(citation.citation.quote.text, (citation.key,)) for citation in citations)
        found = self._short(chosen[0], lines[0].text)
        is_other = found is not None and self._is_of_something_else(chosen[0], found)
        at, short = (found.start, lines[0].text[slice(*found)]) if found and not is_other else (-1, "")
        # Words of something else are not shown at all; doubtful words are, with the warning that low confidence brings.
        is_doubted = found is not None and chosen[0].features.get(ANSWER_WORDS, 0.0) < MIN_SHORT_WORDS_SCORE
        confidence = min(frame.confidence, MAX_SOMETHING_ELSE) if is_other or is_doubted else frame.confidence
        return replace(
            frame,
            grounded=True,
            confidence=confidence,
            text="\n".join(line.text for line in lines),
            short=short,
            short_at=at,
            verdict=evidence.verdict,
            chosen=evidence.chosen,
            score=chosen[0].score(),
            lines=lines,
            citations=citations,
            conflicts=() if evidence.part_count else disagreements(chosen, evidence.units, self.question.language),
            books=tuple(dict.fromkeys(citation.book for citation in citations)),
        )

    def _reader(self) -> str:
        """The id of the reading model that chose the sentences; empty if none was used."""
        is_read = any("relevance" in unit.features for unit in self.evidence.units[:1])
        return self.context.reader.id if self.context.reader and is_read else ""

    def _senses(self) -> tuple[Sense, ...]:
        """The senses of the name, if the answer is about one of several."""
        senses, units = self.evidence.senses, self.evidence.units
        shown = units[0].segmented.page.ref if units and self.is_answered else None
        others = tuple(sense for sense in senses if sense.ref != shown)
        return others if len(senses) > 1 else ()

    def _as_of_book(self, books: Mapping[str, Book]) -> AnswerBook | None:
        """The book that a question about the present is answered from, if it has a date."""
        if not self.question.asks_about_present or not self.evidence.units:
            return None
        book = books[self.evidence.units[0].segmented.page.ref.book]
        return answer_book(book) if book.date else None

    def _subject(self) -> str:
        """The subject of the question: the page it names, else its own subject, else the best page.

        In a language that no book is in, the best page may have nothing to do with the question.
        """
        best = self.evidence.units[0].segmented.page.title if self.evidence.units else ""
        if (
            not self.is_answered
            and not self.evidence.is_named
            and no_book_in_language(self.question.language, self.context.books)
        ):
            return ""
        return best if self.evidence.is_named else self.resolved.subject or best

    def offered(self) -> tuple[AnswerCitation, ...]:
        """The citations a model may use: each passage by its best sentence."""
        books: dict[str, Book] = {book.id: book.book for book in self.context.books}
        found = []
        for passage in self.passages:
            best = next(
                unit
                for unit in self.evidence.units
                if unit.segmented.page.ref == passage.ref
                and passage.start <= unit.segmented.units[unit.unit].start < passage.end
            )
            found.append(replace(self._cited(best, books), key=passage.key))
        return self._numbered(found)

    def _numbered(self, found: Iterable[AnswerCitation]) -> tuple[AnswerCitation, ...]:
        """The citations without duplicates, numbered."""
        once = {cited.key: cited for cited in found}
        return tuple(replace(cited, number=number) for number, cited in enumerate(once.values(), start=1))

    def _is_of_something_else(self, best: ScoredUnit, found: AnswerSpan) -> bool:
        """Whether the few words found are probably of something other than what the question asks about."""
        if NOT_THE_MOST in best.features:
            return True
        title, is_prose = best.segmented.page.title, best.segmented.units[best.unit].kind == "sentence"
        is_date = is_prose and self.question.kind == "date"
        return is_date and not dates_the_event(best.text, found, self.question, title)

    def _short(self, best: ScoredUnit, line: str) -> AnswerSpan | None:
        """Where the short answer is in the line; None if there is nothing to mark."""
        # Spans are offsets into the unit, so they only fit if the line is the unit itself: a quote that was widened for
        # a dangerous number, or that replaces one inside it, has other offsets.
        if self.evidence.part_count or line != best.text or not may_have_headline(self.question):
            return None
        is_box = best.segmented.units[best.unit].kind == "box"
        found = (
            self._short_by_reader(best, line)
            if "relevance" in best.features
            else self._short_by_rule(best, line, is_box=is_box)
        )
        if found is None:
            return None
        found = with_other_values(line, found) if is_box else found
        return whole_list(line, found) if asks_for_several(self.question) else found

    def _short_by_rule(self, best: ScoredUnit, line: str, *, is_box: bool) -> AnswerSpan | None:
        if self.evidence.strength.answer_confidence < MIN_SHORT_CONFIDENCE or best.features.get("names missing"):
            return None
        return short_answer(line, self.question, is_box=is_box)

    def _short_by_reader(self, best: ScoredUnit, line: str) -> AnswerSpan | None:
        """The words that the reading model marks, if they can be the complete answer."""
        if self.question.kind == "yes_no" or (
            self.question.kind not in SHORT_ANSWER_KINDS and best.features[ANSWER_WORDS] <= 0
        ):
            return None
        start, end = best.answer_span or (-1, -1)
        # A row is 'label<tab>value', and 'Capital' does not answer 'What is the capital?'.
        is_label = "\t" in line and start <= line.index("\t")
        if is_label or not 0 < end - start <= MAX_SHORT_CHARS or not can_be_answer(line[start:end], self.question):
            return None
        span = AnswerSpan(start, end)
        return asked_end(line, span, self.question) if self.question.kind == "date" else span

    def _cited(self, scored_unit: ScoredUnit, books: Mapping[str, Book]) -> AnswerCitation:
        """The citation of a unit; a dangerous number is never quoted without what it depends on."""
        page = scored_unit.segmented.page
        unit = scored_unit.segmented.units[scored_unit.unit]
        start, end = unit.start, unit.end
        if self.danger is not None:
            start, end = widen_quote(page.text, start, end, page.sentences, page.blocks, page.language)
        quote = quote_at(page, start, end)
        book = books[page.ref.book]
        place = place_of(page, quote.start)
        above = (
            scored_unit.segmented.contexts[scored_unit.segmented.context_of[scored_unit.unit]]
            if unit.kind == "box"
            else ""
        )
        section = f"{place.section}, {above}" if above else place.section
        return AnswerCitation(
            key_of(page.ref, quote.start, quote.end),
            Citation(quote, book.name, page.title, section, place.anchor),
            answer_book(book),
            scored_unit.segmented.passage(scored_unit.passage).text,
        )

    def _newer(self, books: Mapping[str, Book]) -> list[str]:
        """Notices of newer books that have the page which answers."""
        shown = self.evidence.units[0].segmented.page
        same = [page for page in self.evidence.pages if page.ref == shown.ref or page.title == shown.title]
        refs = [ref for page in same for ref in (page.ref, *page.copies)]
        newer = [books[ref.book] for ref in refs if books[ref.book].date > books[shown.ref.book].date]
        return [newer_book(book.title or book.name, book.date) for book in dict.fromkeys(newer)]

    def _notices(self, books: Mapping[str, Book]) -> list[str]:
        found = [verbatim_notice(self.danger, self.question.language)] if self.danger and self.is_answered else []
        found += self._newer(books) if self.is_answered else []
        if not self.is_answered:
            found += [introductions_only(book.title or book.name) for book in books.values() if book.lead_only]
        max_pages = self.context.settings.top_pages
        hidden = sum((hidden_for(book, self.question.query, max_pages) for book in self.context.books), NONE_HIDDEN)
        if self.hidden_page:
            found.append(page_hidden(self.hidden_page))
        if hidden.pages and (not self.hidden_page or hidden.pages > 1):
            found.append(pages_hidden(hidden))
        return found


def _without_overlaps(found: Sequence[AnswerCitation]) -> list[AnswerCitation]:
    """Drop quotes inside another one or overlapping an earlier one, so that a dose is not given twice."""
    # Largest first (start - end is negative), so that a quote is only compared with those that can contain it.
    by_size = sorted(found, key=lambda citation: citation.citation.quote.start - citation.citation.quote.end)
    outermost = [
        answer_citation
        for at, answer_citation in enumerate(by_size)
        if not any(_is_within(answer_citation, other) for other in by_size[:at])
    ]
    chosen: list[AnswerCitation] = []
    for citation in found:
        if citation in outermost and not any(_overlap(citation, other) for other in chosen):
            chosen.append(citation)
    return chosen


def _is_within(one: AnswerCitation, other: AnswerCitation) -> bool:
    small, large = one.citation.quote, other.citation.quote
    return small.ref == large.ref and large.start <= small.start and small.end <= large.end


def _overlap(one: AnswerCitation, other: AnswerCitation) -> bool:
    a, b = one.citation.quote, other.citation.quote
    return a.ref == b.ref and a.start < b.end and b.start < a.end
