"""When the books do not answer a question: the thresholds, the reasons and the decision.

A refused answer has the route "none", is not `grounded`, and shows the closest passages instead of an answer. Three
steps may refuse, in this order:

1. After the search by words (`retrieval.py`): no page is likely enough to have the answer (`is_strong`); a question in
   a language that no book is in needs clearer evidence (`is_clear_in_other_language`).
2. After the reading model (`reranker.py`): the best sentence is not likely enough to be the answer
   (`accept_or_refuse_by_reader`). If there is a reading model, it also overrules step 1, in either direction.
3. When the answer is built (`answer_builder.py`): a wrong answer could cause harm, and this one may be wrong
   (`reason_to_refuse`), or the question is about a year after the book was published (`reason_if_after_book`).

Any refusal says so if the books are older than the year of the question; `newest_outdated_book` decides both the
refusal and the notice.

A language model may still answer a refused question, if the passages support its sentences (`firewall.py`); words of
its own are shown as such, and never count as an answer from the books (`general_answer`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kiwiresearch.ask.answer import Answer
from kiwiresearch.ask.answer_match import pattern_of
from kiwiresearch.ask.score import ALL_WORDS, RetrievedEvidence, Strength
from kiwiresearch.ask.settings import AskSettings
from kiwiresearch.messages import Message

if TYPE_CHECKING:
    from kiwiresearch.ask.danger import Danger
    from kiwiresearch.ask.question import Question
    from kiwiresearch.zim import Book

MAX_HOPELESS = 0.05
"""Evidence weaker than this is refused without a wider search, which did not help any question we tried."""

MIN_IN_OTHER_LANGUAGE = 0.35
"""The confidence an answer needs if the question is in a language that no book is in; set by hand."""

MIN_SAFE_CONFIDENCE = 0.5
"""The confidence an answer needs when a wrong one could cause harm."""

OTHER_LANGUAGE = "The question seems to be in a language that none of the books use."

# Reasons for a refusal: the end of the `why` of a refused answer.
NO_SUBJECT = Message("The question does not say what it is about.", "refusal.no_subject")
NOT_FOUND = Message("No page in the books contains the words of the question.", "refusal.not_found")
TOO_WEAK_BY_WORDS = Message("The closest pages probably do not answer the question.", "refusal.too_weak")
TOO_WEAK_BY_READER = Message("The closest passages probably do not answer the question.", "refusal.too_weak")
UNSAFE = Message(
    "The closest passages are not reliable enough for a question where a wrong answer could cause harm.",
    "refusal.unsafe",
)


def not_on_page(title: str) -> Message:
    return Message(f"The page {title!r} does not answer the question.", "refusal.not_on_page", page=title)


def after_the_book(outdated: OutdatedBook) -> Message:
    edition = outdated.date[:4]
    text = f"The question is about {outdated.year}, and {outdated.title} was published in {edition}."
    return Message(text, "refusal.after_the_book", year=outdated.year, book=outdated.title, edition=edition)


# Shown in place of the answer.
NO_ANSWER = "No answer found in the books."
NO_SOURCED_ANSWER = "No answer found in the books. The model wrote the text above without a source."


def is_strong(strength: Strength, settings: AskSettings, *, with_meaning: bool) -> bool:
    """Whether pages are likely enough to have the answer; with an embedder, other thresholds apply."""
    threshold = settings.sim_threshold_meaning if with_meaning else settings.sim_threshold
    return strength.page_confidence >= threshold


def is_hopeless(strength: Strength) -> bool:
    return strength.page_confidence < MAX_HOPELESS


def is_clear_in_other_language(strength: Strength) -> bool:
    """Whether evidence answers a question in a language no book uses, where only names can be matched reliably.

    All words must be near the best sentence, since a missing one may be the one that matters.
    """
    return strength.coverage >= ALL_WORDS and strength.answer_confidence >= MIN_IN_OTHER_LANGUAGE


def refuse_without_subject() -> RetrievedEvidence:
    """Empty evidence for a question with nothing to search for."""
    return RetrievedEvidence("none", NO_SUBJECT)


def refuse_too_weak(evidence: RetrievedEvidence) -> RetrievedEvidence:
    """Refuse the evidence of the last search; the closest passages are still shown."""
    why = TOO_WEAK_BY_WORDS if evidence.units else NOT_FOUND
    return RetrievedEvidence("none", why, evidence.units, evidence.pages, evidence.strength, evidence.is_named)


def refuse_not_on_page(evidence: RetrievedEvidence, title: str) -> RetrievedEvidence:
    """Refuse the evidence of the one page that the user named."""
    return replace(evidence, route="none", why=not_on_page(title))


def accept_or_refuse_by_reader(evidence: RetrievedEvidence, min_confidence: float) -> RetrievedEvidence:
    """The evidence after the reading model: refused if its best sentence is too weak, else accepted."""
    if evidence.strength.answer_confidence < min_confidence:
        return replace(evidence, route="none", why=TOO_WEAK_BY_READER, verdict="")
    if evidence.route == "none":
        title = evidence.units[0].segmented.page.title
        return replace(evidence, route="fulltext", why=f"A full-text search found {title!r}.")
    return evidence


def reason_to_refuse(evidence: RetrievedEvidence, danger: Danger | None) -> str:
    """Why the evidence is not shown as an answer; empty if it is.

    Whether the book is too old is checked separately (`reason_if_after_book`).
    """
    if evidence.route == "none":
        return evidence.why
    is_safe = danger is None or evidence.strength.answer_confidence >= MIN_SAFE_CONFIDENCE
    return "" if evidence.units and is_safe else UNSAFE


# '2010'; not '1,950 men', '3.1999' or '1492', which is earlier than any book.
MODERN_YEAR = re.compile(r"(?<![\d.,])(?:1[5-9]|20)\d\d(?![\d.,]*\d)")


@dataclass(frozen=True, slots=True)
class OutdatedBook:
    """A book that was published before a year that a question names: the newest one of those shown, or of all."""

    title: str
    date: str
    year: str
    is_newest: bool
    """Whether it is known to be the newest of several books: all of them have a date."""


def newest_outdated_book(question: str, books: Sequence[Book], shown: Collection[str]) -> OutdatedBook | None:
    """The newest of the books whose pages are shown, or else of all, if the question is about a later year."""
    dated = [book for book in books if book.date[:4].isdigit() and (book.id in shown or not shown)]
    newest, years = max(dated, key=lambda book: book.date, default=None), MODERN_YEAR.findall(question)
    # Years of four digits compare as text; a book counts as covering the whole year that it was published in.
    if newest is None or not years or max(years) <= newest.date[:4]:
        return None
    return OutdatedBook(newest.title or newest.name, newest.date, max(years), is_newest=len(dated) == len(books) > 1)


def reason_if_after_book(question: Question, book: Book, best: str) -> str:
    """Why a question about a year after the book was published is refused; empty if the best sentence names that year.

    A book can have plans for the year, but not what has happened then; and most sentences found are about the same
    event in another year. Other sentences about that year are usually about something else.
    """
    outdated = newest_outdated_book(question.text, (book,), ())
    is_past = pattern_of(question.language, "past").search(question.text.lower()) is not None
    if outdated is None or (outdated.year in best and not is_past):
        return ""
    return after_the_book(outdated)


def general_answer(answer: Answer) -> Answer:
    """An answer in a model's own words, which nothing in the books supports."""
    return replace(answer, grounded=False, short="", citations=(), confidence=0.0)
