"""A reply put together while it streams: thinking split off, repetition cut, size limited."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Literal

from kiwiresearch.errors import BadReply
from kiwiresearch.llm.model import Finish, Piece, Reply, ToolCall
from kiwiresearch.llm.wire import BadServerOutput, CallPart, Delta, complaint_in, delta_in

STRIDE = 64
WINDOW = 4096
COPIES = 5
MAX_UNIT = 800
MIN_RUN = 200
MIN_RUN_OF_SIGNS = 400
"""Rulers and rows of dots are long without being a circle."""

ANCHOR = 24
SAME_HEADING = 4
"""A report that begins the same chapter a fourth time will begin it again."""

MAX_LINE = 200
MAX_SIGNS = 3
"""A copy keeps the full stop at its end."""


class RepetitionGuard:
    """Lets text through until its end is the same words over and over.

    It looks every 64 characters, counted from the beginning, so that the cut does not depend on
    how the text was chopped; each look reads a window of fixed size.
    """

    def __init__(self) -> None:
        self.has_tripped = False
        self._tail = ""
        self._length = 0
        self._line = ""
        self._headings: Counter[str] = Counter()

    def feed(self, text: str) -> str:
        """As much of the text as came before a circle was noticed."""
        start = 0
        while not self.has_tripped and start < len(text):
            end = min(start + STRIDE - self._length % STRIDE, len(text))
            start += self._take(text[start:end])
        return text[:start]

    def _take(self, text: str) -> int:
        """Take in a few characters and say how many were taken."""
        taken = self._read_lines(text)
        self._length += taken
        self._tail = (self._tail + text[:taken])[-WINDOW:]
        if self._length % STRIDE == 0 and repetition_at_end(self._tail):
            self.has_tripped = True
        return taken

    def _read_lines(self, text: str) -> int:
        """Notice a heading that comes too often; how many characters were read until then."""
        start = 0
        while (end := text.find("\n", start)) >= 0:
            line = (self._line + text[start:end])[:MAX_LINE].strip()
            self._line = ""
            if line.startswith("#") and len(line) > 3:
                self._headings[line] += 1
                if self._headings[line] >= SAME_HEADING:
                    self.has_tripped = True
                    return end
            start = end + 1
        self._line = (self._line + text[start:])[:MAX_LINE]
        return len(text)


def without_repetition(text: str) -> str:
    """The text with one copy of what its end repeats."""
    unit = repetition_at_end(text[-WINDOW:])
    if not unit:
        return text
    start = len(text) - unit
    while start > 0 and text[start - 1] == text[start - 1 + unit]:
        start -= 1
    end = start + unit
    while end < start + unit + MAX_SIGNS and end < len(text) and not (text[end].isalnum() or text[end].isspace()):
        end += 1
    return text[:end]


def repetition_at_end(text: str) -> int:
    """How long the unit is that the text's end repeats; 0 if it does not."""
    anchor = text[-ANCHOR:]
    lowest = max(0, len(text) - MAX_UNIT - ANCHOR)
    found = len(text)
    while len(anchor) == ANCHOR and (found := text.rfind(anchor, lowest, found + ANCHOR - 1)) >= 0:
        unit = len(text) - ANCHOR - found
        if unit and _repeats(text, unit):
            return unit
    return 0


def _repeats(text: str, unit: int) -> bool:
    has_words = any(map(str.isalnum, text[-unit:]))
    need = max(COPIES * unit, MIN_RUN if has_words else MIN_RUN_OF_SIGNS)
    return len(text) >= need and text[-need:-unit] == text[unit - need :]


PieceKind = Literal["answer", "thinking"]

PAIRS = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<thought>": "</thought>",
    "<seed:think>": "</seed:think>",
    "[think]": "[/think]",
    "◁think▷": "◁/think▷",
}
"""What models put around their thinking, in any case of letters."""

LEFT_OPEN = ("</think>", "</thinking>", "[/think]", "◁/think▷")
"""Ends that come alone when the server's template has written the beginning itself."""

CHANNEL, START, MESSAGE = "<|channel|>", "<|start|>", "<|message|>"
ENDS = ("<|end|>", "<|return|>", "<|call|>")
HARMONY = (CHANNEL, START, MESSAGE, *ENDS)
FINAL = re.compile(r"\bfinal\b")
MAX_HEADER = 256


class Markers:
    """Some markers, found in a text that may end in the middle of one."""

    def __init__(self, *markers: str) -> None:
        self._markers = markers
        self._pattern = re.compile("|".join(map(re.escape, markers)), re.IGNORECASE | re.ASCII)
        self._firsts = {marker[0] for marker in markers}
        self._longest = max(map(len, markers))

    def first(self, text: str) -> re.Match[str] | None:
        return self._pattern.search(text)

    def held_back(self, text: str) -> int:
        """How many characters at the end may be the beginning of a marker."""
        for size in range(min(self._longest - 1, len(text)), 0, -1):
            if text[-size] in self._firsts:
                end = text[-size:].lower()
                if any(marker.startswith(end) for marker in self._markers):
                    return size
        return 0


IN_ANSWER = Markers(*PAIRS, *LEFT_OPEN, *HARMONY)
IN_CHANNEL = Markers(*HARMONY)
IN_PAIR = {close: Markers(close) for close in PAIRS.values()}


class ThinkingSplitter:
    """Takes a reply in chunks of any size and says what is answer and what is thinking.

    A reply that begins with '{' is JSON, and nothing in it is thinking: the strings in it are
    the answer, whatever they say. White space around the answer is dropped.
    """

    def __init__(self) -> None:
        self._answer: list[str] = []
        self._thinking: list[str] = []
        self._buffer = ""
        self._space = ""
        self._kind: PieceKind = "answer"
        self._close = ""
        self._header: str | None = None
        self._is_channel = False
        self._is_json: bool | None = None

    @property
    def answer(self) -> str:
        return "".join(self._answer)

    @property
    def thinking(self) -> str:
        return "".join(self._thinking).strip()

    def feed(self, text: str) -> list[Piece]:
        self._buffer += text
        if self._is_json is None:
            begun = self._buffer.lstrip()
            self._is_json = begun.startswith("{") if begun else None
        return self._go()

    def end(self) -> list[Piece]:
        """What was held back; a block left open stays thinking."""
        return self._go(is_last=True)

    def _go(self, *, is_last: bool = False) -> list[Piece]:
        found: list[Piece] = []
        while not self._is_json and (marker := self._markers().first(self._buffer)):
            self._put(self._buffer[: marker.start()], found)
            self._buffer = self._buffer[marker.end() :]
            self._turn(marker[0].lower())
        held = 0 if is_last or self._is_json else self._markers().held_back(self._buffer)
        end = len(self._buffer) - held
        self._put(self._buffer[:end], found)
        self._buffer = self._buffer[end:]
        return found

    def _markers(self) -> Markers:
        if self._close:
            return IN_PAIR[self._close]
        return IN_ANSWER if self._kind == "answer" and self._header is None else IN_CHANNEL

    def _turn(self, marker: str) -> None:
        """What follows a marker."""
        if self._close:
            self._close, self._kind = "", "answer"
        elif marker in PAIRS:
            self._close, self._kind = PAIRS[marker], "thinking"
        elif marker in (CHANNEL, START):
            self._header, self._is_channel = "", marker == CHANNEL
        elif marker == MESSAGE:
            is_aside = self._is_channel and not FINAL.search(self._header or "")
            self._kind = "thinking" if is_aside else "answer"
            self._header, self._is_channel = None, False
        elif marker in ENDS:
            self._header, self._is_channel, self._kind = None, False, "answer"
        else:
            self._all_was_thinking()

    def _all_was_thinking(self) -> None:
        self._thinking += self._answer
        self._answer = []
        self._space = ""

    def _put(self, text: str, found: list[Piece]) -> None:
        if self._header is not None:
            self._read_header(text)
        elif self._kind == "thinking":
            self._thinking.append(text)
            if text:
                found.append(Piece("thinking", text))
        else:
            self._put_answer(text, found)

    def _read_header(self, text: str) -> None:
        """The words between two markers of a channel; too many of them are no header."""
        self._header = (self._header or "") + text
        if len(self._header) > MAX_HEADER:
            self._thinking.append(self._header)
            self._header, self._kind = None, "thinking"

    def _put_answer(self, text: str, found: list[Piece]) -> None:
        text = self._space + text if self._answer else text.lstrip()
        shown = text.rstrip()
        self._space = text[len(shown) :]
        if shown:
            self._answer.append(shown)
            found.append(Piece("answer", shown))


MAX_CHARS = 1_000_000


class ReplyCutShort(Exception):
    """The reply ended before its end; never seen outside this package."""


class ServerComplaint(Exception):
    """The server says in the middle of things that something is wrong; never seen outside this package."""


class ReplyBuilder:
    """One reply while it arrives."""

    def __init__(self, max_chars: int = MAX_CHARS) -> None:
        self._splitter = ThinkingSplitter()
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
    def is_repeating(self) -> bool:
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
        finish: Finish = "repeated" if self.is_repeating else "length" if self.finish == "length" else "stop"
        text, thinking = self._splitter.answer, "".join([*self._thoughts, self._splitter.thinking]).strip()
        if finish == "repeated":
            text, thinking = without_repetition(text), without_repetition(thinking)
        return Reply(text, finish, self._prompt_tokens, self._reply_tokens, thinking, self._whole_calls())


def read_pieces(events: Iterable[dict[str, Any] | None], reading: ReplyBuilder) -> Iterator[Piece]:
    """The pieces of a reply until its end, or until it goes round in circles."""
    is_done = False
    for event in events:
        delta = None if event is None else delta_in(event)
        if delta is not None:
            reading.has_begun = True
            yield from reading.take(delta)
        elif event is not None and (said := complaint_in(event)):
            raise ServerComplaint(said)
        if event is None or reading.is_repeating:
            is_done = True
            break
    if is_done and not reading.has_begun:
        raise BadServerOutput("there is no reply in its answer")
    if not (is_done or reading.finish or reading.is_empty):
        raise ReplyCutShort("the reply has no end")
    yield from reading.rest()
