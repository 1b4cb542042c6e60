"""One pass over regular markup: the canonical text, and the offsets of everything in it.

The markup is split into text and runs of tags. White space is collapsed as in a
browser. A separator is written only when the next word comes, so the text never
starts or ends with a break, or has two in a row.
"""

from __future__ import annotations

import re
from html import unescape
from typing import TypeVar

from kiwiresearch.page.doc import Block, BlockKind, Cell
from kiwiresearch.page.elements import EFFECTS, NAME, TagStep, effect_of, name_of
from kiwiresearch.page.html import SUBSCRIPTS, SUPERSCRIPTS, cleaned, code_text, trim_end
from kiwiresearch.page.side_content import (
    FlowResult,
    Pairs,
    RawHeading,
    RawLink,
    RawTable,
    collect_cut,
    mark_editor_notes,
    outer_links,
    read_element,
    shifted_text,
)
from kiwiresearch.text import LanguageWords

Spanned = TypeVar("Spanned", RawLink, Cell)

RUN = re.compile(r"(<a [^>]*+>|<(?!a )[^>]*+>(?:\s*+<(?!a )[^>]*+>)*+)")
"""An opening link, or other tags with only white space between them.

This is exact for what the parser writes, because it escapes angle brackets in
attributes too.
"""

SEPARATORS = ("", " ", "\t", "\n", "\n\n")
# In ascending strength, so that a stronger separator that is waiting is never replaced by a weaker one.
NONE, SPACE, TAB, LINE, PARAGRAPH = range(5)
WIDTH = tuple(map(len, SEPARATORS))
GAPS = frozenset(SEPARATORS[1:])

WITHIN_LINES = frozenset({"hidden", "editor mark", "machinery", "reference mark"})
"""Cuts that may occur in the middle of a sentence, so they do not break the line."""

(END_LINK, BREAK, NEW_LINE, CELL, END_CELL, HEADER_CELL, ROW, WHITE, LIST, END_LIST, END_DIVISION, HEADING,
 END_HEADING, TABLE, END_TABLE, CAPTION, END_CAPTION, END_TABLE_CAPTION, CODE, END_CODE, QUOTE,
 END_QUOTE, RAISED, LOWERED, END_SHIFTED) = (int(x) for x in TagStep if TagStep.NOTHING < x < TagStep.CUT)  # fmt: skip
"""The steps as plain integers, which the loop compares faster than members of an enumeration."""


def read_markup(markup: str, words: LanguageWords) -> FlowResult:
    """Read markup that the parser wrote. Deliberately one loop: reading a page spends its time here."""
    found = FlowResult()
    out: list[str] = []
    links, blocks, headings = found.links, found.blocks, found.headings
    position = block_start = 0
    waiting = NONE
    block_kind: BlockKind = "paragraph"
    lists = tables = quotes = code = 0
    in_caption = False
    link_href, link_at, link_index, caption_from = "", -1, 0, 0
    heading_at, heading_level, heading_anchor, heading_end = -1, 0, "", -1
    row_at = 0
    last_name, last_name_at = "", -1
    open_tables: list[list[list[Cell]]] = []
    table_captions: list[str] = []
    open_cells: list[tuple[int, int, bool]] = []
    row: list[Cell] | None = None
    known = EFFECTS.get
    new = tuple.__new__  # skips the Python-level constructor of named tuples
    shifted: dict[str, str] | None = None
    parts = iter(RUN.split(mark_editor_notes(markup)))
    next(parts, None)
    pairs: Pairs = zip(parts, parts, strict=False)

    for run, text in pairs:
        # Once for the run itself, and once more for the rest of a run in which a cut element ended.
        while True:
            effect = known(run)
            if effect is None:
                if run[:3] == "<a ":
                    at = run.find(' href="')
                    if at >= 0:
                        at += 7
                        link_href, link_at, link_index = run[at : run.find('"', at)], position, len(out)
                    elif name := NAME.search(run):
                        last_name, last_name_at = name[1], position
                    break
                effect = effect_of(run)
            steps, level, anchor, cutting = effect
            for step in steps:
                if step == END_LINK:
                    if link_at >= 0:
                        # The separator before a link was written after the link had started; it does not belong to it.
                        if link_at < position and out[link_index] in GAPS:
                            link_at += len(out[link_index])
                        kind: BlockKind = (
                            "row" if tables else "caption" if in_caption else "item" if lists else "paragraph"
                        )
                        links.append(
                            new(RawLink, (link_href, link_at, position, len(headings) + (heading_at >= 0), kind))
                        )
                        link_at = -1
                elif step == BREAK:
                    if waiting != TAB:
                        waiting = PARAGRAPH
                elif step == NEW_LINE:
                    if waiting < TAB:
                        waiting = LINE
                elif step == CELL or step == HEADER_CELL:  # noqa: SIM109
                    if row and position > row_at:
                        waiting = TAB if position != heading_end else PARAGRAPH
                    open_cells.append((position, len(out), step == HEADER_CELL))
                elif step == END_CELL:
                    if open_cells:
                        start, index, is_header = open_cells.pop()
                        if start < position and out[index] in GAPS:
                            start += len(out[index])
                        if row is not None:
                            row.append(new(Cell, (start, position, is_header)))
                elif step == ROW:
                    if waiting < LINE:
                        waiting = LINE
                    row_at = position
                    if open_tables:
                        row = []
                        open_tables[-1].append(row)
                elif step == WHITE:
                    if not waiting:
                        waiting = SPACE
                elif step == END_DIVISION:
                    in_caption = False
                    if waiting != TAB:
                        waiting = PARAGRAPH
                elif step == LIST:
                    lists += 1
                    if waiting != TAB and waiting < LINE:
                        waiting = LINE if lists > 1 else PARAGRAPH
                elif step == END_LIST:
                    lists = max(lists - 1, 0)
                    waiting = LINE if lists else PARAGRAPH
                elif step == HEADING:
                    waiting = PARAGRAPH
                    heading_at, heading_level = position, level
                    heading_anchor = anchor or (last_name if last_name_at == position else "")
                elif step == END_HEADING:
                    if 0 <= heading_at < position:
                        headings.append(RawHeading(heading_level, heading_anchor, heading_at, position))
                    heading_at = -1
                    heading_end = position
                    waiting = PARAGRAPH
                elif step == TABLE:
                    tables += 1
                    open_tables.append([])
                    table_captions.append("")
                    row = None
                    if waiting != TAB:
                        waiting = PARAGRAPH
                elif step == END_TABLE:
                    tables = max(tables - 1, 0)
                    if open_tables:
                        rows = [cells for cells in open_tables.pop() if cells]
                        caption = table_captions.pop()
                        if rows:
                            found.tables.append(RawTable(len(headings), caption, rows))
                    row = open_tables[-1][-1] if open_tables and open_tables[-1] else None
                    waiting = PARAGRAPH
                elif step == CAPTION:
                    in_caption = True
                    caption_from = len(out)
                    waiting = max(waiting, LINE) if tables else PARAGRAPH
                elif step == END_CAPTION:
                    in_caption = False
                    waiting = max(waiting, LINE)
                elif step == END_TABLE_CAPTION:
                    in_caption = False
                    if table_captions:
                        table_captions[-1] = "".join(out[caption_from:]).strip()
                    waiting = max(waiting, LINE)
                elif step == CODE or step == QUOTE:  # noqa: SIM109
                    code += step == CODE
                    quotes += step == QUOTE
                    if waiting != TAB:
                        waiting = PARAGRAPH
                elif step == RAISED:
                    shifted = SUPERSCRIPTS
                elif step == LOWERED:
                    shifted = SUBSCRIPTS
                elif step == END_SHIFTED:
                    shifted = None
                else:  # the end of code or of a quotation
                    # White space at the end of code is removed only now, so what points into it has to be moved.
                    if step == END_CODE and code:
                        position -= trim_end(out)
                        _shorten(links, position)
                        _shorten_tables(found.tables, position)
                        found.marks[:] = [(kind, min(place, position)) for kind, place in found.marks]
                    code = max(code - (step == END_CODE), 0)
                    quotes = max(quotes - (step == END_QUOTE), 0)
                    waiting = PARAGRAPH
            if cutting is None:
                break
            inside, run, text = read_element(cutting.tag, cutting.rest, text, pairs)
            group = cutting.group
            if group == "reference mark":
                found.marks.append(("reference", position))
                # A mark that leads to a note on the same page is not a link to another page.
                if 'href="#' not in inside:
                    found.outer_links += outer_links(inside, group)
            elif group == "infobox":
                box = name_of(cutting.tag)
                found.infoboxes.append(f"<{box}>{inside}</{box}>")
                waiting = PARAGRAPH
            else:
                collect_cut(found, group, cutting.tag, inside, words, position)
            if group not in WITHIN_LINES and waiting < LINE:
                waiting = LINE
            elif not waiting and run[:1].isspace():
                waiting = SPACE
            if not run:
                break

        if not text:
            continue
        if code:
            text = code_text(text, is_first=waiting == PARAGRAPH)
            if not text:
                continue
        elif text.isspace():
            if not waiting:
                waiting = SPACE
            continue
        if "&" in text:
            text = unescape(text.replace("&nbsp;", " "))
        if code:
            written = text
        else:
            if "\n" in text:
                text = text.replace("\n", " ")
            if not text.isprintable():
                text = cleaned(text)
            if shifted is not None:
                text = shifted_text(text, shifted, found, position, words)
                if not text:
                    continue
            written = text.strip(" ")
            while "  " in written:
                written = written.replace("  ", " ")
        if not written:
            if text and not waiting:
                waiting = SPACE
            continue
        if not waiting:
            if text[0] == " " and position and not code:
                out.append(" ")
                position += 1
        elif waiting >= LINE or not position:
            if position:
                blocks.append(new(Block, (block_kind, block_start, position)))
                position += WIDTH[waiting]
                out.append(SEPARATORS[waiting])
            block_start = position
            block_kind = (
                "heading" if heading_at >= 0
                else "code" if code
                else "caption" if in_caption
                else "row" if tables
                else "item" if lists
                else "quote" if quotes
                else "paragraph"
            )  # fmt: skip
        else:
            out.append(SEPARATORS[waiting])
            position += 1
        out.append(written)
        position += len(written)
        waiting = SPACE if text[-1] == " " and not code else NONE
    if position:
        blocks.append(Block(block_kind, block_start, position))
    found.text = "".join(out)
    return found


def _shorten(places: list[Spanned], position: int) -> None:
    """Move the ends of spans that ended in removed white space to the new end of the text."""
    number = len(places) - 1
    while number >= 0 and places[number].end > position:
        places[number] = places[number]._replace(start=min(places[number].start, position), end=position)
        number -= 1


def _shorten_tables(tables: list[RawTable], position: int) -> None:
    for table in reversed(tables):
        if table.rows[-1][-1].end <= position:
            break
        for cells in table.rows:
            _shorten(cells, position)
