"""One pass over regular markup: the canonical text, and where everything stands in it.

The markup is cut into text and runs of tags. White space is collapsed as a
browser does; separators wait until there is a word to put behind them, so the
text never starts, ends or doubles a break.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from typing import NamedTuple

from kiwiresearch.page.cuts import Group
from kiwiresearch.page.doc import Block, BlockKind, Cell, MarkKind
from kiwiresearch.page.elements import EFFECTS, NAME, VOID, Step, attributes_of, effect_of, name_of
from kiwiresearch.text.languages import LanguageWords

RUN = re.compile(r"(<a [^>]*+>|<(?!a )[^>]*+>(?:\s*+<(?!a )[^>]*+>)*+)")
"""An opening link, or other tags with nothing but white space between them.

It is exact on what the parser writes, which escapes angle brackets in
attributes too.
"""

LINK = re.compile(r'<a [^>]*?\bhref="([^"]*)"[^>]*>(.*?)</a>', re.DOTALL)
ANY_TAG = re.compile(r"<[^>]*>")
WRITTEN_MARK = re.compile(r"\[\s*(?:<[^<>]*>\s*)*(?:full )?citation needed\s*(?:<[^<>]*>\s*)*\]", re.IGNORECASE)
BRACKETED = re.compile(r"\s*\[[^\[\]]{1,40}\]\s*")
NUMBERED = re.compile(r"\s*\[\s*(?:(?:note|nb|fn)\s*)?[0-9a-z]{1,3}\s*\]\s*", re.IGNORECASE)
TEX = re.compile(r"\{\\(?:displaystyle|textstyle)\s*(.*)\}", re.DOTALL)
UNSEEN = re.compile(
    "[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069"
    "\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff]"
)
"""Control characters, soft hyphens, zero-width and direction marks: no reader sees them."""

JOINER = re.compile("(?<![\u0590-\u1cff\ua800-\uabff\U0001f000-\U0001faff\u2600-\u27bf\ufe0f])[\u200c\u200d]")
"""Joiners that stand behind no emoji and no letter of a script that needs them."""

RAW_TEXT = frozenset({"script", "style", "xmp", "iframe", "noembed", "noframes", "noscript", "plaintext"})
"""Elements whose content is no markup."""

SEPARATORS = ("", " ", "\t", "\n", "\n\n")
NONE, SPACE, TAB, LINE, PARAGRAPH = range(5)
WIDTH = tuple(map(len, SEPARATORS))
GAPS = frozenset(SEPARATORS[1:])

WITHIN_LINES = frozenset({"hidden", "editor mark", "machinery", "reference mark", "formula"})
"""What may stand in the middle of a sentence, so that cutting it breaks no line."""

Pairs = Iterator[tuple[str, str]]
"""Runs of tags, each with the text behind it."""


class RawLink(NamedTuple):
    """A link of the text, and the kind of block it is in."""

    href: str
    start: int
    end: int
    section: int
    kind: BlockKind


@dataclass(frozen=True, slots=True)
class OuterLink:
    """A link outside the article's text: in a menu, a note, a box."""

    href: str
    text: str
    group: Group


class Note(NamedTuple):
    """An editors' note about the page: the classes and ids of its box, and what it says, in small letters."""

    signs: str
    said: str


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading, from before its first word to behind its last."""

    level: int
    anchor: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class RawTable:
    """A table of the text."""

    section: int
    caption: str
    rows: list[list[Cell]]


@dataclass(slots=True)
class Flow:
    """What one pass has found."""

    text: str = ""
    links: list[RawLink] = field(default_factory=list)
    headings: list[Heading] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    tables: list[RawTable] = field(default_factory=list)
    marks: list[tuple[MarkKind, int]] = field(default_factory=list)
    outer_links: list[OuterLink] = field(default_factory=list)
    infoboxes: list[str] = field(default_factory=list)
    hatnotes: list[str] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)
    listed_references: int = 0


(END_LINK, BREAK, NEW_LINE, CELL, END_CELL, HEADER_CELL, ROW, WHITE, LIST, END_LIST, END_DIVISION, HEADING,
 END_HEADING, TABLE, END_TABLE, CAPTION, END_CAPTION, END_TABLE_CAPTION, CODE, END_CODE, QUOTE,
 END_QUOTE, RAISED, LOWERED, END_SHIFTED) = (int(step) for step in Step if Step.NOTHING < step < Step.CUT)  # fmt: skip
"""The steps as plain numbers, which the loop compares faster than members of an enumeration."""


def flow(markup: str, words: LanguageWords) -> Flow:
    """Read markup that the parser wrote. One loop, on purpose: reading spends its time here."""
    found = Flow()
    out: list[str] = []
    links, blocks, headings = found.links, found.blocks, found.headings
    position = block_start = 0
    waiting = NONE
    block_kind: BlockKind = "paragraph"
    lists = tables = quotes = code = 0
    in_caption = False
    link_href, link_at, link_index, caption_from = "", -1, 0, 0
    heading_at, heading_level, heading_anchor = -1, 0, ""
    last_name, last_name_at = "", -1
    open_tables: list[list[list[Cell]]] = []
    table_captions: list[str] = []
    open_cells: list[tuple[int, int, bool]] = []
    row: list[Cell] | None = None
    known = EFFECTS.get
    new = tuple.__new__  # what a named tuple's own constructor does, without the call around it
    shifted: dict[str, str] | None = None
    if "citation needed" in markup:  # some pages have it as text of their own
        markup = WRITTEN_MARK.sub('<sup class="Template-Fact">[citation needed]</sup>', markup)
    parts = iter(RUN.split(markup))
    next(parts, None)
    pairs: Pairs = zip(parts, parts, strict=False)

    for run, text in pairs:
        while True:
            effect = known(run)
            if effect is None:
                if run[:3] == "<a ":
                    at = run.find('href="')
                    if at >= 0:
                        at += 6
                        link_href, link_at, link_index = (
                            run[at : run.find('"', at)],
                            position,
                            len(out),
                        )
                    elif name := NAME.search(run):
                        last_name, last_name_at = name[1], position
                    break
                effect = effect_of(run)
            steps, level, anchor, cutting = effect
            for step in steps:
                if step == END_LINK:
                    if link_at >= 0:
                        if link_at < position and out[link_index] in GAPS:
                            link_at += len(out[link_index])
                        kind: BlockKind = (
                            "row" if tables else "caption" if in_caption else "item" if lists else "paragraph"
                        )
                        links.append(new(RawLink, (link_href, link_at, position, len(headings), kind)))
                        link_at = -1
                elif step == BREAK:
                    if waiting != TAB:
                        waiting = PARAGRAPH
                elif step == NEW_LINE:
                    if waiting < TAB:
                        waiting = LINE
                elif step == CELL or step == HEADER_CELL:  # noqa: SIM109
                    if row:
                        waiting = TAB
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
                        headings.append(Heading(heading_level, heading_anchor, heading_at, position))
                    heading_at = -1
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
                    waiting = PARAGRAPH
                elif step == RAISED:
                    shifted = SUPERSCRIPTS
                elif step == LOWERED:
                    shifted = SUBSCRIPTS
                elif step == END_SHIFTED:
                    shifted = None
                else:  # the end of code or of a quotation
                    if step == END_CODE and code:
                        position -= _trim_end(out)
                        _shorten(links, position)
                    code = max(code - (step == END_CODE), 0)
                    quotes = max(quotes - (step == END_QUOTE), 0)
                    waiting = PARAGRAPH
            if cutting is None:
                if shifted is not SUPERSCRIPTS or "]" in text or not text.lstrip().startswith("["):
                    break
                # A note in brackets of which only the first is text of its own, as in [<i>when?</i>].
                inside, run, text = _element("sup", "", text, pairs)
                shifted = None
                shown = plain(inside)
                found.outer_links += outer_links(inside, "editor mark")
                if BRACKETED.fullmatch(shown):
                    found.marks.append((_kind_of_mark(shown, words), position))
                else:
                    text = f"{shown} {text}"
                if not run:
                    break
                continue
            inside, run, text = _element(cutting.tag, cutting.rest, text, pairs)
            group = cutting.group
            if group == "reference mark":
                found.marks.append(("reference", position))
                if 'href="#' not in inside:
                    found.outer_links += outer_links(inside, group)
            elif group == "formula":
                text = f"{_formula(cutting.tag)} {text}" if not run else text
            elif group == "infobox":
                box = name_of(cutting.tag)
                found.infoboxes.append(f"<{box}>{inside}</{box}>")
                waiting = PARAGRAPH
            else:
                _keep_apart(found, group, cutting.tag, inside, words, position)
            if group not in WITHIN_LINES and waiting < LINE:
                waiting = LINE
            if not run:
                break

        if not text:
            continue
        if code:
            text = _code(text, is_first=waiting == PARAGRAPH)
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
                text = _cleaned(text)
            if shifted is not None:
                text = _without_marks(text, shifted, found, position, words)
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
            if text[0] == " " and position:
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
                else "row" if tables
                else "caption" if in_caption
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


def outer_links(markup: str, group: Group) -> list[OuterLink]:
    """The links in a part of the page that is not the article's text."""
    if "<a " not in markup:
        return []
    return [OuterLink(href, plain(inner), group) for href, inner in LINK.findall(markup)]


def plain(markup: str) -> str:
    """The words of some markup that has nothing hidden in it."""
    return " ".join(visible(unescape(ANY_TAG.sub("", markup))).split())


def visible(text: str) -> str:
    """The text without characters that show nothing."""
    if "\u200c" in text or "\u200d" in text:
        text = JOINER.sub("", text)
    return UNSEEN.sub("", text)


def _without_marks(text: str, shifted: dict[str, str], found: Flow, position: int, words: LanguageWords) -> str:
    """What is raised or lowered keeps its meaning when its tag is gone.

    Numbers in brackets and notes of editors are marks, not text; figures become
    the characters of that height, since 10<sup>6</sup> is not 106.
    """
    bare = text.strip()
    if bare and all(character in shifted for character in bare):
        return "".join(shifted[character] for character in bare)
    if shifted is SUPERSCRIPTS and BRACKETED.fullmatch(text):
        found.marks.append((_kind_of_mark(text, words), position))
        return ""
    return text


SUPERSCRIPTS = dict(zip("0123456789+-−=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱ", strict=True))
SUBSCRIPTS = dict(zip("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎", strict=True))


def _element(tag: str, rest: str, text: str, pairs: Pairs) -> tuple[str, str, str]:
    """Read to the end of an element that was just opened.

    Returns the markup in it, the rest of the run in which it ends, and the text
    behind that run.
    """
    name = name_of(tag)
    if name in VOID or tag.endswith("/"):
        return "", rest, text
    opening = "\n" if name in RAW_TEXT else f"<{name}"  # what looks like a tag in raw text is none
    closing = f"</{name}>"
    inside: list[str] = []
    depth = 1
    run = rest
    while True:
        at = run.find(closing)
        if at >= 0 and opening not in run:
            depth -= 1
            while depth and (following := run.find(closing, at + len(closing))) >= 0:
                depth -= 1
                at = following
        elif opening in run:
            depth, at = _balance(run, name, depth)
        if not depth:
            inside.append(run[:at])
            return "".join(inside), run[at + len(closing) :], text
        inside += (run, text)
        following_pair = next(pairs, None)
        if following_pair is None:
            return "".join(inside), "", ""
        run, text = following_pair


def _balance(run: str, name: str, depth: int) -> tuple[int, int]:
    """The depth behind a run that opens and closes elements of this name; 0, and where, if they all end in it."""
    for found in re.finditer(rf"<(/?){re.escape(name)}(?=[\s>/])[^>]*>", run):
        depth += -1 if found[1] else 1
        if not depth:
            return 0, found.start()
    return depth, -1


def _keep_apart(found: Flow, group: Group, tag: str, inside: str, words: LanguageWords, position: int) -> None:
    """What is cut still counts: as a signal, a hatnote, a category, a mark."""
    if group == "editor mark":
        found.marks.append((_kind_of_mark(plain(inside), words), position))
    elif group == "hatnote":
        if text := _said(inside):
            found.hatnotes.append(text)
    elif group == "note":
        own = attributes_of(tag)
        classes = " ".join(re.findall(r'class="([^"]*)"', inside)[:8])
        signs = f"{own.get('class', '')} {own.get('id', '')} {classes}"
        found.notes.append(Note(signs.casefold(), _said(inside).casefold()))
    elif group == "references":
        found.listed_references += len(re.findall(r"<li\b", inside))
    elif group == "categories":
        found.categories += categories_in(f"<{tag}>{inside}")
    found.outer_links += outer_links(inside, group)


def _said(inside: str) -> str:
    """The words of a note, a line for the whole of it."""
    return plain(BLOCK_TAG.sub(" ", CODE_IN_NOTE.sub("", inside)))


BLOCK_TAG = re.compile(r"</?(?:p|div|li|ul|ol|dl|dd|dt|td|th|tr|table|br|h[1-6])\b[^>]*>")
CODE_IN_NOTE = re.compile(r"<(style|script)\b[^>]*>.*?</\1>", re.DOTALL)


def categories_in(markup: str) -> list[str]:
    """The page's categories, from the box that holds them."""
    at = markup.find("catlinks")
    if at < 0:
        return []
    links = outer_links(markup[at:], "categories")
    return [link.text for link in links if link.text and "Category:" in unescape(link.href)] or [
        link.text for link in links if link.text and "Special:" not in link.href
    ]


def _kind_of_mark(shown: str, words: LanguageWords) -> MarkKind:
    if NUMBERED.fullmatch(shown):
        return "reference"
    folded = shown.casefold()
    if any(phrase in folded for phrase in words.citation_needed):
        return "citation needed"
    if any(phrase in folded for phrase in words.disputed):
        return "disputed"
    return "editor note"


def _formula(tag: str) -> str:
    attributes = attributes_of(tag)
    tex = attributes.get("alttext") or attributes.get("alt") or ""
    found = TEX.fullmatch(tex.strip())
    return found[1].strip() if found else tex


def _cleaned(text: str) -> str:
    """Other white space becomes spaces, what shows nothing goes; spaces at the ends stay."""
    words = visible(text).split()
    if not words:
        return " " if text[:1].isspace() else ""
    return f"{' ' * text[0].isspace()}{' '.join(words)}{' ' * text[-1].isspace()}"


def _code(text: str, *, is_first: bool) -> str:
    """Text of a program keeps its lines and indents."""
    text = visible(text.expandtabs(4))
    if is_first:
        return "" if text.isspace() else text.lstrip("\n")
    return text


def _shorten(links: list[RawLink], position: int) -> None:
    """Links that ended in white space which was taken away end where the text does."""
    number = len(links) - 1
    while number >= 0 and links[number].end > position:
        links[number] = links[number]._replace(start=min(links[number].start, position), end=position)
        number -= 1


def _trim_end(out: list[str]) -> int:
    """Take white space off the end of what was written, and tell how much it was."""
    taken = 0
    while out and out[-1].isspace():
        taken += len(out.pop())
    if out:
        bare = out[-1].rstrip()
        taken += len(out[-1]) - len(bare)
        out[-1] = bare
    return taken
