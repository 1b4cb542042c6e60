"""A worksheet for a class: about ten questions made by rule, and an answer sheet that quotes the pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from kiwiresearch.errors import NothingFound
from kiwiresearch.export.exercises import Matching, Ordering, matching, ordering
from kiwiresearch.export.facts import FactSheet, WorksheetFact, distinct, place_of
from kiwiresearch.export.questions import ENGLISH_RULES, GAP_RULES, QuestionKind, Rule, WorksheetQuestion
from kiwiresearch.zim import EntryRef

MAX_PER_KIND: Mapping[QuestionKind, int] = MappingProxyType(
    {"what": 3, "who": 2, "when": 2, "count": 2, "why": 2, "number": 2, "date": 2, "truth": 2, "name": 4}
)
"""How many questions of each kind there are at most, while there are others."""
FILLER_KINDS: tuple[QuestionKind, ...] = ("name", "truth", "date", "number")
"""The kinds that fill up a short worksheet."""
MAX_FILLERS_PER_KIND = 3
MIN_QUESTIONS = 3
"""With fewer there is no worksheet."""
MIN_LENGTH = 8
"""The length up to which pages beside the topic fill it up; its own pages do so up to GOOD_LENGTH."""
GOOD_LENGTH = 10
MAX_QUESTIONS = 14
MAX_PER_SECTION = 3
"""How many questions one section gives, so that a worksheet covers a page."""


@dataclass(frozen=True, slots=True)
class Worksheet:
    """The questions of a worksheet."""

    topic: str
    language: str
    books: tuple[str, ...]
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


def make_worksheet(sheet: FactSheet) -> Worksheet:
    """The worksheet of some facts; the same facts give the same worksheet."""
    terms, events = matching(sheet), ordering(sheet)
    used = {place_of(pair.claim) for pair in terms.pairs} if terms else set()
    used |= {place_of(event.claim) for event in events.events} if events else set()
    room = MAX_QUESTIONS - bool(terms) - bool(events)
    chosen = _chosen(sheet, frozenset(used), room)
    worksheet = Worksheet(sheet.topic, sheet.language, sheet.books, tuple(chosen), terms, events)
    if worksheet.count < MIN_QUESTIONS:
        raise NothingFound(
            f"The pages about {sheet.topic!r} do not have enough facts for a worksheet.",
            remedy="Try a topic or page with more text, or research the topic with more pages.",
        )
    return worksheet


def _chosen(sheet: FactSheet, used: frozenset[tuple[EntryRef, int]], room: int) -> list[WorksheetQuestion]:
    rules: Mapping[QuestionKind, Rule] = {**(ENGLISH_RULES if sheet.is_english else {}), **GAP_RULES}
    facts = [fact for fact in distinct(sheet.facts) if place_of(fact.claim) not in used]
    taken: list[WorksheetQuestion] = []
    main, beside = ([fact for fact in facts if fact.is_main == is_main] for is_main in (True, False))
    best = [fact for fact in main if fact.points > 0]
    for kind in MAX_PER_KIND:
        if kind in rules:
            taken += _of_kind(rules[kind], sheet, best, taken, MAX_PER_KIND[kind])
    if "what" in rules and all(question.kind != "what" for question in taken[1:]):
        taken += _of_kind(rules["what"], sheet, beside, taken, 1)
    # Pages beside the topic only help out where its own have too little.
    for candidates, length in ((main, GOOD_LENGTH), (facts, MIN_LENGTH)):
        for kind in MAX_PER_KIND if candidates is main else FILLER_KINDS:
            if kind not in rules:
                continue
            taken += _of_kind(
                rules[kind], sheet, candidates, taken, min(min(length, room) - len(taken), MAX_FILLERS_PER_KIND)
            )
    # Words are the easiest to do without.
    order = list(MAX_PER_KIND)
    kept = sorted(taken, key=lambda question: order.index(question.kind))[:room]
    places = {fact.claim.id: index for index, fact in enumerate(sheet.facts)}
    return sorted(kept, key=lambda question: (order.index(question.kind), places[question.claim.id]))


def _of_kind(
    rule: Rule, sheet: FactSheet, facts: list[WorksheetFact], taken: list[WorksheetQuestion], count: int
) -> Iterator[WorksheetQuestion]:
    asked = {worksheet_question.claim.id for worksheet_question in taken}
    answers = {
        worksheet_question.answer.casefold() for worksheet_question in taken if worksheet_question.kind in GAP_RULES
    }
    sections = Counter((worksheet_question.claim.ref, worksheet_question.claim.section) for worksheet_question in taken)
    last_truth = next(
        (
            worksheet_question.is_true
            for worksheet_question in reversed(taken)
            if worksheet_question.is_true is not None
        ),
        None,
    )
    for fact in facts:
        if count <= 0:
            return
        section = (fact.claim.ref, fact.claim.section)
        if fact.claim.id in asked or (fact.claim.section and sections[section] >= MAX_PER_SECTION):
            continue
        question = rule(fact, sheet)
        if question and question.is_true is not None and question.is_true == last_truth:
            continue
        answer = question.answer.casefold() if question else ""
        # In the word bank, 'Africa' and 'northern Africa' could both be right.
        if question and not any(
            answer == item or (question.kind == "name" and (item in answer or answer in item)) for item in answers
        ):
            answers.add(answer)
            sections[section] += 1
            last_truth = question.is_true
            count -= 1
            yield question
