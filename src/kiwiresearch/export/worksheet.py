"""A worksheet for a class: about ten questions made by rule, and an answer sheet that quotes the pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from types import MappingProxyType

from kiwiresearch.errors import NothingFound
from kiwiresearch.export.exercises import Matching, Ordering, matching, ordering
from kiwiresearch.export.full_questions import (
    count_question,
    what_question,
    when_question,
    where_question,
    who_question,
    why_question,
)
from kiwiresearch.export.gaps import date_gap, name_gap, number_gap, truth_question
from kiwiresearch.export.question_clauses import BE
from kiwiresearch.export.sentence_filter import names_some, names_topic
from kiwiresearch.export.worksheet_choice import ANY, MAX_WANTED, WorksheetChoice
from kiwiresearch.export.worksheet_facts import MIN_POINTS, FactSheet, WorksheetFact, distinct, place_of
from kiwiresearch.export.worksheet_question import QuestionKind, WorksheetQuestion
from kiwiresearch.zim import EntryRef

Rule = Callable[[WorksheetFact, FactSheet], WorksheetQuestion | None]
ENGLISH_RULES: Mapping[QuestionKind, Rule] = MappingProxyType(
    {
        "who": who_question,
        "what": what_question,
        "when": when_question,
        "where": where_question,
        "count": count_question,
        "why": why_question,
        "truth": truth_question,
    }
)
GAP_RULES: Mapping[QuestionKind, Rule] = MappingProxyType({"number": number_gap, "date": date_gap, "name": name_gap})
"""These need no grammar, so they work in every language."""
MAX_PER_KIND: Mapping[QuestionKind, int] = MappingProxyType(
    {
        "who": 3,
        "what": 4,
        "when": 3,
        "where": 2,
        "count": 2,
        "why": 2,
        "truth": 2,
        "number": 1,
        "date": 1,
        "name": 2,
    }
)
"""How many questions of each kind there are at most, in the order in which they are printed."""
MIN_QUESTIONS = 3
"""With fewer, making a worksheet is refused."""
FEW_QUESTIONS = 10
"""With fewer, less important sentences get gaps as well: a teacher can cross out what does not fit."""
MAX_QUESTIONS = 14
MAX_PER_SECTION = 3
"""How many questions one section gives, so that a worksheet covers a page."""
GAP_KINDS: frozenset[QuestionKind] = frozenset({"truth", *GAP_RULES})
BEST_FACTS, MIN_GAP_OF_SHORT_PAGE = 12, 0.9
MIN_GAPS, MIN_GAPS_IF_FEW = 4, 7
MIN_FILL_POINTS = 1.2
"""With fewer, a sentence that fills up a worksheet must name the topic."""
NOT_ENGLISH_SHARE = 3
MIN_GAP_POINTS: Mapping[QuestionKind, float] = MappingProxyType({"truth": 2.1, "number": 2.4, "date": 2.2, "name": 2.0})
"""A gap leaves a whole sentence to read, so only the best sentences have one."""
MIN_GIVEN_AWAY = 4
"""Shorter answers are in other questions by chance."""


@dataclass(frozen=True, slots=True)
class Worksheet:
    """The questions of a worksheet."""

    topic: str
    language: str
    books: tuple[str, ...]
    """Those that the answers are from."""
    questions: tuple[WorksheetQuestion, ...]
    matching: Matching | None
    ordering: Ordering | None

    @property
    def open_questions(self) -> tuple[WorksheetQuestion, ...]:
        return tuple(
            question for question in self.questions if question.kind in ENGLISH_RULES and question.is_true is None
        )

    @property
    def truths(self) -> tuple[WorksheetQuestion, ...]:
        """Statements that are true or false."""
        return tuple(question for question in self.questions if question.is_true is not None)

    @property
    def in_order(self) -> tuple[WorksheetQuestion, ...]:
        """The questions in the order of their numbers; exercises over several sentences come after them."""
        return (*self.open_questions, *self.truths, *self.gaps, *self.word_gaps)

    @property
    def count(self) -> int:
        return len(self.questions) + bool(self.matching) + bool(self.ordering)

    @property
    def gaps(self) -> tuple[WorksheetQuestion, ...]:
        """Sentences with a gap for a year or a number."""
        return tuple(question for question in self.questions if question.kind in ("date", "number"))

    @property
    def word_gaps(self) -> tuple[WorksheetQuestion, ...]:
        """Sentences with a gap for a word of the word bank."""
        return tuple(question for question in self.questions if question.kind == "name")

    @property
    def word_bank(self) -> tuple[str, ...]:
        return tuple(sorted({question.answer for question in self.word_gaps}, key=lambda word: (word.casefold(), word)))


def make_worksheet(sheet: FactSheet, choice: WorksheetChoice = ANY) -> Worksheet:
    """The worksheet of some facts; the same facts and the same choice give the same worksheet."""
    terms = matching(sheet) if "matching" in choice.kinds else None
    events = ordering(sheet) if "order" in choice.kinds else None
    used = {place_of(pair.claim) for pair in terms.pairs} if terms else set()
    used |= {place_of(event.claim) for event in events.events} if events else set()
    room = (choice.count or MAX_QUESTIONS) - bool(terms) - bool(events)
    chosen = _chosen(sheet, choice, frozenset(used), room)
    claims = [
        *(question.claim for question in chosen),
        *(pair.claim for pair in (terms.pairs if terms else ())),
        *(event.claim for event in (events.events if events else ())),
    ]
    cited = {claim.ref.book for claim in claims}
    books = tuple(title for book, title in sheet.books.items() if book in cited)
    worksheet = Worksheet(sheet.topic, sheet.language, books, tuple(chosen), terms, events)
    if choice.has_all_kinds and worksheet.count < MIN_QUESTIONS:
        raise NothingFound(
            f"The pages about {sheet.topic!r} do not have enough facts for a worksheet.",
            remedy="Try a topic or page with more text, or research the topic with more pages.",
        )
    if not worksheet.count:
        raise NothingFound(
            f"The pages about {sheet.topic!r} have no facts for these kinds of questions.", remedy="Choose more kinds."
        )
    return worksheet


def _chosen(
    sheet: FactSheet, wanted: WorksheetChoice, used: frozenset[tuple[EntryRef, int]], room: int
) -> list[WorksheetQuestion]:
    """The best questions: those about the topic, and only if these are too few, others."""
    facts = [fact for fact in distinct(sheet.facts) if place_of(fact.claim) not in used and fact.points >= MIN_POINTS]
    choice = _Choice(sheet, wanted, room)
    main = [fact for fact in facts if fact.is_main]
    choice.take(main, room)
    few = room if wanted.count else min(FEW_QUESTIONS, room)
    if len(choice.taken) < few:
        choice.fill(main, few)
    if len(choice.taken) < MIN_QUESTIONS:
        own = [fact for fact in facts if fact.claim.page_title == sheet.named and not fact.claim.section]
        others = [*own, *(fact for fact in facts if names_topic(fact.text, sheet.named))]
        choice.take(others, min(MIN_QUESTIONS, room))
    order = list(MAX_PER_KIND)
    return sorted(choice.taken, key=lambda question: order.index(question.kind))


class _Choice:
    """Questions chosen one by one: no two have one fact, and none gives the answer of another away."""

    def __init__(self, sheet: FactSheet, wanted: WorksheetChoice, room: int) -> None:
        self._sheet = sheet
        self._kinds = wanted.question_kinds
        self._is_exact = bool(wanted.count)
        self._share = self._share_of(room)
        self._enough = 0.0
        """The points of the best sentences, which are enough for a gap on a page that is short or not very clear."""
        self._is_filling = False
        self.taken: list[WorksheetQuestion] = []
        self._sections: Counter[tuple[EntryRef, str]] = Counter()

    def take(self, facts: Sequence[WorksheetFact], room: int) -> None:
        """Questions of these facts while there is room; words are the easiest to do without."""
        points = sorted((fact.points for fact in facts), reverse=True)
        self._enough = max(MIN_GAP_OF_SHORT_PAGE, points[min(BEST_FACTS, len(points)) - 1] if points else 0.0)
        rules: Mapping[QuestionKind, Rule] = {**(ENGLISH_RULES if self._sheet.is_english else {}), **GAP_RULES}
        for kind, most in MAX_PER_KIND.items():
            if kind in rules and kind in self._kinds:
                self._take(
                    kind, rules[kind], facts, min(most * self._share, room - len(self.taken), self._room_for(kind))
                )

    def fill(self, facts: Sequence[WorksheetFact], room: int) -> None:
        """Like `take`, with gaps in sentences that matter less."""
        self._is_filling = True
        self.take(facts, room)
        self._is_filling = False

    def _share_of(self, room: int) -> int:
        """How many times `MAX_PER_KIND` there may be: more than once if other kinds are not wanted, or cannot be made.

        In other languages than English, there are only gaps.
        """
        share = ceil(room / sum(MAX_PER_KIND[kind] for kind in self._kinds)) if self._kinds else 1
        return max(1 if self._sheet.is_english else NOT_ENGLISH_SHARE, share)

    def _room_for(self, kind: QuestionKind) -> int:
        """No more gaps than full questions: these are what a class learns from."""
        is_free = (self._is_exact and self._is_filling) or self._kinds <= GAP_KINDS
        if kind not in GAP_KINDS or not self._sheet.is_english or is_free:
            return MAX_WANTED
        gaps = sum(question.kind in GAP_KINDS for question in self.taken)
        return max(MIN_GAPS_IF_FEW if self._is_filling else MIN_GAPS, len(self.taken) - gaps) - gaps

    def _take(self, kind: QuestionKind, rule: Rule, facts: Sequence[WorksheetFact], most: int) -> None:
        asked = {question.claim.id for question in self.taken}
        count = 0
        for fact in facts:
            if count >= most:
                return
            if fact.claim.id in asked or self._is_full(fact):
                continue
            question = rule(fact, self._sheet) if self._is_worth(kind, fact) else None
            if question and self._is_new(question):
                self.taken.append(question)
                self._sections[fact.claim.ref, fact.claim.section] += 1
                count += 1

    def _is_worth(self, kind: QuestionKind, fact: WorksheetFact) -> bool:
        """Whether a sentence matters enough to the topic, and names it unless it is one of the best."""
        if kind not in GAP_KINDS or not self._sheet.is_english:
            return True
        if self._is_filling:
            is_good = fact.points >= MIN_FILL_POINTS or names_some(fact.text, self._sheet.named)
            return is_good or self._is_exact
        least = min(MIN_GAP_POINTS[kind], self._enough)
        is_about = fact.points >= self._enough or names_some(fact.text, self._sheet.named)
        return fact.points >= least and is_about

    def _is_full(self, fact: WorksheetFact) -> bool:
        return bool(fact.claim.section) and self._sections[fact.claim.ref, fact.claim.section] >= MAX_PER_SECTION

    def _is_new(self, question: WorksheetQuestion) -> bool:
        """Whether nothing that was taken has its answer, or is answered by its words."""
        # True and false take turns, so that neither answer is the safer guess.
        if question.is_true is not None and question.is_true == next(
            (other.is_true for other in reversed(self.taken) if other.is_true is not None), None
        ):
            return False
        return not any(
            _same(question.prompt, other.prompt)
            or question.answer.casefold() == other.answer.casefold()
            or _has(question.answer, other.answer)
            or _has(other.answer, question.answer)
            or _has(question.prompt, other.answer)
            or _has(other.prompt, question.answer)
            for other in self.taken
        )


def _same(one: str, other: str) -> bool:
    """Whether two questions differ in the tense of 'to be' at most: 'What is Ghana?', 'What was Ghana?'"""
    return [word for word in one.casefold().split() if word not in BE] == [
        word for word in other.casefold().split() if word not in BE
    ]


def _has(text: str, answer: str) -> bool:
    """Whether a text has an answer in it; in the word bank, 'Africa' and 'northern Africa' could both be right."""
    return len(answer) >= MIN_GIVEN_AWAY and answer.casefold() in text.casefold()
