"""JSON objects in a reply that is not quite JSON; what stands in their strings is never changed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_STARTS = 8
PART = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\],]|[^"{}\[\],]++', re.DOTALL)
CONTROL = re.compile(r"\\.|[\x00-\x1f]", re.DOTALL)
WHOLE_WORD = re.compile(r":\s*(?:true|false|null)\s*$")
IN_PROSE = re.compile(r'\{\s*[^\s"}]')
CLOSER = {"{": "}", "[": "]"}


@dataclass(frozen=True, slots=True)
class Open:
    """A bracket waiting for its end, and the one around it."""

    closer: str
    outer: Open | None


def candidates(text: str) -> Iterator[str]:
    """Texts that may be the object that was meant, the likeliest first.

    The reply itself; then what begins with a brace and ends with its partner, whatever is around
    it (a code fence, prose), without trailing commas; last an object whose end is missing, closed
    after its last complete part.
    """
    yield text.strip()
    start = text.find("{")
    for _ in range(MAX_STARTS):
        if start < 0:
            return
        scan = Scan(text, start)
        if scan.result:
            yield scan.result
        # What is inside an object is never tried for the object itself; a brace in prose has no inside.
        start = text.find("{", start + 1 if not scan.is_whole and IN_PROSE.match(text, start) else scan.end)


class Scan:
    """One reading of an object from its brace to its end, or to the end of the text."""

    def __init__(self, text: str, start: int) -> None:
        self.result = ""
        self.is_whole = False
        self.end = start
        self._parts: list[str] = []
        self._open: Open | None = None
        self._complete: tuple[int, Open | None] = (0, None)
        self._last = ""
        self._read(text, start)

    def _read(self, text: str, start: int) -> None:
        while part := PART.match(text, self.end):
            self.end = part.end()
            if not self._take(part[0]):
                return
            if self._open is None:
                self.result, self.is_whole = "".join(self._parts), True
                return
        # Nothing follows, or a string without an end, which reaches to the end of the text.
        self.end = len(text)
        if not IN_PROSE.match(text, start):
            self._close()

    def _take(self, part: str) -> bool:
        """Add a part; False if no JSON goes on like this."""
        if part in CLOSER:
            self._open = Open(CLOSER[part], self._open)
            self._parts.append(part)
        elif part in ("}", "]"):
            if self._open is None or self._open.closer != part:
                return False
            if self._last == ",":
                self._drop_comma()
            self._open = self._open.outer
            self._parts.append(part)
            self._mark()
        elif part == ",":
            self._mark()
            self._parts.append(part)
        else:
            self._parts.append(_escaped(part) if part[0] == '"' else part)
            if self._ends_a_value(part):
                self._mark()
        if part.strip():
            self._last = part.strip()
        return True

    def _ends_a_value(self, part: str) -> bool:
        in_list = self._open is not None and self._open.closer == "]"
        if part[0] == '"':
            return in_list or self._last.endswith(":")
        return bool(WHOLE_WORD.search(part))

    def _mark(self) -> None:
        """All up to here is complete and could be closed."""
        self._complete = (len(self._parts), self._open)

    def _drop_comma(self) -> None:
        at = next(i for i in range(len(self._parts) - 1, -1, -1) if self._parts[i] == ",")
        del self._parts[at]

    def _close(self) -> None:
        size, waiting = self._complete
        if size:
            ends = []
            while waiting:
                ends.append(waiting.closer)
                waiting = waiting.outer
            self.result = "".join([*self._parts[:size], *ends])


def _escaped(string: str) -> str:
    """A raw line break in a string is the same string as its escape, and only that is JSON."""
    return CONTROL.sub(lambda found: found[0] if found[0][0] == "\\" else f"\\u{ord(found[0]):04x}", string)
