"""A report as Markdown. Words of sources stay words: nothing in them becomes markup."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kiwiresearch.kin.report.document import (
    SCHEMES,
    Block,
    Document,
    FactEntry,
    Facts,
    Heading,
    Items,
    Line,
    Paragraph,
    Picture,
    Quotation,
    Span,
    Table,
    address,
    encodable,
)
from kiwiresearch.text.display import escaped_anywhere

ENTITY = re.compile(r"&(?=#?\w+;)")
IN_ADDRESS = str.maketrans({sign: f"%{ord(sign):02X}" for sign in "()<>\\|`"})
AUTOLINK = re.compile(r"(?<=[a-zA-Z])(?=://)|(?<=www)(?=\.)", re.IGNORECASE)
"""Where a bare address in the words of a source would become a link of its own."""
MAX_DEPTH = 12
"""Deeper lists are lists of lists that no reader shows well."""


def markdown(document: Document) -> str:
    """The report as text that any Markdown reader shows alike."""
    parts = [f"# {_words(document.title)}"]
    parts += ["\n".join(_block(block)) for block in document.blocks]
    return encodable("\n\n".join(part for part in parts if part) + "\n")


def _block(block: Block) -> Iterator[str]:
    match block:
        case Heading():
            yield f"{'#' * block.level} {_line(block.line)}"
        case Paragraph():
            yield _line(block.line)
        case Items():
            for number, line in enumerate(block.lines, start=1):
                yield f"{f'{number}.' if block.anchor else '-'} {_line(line)}"
        case Facts():
            for entry in block.entries:
                yield from _shown(entry)
        case Quotation():
            yield _quoted(block)
        case Table():
            yield f"| {' | '.join(map(_words, block.header))} |"
            yield f"|{' --- |' * len(block.header)}"
            yield from (f"| {' | '.join(map(_line, row))} |" for row in block.rows)
        case Picture():
            for branch in block.branches:
                yield f"{'  ' * min(branch.depth, MAX_DEPTH)}- {_line(branch.line)}"


def _shown(entry: FactEntry) -> Iterator[str]:
    badge = f" (*{_words(entry.badge)}*)" if entry.badge else ""
    yield f"- {_line(entry.line)}{badge}"
    yield from (f"  - {_line(note)}" for note in entry.notes)
    yield from (f"  - {_quoted(one)}" for one in entry.quotes)


def _quoted(quoted: Quotation) -> str:
    said = f"“{_words(quoted.words)}” " if quoted.words.strip() else ""
    notes = f" ({'; '.join(map(_words, quoted.notes))})" if quoted.notes else ""
    return f"{said}— {_line(quoted.cite)}{notes}"


def _line(line: Line) -> str:
    return "".join(map(_span, line))


def _words(text: str) -> str:
    return (
        AUTOLINK.sub(r"\\", escaped_anywhere(text))
        if "://" in text or "www" in text.lower()
        else escaped_anywhere(text)
    )


def _span(span: Span) -> str:
    # A space at the edge of a span is part of the sentence; only those inside are made one.
    before = " " if span.text[:1].isspace() else ""
    behind = " " if span.text[-1:].isspace() and span.text.strip() else ""
    text = _words(span.text)
    if text and (span.emphasis or span.strong):
        mark = "*" * (span.emphasis + 2 * span.strong)
        text = f"{mark}{text}{mark}"
    if text and span.url.startswith(SCHEMES) and not span.url.startswith("#"):
        text = f"[{text}]({_address(span.url)})"
    return f"{before}{text}{behind}"


def _address(url: str) -> str:
    return ENTITY.sub(r"\\&", address(url).translate(IN_ADDRESS))
