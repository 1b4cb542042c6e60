"""A quote as the firewall reads it: its words, the label of its row, and the spans of a value in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from kiwiresearch.kin.language import ENGLISH, CueTable, cue_table
from kiwiresearch.text import fold

WORD = re.compile(r"[^\W_]+")
MAX_ROW = 500
"""A longer line is not from a box, list or table."""
# Below a label on a line of its own, a longer line is a text and not a value.
MAX_VALUE = 100
# A longer line is not a heading. Of a sentence that introduces a list, only the end says what is in it.
MAX_HEADING = 70
MAX_LEAD_IN = 160
CAPITAL_AFTER_STOP = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
FAMILY_KINDS = frozenset({"father", "mother", "parent", "spouse", "partner", "child", "sibling", "relative"})
MAX_LINES = 60
"""How many lines up the label of a line is looked for."""
MAX_SKIPPED = 2
"""How many words of a name may be left out: 'Robert Darwin' for 'Robert Waring Darwin'."""
NAME_ENDS = ",;:\n\t()[]"


@dataclass(frozen=True, slots=True)
class QuoteWord:
    """A word of a text, `text[start:end]`, with the form it is compared by."""

    start: int
    end: int
    folded: str
    is_capital: bool


def quote_words(text: str) -> list[QuoteWord]:
    found = WORD.finditer(text)
    return [QuoteWord(match.start(), match.end(), fold(match[0]), not match[0][0].islower()) for match in found]


@dataclass(frozen=True)
class SourceQuote:
    """The span `text[start:end]` of a source, and the person the source is about."""

    text: str
    start: int
    end: int
    subject: str
    sex: str = ""
    other_names: tuple[str, ...] = ()
    """Other names of the subject."""

    @cached_property
    def words(self) -> str:
        return self.text[self.start : self.end]

    @cached_property
    def table(self) -> CueTable:
        return cue_table()

    @cached_property
    def tokens(self) -> list[QuoteWord]:
        return quote_words(self.words)

    @cached_property
    def name_sets(self) -> tuple[frozenset[str], ...]:
        """The words of each of the subject's names, without 'of …'."""
        return tuple(self._name_words(name) for name in (self.subject, *self.other_names))

    def _name_words(self, name: str) -> frozenset[str]:
        left_out = self.table.words["particles"] | self.table.words["countries"] | self.table.words["titles"]
        head = re.split(r" of |[(,]", name, maxsplit=1)[0]
        full = {word.folded for word in quote_words(name)}
        own = ({word.folded for word in quote_words(head)} or full) | full & self.table.words["numerals"]
        return frozenset(own - left_out) or frozenset(own)

    @cached_property
    def own_names(self) -> frozenset[str]:
        """The words of all names of the subject."""
        return frozenset().union(*self.name_sets)

    @cached_property
    def first_names(self) -> frozenset[str]:
        """The first three letters of each given name, which short forms share."""
        left_out = self.table.words["titles"] | self.table.words["particles"]
        firsts = (
            next((word.folded for word in quote_words(name) if word.folded not in left_out), "")
            for name in (self.subject, *self.other_names)
        )
        return frozenset(first[:3] for first in firsts if first)

    def spans(self, value: str) -> list[tuple[int, int]]:
        """Where the quote has the words of a value, in their order and close together."""
        wanted = quote_words(value)
        if not wanted:
            return []
        starts = (at for at, word in enumerate(self.tokens) if _is(word, wanted[0]))
        found = (self._span_from(at, wanted) for at in starts)
        return [span for span in found if span]

    def _span_from(self, at: int, wanted: list[QuoteWord]) -> tuple[int, int] | None:
        first, last, skipped = self.tokens[at], self.tokens[at], 0
        for word in wanted[1:]:
            at += 1
            while at < len(self.tokens) and not _is(self.tokens[at], word):
                skipped += 1
                if skipped > MAX_SKIPPED or not self.tokens[at].is_capital:
                    return None
                at += 1
            if at == len(self.tokens):
                return None
            last = self.tokens[at]
        between = self.words[first.start : last.end]
        # A sign that ends a name separates two people: 'Robert, Ann Darwin' has no Robert Darwin.
        if skipped and any(sign in between for sign in NAME_ENDS):
            return None
        return first.start, last.end

    def kinds_at(self, offset: int) -> frozenset[str]:
        """What the label of the row or list at an offset announces; nothing in running text."""
        return kinds_of(label_at(self.text, self.start + offset, self.table), self, offset)

    def line_of(self, offset: int) -> tuple[int, int]:
        """The span of the line at an offset."""
        end = self.words.find("\n", offset)
        return self.words.rfind("\n", 0, offset) + 1, len(self.words) if end < 0 else end


def _is(word: QuoteWord, wanted: QuoteWord) -> bool:
    return word.folded == wanted.folded and word.is_capital >= wanted.is_capital


@dataclass(frozen=True, slots=True)
class RowLabel:
    """What the label before a row, or above a list, announces."""

    kinds: frozenset[str]
    is_above: bool


NO_LABEL = RowLabel(frozenset(), is_above=False)


def kinds_of(label: RowLabel, quote: SourceQuote, offset: int) -> frozenset[str]:
    """What a label means for an offset of the quote: one above a list applies to the start of each line."""
    if not label.is_above:
        return label.kinds
    at = quote.start + offset
    start, end = quote.text.rfind("\n", 0, at) + 1, quote.text.find("\n", at)
    # In a list of children, only the name that begins a line is a child; later names may be their spouses.
    begins = ENGLISH.line_start.fullmatch(quote.text, start, at)
    is_short = 0 <= end - start <= MAX_VALUE
    return label.kinds if begins or (is_short and not label.kinds & FAMILY_KINDS) else frozenset()


def label_at(text: str, offset: int, table: CueTable) -> RowLabel:
    """The label of the row at an offset: before a tab, on a line above, or a sentence that introduces a list."""
    line_start = text.rfind("\n", 0, offset) + 1
    is_table = False
    columns = 0
    for index, line in enumerate(_lines_up(text, offset)):
        if index == MAX_LINES:
            break
        label, tab, _ = line.partition("\t")
        if index == 0:
            # A name in the first cell is not a label: it begins a row of a table.
            columns = line.count("\t")
            is_table = columns > 1 or (bool(tab) and offset - line_start < len(label))
        if tab and not is_table and (kinds := table.label_kinds(label)):
            return RowLabel(kinds, is_above=False)
        # The last column of a table says nothing of the first cell of the next row.
        is_row_above = line.count("\t") == columns > 1
        if index == 1 and tab and not is_row_above and (kinds := table.label_kinds(line.rpartition("\t")[2])):
            return RowLabel(kinds, is_above=True)
        if index and not tab and (kinds := _kinds_above(line, table)):
            return RowLabel(kinds, is_above=True)
        if (tab and not is_table) or len(line) > MAX_ROW:
            break
    return NO_LABEL


def _kinds_above(line: str, table: CueTable) -> frozenset[str]:
    """What a line announces: a bare label, a heading with a kinship word, or a sentence ending in a colon."""
    kinds = table.label_kinds(line)
    if kinds:
        return kinds
    is_heading = len(line) <= MAX_HEADING and line.rstrip()[-1] not in ".,;"
    if not is_heading and not ENGLISH.lead_in.search(line):
        return frozenset()
    last = CAPITAL_AFTER_STOP.split(line.rstrip())[-1]
    words = table.kin.found_in(last[-MAX_LEAD_IN:]) or table.kin.found_in(line[-MAX_LEAD_IN:])
    # Plurals only: a list follows 'sons', 'children' and 'issue'.
    kinds_named = [cue.kind for cue in words if cue.kind in ("child", "sibling") and cue.word[-1] in "sne"]
    return frozenset(kinds_named[-1:]) if not any(cue.kind == "other" for cue in words) else frozenset()


def _lines_up(text: str, offset: int) -> Iterator[str]:
    """The line at an offset, then those above it, without empty lines."""
    end = text.find("\n", offset)
    end = len(text) if end < 0 else end
    while end > 0:
        start = text.rfind("\n", 0, end) + 1
        if text[start:end].strip():
            yield text[start:end]
        end = start - 1
