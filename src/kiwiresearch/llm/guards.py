"""Guards around a model: masked messages, no waiting for an absent server, and reasons held to what was shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import PureWindowsPath

from kiwiresearch.errors import ModelUnreachable
from kiwiresearch.llm.model import Message, Model, Options, Piece, Reply
from kiwiresearch.text.words import fold

DEFAULT_OPTIONS = Options()


class MaskedModel:
    """Any model behind a mask. What it says of a mark it was shown is found in no text, and so never kept."""

    def __init__(self, model: Model, mask: Callable[[str], str]) -> None:
        self._model = model
        self._mask = mask

    @property
    def name(self) -> str:
        return self._model.name

    def context_tokens(self) -> int | None:
        return self._model.context_tokens()

    def chat(self, messages: Sequence[Message], options: Options = DEFAULT_OPTIONS) -> Reply:
        return self._model.chat(self._masked(messages), options)

    def pieces(self, messages: Sequence[Message], options: Options = DEFAULT_OPTIONS) -> Iterator[Piece | Reply]:
        return self._model.pieces(self._masked(messages), options)

    def stream(self, messages: Sequence[Message], options: Options = DEFAULT_OPTIONS) -> Iterator[str]:
        return self._model.stream(self._masked(messages), options)

    def _masked(self, messages: Sequence[Message]) -> list[Message]:
        # Our own turns hold no names but those put into them; the model's own are echoed when it is corrected.
        return [one if one.role == "system" else replace(one, text=self._mask(one.text)) for one in messages]


PLAIN_OPTIONS = Options()
MAX_FAILURES = 2
"""So many calls in a row may find nobody; a single one that took too long is no reason to go without."""


class CircuitBreakerModel:
    """Any model; once it could not be reached twice in a row, it is not waited for again."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._silent = 0
        self.problem: ModelUnreachable | None = None
        """Why it was not reached the last time."""

    @property
    def name(self) -> str:
        self._check()
        # Some servers call a model by its file, and where that is kept is not for a report to tell.
        name = self._model.name
        is_path = name.startswith(("/", "~", ".")) or "\\" in name
        return PureWindowsPath(name).name if is_path else name

    def context_tokens(self) -> int | None:
        return self._model.context_tokens()

    def chat(self, messages: Sequence[Message], options: Options = PLAIN_OPTIONS) -> Reply:
        self._check()
        try:
            reply = self._model.chat(messages, options)
        except ModelUnreachable as problem:
            self._silent += 1
            self.problem = problem
            raise
        self._silent = 0
        return reply

    def pieces(self, messages: Sequence[Message], options: Options = PLAIN_OPTIONS) -> Iterator[Piece | Reply]:
        self._check()
        return self._model.pieces(messages, options)

    def stream(self, messages: Sequence[Message], options: Options = PLAIN_OPTIONS) -> Iterator[str]:
        self._check()
        return self._model.stream(messages, options)

    def _check(self) -> None:
        if self._silent >= MAX_FAILURES and self.problem is not None:
            raise ModelUnreachable(self.problem.message, remedy=self.problem.remedy)


WORD = re.compile(r"[^\W_]+")
SENTENCE_ENDS = re.compile(r"(?:^|[.!?…]\s+)$")
MIN_DIGITS = 3
"""Shorter numbers are days and months, which can be written in other ways."""
TASK_WORDS = frozenset({"record", "records", "person", "persons", "both", "first", "second", "json", "hypothesis"})


def find_ungrounded_word(reasons: Iterable[str], shown: str, *, terms: Collection[str] = ()) -> str:
    """The first name or year of the reasons that is not in what was shown, else nothing.

    `terms` are words that count like names, however they are written.
    """
    known = {fold(word) for word in WORD.findall(shown)} | TASK_WORDS
    for reason in reasons:
        for found in WORD.finditer(reason):
            word = found[0]
            if fold(word) not in known and (fold(word) in terms or _is_name_or_year(reason, found.start(), word)):
                return word
    return ""


def _is_name_or_year(text: str, start: int, word: str) -> bool:
    """Whether a word is a year or a name; a capital that begins a sentence says nothing."""
    if any(map(str.isdigit, word)):
        return sum(map(str.isdigit, word)) >= MIN_DIGITS
    return len(word) > 1 and word[0].isupper() and not SENTENCE_ENDS.search(text[:start])
