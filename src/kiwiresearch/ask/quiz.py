"""Questions and answers of a quiz, put together from the lines of a model."""

from __future__ import annotations

import re
from typing import NamedTuple

from kiwiresearch.ask.answer import Dropped
from kiwiresearch.ask.spoken import Said

MOST = 5
QUESTION = re.compile(r"(?:\d+[.)]\s*)?(?:q|question)\s*\d*\s*[:.)]\s*", re.IGNORECASE)
ANSWER = re.compile(r"(?:\d+[.)]\s*)?(?:a|answer)\s*\d*\s*[:)]\s*", re.IGNORECASE)
BOTH = re.compile(r"(?<=[?.!])\s*(?:A|Answer)\s*\d*:\s*")


class Pair(NamedTuple):
    """A question, its answer, and the keys of both."""

    question: str
    answer: str
    keys: tuple[str, ...]


class Quiz:
    """Waits with each question for its answer."""

    def __init__(self) -> None:
        self.count = 0
        self._question: Said | None = None

    def take(self, said: Said) -> Pair | Dropped | None:
        """A pair that is complete, a line that belongs to none, or nothing yet."""
        question = QUESTION.match(said.text)
        both = BOTH.split(said.text, maxsplit=1)
        if len(both) == 2:
            words = both[0][question.end() if question else 0 :]
            return self._paired(said._replace(text=words), said._replace(text=both[1]))
        if question or (said.text.endswith("?") and not ANSWER.match(said.text)):
            left = self.left()
            self._question = said._replace(text=said.text[question.end() if question else 0 :])
            return Dropped(left, "question without answer") if left else None
        answer = ANSWER.match(said.text)
        if self._question is None:
            return Dropped(said.text, "no key" if answer is None else "question without answer")
        asked, self._question = self._question, None
        return self._paired(asked, said._replace(text=said.text[answer.end() if answer else 0 :]))

    def left(self) -> str:
        """The question that nobody has answered, which is forgotten now."""
        said, self._question = self._question, None
        return said.text if said else ""

    def _paired(self, asked: Said, answer: Said) -> Pair | Dropped:
        if self.count >= MOST:
            return Dropped(asked.text, "too many questions")
        return Pair(asked.text, answer.text, tuple(dict.fromkeys((*asked.keys, *answer.keys))))
