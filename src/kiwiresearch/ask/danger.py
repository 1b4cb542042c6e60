"""Questions about dangerous numbers, and quotes widened until such a number can be understood."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import takewhile
from typing import Any, Literal, get_args

from kiwiresearch.page import Block
from kiwiresearch.text import Cue, CuePhrases, plain_lower

DATA_FOLDER = files("kiwiresearch.ask") / "data" / "danger"
MAX_QUESTION_CHARS, MAX_PASSAGE_CHARS = 2_000, 20_000
"""How much of a question and of a passage is examined."""

NARRATIVE = "@telling"
"""The group of words that distinguish a question about the past from one about what to do."""

DangerKind = Literal[
    "radiation", "pregnancy", "gas", "electricity", "exposure", "body", "water",
    "dilution", "food", "diving", "tide", "toxicity", "dose", "eating",
]  # fmt: skip
"""The kind of number; if several fit, the first is chosen."""


@dataclass(frozen=True, slots=True)
class Danger:
    """A dangerous kind of number, and the words by which it was recognized."""

    kind: DangerKind
    cue: str


def danger_of(question: str, passages: Sequence[str] = (), language: str = "eng") -> Danger | None:
    """Whether the question asks for a dangerous number, or for advice that depends on one in the passages.

    For a language without a table the English one is used, since names of drugs and units are much the same.
    """
    table = danger_table(language)
    text = plain_lower(question[:MAX_QUESTION_CHARS])
    # Rules are in the order of `DangerKind`, so a question that fits several gets the first kind.
    for rule in table.rules:
        found = rule.found_in(text)
        if found:
            return Danger(rule.kind, question[found.start() : found.end()].strip())
    # 'How much …?' alone is harmless; it is dangerous if the passages that would answer have such a number.
    if not table.asks.search(text) or table.asks_excluded.search(text):
        return None
    for passage in passages:
        lowered = plain_lower(passage[:MAX_PASSAGE_CHARS])
        for rule in table.numbers:
            found = rule.found_in(lowered)
            if found:
                return Danger(rule.kind, passage[found.start() : found.end()].strip())
    return None


def verbatim_notice(danger: Danger, language: str = "eng") -> str:
    """The notice that is shown with an answer of this kind."""
    notices = danger_table(language).notices
    return notices.get(danger.kind, notices["all"])


@dataclass(frozen=True, slots=True)
class DangerRule:
    """A cue, patterns that must also occur in the text, and patterns that must not."""

    kind: DangerKind
    cue: Cue
    required: tuple[Cue, ...]
    excluded: tuple[Cue, ...]

    def found_in(self, text: str) -> re.Match[str] | None:
        """The cue in a lower-case text, if the other patterns allow it."""
        found = self.cue.search(text)
        if not found or not all(pattern.search(text) for pattern in self.required):
            return None
        return None if any(pattern.search(text) for pattern in self.excluded) else found


@dataclass(frozen=True, slots=True)
class DangerTable:
    """The rules and patterns of one language."""

    rules: tuple[DangerRule, ...]
    asks: Cue
    asks_excluded: Cue
    numbers: tuple[DangerRule, ...]
    context: Mapping[str, Cue]
    notices: Mapping[str, str]


def danger_table(language: str) -> DangerTable:
    """The table of a language, or the English one."""
    # The code comes from a book's metadata and becomes a part of a path, so it must not be '../…'.
    is_known = language.isascii() and language.isalpha() and (DATA_FOLDER / f"{language}.toml").is_file()
    return _table(language if is_known else "eng")


@cache
def _table(language: str) -> DangerTable:
    data = tomllib.loads((DATA_FOLDER / f"{language}.toml").read_text(encoding="utf-8"))
    phrases = CuePhrases(data["groups"])
    hinges = data["hinges"]
    return DangerTable(
        rules=tuple(_rules(((kind, entry) for kind in get_args(DangerKind) for entry in data[kind]), phrases)),
        asks=phrases.cue(hinges["asks"]),
        asks_excluded=phrases.cue(hinges["without"]),
        numbers=tuple(_rules(((entry["kind"], entry) for entry in hinges["number"]), phrases)),
        context={name: phrases.cue(words) for name, words in data["context"].items()},
        notices=data["notices"],
    )


def _rules(entries: Iterable[tuple[DangerKind, Mapping[str, Any]]], phrases: CuePhrases) -> Iterable[DangerRule]:
    narrative = phrases.cue([NARRATIVE])  # compiled once: it is long, and most rules have it
    for kind, entry in entries:
        required = tuple(map(phrases.cue, entry.get("with", ())))
        without = [phrase for phrase in entry.get("without", ()) if phrase != NARRATIVE]
        shared = (narrative,) if NARRATIVE in entry.get("without", ()) else ()
        yield DangerRule(kind, phrases.cue(entry["cues"]), required, (*shared, phrases.cue(without)))


FIGURE = re.compile(r"\d")
MAX_SENTENCES = 2
"""How many sentences may be added on each side."""

SHORT_LINE = 300
"""If the blocks are not known, a line up to this length counts as a list item, which is not cut."""

MAX_TABLE_CHARS = 1_200
"""Up to this length, a quote starts at the head of the table, since units are often given only there."""


def widen_quote(
    text: str,
    start: int,
    end: int,
    sentence_starts: Sequence[int],
    blocks: Sequence[Block] = (),
    language: str = "eng",
) -> tuple[int, int]:
    """The span that should be shown for `text[start:end]`, which it always includes.

    It consists of complete sentences, list items and rows. Neighbouring sentences of the same paragraph are added if
    only they give the unit, the substance or the people that a number is for.
    """
    start = max(0, min(start, len(text)))
    end = max(start, min(end, len(text)))
    page = _TextLines(text, sentence_starts, blocks, danger_table(language))
    first, last = page.complete_units(start, end)
    if page.is_listed(first, last):
        return page.with_head(first, last)
    return page.with_neighbours(first, last)


@dataclass(frozen=True, slots=True)
class _TextLines:
    """A text with its sentences; each block is a line of its own, and tabs separate the cells of a row."""

    text: str
    starts: Sequence[int]
    blocks: Sequence[Block]
    table: DangerTable

    def complete_units(self, start: int, end: int) -> tuple[int, int]:
        """The sentences, items and rows that a span touches."""
        first, last = self._sentence(start)[0], self._sentence(max(start, end - 1))[1]
        if self._is_item(self._line(first)):
            first = self._line(first)[0]
        if self._is_item(self._line(max(first, last - 1))):
            last = self._line(max(first, last - 1))[1]
        return min(first, start), max(last, end)

    def is_listed(self, first: int, last: int) -> bool:
        return self._is_item(self._line(first)) or self._is_item(self._line(max(first, last - 1)))

    def with_head(self, first: int, last: int) -> tuple[int, int]:
        """An item or row with the head of its list or table, unless its own words are enough."""
        # 'Adults: 500 mg' needs no head; '500 mg' alone does, because only the head says for whom it is.
        if self._has("units", first, last) and self._has("groups", first, last):
            return first, last
        head = first
        # Upwards, line by line, to the line that introduces the list ('Doses:') or to the first row of the table.
        while head > 0 and last - head < MAX_TABLE_CHARS:
            line = self._line(head - 1)
            above = self.text[line[0] : line[1]].strip()
            if not above or not (self._is_item(line) or above.endswith(":")):
                break
            head = line[0]
            if above.endswith(":"):
                return head, last
        return (head, last) if "\t" in self.text[first:last] and last - head <= MAX_TABLE_CHARS else (first, last)

    def with_neighbours(self, first: int, last: int) -> tuple[int, int]:
        """A sentence with the sentences before and after it in the paragraph that are needed to understand it."""
        line = self._line(first)[0], self._line(max(first, last - 1))[1]
        for _ in range(MAX_SENTENCES):
            if first <= line[0] or not self._depends_on_previous(first, last):
                break
            first = max(line[0], self._sentence(first - 1)[0])
        for _ in range(MAX_SENTENCES):
            place = bisect_left(self.starts, last)
            if place >= len(self.starts) or self.starts[place] >= line[1]:
                break
            following = self._sentence(self.starts[place])
            if not self._is_continuation(*following):
                break
            last = following[1]
        return first, last

    def _depends_on_previous(self, first: int, last: int) -> bool:
        own = self._sentence(first)
        # 'This dose …' points back, and a number without a unit has it in the sentence before.
        if self._has("pointing", *own) or not self._has("units", first, last):
            return True
        before = self._sentence(first - 1)
        return self._has("groups", *before) and not self._has("groups", first, last)

    def _is_continuation(self, first: int, last: int) -> bool:
        """Whether the sentence after a number says for whom, or up to what limit, it applies."""
        if self._has("groups", first, last) or self._has("limits", first, last):
            return True
        return self._has("pointing", first, last) and FIGURE.search(self.text, first, last) is not None

    def _has(self, name: str, start: int, end: int) -> bool:
        return self.table.context[name].search(plain_lower(self.text[start:end])) is not None

    def _line(self, at: int) -> tuple[int, int]:
        end = self.text.find("\n", at)
        return self.text.rfind("\n", 0, at) + 1, len(self.text) if end < 0 else end

    def _sentence(self, at: int) -> tuple[int, int]:
        line = self._line(at)
        place = bisect_right(self.starts, at)
        start = max(self.starts[place - 1] if place else 0, line[0])
        end = min(self.starts[place] if place < len(self.starts) else len(self.text), line[1])
        return start, start + len(self.text[start:end].rstrip())

    def _is_item(self, line: tuple[int, int]) -> bool:
        if not self.blocks:
            # Without blocks the kind of a line is unknown; showing too much is better than cutting a list item.
            return line[1] - line[0] <= SHORT_LINE or "\t" in self.text[line[0] : line[1]]
        place = bisect_right(self.blocks, line[0], key=lambda block: block.start)
        # Blocks are nested, so all that start before the line and end after it contain it.
        around = takewhile(lambda block: block.end > line[0], reversed(self.blocks[:place]))
        return any(block.kind in ("item", "row") for block in around)
