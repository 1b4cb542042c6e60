"""Thinking apart from answers: tags and channels are taken out of a reply while it streams."""

from __future__ import annotations

import re
from typing import Literal

from kiwiresearch.llm.model import Piece

Kind = Literal["answer", "thinking"]

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


class Splitter:
    """Takes a reply in chunks of any size and says what is answer and what is thinking.

    A reply that begins with '{' is JSON, and nothing in it is thinking: the strings in it are
    the answer, whatever they say. White space around the answer is dropped.
    """

    def __init__(self) -> None:
        self._answer: list[str] = []
        self._thinking: list[str] = []
        self._buffer = ""
        self._space = ""
        self._kind: Kind = "answer"
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
