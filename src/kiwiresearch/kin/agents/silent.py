"""A model that is asked until it falls silent, so that a server that is away does not hold up each step of a case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PureWindowsPath

from kiwiresearch.errors import ModelUnreachable
from kiwiresearch.llm.model import Message, Model, Options, Piece, Reply

PLAIN = Options()
MOST_SILENT = 2
"""So many calls in a row may find nobody; a single one that took too long is no reason to go without."""


class UntilSilent:
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

    def chat(self, messages: Sequence[Message], options: Options = PLAIN) -> Reply:
        self._check()
        try:
            reply = self._model.chat(messages, options)
        except ModelUnreachable as problem:
            self._silent += 1
            self.problem = problem
            raise
        self._silent = 0
        return reply

    def pieces(self, messages: Sequence[Message], options: Options = PLAIN) -> Iterator[Piece | Reply]:
        self._check()
        return self._model.pieces(messages, options)

    def stream(self, messages: Sequence[Message], options: Options = PLAIN) -> Iterator[str]:
        self._check()
        return self._model.stream(messages, options)

    def _check(self) -> None:
        if self._silent >= MOST_SILENT and self.problem is not None:
            raise ModelUnreachable(self.problem.message, remedy=self.problem.remedy)
