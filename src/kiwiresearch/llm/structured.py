"""Replies in a given JSON form: requested with a schema, repaired if that is safe, and validated."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError, ValidatorFunctionWrapHandler

from kiwiresearch.errors import BadReply, PromptTooLong
from kiwiresearch.llm.model import DEFAULT_OPTIONS, ChatMessage, Model, Options, Reply, ReplySchema


def item_or_none(value: Any, read: ValidatorFunctionWrapHandler) -> Any:
    """The item if it is valid, else None: for WrapValidator."""
    try:
        return read(value)
    except ValidationError:
        return None


MAX_STARTS = 8
"""How many opening braces are tried."""

# One string, bracket or comma, or a run of anything else. A string without an end matches nothing, so reading stops
# there; the possessive `*+` keeps it from being searched again and again.
PART = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\],]|[^"{}\[\],]++', re.DOTALL)
# An escape such as \n is matched first, so that only a real line break within a string is replaced.
CONTROL = re.compile(r"\\.|[\x00-\x1f]", re.DOTALL)
# A value that cannot have been cut: ": true". Not ": 12", which may be the start of 123.
WHOLE_WORD = re.compile(r":\s*(?:true|false|null)\s*$")
IN_PROSE = re.compile(r'\{\s*[^\s"}]')
"""A brace followed by neither a key nor a closing brace, so it is part of prose and not of JSON."""

CLOSER = {"{": "}", "[": "]"}


@dataclass(frozen=True, slots=True)
class OpenBracket:
    """A bracket that is still open, and the one around it."""

    closer: str
    outer: OpenBracket | None


def json_candidates(text: str) -> Iterator[str]:
    """Texts that may be the wanted object, most likely first.

    First the reply itself; then what is between a brace and its partner, whatever is around it (a code
    fence, prose), without trailing commas; last an object whose end is missing, closed after its last
    complete part.
    """
    yield text.strip()
    start = text.find("{")
    for _ in range(MAX_STARTS):
        if start < 0:
            return
        scan = JsonScan(text, start)
        if scan.result:
            yield scan.result
        # An object nested in a candidate is not a candidate itself, unless the outer brace is just part of prose.
        start = text.find("{", start + 1 if not scan.is_whole and IN_PROSE.match(text, start) else scan.end)


class JsonScan:
    """Reads one object from its opening brace to its end, or to the end of the text."""

    def __init__(self, text: str, start: int) -> None:
        self.result = ""
        self.is_whole = False
        self.end = start
        self._parts: list[str] = []
        self._open: OpenBracket | None = None
        self._complete: tuple[int, OpenBracket | None] = (0, None)
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
        # The text is at its end, or an unterminated string reaches to its end.
        self.end = len(text)
        if not IN_PROSE.match(text, start):
            self._close()

    def _take(self, part: str) -> bool:
        """Add a part; False if JSON cannot continue like this."""
        if part in CLOSER:
            self._open = OpenBracket(CLOSER[part], self._open)
            self._parts.append(part)
        elif part in ("}", "]"):
            if self._open is None or self._open.closer != part:
                return False
            if self._last == ",":  # a trailing comma, which JSON does not allow
                del self._parts[max(at for at, earlier in enumerate(self._parts) if earlier == ",")]
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
        """Note that everything so far is complete, and could be closed here."""
        self._complete = (len(self._parts), self._open)

    def _close(self) -> None:
        size, waiting = self._complete
        if size:
            ends = []
            while waiting:
                ends.append(waiting.closer)
                waiting = waiting.outer
            self.result = "".join([*self._parts[:size], *ends])


def _escaped(string: str) -> str:
    """Raw control characters escaped: models write them in strings, where JSON does not allow them."""
    return CONTROL.sub(lambda found: found[0] if found[0][0] == "\\" else f"\\u{ord(found[0]):04x}", string)


Shape = TypeVar("Shape", bound=BaseModel)

MAX_PROBLEMS = 4
MAX_ECHO = 2_000
"""How many characters of a bad reply are shown to the model again."""


def structured_reply(
    model: Model, messages: Sequence[ChatMessage], shape: type[Shape], options: Options = DEFAULT_OPTIONS
) -> Shape:
    """A reply of this shape; BadReply if two attempts do not give one. ModelUnreachable is passed on at once."""
    wanted = replace(options, schema=ReplySchema.of(shape.__name__, shape.model_json_schema()))
    reply = model.chat(messages, wanted)
    found, problem = _read(reply, shape)
    if found is not None:
        return found
    echo = ChatMessage("assistant", reply.text[:MAX_ECHO] or "{}")
    complaint = f"That cannot be used: {problem}. Answer again, with the right JSON object only."
    try:
        found, problem = _read(model.chat((*messages, echo, ChatMessage("user", complaint)), wanted), shape)
    except PromptTooLong:
        found = None
    if found is None:
        raise BadReply(
            f"The model {model.name!r} did not answer in the required form, even when asked again: {problem}.",
            remedy="Try another model, or work without one.",
        )
    return found


def _read(reply: Reply, shape: type[Shape]) -> tuple[Shape | None, str]:
    """The value in a reply; or None, and what is wrong with the best candidate."""
    problem = ""
    for candidate in json_candidates(reply.text):
        try:
            return shape.model_validate_json(candidate), ""
        except ValidationError as found:
            problem = _problem(found) or problem
    if problem:
        return None, problem
    if reply.finish == "repeated":
        return None, "it repeats itself"
    if not reply.text:
        return None, "it is empty"
    return None, "it was cut off" if reply.finish == "length" else "it is not a JSON object"


def _problem(found: ValidationError) -> str:
    """The problems of an object, field by field; empty if it is not even JSON."""
    rows = [row for row in found.errors(include_url=False, include_context=False) if row["type"] != "json_invalid"]
    return "; ".join(f"{'.'.join(map(str, row['loc'])) or 'it'}: {row['msg']}" for row in rows[:MAX_PROBLEMS])
