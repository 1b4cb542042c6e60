"""A document as Markdown. Text from sources is escaped, so that nothing in it becomes markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kiwiresearch.document.model import (
    BREAK,
    AnswerSpace,
    Block,
    CitedParagraph,
    CollapsedList,
    Diagram,
    Document,
    FactEntry,
    FactList,
    Heading,
    Image,
    Line,
    LineList,
    Paragraph,
    PlainTable,
    Proof,
    Quotation,
    Sentence,
    SentenceList,
    Sentences,
    Span,
    Table,
    external_url,
    more_pages,
    safe_address,
)
from kiwiresearch.text import escaped_anywhere

# The "&" of "&amp;" and "&#39;", but not of "AT&T" or "?a=1&b=2".
ENTITY = re.compile(r"&(?=#?\w+;)")
LINE_END = "  \n  "
"""Two spaces make a line break, and two more keep what follows within an item of a list."""
IN_ADDRESS = str.maketrans({sign: f"%{ord(sign):02X}" for sign in "()<>\\|`"})
AUTOLINK = re.compile(r"(?<=[a-zA-Z])(?=://)|(?<=www)(?=\.)", re.IGNORECASE)
"""Where to break a bare address in the words of a source, so that it does not become a link."""
WRITING_LINE = "\\_" * 40
MAX_DEPTH = 12
"""Deeper lists are not indented further, since no reader shows that well."""


def markdown(document: Document, *, breaks_autolinks: bool = False) -> str:
    """The document as Markdown that all readers show the same way.

    Family reports break bare addresses in the words of sources, so that these do not become links. Research briefs
    do not, since `verify` compares their bytes with those of runs that were made before.
    """
    writer = _MarkdownWriter(breaks_autolinks)
    parts = [f"# {writer.words(document.title)}"]
    parts += ["\n".join(writer.block(block)) for block in document.blocks]
    return "\n\n".join(part for part in parts if part) + "\n"


@dataclass(frozen=True, slots=True)
class _MarkdownWriter:
    breaks_autolinks: bool

    def block(self, block: Block) -> Iterator[str]:
        match block:
            case Heading():
                yield f"{'#' * block.level} {self._line(block.line).strip()}"
            case Paragraph():
                yield self._line(block.line)
            case CitedParagraph():
                yield self._cited_paragraph(block)
            case CollapsedList():
                yield f"{self.words(block.label)}\n"
                yield from self.block(block.items)
            case LineList():
                for number, line in enumerate(block.lines, start=1):
                    yield f"{f'{number}.' if block.numbered else '-'} {self._line(line)}"
            case SentenceList():
                yield from (f"- {self._text(entry)}" for entry in block.entries)
            case FactList():
                for number, entry in enumerate(block.entries, start=1):
                    yield from self._fact(entry, f"{number}." if block.numbered else "-")
            case PlainTable():
                yield from self._table(block.header, (map(self.words, row) for row in block.rows))
            case Table():
                yield from self._table(block.header, (map(self._text, row) for row in block.rows))
            case Image():
                yield f"![{self.words(block.alt)}]({_address(block.address)}) {self._line(block.caption)}"
            case AnswerSpace():
                yield "\n\n".join([WRITING_LINE] * block.lines)
            case Diagram():
                for branch in block.branches:
                    yield f"{'  ' * min(branch.depth, MAX_DEPTH)}- {self._line(branch.line)}"

    def words(self, text: str) -> str:
        plain = escaped_anywhere(text)
        return AUTOLINK.sub(r"\\", plain) if self.breaks_autolinks else plain

    def _table(self, header: tuple[str, ...], rows: Iterable[Iterable[str]]) -> Iterator[str]:
        yield f"| {' | '.join(map(self.words, header))} |"
        yield f"|{' --- |' * len(header)}"
        yield from (f"| {' | '.join(row)} |" for row in rows)

    def _text(self, text: Sentences) -> str:
        return " ".join(part for part in map(self._sentence, text) if part)

    def _cited_paragraph(self, paragraph: CitedParagraph) -> str:
        """The sentences with their doubts, and a proof at the end of each group."""
        parts: list[str] = []
        for group in paragraph.groups:
            for sentence in group.sentences:
                doubt = f" *({self.words(sentence.doubt)})*" if sentence.doubt else ""
                parts.append(self._line(sentence.line) + doubt)
            parts.append(f"({self._proof(group.proof)})")
        return " ".join(part for part in parts if part)

    def _sentence(self, sentence: Sentence) -> str:
        said = self._line(sentence.line)
        proof = self._proof(sentence.proof) if sentence.proof else ""
        return f"{said} ({proof})" if said and proof else said or proof

    def _proof(self, proof: Proof) -> str:
        parts = [self._span(Span(cite.words, cite.url)) for cite in proof.cites]
        if proof.more:
            parts.append(more_pages(proof.more))
        if proof.certainty:
            parts.append(f"*{self.words(proof.certainty)}*")
        return "; ".join(parts)

    def _fact(self, entry: FactEntry, mark: str) -> Iterator[str]:
        badge = f" (*{self.words(entry.badge)}*)" if entry.badge else ""
        yield f"{mark} {self._line(entry.line)}{badge}"
        indent = " " * (len(mark) + 1)
        yield from (f"{indent}- {self._line(note)}" for note in entry.notes)
        yield from (f"{indent}- {self._quotation(quotation)}" for quotation in entry.quotations)

    def _quotation(self, quotation: Quotation) -> str:
        said = f"“{self.words(quotation.words)}” " if quotation.words.strip() else ""
        notes = f" ({'; '.join(map(self.words, quotation.notes))})" if quotation.notes else ""
        return f"{said}— {self._line(quotation.source)}{notes}"

    def _line(self, line: Line) -> str:
        return "".join(map(self._span, line))

    def _span(self, span: Span) -> str:
        if span == BREAK:
            return LINE_END
        # A space at the edge of a span belongs to the sentence; only white space inside is collapsed.
        before = " " if span.text[:1].isspace() else ""
        after = " " if span.text[-1:].isspace() and span.text.strip() else ""
        text = self.words(span.text)
        if text and (span.emphasis or span.strong):
            mark = "*" * (span.emphasis + 2 * span.strong)
            text = f"{mark}{text}{mark}"
        # Markdown has no anchors for our headings, so links within the document are left out.
        if url := external_url(span.url):
            text = f"[{text}]({_address(url)})"
        return f"{before}{text}{after}"


def _address(url: str) -> str:
    return ENTITY.sub(r"\\&", safe_address(url).translate(IN_ADDRESS))
