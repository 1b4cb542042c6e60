"""A document as Markdown. Words of books stay words: nothing in them becomes markup."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kiwiresearch.brief.document import (
    BREAK,
    SCHEMES,
    Block,
    CitedParagraph,
    CollapsedList,
    Document,
    DocumentSentence,
    Heading,
    Image,
    Line,
    LineList,
    Paragraph,
    PlainTable,
    Proof,
    SentenceList,
    Sentences,
    Span,
    Table,
    more_pages,
    safe_address,
)
from kiwiresearch.text.display import escaped_anywhere

ENTITY = re.compile(r"&(?=#?\w+;)")
LINE_END = "  \n  "
"""Two spaces keep it, and two more keep what follows within an item of a list."""
IN_ADDRESS = str.maketrans({sign: f"%{ord(sign):02X}" for sign in "()<>\\|`"})


def markdown(document: Document) -> str:
    """The document as text that any Markdown reader shows alike."""
    parts = [f"# {escaped_anywhere(document.title)}"]
    parts += ["\n".join(_block(block)) for block in document.blocks]
    return "\n\n".join(parts) + "\n"


def _block(block: Block) -> Iterator[str]:
    match block:
        case Heading():
            yield f"{'#' * block.level} {escaped_anywhere(block.text)}"
        case Paragraph():
            yield _line(block.line)
        case CitedParagraph():
            yield _running(block)
        case CollapsedList():
            yield f"{escaped_anywhere(block.label)}\n"
            yield from _block(block.items)
        case LineList():
            for number, line in enumerate(block.lines, start=1):
                yield f"{f'{number}.' if block.numbered else '-'} {_line(line)}"
        case SentenceList():
            yield from (f"- {_text(entry)}" for entry in block.entries)
        case PlainTable():
            yield from _table(block.header, [[escaped_anywhere(cell) for cell in row] for row in block.rows])
        case Table():
            yield from _table(block.header, [[_text(cell) for cell in row] for row in block.rows])
        case Image():
            yield f"![{escaped_anywhere(block.alt)}]({_address(block.address)}) {_line(block.caption)}"


def _table(header: tuple[str, ...], rows: list[list[str]]) -> Iterator[str]:
    yield f"| {' | '.join(map(escaped_anywhere, header))} |"
    yield f"|{' --- |' * len(header)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _text(text: Sentences) -> str:
    return " ".join(part for part in map(_sentence, text) if part)


def _running(passage: CitedParagraph) -> str:
    """Sentences one after the other, with their proof where it changes; only doubts are told of each."""
    parts: list[str] = []
    for run in passage.runs:
        for sentence in run.sentences:
            doubt = f" *({escaped_anywhere(sentence.doubt)})*" if sentence.doubt else ""
            parts.append(_line(sentence.line) + doubt)
        parts.append(f"({_proof(run.proof)})")
    return " ".join(part for part in parts if part)


def _sentence(sentence: DocumentSentence) -> str:
    said = _line(sentence.line)
    proof = _proof(sentence.proof) if sentence.proof else ""
    return f"{said} ({proof})" if said and proof else said or proof


def _proof(proof: Proof) -> str:
    parts = [_span(Span(cite.words, cite.url)) for cite in proof.cites]
    if proof.more:
        parts.append(more_pages(proof.more))
    if proof.sureness:
        parts.append(f"*{escaped_anywhere(proof.sureness)}*")
    return "; ".join(parts)


def _line(line: Line) -> str:
    return "".join(map(_span, line))


def _span(span: Span) -> str:
    if span == BREAK:
        return LINE_END
    # A space at the edge of a span is part of the sentence; only those inside are made one.
    before = " " if span.text[:1].isspace() else ""
    behind = " " if span.text[-1:].isspace() and span.text.strip() else ""
    text = escaped_anywhere(span.text)
    if text and (span.emphasis or span.strong):
        mark = "*" * (span.emphasis + 2 * span.strong)
        text = f"{mark}{text}{mark}"
    if span.url.startswith(SCHEMES):
        text = f"[{text}]({_address(span.url)})"
    return f"{before}{text}{behind}"


def _address(url: str) -> str:
    return ENTITY.sub(r"\\&", safe_address(url).translate(IN_ADDRESS))
