"""Guards around a model: mask messages, stop calling an absent server, check reasons against the shown text."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import PureWindowsPath

from kiwiresearch.errors import ModelUnreachable
from kiwiresearch.llm.model import DEFAULT_OPTIONS, ChatMessage, Model, Options, Reply, ReplyPiece
from kiwiresearch.text import fold


class MaskedModel:
    """A model that sees only masked text. No source has a masked name, so claims about one are never accepted."""

    def __init__(self, model: Model, mask: Callable[[str], str]) -> None:
        self._model = model
        self._mask = mask

    @property
    def name(self) -> str:
        return self._model.name

    def context_tokens(self) -> int | None:
        return self._model.context_tokens()

    def chat(self, messages: Sequence[ChatMessage], options: Options = DEFAULT_OPTIONS) -> Reply:
        return self._model.chat(self._masked(messages), options)

    def pieces(
        self, messages: Sequence[ChatMessage], options: Options = DEFAULT_OPTIONS
    ) -> Iterator[ReplyPiece | Reply]:
        return self._model.pieces(self._masked(messages), options)

    def _masked(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        # System messages are our own and name nobody; assistant turns are echoed when the model is corrected.
        return [
            message if message.role == "system" else replace(message, text=self._mask(message.text))
            for message in messages
        ]


MAX_FAILURES = 2
"""A single call that took too long is not a reason to do without the model."""


class CircuitBreakerModel:
    """A model that is no longer called after it was unreachable twice in a row."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._failures = 0
        self.problem: ModelUnreachable | None = None
        """Why it was unreachable the last time."""

    @property
    def name(self) -> str:
        self._check()
        # Some servers name a model by the path of its file, which must not appear in reports.
        name = self._model.name
        is_path = name.startswith(("/", "~", ".")) or "\\" in name
        return PureWindowsPath(name).name if is_path else name

    def context_tokens(self) -> int | None:
        return self._model.context_tokens()

    def chat(self, messages: Sequence[ChatMessage], options: Options = DEFAULT_OPTIONS) -> Reply:
        self._check()
        try:
            reply = self._model.chat(messages, options)
        except ModelUnreachable as problem:
            self._failures += 1
            self.problem = problem
            raise
        self._failures = 0
        return reply

    def pieces(
        self, messages: Sequence[ChatMessage], options: Options = DEFAULT_OPTIONS
    ) -> Iterator[ReplyPiece | Reply]:
        self._check()
        return self._model.pieces(messages, options)

    def _check(self) -> None:
        if self._failures >= MAX_FAILURES and self.problem is not None:
            raise ModelUnreachable(self.problem.message, remedy=self.problem.remedy)


WORD = re.compile(r"[^\W_]+")
# Matches what is before the first word of a sentence: "" and "Both died. ", but not "was born in ".
SENTENCE_ENDS = re.compile(r"(?:^|[.!?…]\s+)$")
MIN_DIGITS = 3
"""Shorter numbers are days and months, which may be written differently."""
# Words of our own prompts, which a model may use with a capital although no source has them.
TASK_WORDS = frozenset({"record", "records", "person", "persons", "both", "first", "second", "json", "hypothesis"})


def find_ungrounded_word(reasons: Iterable[str], shown: str, *, terms: Collection[str] = ()) -> str:
    """The first name or year in the reasons that does not occur in what was shown; empty if there is none.

    `terms` are words that count as names even without a capital.
    """
    known = {fold(word) for word in WORD.findall(shown)} | TASK_WORDS
    for reason in reasons:
        for found in WORD.finditer(reason):
            word = found[0]
            if fold(word) not in known and (fold(word) in terms or _is_name_or_year(reason, found.start(), word)):
                return word
    return ""


def _is_name_or_year(text: str, start: int, word: str) -> bool:
    """Whether a word is a year or a name; a capital at the start of a sentence proves nothing."""
    if any(map(str.isdigit, word)):
        return sum(map(str.isdigit, word)) >= MIN_DIGITS
    return len(word) > 1 and word[0].isupper() and not SENTENCE_ENDS.search(text[:start])
