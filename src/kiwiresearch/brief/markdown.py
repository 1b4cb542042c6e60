"""A document as Markdown. Words of books stay words: nothing in them becomes markup."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kiwiresearch.brief.document import Block, Document, Heading, Items, Line, Paragraph, Rows, Span, address
from kiwiresearch.text.plain import printable

SPECIAL = re.compile(r"([\\`*_\[\]<>|~]|&(?=#?\w+;))")
LINE_START = re.compile(r"^(#{1,6}|[>+=-]+|\d+[.)])(?=\s|$)")
IN_ADDRESS = str.maketrans({"(": "%28", ")": "%29", "<": "%3C", ">": "%3E", "\\": "%5C"})


def markdown(document: Document) -> str:
    """The document as text that any Markdown reader shows alike."""
    parts = [f"# {escaped(document.title)}"]
    parts += ["\n".join(_block(block)) for block in document.blocks]
    return "\n\n".join(parts) + "\n"


def escaped(text: str) -> str:
    """Words that stay words, in one line."""
    plain = SPECIAL.sub(r"\\\1", " ".join(printable(text).split()))
    return LINE_START.sub(_at_start, plain)


def _at_start(found: re.Match[str]) -> str:
    """A sign that would begin a list, a heading or a quotation."""
    sign = found[1]
    return f"{sign[:-1]}\\{sign[-1]}" if sign[0].isdigit() else f"\\{sign}"


def _block(block: Block) -> Iterator[str]:
    match block:
        case Heading():
            yield f"{'#' * block.level} {escaped(block.text)}"
        case Paragraph():
            yield _line(block.line)
        case Items():
            for number, line in enumerate(block.lines, start=1):
                yield f"{f'{number}.' if block.numbered else '-'} {_line(line)}"
        case Rows():
            yield f"| {' | '.join(map(escaped, block.header))} |"
            yield f"|{' --- |' * len(block.header)}"
            for row in block.rows:
                yield f"| {' | '.join(map(escaped, row))} |"


def _line(line: Line) -> str:
    return "".join(map(_span, line))


def _span(span: Span) -> str:
    # A space at the edge of a span is part of the sentence; only those inside are made one.
    before = " " if span.text[:1].isspace() else ""
    behind = " " if span.text[-1:].isspace() and span.text.strip() else ""
    text = escaped(span.text)
    if span.emphasis and text:
        text = f"*{text}*"
    if span.url:
        text = f"[{text}]({address(span.url).translate(IN_ADDRESS)})"
    return f"{before}{text}{behind}"
