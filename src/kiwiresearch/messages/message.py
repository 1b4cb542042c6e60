"""A sentence for readers: its English text, its kind, its values, and how it is written in a language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from string import Formatter
from typing import TYPE_CHECKING, Any, Self, TypedDict

if TYPE_CHECKING:
    from kiwiresearch.messages.catalogue import Catalogue

# Messages may contain messages; a record with deeper nesting is invalid.
MAX_DEPTH = 4
MAX_LENGTH = 5_000
"""Longer records are not read: no message is that long."""


class Message(str):
    """English text that knows its kind of sentence, so that it can be written in another language.

    It is a `str` because files, logs and replies contain the English text. `kind` is a key of `kinds.toml` in every
    language; it is empty for text that was read from a file without one. Code must never branch on a message.
    """

    __slots__ = ("kind", "values")
    kind: str
    values: Mapping[str, Any]

    def __new__(cls, english: str, kind: str = "", /, **values: Any) -> Self:
        made = super().__new__(cls, english)
        made.kind, made.values = kind, values
        return made

    def __getnewargs_ex__(self) -> tuple[tuple[str, str], dict[str, object]]:
        return (str(self), self.kind), dict(self.values)


class LocalText(str):
    """English text that is written differently in each language without a catalogue, such as a date."""

    __slots__ = ()

    def in_language(self, language: str) -> str:
        raise NotImplementedError


def rewritten(text: str, change: Callable[[str], str]) -> str:
    """A text with its words changed; the kind and the values of a message stay."""
    words = change(text)
    return Message(words, text.kind, **text.values) if isinstance(text, Message) else words


class MessageRecord(TypedDict):
    """A message as plain data."""

    kind: str
    values: dict[str, object]


def message_record(text: str) -> MessageRecord | None:
    """The kind and the values as plain data; None for text that has none."""
    if not isinstance(text, Message) or not text.kind:
        return None
    return {"kind": text.kind, "values": {name: _plain(value) for name, value in text.values.items()}}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return message_record(value) or value


def message_fields(name: str, text: str) -> dict[str, str | MessageRecord]:
    """The fields of a record that hold a message: the English text, and `NAME_message` if it has a kind."""
    record = message_record(text)
    return {name: text, f"{name}_message": record} if record else {name: text}


def message_from_record(english: str, record: object) -> Message:
    """The message of a text and its record, which may be from elsewhere; without a kind if the record is invalid."""
    try:
        kind, values = _parts(record, MAX_DEPTH) if len(str(record)) <= MAX_LENGTH else ("", {})
    except (TypeError, ValueError, KeyError, RecursionError):
        kind, values = "", {}
    return Message(english, kind, **values)


def message_in(row: Mapping[str, Any], name: str) -> Message:
    """The message of a field of a record; TypeError if the field is not a text."""
    if not isinstance(row[name], str):
        raise TypeError(f"{name} cannot be {row[name]!r:.60}")
    return message_from_record(row[name], row.get(f"{name}_message"))


def _parts(record: object, depth: int) -> tuple[str, dict[str, object]]:
    if not isinstance(record, dict):
        return "", {}
    kind, values = record["kind"], record["values"]
    if not isinstance(kind, str) or not isinstance(values, dict):
        raise TypeError("a message has a kind and values")
    return kind, {name: _value(value, depth - 1) for name, value in values.items()}


def _value(value: object, depth: int) -> Any:
    if depth < 0:
        raise ValueError("a message within too many others")
    if isinstance(value, dict):
        kind, values = _parts(value, depth)
        return Message("", kind, **values)
    if isinstance(value, list):
        return tuple(_value(item, depth) for item in value)
    if not isinstance(value, (str, int, float)):
        raise TypeError("a value is a text, a number, a list or a message")
    return value


def render(message: Message, catalogue: Catalogue, show: Callable[[str], str] = str) -> str | None:
    """The message in the words of a catalogue; None if its kind or its values are not known there.

    `show` prepares the words of books and users, which are not translated.
    """
    key = f"kinds.{message.kind}"
    try:
        return _ValueWriter(catalogue, show).vformat(catalogue.template(key, message.values), (), message.values)
    except (KeyError, TypeError, ValueError):  # a record from elsewhere only looks like a message
        return None


class _ValueWriter(Formatter):
    """Writes values into a sentence; after a colon it says how, such as `{page:quote}` or `{gap:percent}`."""

    def __init__(self, catalogue: Catalogue, show: Callable[[str], str]) -> None:
        self._catalogue = catalogue
        self._show = show

    def format_field(self, value: Any, spec: str) -> str:
        if isinstance(value, tuple):
            parts = [self.format_field(item, spec if spec == "quote" else "") for item in value]
            return self._sentence(parts) if spec == "sentence" else self._listed(parts, spec)
        if isinstance(value, Message):
            written = render(value, self._catalogue, self._show)
            if written is None:
                raise ValueError(value.kind)
            return written
        if isinstance(value, LocalText):
            value = value.in_language(self._catalogue.language)
        if isinstance(value, str):
            shown = self._show(value)
            return self._catalogue("kinds.quoted", words=shown) if spec == "quote" else shown
        if spec.startswith("percent"):
            return self._catalogue.locale.share(value, int(spec.removeprefix("percent") or 0))
        if spec == "away":
            names = {0: "start", 1: "one", 2: "two", 3: "three"}
            return self._catalogue(f"kinds.links_away.{names.get(value, 'more')}", n=value)
        if spec == "year":  # is not a count, whose thousands are separated
            return self._catalogue.locale.number(value)
        return self._catalogue.shown(value)

    def _sentence(self, parts: list[str]) -> str:
        """Several statements as one sentence."""
        text = reduce(lambda one, other: self._catalogue("kinds.semicolon", one=one, other=other), parts)
        return f"{text[:1].upper()}{text[1:]}."

    def _listed(self, parts: list[str], spec: str) -> str:
        if spec != "and" or len(parts) < 2:
            return ", ".join(parts)
        return self._catalogue("kinds.and", one=", ".join(parts[:-1]), other=parts[-1])
