"""What is cut from the text still counts: as a link, a mark, a note, a hatnote, a category."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

from kiwiresearch.page.cuts import Group
from kiwiresearch.page.doc import MarkKind
from kiwiresearch.page.elements import VOID, attributes_of, name_of
from kiwiresearch.page.found import Flow, Note, OuterLink
from kiwiresearch.page.pieces import SUPERSCRIPTS, visible, with_formulas
from kiwiresearch.text.languages import LanguageWords

LINK = re.compile(r'<a (?:[^>]*?\s)?href="([^"]*)"[^>]*>(.*?)</a>', re.DOTALL)
ANY_TAG = re.compile(r"<[^>]*>")
BRACKETED = re.compile(r"\s*\[[^\[\]]{1,40}\]\s*")
NUMBERED = re.compile(r"\s*\[\s*(?:(?:note|nb|fn)\s*)?[0-9a-z]{1,3}\s*\]\s*", re.IGNORECASE)
WRITTEN_MARK = re.compile(r"\[\s*(?:<[^<>]*>\s*)*(?:full )?citation needed\s*(?:<[^<>]*>\s*)*\]", re.IGNORECASE)
SPLIT_NOTE = re.compile(r"<sup>(\s*\[(?:[^<\[\]]|<(?!/?sup\b)[^>]*>){1,400}\]\s*)</sup>")
"""A raised note in brackets with tags inside, such as [<i>when?</i>]."""

BLOCK_TAG = re.compile(r"</?(?:p|div|li|ul|ol|dl|dd|dt|td|th|tr|table|br|h[1-6])\b[^>]*>")
CODE_IN_NOTE = re.compile(r"<(style|script)\b[^>]*>.*?</\1>", re.DOTALL)

RAW_TEXT = frozenset({"script", "style", "xmp", "iframe", "noembed", "noframes", "noscript", "plaintext"})
"""Elements whose content is no markup."""

Pairs = Iterator[tuple[str, str]]
"""Runs of tags, each with the text behind it."""


def element(tag: str, rest: str, text: str, pairs: Pairs) -> tuple[str, str, str]:
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


def keep_apart(found: Flow, group: Group, tag: str, inside: str, words: LanguageWords, position: int) -> None:
    """What is cut still counts: as a signal, a hatnote, a category, a mark."""
    if group == "editor mark":
        found.marks.append((kind_of_mark(plain(inside), words), position))
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


def with_marks(markup: str) -> str:
    """Notes of editors that do not show by their class what they are get one that does."""
    if "citation needed" in markup:  # some pages have it as text of their own
        markup = WRITTEN_MARK.sub('<sup class="Template-Fact">[citation needed]</sup>', markup)
    if ">[" in markup:
        markup = SPLIT_NOTE.sub(_marked, markup)
    return with_formulas(markup)


def _marked(found: re.Match[str]) -> str:
    is_note = "<" in found[1] and BRACKETED.fullmatch(plain(found[1]))
    return f'<sup class="Inline-Template">{found[1]}</sup>' if is_note else found[0]


def without_marks(text: str, shifted: dict[str, str], found: Flow, position: int, words: LanguageWords) -> str:
    """What is raised or lowered keeps its meaning when its tag is gone.

    Numbers in brackets and notes of editors are marks, not text; figures become
    the characters of that height, since 10<sup>6</sup> is not 106.
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


def outer_links(markup: str, group: Group) -> list[OuterLink]:
    """The links in a part of the page that is not the article's text."""
    if "<a " not in markup:
        return []
    return [OuterLink(href, plain(inner), group) for href, inner in LINK.findall(markup)]


def categories_in(markup: str) -> list[str]:
    """The page's categories, from the box that holds them."""
    at = markup.find("catlinks")
    if at < 0:
        return []
    links = outer_links(markup[at:], "categories")
    return [link.text for link in links if link.text and "Category:" in unescape(link.href)] or [
        link.text for link in links if link.text and "Special:" not in link.href
    ]


def plain(markup: str) -> str:
    """The words of some markup that has nothing hidden in it."""
    return " ".join(visible(unescape(ANY_TAG.sub("", markup))).split())


def _said(inside: str) -> str:
    """The words of a note, a line for the whole of it."""
    return plain(BLOCK_TAG.sub(" ", CODE_IN_NOTE.sub("", inside)))
