"""Pages split into sentences, rows and passages, and a cache of them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from kiwiresearch.ask.answer import Passage, PassageKind
from kiwiresearch.ask.settings import AskSettings
from kiwiresearch.errors import KiwiError, PageNotFound, RedirectLoop
from kiwiresearch.evidence import place_of
from kiwiresearch.page import Infobox, PageDoc, open_page
from kiwiresearch.search import OpenBook
from kiwiresearch.text import language_words, plain_lower

UnitKind = Literal["sentence", "caption", "row", "box"]
PROSE = frozenset({"paragraph", "item", "quote", "caption"})
PASSAGE_KINDS: dict[UnitKind, PassageKind] = {"sentence": "text", "caption": "text", "row": "row", "box": "box"}
# Windows are measured in characters, which needs no splitting into words.
WORDS_A_CHAR = 1 / 6
"""A word and its space take about six characters."""


class PageUnit(NamedTuple):
    """The smallest part that can be shown: a sentence, a row of a table, a row of an infobox."""

    kind: UnitKind
    start: int
    end: int
    section: int
    block: int


@dataclass(frozen=True, slots=True)
class SegmentedPage:
    """A page with its text in plain lower case (same offsets), its units in order, and their passages."""

    page: PageDoc
    lowered: str
    units: tuple[PageUnit, ...]
    spans: tuple[tuple[int, int], ...]
    """For each passage, its first unit and the one after its last."""
    contexts: tuple[str, ...]
    """The headings of sections, and of groups of rows in infoboxes."""
    context_of: tuple[int, ...]
    """For each unit, the number of its heading."""

    def text(self, unit: PageUnit) -> str:
        return self.page.text[unit.start : unit.end]

    def passage(self, index: int) -> Passage:
        first, after = self.spans[index]
        start, end = self.units[first].start, self.units[after - 1].end
        place = place_of(self.page, start)
        kind = PASSAGE_KINDS[self.units[first].kind]
        return Passage(self.page.ref, self.page.title, *place, kind, start, end, self.page.text[start:end])


class PageCache:
    """The pages that were last read for questions."""

    def __init__(self, settings: AskSettings, *, max_pages: int = 64) -> None:
        self._settings = settings
        self._max_pages = max_pages
        self._pages: OrderedDict[tuple[str, str], SegmentedPage | None] = OrderedDict()

    def prefetch(self, book: OpenBook, paths: Iterable[str]) -> None:
        """Announce which pages will be read, so that a book on another host can send them together."""
        book.prefetch_pages(path for path in paths if (book.id, path) not in self._pages)

    def page(self, book: OpenBook, path: str) -> SegmentedPage | None:
        """The page, split; None if it cannot be read."""
        key = (book.id, path)
        if key in self._pages:
            self._pages.move_to_end(key)
            return self._pages[key]
        try:
            found: SegmentedPage | None = segment_page(open_page(book.archive, path), self._settings)
        except (PageNotFound, RedirectLoop):
            found = None
        except KiwiError:
            return None  # not cached: a server that did not answer may answer the next time
        self._pages[key] = found
        while len(self._pages) > self._max_pages:
            self._pages.popitem(last=False)
        return found


def segment_page(page: PageDoc, settings: AskSettings) -> SegmentedPage:
    """Split a page into units and passages."""
    units = tuple(_units(page))
    spans = tuple(_passage_spans(units, settings))
    groups = sorted((start, group) for box in page.infoboxes for start, group in _row_headings(box))
    contexts = [section.heading for section in page.sections]
    numbers: dict[str, int] = {}
    context_of = []
    for unit in units:
        group = ""
        if unit.kind == "box":
            # The empty heading sorts before all others, so this is the first row that starts in the unit.
            at = bisect_left(groups, (unit.start, ""))
            group = groups[at][1] if at < len(groups) and groups[at][0] < unit.end else ""
        if group and group not in numbers:
            numbers[group] = len(contexts)
            contexts.append(group)
        context_of.append(numbers[group] if group else unit.section if unit.kind != "box" else 0)
    return SegmentedPage(page, plain_lower(page.text), units, spans, tuple(contexts), tuple(context_of))


def _row_headings(box: Infobox) -> Iterator[tuple[int, str]]:
    """The heading of each infobox row that has one: of '- Total' it is 'Population', a group or an earlier row.

    More rows have one than in `claims.by_rule`, where it becomes part of a claim: here it only adds words to match.
    """
    in_parts = {row.group for row in box.rows if row.group and row.key.lstrip().startswith(SUB_ROW_MARKS)}
    above, group, has_parts = "", "", False
    for row in box.rows:
        is_part = row.key.lstrip().startswith(SUB_ROW_MARKS)
        if row.group != group:
            above, group, has_parts = row.group, row.group, False
        elif not is_part and (has_parts or not group):
            above = ""  # the heading's sub-rows end here, although no new heading follows
        if above and (is_part or group not in in_parts):
            yield row.start, above
        has_parts = has_parts or is_part
        if not is_part and (has_parts or not group):
            above = row.key


SUB_ROW_MARKS = ("-", "–", "•", "·")


def _units(page: PageDoc) -> Iterator[PageUnit]:
    words = language_words(page.language)
    starts, text = page.sentences, page.text
    section, last = 0, len(page.sections) - 1
    for index, block in enumerate(page.blocks):
        if block.start >= page.article_end:
            break
        while section < last and page.sections[section + 1].heading_start <= block.start:
            section += 1
        heading = page.sections[section].heading.casefold()
        if block.kind == "heading" or heading in words.references or heading in words.see_also:
            continue
        if block.kind not in PROSE:
            if text[block.start : block.end].strip():
                yield PageUnit("row", block.start, block.end, section, index)
            continue
        first = bisect_right(starts, block.start)
        begin = block.start
        # The sentences that start inside the block, from its own start; a sentence never crosses the end of a block.
        for end in (*starts[first : bisect_left(starts, block.end, first)], block.end):
            size = len(text[begin:end].rstrip())
            if size:
                yield PageUnit(
                    "caption" if block.kind == "caption" else "sentence", begin, begin + size, section, index
                )
            begin = end
    for box in page.infoboxes:
        for row in box.rows:
            # From the start of the line, so that the label before the value is a part of the unit.
            start = max(text.rfind("\n", 0, row.start) + 1, box.start)
            if row.end > start:
                yield PageUnit("box", start, row.end, last + 1, -1)


def _passage_spans(units: Sequence[PageUnit], settings: AskSettings) -> Iterator[tuple[int, int]]:
    """The passages as spans of units: a short section, a window of a long one, some rows, one row of an infobox."""
    max_chars = settings.window_words / WORDS_A_CHAR
    first = 0
    while first < len(units):
        unit = units[first]
        end = first + 1
        if unit.kind == "box":
            yield first, end
            first = end
            continue
        while (
            end < len(units)
            and units[end].section == unit.section
            and PASSAGE_KINDS[units[end].kind] == PASSAGE_KINDS[unit.kind]
        ):
            end += 1
        # Twice a window, so that no short remainder is cut off from a section that nearly fits.
        if units[end - 1].end - unit.start <= 2 * max_chars:
            yield first, end
        else:
            yield from _windows(units, first, end, max_chars, settings.overlap_words / WORDS_A_CHAR)
        first = end


def _windows(
    units: Sequence[PageUnit], first: int, end: int, max_chars: float, overlap: float
) -> Iterator[tuple[int, int]]:
    """Windows of complete units, each of about `max_chars` and starting with about `overlap` of the one before."""
    start = first
    while start < end:
        stop = start + 1
        while stop < end and units[stop].end - units[start].start <= max_chars:
            stop += 1
        yield start, stop
        if stop >= end:
            break
        next_start = stop
        # The overlap must leave room for at least one new unit.
        earliest = max(units[stop - 1].end - overlap, units[stop].end - max_chars)
        while next_start - 1 > start and units[next_start - 1].start >= earliest:
            next_start -= 1
        start = next_start
