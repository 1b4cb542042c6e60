"""Data that a pass over the markup collects in addition to the text, and signals derived from it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from html import unescape
from typing import NamedTuple

from kiwiresearch.page.doc import Block, BlockKind, Cell, Mark, MarkKind, PageSignals, Section, Signal
from kiwiresearch.page.elements import VOID, CutGroup, attributes_of, name_of
from kiwiresearch.page.html import SUPERSCRIPTS, visible, with_formulas
from kiwiresearch.text import LanguageWords


class RawLink(NamedTuple):
    """A link in the text, and the kind of block it is in."""

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
    group: CutGroup


class EditorNote(NamedTuple):
    """An editors' note about the page: the classes and ids of its box, and its text, in lower case."""

    classes: str
    text: str


@dataclass(frozen=True, slots=True)
class RawHeading:
    """A heading of the text."""

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
class FlowResult:
    """The result of one pass over the markup."""

    text: str = ""
    links: list[RawLink] = field(default_factory=list)
    headings: list[RawHeading] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    tables: list[RawTable] = field(default_factory=list)
    marks: list[tuple[MarkKind, int]] = field(default_factory=list)
    outer_links: list[OuterLink] = field(default_factory=list)
    infoboxes: list[str] = field(default_factory=list)
    hatnotes: list[str] = field(default_factory=list)
    notes: list[EditorNote] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)
    listed_references: int = 0


LINK = re.compile(r'<a (?:[^>]*?\s)?href="([^"]*)"[^>]*>(.*?)</a>', re.DOTALL)
ANY_TAG = re.compile(r"<[^>]*>")
BRACKETED = re.compile(r"\s*\[[^\[\]]{1,40}\]\s*")
# '[1]', '[note 3]', '[a]'; not '[when?]', which is a note of editors.
NUMBERED = re.compile(r"\s*\[\s*(?:(?:note|nb|fn)\s*)?[0-9a-z]{1,3}\s*\]\s*", re.IGNORECASE)
WRITTEN_MARK = re.compile(r"\[\s*(?:<[^<>]*>\s*)*(?:full )?citation needed\s*(?:<[^<>]*>\s*)*\]", re.IGNORECASE)
SPLIT_NOTE = re.compile(r"<sup>(\s*\[(?:[^<\[\]]|<(?!/?sup\b)[^>]*>){1,400}\]\s*)</sup>")
"""A raised note in brackets with tags inside, such as [<i>when?</i>]."""

BLOCK_TAG = re.compile(r"</?(?:p|div|li|ul|ol|dl|dd|dt|td|th|tr|table|br|h[1-6])\b[^>]*>")
CODE_IN_NOTE = re.compile(r"<(style|script)\b[^>]*>.*?</\1>", re.DOTALL)

RAW_TEXT = frozenset({"script", "style", "xmp", "iframe", "noembed", "noframes", "noscript", "plaintext"})
"""Elements whose content is not markup."""

MAX_BOX_DEPTH = 4
"""Infoboxes nested deeper are read as part of the one around them."""

Pairs = Iterator[tuple[str, str]]
"""Runs of tags, each with the text after it."""


def read_element(tag: str, rest: str, text: str, pairs: Pairs) -> tuple[str, str, str]:
    """Read to the end of an element that was just opened.

    Returns its inner markup, the rest of the run in which it ends, and the text
    after that run.
    """
    name = name_of(tag)
    if name in VOID or tag.endswith("/"):
        return "", rest, text
    opening = "\n" if name in RAW_TEXT else f"<{name}"  # what looks like a tag in raw text is not one
    closing = f"</{name}>"
    inside: list[str] = []
    depth = 1
    run = rest
    while True:
        at = run.find(closing)
        # The usual case without a regular expression: the run only closes elements of this name.
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
    """The depth after a run that opens and closes elements of this name; 0, and where, if they all end in it."""
    for found in _tags_named(name).finditer(run):
        depth += -1 if found[1] else 1
        if not depth:
            return 0, found.start()
    return depth, -1


def end_of_element(markup: str, tag: str, start: int, end: int) -> int:
    """Where an element ends whose opening tag ends at `start`; `end` if it is not closed before."""
    name = name_of(tag)
    if name in VOID or tag.endswith("/"):
        return start
    if name in RAW_TEXT:
        at = markup.find(f"</{name}>", start, end)
        return at + len(name) + 3 if at >= 0 else end
    depth = 1
    for found in _tags_named(name).finditer(markup, start, end):
        depth += -1 if found[1] else 1
        if not depth:
            return found.end()
    return end


@lru_cache(maxsize=256)
def _tags_named(name: str) -> re.Pattern[str]:
    return re.compile(rf"<(/?){re.escape(name)}(?=[\s>/])[^>]*>")


def collect_cut(found: FlowResult, group: CutGroup, tag: str, inside: str, words: LanguageWords, position: int) -> None:
    """Collect what a cut element contributes: a mark, a hatnote, a note, references, categories, links."""
    if group == "editor mark":
        found.marks.append((kind_of_mark(visible_words(inside), words), position))
    elif group == "hatnote":
        if text := _note_words(inside):
            found.hatnotes.append(text)
    elif group == "note":
        own = attributes_of(tag)
        classes = " ".join(re.findall(r'class="([^"]*)"', inside)[:8])
        signs = f"{own.get('class', '')} {own.get('id', '')} {classes}"
        found.notes.append(EditorNote(signs.casefold(), _note_words(inside).casefold()))
    elif group == "references":
        found.listed_references += len(re.findall(r"<li\b", inside))
    elif group == "categories":
        found.categories += categories_in(f"<{tag}>{inside}")
    found.outer_links += outer_links(inside, group)


def mark_editor_notes(markup: str) -> str:
    """Give editors' notes that lack a known class one that the cut rules match."""
    if "citation needed" in markup:  # some pages write it as plain text
        markup = WRITTEN_MARK.sub('<sup class="Template-Fact">[citation needed]</sup>', markup)
    if ">[" in markup:
        markup = SPLIT_NOTE.sub(_with_note_class, markup)
    return with_formulas(markup)


def _with_note_class(found: re.Match[str]) -> str:
    is_note = "<" in found[1] and BRACKETED.fullmatch(visible_words(found[1]))
    return f'<sup class="Inline-Template">{found[1]}</sup>' if is_note else found[0]


def shifted_text(text: str, shifted: dict[str, str], found: FlowResult, position: int, words: LanguageWords) -> str:
    """Raised or lowered text in a form that keeps its meaning without the tag.

    Numbers in brackets and editors' notes are marks, not text; digits become superscript
    or subscript characters, since 10<sup>6</sup> is not 106.
    """
    bare = text.strip()
    if bare and all(character in shifted for character in bare):
        return "".join(shifted[character] for character in bare)
    if shifted is SUPERSCRIPTS and BRACKETED.fullmatch(text):
        found.marks.append((kind_of_mark(text, words), position))
        return ""
    return text


def kind_of_mark(shown: str, words: LanguageWords) -> MarkKind:
    if NUMBERED.fullmatch(shown):
        return "reference"
    folded = shown.casefold()
    if any(phrase in folded for phrase in words.citation_needed):
        return "citation needed"
    if any(phrase in folded for phrase in words.disputed):
        return "disputed"
    return "editor note"


def outer_links(markup: str, group: CutGroup) -> list[OuterLink]:
    """The links in a part of the page that is not the article's text."""
    if "<a " not in markup:
        return []
    return [OuterLink(href, visible_words(inner), group) for href, inner in LINK.findall(markup)]


def categories_in(markup: str) -> list[str]:
    """The page's categories, from the box that holds them."""
    at = markup.find("catlinks")
    if at < 0:
        return []
    links = outer_links(markup[at:], "categories")
    return [link.text for link in links if link.text and "Category:" in unescape(link.href)] or [
        link.text for link in links if link.text and "Special:" not in link.href
    ]


def visible_words(markup: str) -> str:
    """The words of markup that has no hidden elements."""
    return " ".join(visible(unescape(ANY_TAG.sub("", markup))).split())


def _note_words(inside: str) -> str:
    """The words of a note, in one line."""
    return visible_words(BLOCK_TAG.sub(" ", CODE_IN_NOTE.sub("", inside)))


STUB_CHARS = 900
"""Shorter articles without sections and with hardly any references count as stubs."""

STUB_REFERENCES = 2
LEAD_CHARS = 400
"""Disambiguation pages say what they are within this many characters."""

LIST_SHARE = 0.85
MIN_LIST_BLOCKS = 16
"""A page with at least this many items or rows, which make up this share of it, is a list."""

ABSENT = Signal(holds=False)


def page_signals(
    page: FlowResult,
    *,
    title: str,
    sections: Sequence[Section],
    blocks: Sequence[Block],
    marks: Sequence[Mark],
    words: LanguageWords,
    lead_only: bool,
) -> PageSignals:
    """Read the signals of the article's own text, without its infoboxes."""
    text = page.text
    length = len(text)
    references = page.listed_references or sum(mark.kind == "reference" for mark in marks)
    disambiguation = _disambiguation(page, title, text[:LEAD_CHARS], blocks, words)
    list_page = _list_page(page, title, text, blocks, words)
    stub = _stub(page, length, words)
    # What is short by nature, such as a list or a page of a book of introductions, is not a stub.
    is_short = length < STUB_CHARS and len(sections) == 1 and references <= STUB_REFERENCES
    if not stub and is_short and not lead_only and not disambiguation and not list_page:
        stub = _inferred(f"{length} characters, no sections, {references} references")
    return PageSignals(
        stub=stub,
        citation_needed=_marked_signal(page, marks, "citation needed", words.citation_needed),
        disputed=_marked_signal(page, marks, "disputed", words.disputed),
        disambiguation=disambiguation,
        list_page=list_page,
        references=references,
        length=length,
    )


def _seen(why: str) -> Signal:
    return Signal(holds=True, basis="seen", why=why)


def _inferred(why: str) -> Signal:
    return Signal(holds=True, basis="inferred", why=why)


def _stub(page: FlowResult, length: int, words: LanguageWords) -> Signal:
    for signs, said in page.notes:
        if any(word in said for word in words.section_words):
            continue
        # A box without words on a long page is about one of its sections.
        has_sign = "stub" in signs.split() and (said or length < LONG_FOR_A_STUB)
        if has_sign or any(note in said for note in words.stub_notes):
            return _seen("stub note")
    return ABSENT


LONG_FOR_A_STUB = 5 * STUB_CHARS


def _disambiguation(page: FlowResult, title: str, lead: str, blocks: Sequence[Block], words: LanguageWords) -> Signal:
    for signs, said in page.notes:
        if "disambig" in signs or "disambig" in said:
            return _seen("disambiguation box")
    folded = title.casefold()
    if any(folded.endswith(suffix) for suffix in words.disambiguation_suffixes):
        return _inferred("title")
    first_line = lead.partition("\n")[0].casefold()
    phrase = next((p for p in words.may_refer if p in first_line), "")
    if phrase and (first_line.endswith(":") or len(first_line) < SHORT_LINE):
        items = sum(block.kind == "item" for block in blocks)
        if items > 1 and items >= len(blocks) / 3:
            return _inferred(f"{phrase!r} before a list")
    return ABSENT


SHORT_LINE = 160


def _list_page(page: FlowResult, title: str, text: str, blocks: Sequence[Block], words: LanguageWords) -> Signal:
    folded = title.casefold()
    if any(folded.startswith(start) for start in words.list_titles):
        return _inferred("title")
    if page.infoboxes:  # a page about an album is mostly its track list, but not a list page
        return ABSENT
    rows = [block.end - block.start for block in blocks if block.kind == "item" or block.kind == "row"]
    if len(rows) >= MIN_LIST_BLOCKS and sum(rows) / len(text) > LIST_SHARE:
        return _inferred("nearly all of it is lists or tables")
    return ABSENT


def _marked_signal(page: FlowResult, marks: Sequence[Mark], kind: str, phrases: Sequence[str]) -> Signal:
    inline = sum(mark.kind == kind for mark in marks)
    if inline:
        return _seen(f"{inline} in the text")
    for signs, said in page.notes:
        if any(phrase in said or phrase.replace(" ", "_") in signs for phrase in phrases):
            return _seen("box")
    return ABSENT
