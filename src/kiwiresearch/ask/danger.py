"""Questions whose answer is a number that can hurt, and what such an answer must show."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal, get_args

from kiwiresearch.ask.cue_phrases import CuePhrases
from kiwiresearch.text.words import level

DATA = files("kiwiresearch.ask") / "data" / "danger"
LONGEST = 2_000
"""Of a question as long as a page, so many characters are looked at; of a passage ten times as many."""

TELLING = "@telling"
"""The group of words that tell a question about the past from one about what to do."""

DangerKind = Literal[
    "radiation", "pregnancy", "gas", "electricity", "exposure", "body", "water",
    "dilution", "food", "diving", "tide", "toxicity", "dose", "eating",
]  # fmt: skip
"""What kind of number it is; where several fit, the first counts."""


@dataclass(frozen=True, slots=True)
class Danger:
    """A number that can hurt, and the words that gave it away."""

    kind: DangerKind
    cue: str


def danger_of(question: str, passages: Sequence[str] = (), language: str = "eng") -> Danger | None:
    """Whether the question asks for such a number, or asks for advice that hinges on one in the passages.

    In a language without a table English words still count, since names of drugs and units are much the same.
    """
    table = danger_table(language)
    text = level(question[:LONGEST])
    for rule in table.rules:
        found = rule.found_in(text)
        if found:
            return Danger(rule.kind, question[found.start() : found.end()].strip())
    if not table.asks.search(text) or table.asks_not.search(text):
        return None
    for passage in passages:
        levelled = level(passage[: LONGEST * 10])
        for rule in table.numbers:
            found = rule.found_in(levelled)
            if found:
                return Danger(rule.kind, passage[found.start() : found.end()].strip())
    return None


def verbatim_notice(danger: Danger, language: str = "eng") -> str:
    """One sentence to show beside an answer of this kind."""
    notices = danger_table(language).notices
    return notices.get(danger.kind, notices["all"])


@dataclass(frozen=True, slots=True)
class Rule:
    """A cue, what must stand beside it, and what must not."""

    kind: DangerKind
    cue: re.Pattern[str]
    beside: tuple[re.Pattern[str], ...]
    without: tuple[re.Pattern[str], ...]

    def found_in(self, text: str) -> re.Match[str] | None:
        """The cue in a levelled text, where all the rest holds."""
        found = self.cue.search(text)
        if not found or not all(pattern.search(text) for pattern in self.beside):
            return None
        return None if any(pattern.search(text) for pattern in self.without) else found


@dataclass(frozen=True, slots=True)
class DangerTable:
    """The words of one language, ready for looking up."""

    rules: tuple[Rule, ...]
    asks: re.Pattern[str]
    asks_not: re.Pattern[str]
    numbers: tuple[Rule, ...]
    context: Mapping[str, re.Pattern[str]]
    notices: Mapping[str, str]


def danger_table(language: str) -> DangerTable:
    """The table of a language; English serves for those that have none."""
    is_known = language.isascii() and language.isalpha() and (DATA / f"{language}.toml").is_file()
    return _table(language if is_known else "eng")


@cache
def _table(language: str) -> DangerTable:
    data = tomllib.loads((DATA / f"{language}.toml").read_text(encoding="utf-8"))
    phrases = CuePhrases(data["groups"])
    hinges = data["hinges"]
    return DangerTable(
        rules=tuple(_rules(((kind, entry) for kind in get_args(DangerKind) for entry in data[kind]), phrases)),
        asks=phrases.pattern(hinges["asks"]),
        asks_not=phrases.pattern(hinges["without"]),
        numbers=tuple(_rules(((entry["kind"], entry) for entry in hinges["number"]), phrases)),
        context={name: phrases.pattern(words) for name, words in data["context"].items()},
        notices=data["notices"],
    )


def _rules(entries: Iterable[tuple[DangerKind, Mapping[str, Any]]], phrases: CuePhrases) -> Iterable[Rule]:
    telling = phrases.pattern([TELLING])  # made once: it is long, and most rules have it
    for kind, entry in entries:
        beside = tuple(map(phrases.pattern, entry.get("with", ())))
        without = [phrase for phrase in entry.get("without", ()) if phrase != TELLING]
        shared = (telling,) if TELLING in entry.get("without", ()) else ()
        yield Rule(kind, phrases.pattern(entry["cues"]), beside, (*shared, phrases.pattern(without)))
