"""Pages cut into sentences, rows and passages, and a cache of them."""

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
from kiwiresearch.page.doc import Infobox, PageDoc
from kiwiresearch.page.read import open_page
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.text.languages import language_words
from kiwiresearch.text.words import plain_lower

UnitKind = Literal["sentence", "caption", "row", "box"]
PROSE = frozenset({"paragraph", "item", "quote", "caption"})
PASSAGE_KINDS: dict[UnitKind, PassageKind] = {"sentence": "text", "caption": "text", "row": "row", "box": "box"}
WORDS_A_CHAR = 1 / 6
"""A word of running text and the space behind it take about six characters."""


class PageUnit(NamedTuple):
    """The least that can be shown: a sentence, a row of a table, a row of a box."""

    kind: UnitKind
    start: int
    end: int
    section: int
    block: int


@dataclass(frozen=True, slots=True)
class SegmentedPage:
    """A page with its levelled text (the same offsets), its units in order, and how they make passages."""

    page: PageDoc
    levelled: str
    units: tuple[PageUnit, ...]
    spans: tuple[tuple[int, int], ...]
    """Of each passage, its first unit and the one behind its last."""
    contexts: tuple[str, ...]
    """Headings that units stand below: of sections, and of the groups of boxes."""
    context_of: tuple[int, ...]
    """Of each unit, its heading."""

    def text(self, unit: PageUnit) -> str:
        return self.page.text[unit.start : unit.end]

    @property
    def passages(self) -> tuple[Passage, ...]:
        return tuple(map(self.passage, range(len(self.spans))))

    def passage(self, number: int) -> Passage:
        """A passage as it is shown; most of a page's never are."""
        first, behind = self.spans[number]
        start, end = self.units[first].start, self.units[behind - 1].end
        place = place_of(self.page, start)
        kind = PASSAGE_KINDS[self.units[first].kind]
        return Passage(self.page.ref, self.page.title, *place, kind, start, end, self.page.text[start:end])


class PageCache:
    """Pages that were read for questions, the last ones kept at hand."""

    def __init__(self, settings: AskSettings, *, kept: int = 64) -> None:
        self._settings = settings
        self._kept = kept
        self._pages: OrderedDict[tuple[str, str], SegmentedPage | None] = OrderedDict()

    def prefetch(self, book: OpenBook, paths: Iterable[str]) -> None:
        """Say which pages will be read, so that a book on another host sends them together."""
        book.prefetch_pages(path for path in paths if (book.book.id, path) not in self._pages)

    def page(self, book: OpenBook, path: str) -> SegmentedPage | None:
        """The page, cut; None where it cannot be read."""
        key = (book.book.id, path)
        if key in self._pages:
            self._pages.move_to_end(key)
            return self._pages[key]
        try:
            found: SegmentedPage | None = segment_page(open_page(book.archive, path), self._settings)
        except (PageNotFound, RedirectLoop):
            found = None
        except KiwiError:
            return None  # a server that did not answer may answer the next time
        self._pages[key] = found
        while len(self._pages) > self._kept:
            self._pages.popitem(last=False)
        return found


def segment_page(page: PageDoc, settings: AskSettings) -> SegmentedPage:
    """A page in units and passages."""
    units = tuple(_units(page))
    spans = tuple(_passage_spans(units, settings))
    groups = sorted((start, group) for box in page.infoboxes for start, group in _row_headings(box))
    contexts = [section.heading for section in page.sections]
    numbers: dict[str, int] = {}
    context_of = []
    for unit in units:
        group = ""
        if unit.kind == "box":
            at = bisect_left(groups, (unit.start, ""))
            group = groups[at][1] if at < len(groups) and groups[at][0] < unit.end else ""
        if group and group not in numbers:
            numbers[group] = len(contexts)
            contexts.append(group)
        context_of.append(numbers[group] if group else unit.section if unit.kind != "box" else 0)
    return SegmentedPage(page, plain_lower(page.text), units, spans, tuple(contexts), tuple(context_of))


def _row_headings(box: Infobox) -> Iterator[tuple[int, str]]:
    """What each row of a box stands below: '- Total' below 'Population', or below the label of a row before it."""
    in_parts = {row.group for row in box.rows if row.group and row.key.lstrip().startswith(SUB_ROW_MARKS)}
    above, group, has_parts = "", "", False
    for row in box.rows:
        is_part = row.key.lstrip().startswith(SUB_ROW_MARKS)
        if row.group != group:
            above, group, has_parts = row.group, row.group, False
        elif not is_part and (has_parts or not group):
            above = ""  # the parts of what stands above are over, though no heading says so
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
    behind = page.sections[-1].end
    for number, block in enumerate(page.blocks):
        if block.start >= behind:
            break
        while section < last and page.sections[section + 1].heading_start <= block.start:
            section += 1
        heading = page.sections[section].heading.casefold()
        if block.kind == "heading" or heading in words.references or heading in words.see_also:
            continue
        if block.kind not in PROSE:
            if text[block.start : block.end].strip():
                yield PageUnit("row", block.start, block.end, section, number)
            continue
        first = bisect_right(starts, block.start)
        begin = block.start
        for end in (*starts[first : bisect_left(starts, block.end, first)], block.end):
            size = len(text[begin:end].rstrip())
            if size:
                yield PageUnit(
                    "caption" if block.kind == "caption" else "sentence", begin, begin + size, section, number
                )
            begin = end
    for box in page.infoboxes:
        for row in box.rows:
            start = max(text.rfind("\n", 0, row.start) + 1, box.start)
            if row.end > start:
                yield PageUnit("box", start, row.end, last + 1, -1)


def _passage_spans(units: Sequence[PageUnit], settings: AskSettings) -> Iterator[tuple[int, int]]:
    """Which units make a passage: all of a short section, windows of a long one, a few rows, each row of a box."""
    most = settings.window_words / WORDS_A_CHAR
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
        size = units[end - 1].end - unit.start
        if size <= 2 * most:
            yield first, end
        else:
            yield from _windows(units, first, end, most, settings.overlap_words / WORDS_A_CHAR)
        first = end


def _windows(units: Sequence[PageUnit], first: int, end: int, most: float, overlap: float) -> Iterator[tuple[int, int]]:
    """Whole units, about `most` characters; each window begins again with about `overlap` of the one before."""
    start = first
    while start < end:
        stop = start + 1
        while stop < end and units[stop].end - units[start].start <= most:
            stop += 1
        yield start, stop
        if stop >= end:
            break
        again = stop
        # The next window takes some of this one again, but must still have room for what follows it.
        earliest = max(units[stop - 1].end - overlap, units[stop].end - most)
        while again - 1 > start and units[again - 1].start >= earliest:
            again -= 1
        start = again
