"""A reply put together from what arrives: thinking apart, circles cut, size limited."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from kiwiresearch.errors import BadReply
from kiwiresearch.llm.events import NotUnderstood
from kiwiresearch.llm.model import Finish, Piece, Reply, ToolCall
from kiwiresearch.llm.repetition import RepetitionGuard, without_circle
from kiwiresearch.llm.thinking import Splitter
from kiwiresearch.llm.wire import CallPart, Delta, complaint_in, delta_in

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
        self._calls: list[CallPart] = []
        self._prompt_tokens: int | None = None
        self._reply_tokens: int | None = None
        self.finish = ""
        self.has_begun = False

    @property
    def is_empty(self) -> bool:
        return self._chars == 0 and not self._calls

    @property
    def has_circle(self) -> bool:
        return self._guard.has_tripped or self._thought_guard.has_tripped

    def take(self, delta: Delta) -> list[Piece]:
        """What an event adds, split into answer and thinking."""
        self._chars += len(delta.text) + len(delta.thinking) + sum(len(part.arguments) for part in delta.calls)
        if self._chars > self._max_chars:
            raise BadReply(
                f"The reply is longer than {self._max_chars:,} characters.",
                remedy="Ask for less, or try another model.",
            )
        self.finish = delta.finish or self.finish
        self._prompt_tokens = delta.prompt_tokens if delta.prompt_tokens is not None else self._prompt_tokens
        self._reply_tokens = delta.reply_tokens if delta.reply_tokens is not None else self._reply_tokens
        for part in delta.calls:
            self._take_call(part)
        found = []
        thinking = self._thought_guard.feed(delta.thinking)
        if thinking:
            self._thoughts.append(thinking)
            found.append(Piece("thinking", thinking))
        return found + self._splitter.feed(self._guard.feed(delta.text))

    def _take_call(self, part: CallPart) -> None:
        """A part goes to the last call of its number; another id begins another call, as some servers number none."""
        at = max((at for at, call in enumerate(self._calls) if call.number == part.number), default=-1)
        known = self._calls[at] if at >= 0 else None
        if known is None or (part.id and known.id and part.id != known.id):
            self._calls.append(part)
        else:
            name, arguments = known.name or part.name, known.arguments + part.arguments
            self._calls[at] = CallPart(part.number, known.id or part.id, name, arguments)

    def _whole_calls(self) -> tuple[ToolCall, ...]:
        named = [call for call in self._calls if call.name]
        return tuple(ToolCall(call.name, call.arguments, call.id or f"call{n}") for n, call in enumerate(named, 1))

    def rest(self) -> list[Piece]:
        """What was held back until it was clear what it is."""
        return self._splitter.end()

    def reply(self) -> Reply:
        """The reply so far, as a whole."""
        finish: Finish = "repeated" if self.has_circle else "length" if self.finish == "length" else "stop"
        text, thinking = self._splitter.answer, "".join([*self._thoughts, self._splitter.thinking]).strip()
        if finish == "repeated":
            text, thinking = without_circle(text), without_circle(thinking)
        return Reply(text, finish, self._prompt_tokens, self._reply_tokens, thinking, self._whole_calls())


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
