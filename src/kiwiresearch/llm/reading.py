"""A reply put together from what arrives: thinking apart, circles cut, size limited."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from kiwiresearch.errors import BadReply
from kiwiresearch.llm.events import NotUnderstood
from kiwiresearch.llm.model import Finish, Piece, Reply
from kiwiresearch.llm.repetition import RepetitionGuard, without_circle
from kiwiresearch.llm.thinking import Splitter
from kiwiresearch.llm.wire import Delta, complaint_in, delta_in

MAX_CHARS = 1_000_000


class BrokenOff(Exception):
    """The reply ended before its end; never seen outside this package."""


class Complaint(Exception):
    """The server says in the middle of things that something is wrong; never seen outside this package."""


class Reading:
    """One reply while it arrives."""

    def __init__(self, max_chars: int = MAX_CHARS) -> None:
        self._splitter = Splitter()
        self._guard = RepetitionGuard()
        self._thought_guard = RepetitionGuard()
        self._thoughts: list[str] = []
        self._max_chars = max_chars
        self._chars = 0
        self._prompt_tokens: int | None = None
        self._reply_tokens: int | None = None
        self.finish = ""
        self.has_begun = False

    @property
    def is_empty(self) -> bool:
        return self._chars == 0

    @property
    def has_circle(self) -> bool:
        return self._guard.has_tripped or self._thought_guard.has_tripped

    def take(self, delta: Delta) -> list[Piece]:
        """What an event adds, split into answer and thinking."""
        self._chars += len(delta.text) + len(delta.thinking)
        if self._chars > self._max_chars:
            raise BadReply(
                f"The reply is longer than {self._max_chars:,} characters.",
                remedy="Ask for less, or try another model.",
            )
        self.finish = delta.finish or self.finish
        self._prompt_tokens = delta.prompt_tokens if delta.prompt_tokens is not None else self._prompt_tokens
        self._reply_tokens = delta.reply_tokens if delta.reply_tokens is not None else self._reply_tokens
        found = []
        thinking = self._thought_guard.feed(delta.thinking)
        if thinking:
            self._thoughts.append(thinking)
            found.append(Piece("thinking", thinking))
        return found + self._splitter.feed(self._guard.feed(delta.text))

    def rest(self) -> list[Piece]:
        """What was held back until it was clear what it is."""
        return self._splitter.end()

    def reply(self) -> Reply:
        """The reply so far, as a whole."""
        finish: Finish = "repeated" if self.has_circle else "length" if self.finish == "length" else "stop"
        text, thinking = self._splitter.answer, "".join([*self._thoughts, self._splitter.thinking]).strip()
        if finish == "repeated":
            text, thinking = without_circle(text), without_circle(thinking)
        return Reply(text, finish, self._prompt_tokens, self._reply_tokens, thinking)


def read_pieces(events: Iterable[dict[str, Any] | None], reading: Reading) -> Iterator[Piece]:
    """The pieces of a reply until its end, or until it goes round in circles."""
    is_done = False
    for event in events:
        delta = None if event is None else delta_in(event)
        if delta is not None:
            reading.has_begun = True
            yield from reading.take(delta)
        elif event is not None and (said := complaint_in(event)):
            raise Complaint(said)
        if event is None or reading.has_circle:
            is_done = True
            break
    if is_done and not reading.has_begun:
        raise NotUnderstood("there is no reply in its answer")
    if not (is_done or reading.finish or reading.is_empty):
        raise BrokenOff("the reply has no end")
    yield from reading.rest()
