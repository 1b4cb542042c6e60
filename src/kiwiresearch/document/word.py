"""A document as the parts of a Word file (WordprocessingML): its text with real styles, footnotes and links."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from kiwiresearch.document.model import (
    BREAK,
    AnswerSpace,
    Block,
    Branch,
    Cite,
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
    cell,
    line_of,
    more_pages,
    plain_text,
    safe_address,
)
from kiwiresearch.document.picture_header import PictureSize
from kiwiresearch.document.word_markup import (
    bookmark,
    drawing,
    heading_bookmark,
    inner_link,
    numbering,
    paragraph,
    run,
    table_cell,
    table_start,
)
from kiwiresearch.network import WEB_SCHEMES

BULLETS = 1
FIRST_NUMBERED = 2
"""The id of the first numbered list; each has its own, so that each starts at 1."""

NUMBERED_SOURCES = "source"
"""The anchor of a list whose numbers are shown in citations."""

NO_TARGETS: Mapping[str, str] = MappingProxyType({})


class WordPicture(NamedTuple):
    """A picture of the document: its file in the package, and its size."""

    file: str
    size: PictureSize


class WordParts(NamedTuple):
    """What a package needs to know of the text: its XML, its footnotes, its links and its lists."""

    body: str
    footnotes: str
    links: tuple[str, ...]
    """Addresses that the text links to; the first has the relationship 'link1'."""
    footnote_links: tuple[str, ...]
    pictures: tuple[str, ...]
    """Files of pictures; the first has the relationship 'picture1'."""
    numbered_lists: int


def word_parts(
    document: Document,
    pictures: Mapping[str, WordPicture] = MappingProxyType({}),
    targets: Mapping[str, str] = NO_TARGETS,
    *,
    with_contents: bool = True,
) -> WordParts:
    """The parts of a Word file. Images are shown if `pictures` has their address.

    A citation links to the list entry that `targets` names for its address, so that it leads to the bibliography.
    """
    return _WordWriter(pictures, targets).write(document, with_contents=with_contents)


@dataclass(slots=True)
class _WordWriter:
    pictures: Mapping[str, WordPicture]
    targets: Mapping[str, str]
    links: list[str] = field(default_factory=list)
    footnote_links: list[str] = field(default_factory=list)
    footnotes: list[str] = field(default_factory=list)
    used_pictures: list[str] = field(default_factory=list)
    numbered: int = 0
    bookmarks: int = 0
    headings: int = 0

    def write(self, document: Document, *, with_contents: bool) -> WordParts:
        body = "".join(part for block in document.blocks for part in self._block(block))
        title = paragraph(run(document.title), "Title", document.title)
        contents = _contents(document.blocks) if with_contents else ""
        return WordParts(
            title + contents + body,
            "".join(self.footnotes),
            tuple(self.links),
            tuple(self.footnote_links),
            tuple(self.used_pictures),
            self.numbered,
        )

    def _block(self, block: Block) -> Iterator[str]:
        match block:
            case Heading():
                yield self._heading(block)
            case Paragraph():
                yield self._words(block.line, "Note" if block.css_class == "note" else "")
            case CitedParagraph():
                yield self._cited_paragraph(block)
            case CollapsedList():
                yield self._words(line_of(Span(block.label, emphasis=True)))
                yield from self._block(block.items)
            case LineList():
                yield from self._list(block)
            case SentenceList():
                for number, entry in enumerate(block.entries, start=1):
                    words = " ".join(plain_text(sentence.line) for sentence in entry)
                    runs = self._bookmark_item(block.anchor, number, self._text(entry))
                    yield paragraph(runs, "ListBullet", words, numbering(BULLETS))
            case FactList():
                yield from self._facts(block)
            case PlainTable():
                yield from self._table(block.header, [[cell(item) for item in row] for row in block.rows])
            case Table():
                yield from self._table(block.header, block.rows, block.label)
            case Image():
                yield from self._image(block)
            case Diagram():
                yield from map(self._branch, block.branches)
            case AnswerSpace():
                yield '<w:p><w:pPr><w:pStyle w:val="AnswerLine"/></w:pPr></w:p>' * block.lines

    def _heading(self, heading: Heading) -> str:
        self.headings += 1
        name = heading_bookmark(self.headings)
        runs = self._bookmark(name, self._line(heading.line))
        style = f"Heading{min(max(heading.level - 1, 1), 3)}"
        return paragraph(runs, style, plain_text(heading.line), "<w:pageBreakBefore/>" if heading.new_page else "")

    def _words(self, line: Line, style: str = "", properties: str = "") -> str:
        return paragraph(self._line(line), style, plain_text(line), properties)

    def _branch(self, branch: Branch) -> str:
        return self._words(branch.line, "ListBullet", numbering(BULLETS, branch.depth))

    def _list(self, block: LineList) -> Iterator[str]:
        style, number_id = self._list_style(numbered=block.numbered)
        for number, line in enumerate(block.lines, start=1):
            runs = self._bookmark_item(block.anchor, number, self._line(line))
            yield paragraph(runs, style, plain_text(line), numbering(number_id))

    def _list_style(self, *, numbered: bool) -> tuple[str, int]:
        """The style of the items of a new list, and the id of its bullets or numbers."""
        if not numbered:
            return "ListBullet", BULLETS
        self.numbered += 1
        return "ListNumber", FIRST_NUMBERED + self.numbered - 1

    def _bookmark_item(self, anchor: str, number: int, runs: str) -> str:
        return self._bookmark(f"{anchor}_{number}", runs) if anchor else runs

    def _bookmark(self, name: str, runs: str) -> str:
        self.bookmarks += 1
        return bookmark(self.bookmarks, name, runs)

    def _cited_paragraph(self, block: CitedParagraph) -> str:
        """The sentences with their doubts, and a footnote at the end of each group."""
        runs, words = [], []
        for group in block.groups:
            for sentence in group.sentences:
                words.append(plain_text(sentence.line))
                doubt = line_of(" ", Span(f"({sentence.doubt})", emphasis=True)) if sentence.doubt else ()
                runs.append(self._line((*sentence.line, *doubt)))
            runs[-1] += self._footnote(group.proof, " ".join(words))
        return paragraph(run(" ").join(runs), "", " ".join(words))

    def _text(self, text: Sentences) -> str:
        return run(" ").join(map(self._sentence, text))

    def _sentence(self, sentence: Sentence) -> str:
        words = self._line(sentence.line)
        if sentence.proof is None:
            return words
        # A cell without words of its own shows its citations as text.
        if not plain_text(sentence.line).strip():
            return self._cites(sentence.proof, self.links)
        return words + self._footnote(sentence.proof, plain_text(sentence.line))

    def _footnote(self, proof: Proof, shown: str) -> str:
        """A footnote with the places, and with quotes that the sentence does not repeat word for word."""
        number = len(self.footnotes) + 1
        mark = '<w:r><w:rPr><w:rStyle w:val="FootnoteReference"/></w:rPr><w:footnoteRef/></w:r>'
        parts = [paragraph(mark + run(" ") + self._cites(proof, self.footnote_links), "FootnoteText", "")]
        quotes = dict.fromkeys(
            quote for quotation in proof.quotations for quote in (quotation.words, *quotation.others)
        )
        seen = " ".join(shown.split())
        parts += [
            paragraph(run(f"“{quote}”"), "FootnoteText", quote)
            for quote in quotes
            if " ".join(quote.split()) not in seen
        ]
        self.footnotes.append(f'<w:footnote w:id="{number}">{"".join(parts)}</w:footnote>')
        style = '<w:rPr><w:rStyle w:val="FootnoteReference"/></w:rPr>'
        return f'<w:r>{style}<w:footnoteReference w:id="{number}"/></w:r>'

    def _cites(self, proof: Proof, links: list[str]) -> str:
        parts = [self._cite(cite, links) for cite in proof.cites]
        if proof.more:
            parts.append(run(more_pages(proof.more)))
        if proof.certainty:
            parts.append(run(proof.certainty, italic=True))
        return run("; ").join(parts)

    def _cite(self, cite: Cite, links: list[str]) -> str:
        target = self.targets.get(cite.url.partition("#")[0], "")
        if not target:
            return self._span(Span(cite.words, cite.url), links)
        anchor, _, number = target.rpartition("_")
        return inner_link(target, f"{cite.words} [{number}]" if anchor == NUMBERED_SOURCES else cite.words)

    def _facts(self, block: FactList) -> Iterator[str]:
        style, number_id = self._list_style(numbered=block.numbered)
        for entry in block.entries:
            yield from self._fact(entry, style, number_id)

    def _fact(self, entry: FactEntry, style: str, number_id: int) -> Iterator[str]:
        badge = line_of(" (", Span(entry.badge, emphasis=True), ")") if entry.badge else ()
        yield self._words((*entry.line, *badge), style, numbering(number_id))
        yield from (self._words(note, "ListBullet", numbering(BULLETS, 1)) for note in entry.notes)
        for quotation in entry.quotations:
            yield self._words(_quoted(quotation), "Quote")

    def _table(self, header: Sequence[str], rows: Iterable[Sequence[Sentences]], label: str = "") -> Iterator[str]:
        yield table_start(len(header), label)
        cells = "".join(table_cell(run(item, bold=True), item, len(header)) for item in header)
        yield f"<w:tr><w:trPr><w:cantSplit/><w:tblHeader/></w:trPr>{cells}</w:tr>"
        for row in rows:
            cells = "".join(
                table_cell(self._text(item), " ".join(plain_text(part.line) for part in item), len(header))
                for item in row
            )
            yield f"<w:tr><w:trPr><w:cantSplit/></w:trPr>{cells}</w:tr>"
        # Word joins tables that follow each other directly.
        yield '</w:tbl><w:p><w:pPr><w:spacing w:after="0"/></w:pPr></w:p>'

    def _image(self, image: Image) -> Iterator[str]:
        picture = self.pictures.get(image.address)
        if picture is None:
            return
        if picture.file not in self.used_pictures:
            self.used_pictures.append(picture.file)
        number = self.used_pictures.index(picture.file) + 1
        yield paragraph(drawing(number, picture.size, image.alt), "Picture", "")
        yield self._words(image.caption, "Caption")

    def _line(self, line: Line) -> str:
        return "".join(self._span(span, self.links) for span in line)

    def _span(self, span: Span, links: list[str]) -> str:
        if span == BREAK:
            return "<w:r><w:br/></w:r>"
        target = self.targets.get(span.url.partition("#")[0], "") if span.url else ""
        if target:
            return inner_link(target, span.text)
        # Only web addresses: a word processor knows no other, and links within the document are made above.
        if not span.url.startswith(WEB_SCHEMES):
            return run(span.text, bold=span.strong, italic=span.emphasis)
        address = safe_address(span.url)
        if address not in links:
            links.append(address)
        runs = run(span.text, bold=span.strong, italic=span.emphasis, style="Hyperlink")
        return f'<w:hyperlink r:id="link{links.index(address) + 1}">{runs}</w:hyperlink>'


def _quoted(quotation: Quotation) -> Line:
    said = f"“{quotation.words}” " if quotation.words.strip() else ""
    notes = f" ({'; '.join(quotation.notes)})" if quotation.notes else ""
    return line_of(said, "— ", *quotation.source, notes)


CONTENTS = "Contents"
DEEPEST_HEADING = 3
"""The lowest level of headings in the contents."""


def _contents(blocks: Sequence[Block]) -> str:
    """A table of contents as a field: its links work at once, and updating it adds page numbers."""
    headings = [block for block in blocks if isinstance(block, Heading)]
    entries = [(number, item) for number, item in enumerate(headings, start=1) if item.level <= DEEPEST_HEADING]
    if not entries:
        return ""
    start = (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r>'
        f'<w:r><w:instrText xml:space="preserve"> TOC \\o "1-{DEEPEST_HEADING - 1}" \\h \\z \\u </w:instrText></w:r>'
        '<w:r><w:fldChar w:fldCharType="separate"/></w:r>'
    )
    end = '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    lines = []
    for place, (index, heading) in enumerate(entries):
        words = plain_text(heading.line)
        runs = inner_link(heading_bookmark(index), words, style="")
        runs = (start if place == 0 else "") + runs + (end if place == len(entries) - 1 else "")
        lines.append(paragraph(runs, f"TOC{max(heading.level - 1, 1)}", words))
    gallery = '<w:docPartObj><w:docPartGallery w:val="Table of Contents"/><w:docPartUnique/></w:docPartObj>'
    inside = paragraph(run(CONTENTS), "TOCHeading", CONTENTS) + "".join(lines)
    return f"<w:sdt><w:sdtPr>{gallery}</w:sdtPr><w:sdtContent>{inside}</w:sdtContent></w:sdt>"
