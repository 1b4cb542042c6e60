"""A quote as the firewall reads it: its words, its cue words, the label of its row, and where a value stands in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from kiwiresearch.kin.language import ENGLISH, CueTable, cue_table
from kiwiresearch.text.words import fold

WORD = re.compile(r"[^\W_]+")
LONGEST_ROW = 500
"""A line longer than this is no line of a box, list or table."""
LONGEST_VALUE = 100
LONGEST_HEADING = 70
LONGEST_LEAD_IN = 160
SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
FAMILY_KINDS = frozenset({"father", "mother", "parent", "spouse", "partner", "child", "sibling", "relative"})
MAX_LINES = 60
"""How far above a line its label is looked for."""
MAX_SKIPPED = 2
"""So many words of a name may be left out: 'Robert Darwin' for 'Robert Waring Darwin'."""
SKIP_STOPS = ",;:\n\t()[]"


@dataclass(frozen=True, slots=True)
class QuoteWord:
    """A word of a text: `text[start:end]`, and how it is compared."""

    start: int
    end: int
    folded: str
    is_capital: bool


def words_in(text: str) -> list[QuoteWord]:
    found = WORD.finditer(text)
    return [QuoteWord(match.start(), match.end(), fold(match[0]), not match[0][0].islower()) for match in found]


@dataclass(frozen=True)
class SourceQuote:
    """The span `text[start:end]` of a source, and what the source is told to be about."""

    text: str
    start: int
    end: int
    subject: str
    sex: str = ""
    other_names: tuple[str, ...] = ()
    """Other names that the subject goes by."""
    language: str = "eng"

    @cached_property
    def words(self) -> str:
        return self.text[self.start : self.end]

    @cached_property
    def table(self) -> CueTable:
        return cue_table(self.language)

    @cached_property
    def tokens(self) -> list[QuoteWord]:
        return words_in(self.words)

    @cached_property
    def name_sets(self) -> tuple[frozenset[str], ...]:
        """The words of each name that the subject goes by, without what it is of."""
        return tuple(self._words_of(name) for name in (self.subject, *self.other_names))

    def _words_of(self, name: str) -> frozenset[str]:
        left_out = self.table.words["particles"] | self.table.words["countries"] | self.table.words["titles"]
        head = re.split(r" of |[(,]", name, maxsplit=1)[0]
        whole = {word.folded for word in words_in(name)}
        every = ({word.folded for word in words_in(head)} or whole) | whole & self.table.words["numerals"]
        return frozenset(every - left_out) or frozenset(every)

    @cached_property
    def own_names(self) -> frozenset[str]:
        """The words that the subject goes by."""
        return frozenset().union(*self.name_sets)

    @cached_property
    def first_names(self) -> frozenset[str]:
        """The first word of each name that is no title, as short as people call each other."""
        left_out = self.table.words["titles"] | self.table.words["particles"]
        firsts = (
            next((word.folded for word in words_in(name) if word.folded not in left_out), "")
            for name in (self.subject, *self.other_names)
        )
        return frozenset(first[:3] for first in firsts if first)

    def spans(self, value: str) -> list[tuple[int, int]]:
        """Where the words of a value stand in the quote, in their order and close to each other."""
        wanted = words_in(value)
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
        if skipped and any(sign in between for sign in SKIP_STOPS):
            return None
        return first.start, last.end

    def kinds_at(self, offset: int) -> frozenset[str]:
        """What the row or list at an offset of the quote tells, by its label; nothing in running text."""
        return kinds_of(label_at(self.text, self.start + offset, self.table), self, offset)

    def line_of(self, offset: int) -> tuple[int, int]:
        """The line of the quote that holds an offset."""
        end = self.words.find("\n", offset)
        return self.words.rfind("\n", 0, offset) + 1, len(self.words) if end < 0 else end


def _is(word: QuoteWord, wanted: QuoteWord) -> bool:
    return word.folded == wanted.folded and word.is_capital >= wanted.is_capital


@dataclass(frozen=True, slots=True)
class RowLabel:
    """What stands before a row, or above a list."""

    kinds: frozenset[str]
    is_above: bool


NO_LABEL = RowLabel(frozenset(), is_above=False)


def kinds_of(label: RowLabel, cited: SourceQuote, offset: int) -> frozenset[str]:
    """What a label tells of a place of the quote: a label above a list speaks of what begins its lines."""
    if not label.is_above:
        return label.kinds
    at = cited.start + offset
    start, end = cited.text.rfind("\n", 0, at) + 1, cited.text.find("\n", at)
    begins = ENGLISH.line_start.fullmatch(cited.text, start, at)
    is_short = 0 <= end - start <= LONGEST_VALUE
    return label.kinds if begins or (is_short and not label.kinds & FAMILY_KINDS) else frozenset()


def label_at(text: str, offset: int, table: CueTable) -> RowLabel:
    """The label of the row at an offset: before a tab, alone on a line above, or a sentence that leads up to a list."""
    line_start = text.rfind("\n", 0, offset) + 1
    is_table = False
    for number, line in enumerate(_lines_up(text, offset)):
        if number == MAX_LINES:
            break
        label, tab, _ = line.partition("\t")
        if number == 0:
            # A name in the first cell is no label: it begins a row of a table.
            is_table = line.count("\t") > 1 or (bool(tab) and offset - line_start < len(label))
        if tab and not is_table and (kinds := table.label_kinds(label)):
            return RowLabel(kinds, is_above=False)
        if number == 1 and tab and (kinds := table.label_kinds(line.rpartition("\t")[2])):
            return RowLabel(kinds, is_above=True)
        if number and not tab and (kinds := _kinds_above(line, table)):
            return RowLabel(kinds, is_above=True)
        if (tab and not is_table) or len(line) > LONGEST_ROW:
            break
    return NO_LABEL


def _kinds_above(line: str, table: CueTable) -> frozenset[str]:
    """What a line announces: a bare label, a heading with a word of kinship, a sentence that ends in a colon."""
    kinds = table.label_kinds(line)
    if kinds:
        return kinds
    is_heading = len(line) <= LONGEST_HEADING and line.rstrip()[-1] not in ".,;"
    if not is_heading and not ENGLISH.lead_in.search(line):
        return frozenset()
    last = SENTENCE_END.split(line.rstrip())[-1]
    words = table.kin.found_in(last[-LONGEST_LEAD_IN:]) or table.kin.found_in(line[-LONGEST_LEAD_IN:])
    told = [cue.kind for cue in words if cue.kind in ("child", "sibling") and cue.word[-1] in "sne"]
    return frozenset(told[-1:]) if not any(cue.kind == "other" for cue in words) else frozenset()


def _lines_up(text: str, offset: int) -> Iterator[str]:
    """The line at an offset, then those above it; empty lines are left out."""
    end = text.find("\n", offset)
    end = len(text) if end < 0 else end
    while end > 0:
        start = text.rfind("\n", 0, end) + 1
        if text[start:end].strip():
            yield text[start:end]
        end = start - 1
