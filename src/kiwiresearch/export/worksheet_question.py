"""A question of a worksheet and its answer, which is in the quote that proves it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kiwiresearch.claims import Claim
from kiwiresearch.errors import QuoteNotFound
from kiwiresearch.export.worksheet_facts import WorksheetFact
from kiwiresearch.text import share_root, words_in

QuestionKind = Literal["what", "who", "when", "where", "count", "why", "truth", "date", "number", "name"]
COMMON_WORDS = frozenset(("the", "and", "for", "with", "from", "its", "their", "that", "which", "into", "one"))
GAP = "__________"


@dataclass(frozen=True, slots=True)
class WorksheetQuestion:
    """A question and its answer, which is in the quote that proves it."""

    kind: QuestionKind
    prompt: str
    answer: str
    claim: Claim
    hint: str = ""
    is_true: bool | None = None
    """Whether the statement of a true-or-false question is true; None for other questions."""

    @property
    def solution(self) -> str:
        """The answer as the answer sheet gives it."""
        if self.is_true is None:
            return self.answer
        return "True" if self.is_true else f"False: {self.answer}"

    def __post_init__(self) -> None:
        # The no-guessing rule is part of the type: no rule can make an answer that the page does not give.
        if not is_proven(self.answer, self.claim):
            raise QuoteNotFound(f"The answer {self.answer[:60]!r} is not in the quote of its claim.")


def is_proven(answer: str, claim: Claim) -> bool:
    return any(answer in quote.text for quote in claim.quotes)


def question_of(
    kind: QuestionKind, prompt: str, answer: str, fact: WorksheetFact, hint: str = ""
) -> WorksheetQuestion | None:
    """The question, unless the quote has the answer in other words than the claim."""
    return WorksheetQuestion(kind, prompt, answer, fact.claim, hint) if is_proven(answer, fact.claim) else None


def share_roots(words: list[str], others: list[str]) -> bool:
    """Whether a word of some length is a form of one of the others."""
    return any(share_root(word, others) for word in words if len(word) > 3)


def gives_away(answer: str, text: str) -> bool:
    """Whether a text has a word of the answer again, or one that begins alike: 'France' and 'French' do not."""
    words, others = ([word.lower() for word in words_in(part)] for part in (answer, text))
    return any(
        word == other or (len(word) > 4 and other.startswith(word[: max(5, len(word) * 3 // 5)]))
        for word in words
        if len(word) > 2 and word not in COMMON_WORDS
        for other in others
    )
