"""Builds a reply as it streams in: separates thinking, cuts repetition, limits its size."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Literal

from kiwiresearch.errors import BadReply
from kiwiresearch.llm.model import Finish, Reply, ReplyPiece, ToolCall
from kiwiresearch.llm.wire import BadServerOutput, CallPart, Delta, complaint_in, delta_in

STRIDE = 64
"""How many characters are read between two checks for repetition."""

# Room for COPIES of a unit of MAX_UNIT characters.
WINDOW = 4096
COPIES = 5
"""A unit repeated this often at the end of a text counts as repetition."""

MAX_UNIT = 800
MIN_RUN = 200
"""All copies together must have at least this many characters."""

MIN_RUN_OF_PUNCTUATION = 400
"""Rules and rows of dots may be long on purpose."""

ANCHOR = 24
"""Earlier occurrences of this many last characters are tried as the start of the repetition."""

SAME_HEADING = 4
"""A report that starts the same section for the fourth time will start it again."""

MAX_LINE = 200
MAX_PUNCTUATION = 3
"""The copy that remains keeps the punctuation at its end."""


class RepetitionGuard:
    """Passes text on until it ends in the same words over and over.

    It checks every 64 characters, counted from the beginning, so that the cut does not depend on how the
    text was split into pieces; each check reads a window of fixed size.
    """

    def __init__(self) -> None:
        self.has_tripped = False
        self._tail = ""
        self._length = 0
        self._line = ""
        self._headings: Counter[str] = Counter()

    def feed(self, text: str) -> str:
        """As much of the text as came before the repetition was noticed."""
        start = 0
        while not self.has_tripped and start < len(text):
            end = min(start + STRIDE - self._length % STRIDE, len(text))
            start += self._take(text[start:end])
        return text[:start]

    def _take(self, text: str) -> int:
        """Take in up to STRIDE characters; return how many were accepted."""
        taken = self._read_lines(text)
        self._length += taken
        self._tail = (self._tail + text[:taken])[-WINDOW:]
        if self._length % STRIDE == 0 and repetition_at_end(self._tail):
            self.has_tripped = True
        return taken

    def _read_lines(self, text: str) -> int:
        """Count headings; return how many characters were read before one occurred too often."""
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
    """The text with one copy of what is repeated at its end."""
    unit = repetition_at_end(text[-WINDOW:])
    if not unit:
        return text
    start = len(text) - unit
    while start > 0 and text[start - 1] == text[start - 1 + unit]:
        start -= 1
    end = start + unit
    while end < start + unit + MAX_PUNCTUATION and end < len(text) and not (text[end].isalnum() or text[end].isspace()):
        end += 1
    return text[:end]


def repetition_at_end(text: str) -> int:
    """The length of the unit that is repeated at the end of a text; 0 if there is none."""
    anchor = text[-ANCHOR:]
    # The distance between the last characters and an earlier occurrence of them is the length of a possible unit.
    lowest = max(0, len(text) - MAX_UNIT - ANCHOR)
    found = len(text)
    # `rfind` may overlap the last occurrence, but must start before it: units may be shorter than the anchor.
    while len(anchor) == ANCHOR and (found := text.rfind(anchor, lowest, found + ANCHOR - 1)) >= 0:
        unit = len(text) - ANCHOR - found
        if unit and _repeats(text, unit):
            return unit
    return 0


def _repeats(text: str, unit: int) -> bool:
    has_words = any(map(str.isalnum, text[-unit:]))
    need = max(COPIES * unit, MIN_RUN if has_words else MIN_RUN_OF_PUNCTUATION)
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
"""Tags around a model's thinking, in upper or lower case."""

LEFT_OPEN = ("</think>", "</thinking>", "[/think]", "◁/think▷")
"""Closing tags without an opening one, which the server's template has already written."""

CHANNEL, START, MESSAGE = "<|channel|>", "<|start|>", "<|message|>"
ENDS = ("<|end|>", "<|return|>", "<|call|>")
HARMONY = (CHANNEL, START, MESSAGE, *ENDS)
# In "<|channel|>final<|message|>" the answer follows; after "analysis" or "commentary" it is thinking.
FINAL = re.compile(r"\bfinal\b")
MAX_HEADER = 256


class Markers:
    """Markers to be found in a text that may end in the middle of one."""

    def __init__(self, *markers: str) -> None:
        self._markers = markers
        self._pattern = re.compile("|".join(map(re.escape, markers)), re.IGNORECASE | re.ASCII)
        self._firsts = {marker[0] for marker in markers}
        self._longest = max(map(len, markers))

    def first(self, text: str) -> re.Match[str] | None:
        return self._pattern.search(text)

    def held_back(self, text: str) -> int:
        """How many characters at the end of the text may be the start of a marker."""
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
    """Takes a reply in chunks of any size and splits it into answer and thinking.

    A reply that starts with '{' is JSON and has no thinking in it: its strings are part of the answer,
    whatever they contain. White space around the answer is dropped.
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

    def feed(self, text: str) -> list[ReplyPiece]:
        self._buffer += text
        if self._is_json is None:
            start = self._buffer.lstrip()
            self._is_json = start.startswith("{") if start else None
        return self._split()

    def end(self) -> list[ReplyPiece]:
        """The text held back so far; a block that was never closed counts as thinking."""
        return self._split(is_last=True)

    def _split(self, *, is_last: bool = False) -> list[ReplyPiece]:
        found: list[ReplyPiece] = []
        while not self._is_json and (marker := self._markers().first(self._buffer)):
            self._put(self._buffer[: marker.start()], found)
            self._buffer = self._buffer[marker.end() :]
            self._switch(marker[0].lower())
        held = 0 if is_last or self._is_json else self._markers().held_back(self._buffer)
        end = len(self._buffer) - held
        self._put(self._buffer[:end], found)
        self._buffer = self._buffer[end:]
        return found

    def _markers(self) -> Markers:
        # Within a pair only its own closing tag counts: a model may write about other tags while it thinks.
        if self._close:
            return IN_PAIR[self._close]
        return IN_ANSWER if self._kind == "answer" and self._header is None else IN_CHANNEL

    def _switch(self, marker: str) -> None:
        """Switch to what follows a marker."""
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
        else:  # a closing tag alone: all that came before it was thinking
            self._thinking += self._answer
            self._answer = []
            self._space = ""

    def _put(self, text: str, found: list[ReplyPiece]) -> None:
        if self._header is not None:
            self._read_header(text)
        elif self._kind == "thinking":
            self._thinking.append(text)
            if text:
                found.append(ReplyPiece("thinking", text))
        else:
            self._put_answer(text, found)

    def _read_header(self, text: str) -> None:
        """Read the header between two markers of a channel; if it gets too long, it was thinking."""
        self._header = (self._header or "") + text
        if len(self._header) > MAX_HEADER:
            self._thinking.append(self._header)
            self._header, self._kind = None, "thinking"

    def _put_answer(self, text: str, found: list[ReplyPiece]) -> None:
        text = self._space + text if self._answer else text.lstrip()
        shown = text.rstrip()
        self._space = text[len(shown) :]
        if shown:
            self._answer.append(shown)
            found.append(ReplyPiece("answer", shown))


MAX_CHARS = 1_000_000


class ReplyCutShort(Exception):
    """The stream ended before the reply did; never raised outside this package."""


class ServerComplaint(Exception):
    """The server reports an error in the middle of a stream; never raised outside this package."""


class ReplyBuilder:
    """Builds one reply as it arrives."""

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

    def take(self, delta: Delta) -> list[ReplyPiece]:
        """Add what an event brings; return it split into answer and thinking."""
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
            found.append(ReplyPiece("thinking", thinking))
        return found + self._splitter.feed(self._guard.feed(delta.text))

    def _take_call(self, part: CallPart) -> None:
        """Add a part to the last call of its number; a new id starts a new call, since some servers do not number."""
        at = max((at for at, call in enumerate(self._calls) if call.number == part.number), default=-1)
        known = self._calls[at] if at >= 0 else None
        if known is None or (part.id and known.id and part.id != known.id):
            self._calls.append(part)
        else:
            name, arguments = known.name or part.name, known.arguments + part.arguments
            self._calls[at] = CallPart(part.number, known.id or part.id, name, arguments)

    def rest(self) -> list[ReplyPiece]:
        """The text held back because it might have been the start of a marker."""
        return self._splitter.end()

    def reply(self) -> Reply:
        """The reply so far."""
        finish: Finish = "repeated" if self.is_repeating else "length" if self.finish == "length" else "stop"
        text, thinking = self._splitter.answer, "".join([*self._thoughts, self._splitter.thinking]).strip()
        if finish == "repeated":
            text, thinking = without_repetition(text), without_repetition(thinking)
        named = [call for call in self._calls if call.name]
        calls = tuple(ToolCall(call.name, call.arguments, call.id or f"call{n}") for n, call in enumerate(named, 1))
        return Reply(text, finish, self._prompt_tokens, self._reply_tokens, thinking, calls)


def read_pieces(events: Iterable[dict[str, Any] | None], builder: ReplyBuilder) -> Iterator[ReplyPiece]:
    """The pieces of a reply until its end, or until it repeats itself."""
    is_done = False
    for event in events:
        delta = None if event is None else delta_in(event)
        if delta is not None:
            builder.has_begun = True
            yield from builder.take(delta)
        elif event is not None and (said := complaint_in(event)):
            raise ServerComplaint(said)
        if event is None or builder.is_repeating:
            is_done = True
            break
    if is_done and not builder.has_begun:
        raise BadServerOutput("its answer contains no reply")
    if not (is_done or builder.finish or builder.is_empty):
        raise ReplyCutShort("the reply is incomplete")
    yield from builder.rest()
