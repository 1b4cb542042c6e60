"""What is wrong with a conversation that a client sent, in words that its user can act on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Fault = Mapping[str, Any]
"""One thing that is wrong, as it is found when a body is read: its type, its place and more."""

NO_JSON = "The body is not JSON"
OF_A_CHOICE = re.compile(r"str|list\[.*\]")
"""Where a field may be one of two things, the place of a fault names which of them it was held against."""

TEXT, LIST, OBJECT, NUMBER, BOOLEAN = "a text", "a list", "an object", "a whole number", "true or false"
WANTED = (("string", TEXT), ("list", LIST), ("model", OBJECT), ("dict", OBJECT), ("int", NUMBER), ("bool", BOOLEAN))
"""What is wanted where the type of a fault begins so."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """The first thing that is wrong: in words, and where."""

    words: str
    place: str = ""


def first_wrong(faults: Sequence[Fault]) -> Wrong:
    """What to mend first; what was sent is not repeated."""
    first = faults[0]
    field = _field(first)
    # A field that may be two things has a fault for each: the one that got furthest is what was meant.
    alike = [fault for fault in faults if _field(fault)[: len(field)] == field]
    meant = max(alike, key=lambda fault: len(fault["loc"]))
    if meant["type"] == "json_invalid":
        return Wrong(f"{NO_JSON}: {_reason(meant)} at character {meant['loc'][-1]}.")
    place = _spelled(_field(meant))
    if not place:
        told = "is empty" if meant["type"] == "missing" else "is no object"
        return Wrong(f"The body {told}: send a JSON object with 'model' and 'messages'.")
    choices = [fault for fault in alike if _field(fault) == _field(meant)]
    return Wrong(f"{place!r} {_told(meant, choices)}.", place)


def not_read(cause: BaseException | None) -> str:
    """Why a body was given up before anything in it was looked at."""
    if isinstance(cause, RecursionError):
        return f"{NO_JSON} that can be read: it is nested too deeply."
    if isinstance(cause, UnicodeError):
        return f"{NO_JSON}: it is no text in UTF-8."
    return f"{NO_JSON} that can be read."


def _told(fault: Fault, choices: Sequence[Fault]) -> str:
    kind, context = str(fault["type"]), fault.get("ctx") or {}
    if kind == "missing":
        return "is missing"
    if kind == "literal_error":
        return f"must be {context['expected']}"
    if kind == "too_short":
        return f"must have at least {context['min_length']} of them"
    if kind == "too_long":
        return f"may have at most {context['max_length']:,} of them"
    wanted = dict.fromkeys(words for one in choices for words in (_wanted(str(one["type"])),) if words)
    return f"must be {' or '.join(wanted)}" if wanted else "is not as it should be"


def _wanted(kind: str) -> str:
    return next((words for start, words in WANTED if kind.startswith(start)), "")


def _field(fault: Fault) -> tuple[str | int, ...]:
    """Which field it is, without what only tells how it was read."""
    parts = [part for part in fault["loc"] if not (isinstance(part, str) and OF_A_CHOICE.fullmatch(part))]
    return tuple(parts[1:])


def _spelled(field: Sequence[str | int]) -> str:
    """A field as OpenAI's API spells it: 'messages[0].content'."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in field).removeprefix(".")


def _reason(fault: Fault) -> str:
    told = str((fault.get("ctx") or {}).get("error", "")).rstrip(".").removesuffix(" at")
    return told[:1].lower() + told[1:] or "it cannot be read"
