"""The brief as a Word file: numbered sources, and footnotes that lead to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from kiwiresearch.brief import brief_document
from kiwiresearch.document import NUMBERED_SOURCES, Block, CollapsedList, Line, LineList
from kiwiresearch.export.brief_files import inner_address, note_blocks, with_inner_links
from kiwiresearch.export.findings import RunFindings
from kiwiresearch.export.word_package import WordProperties, word_file

OTHER_SOURCES = "other"


def brief_in_word(findings: RunFindings) -> bytes:
    """The brief with its pictures and the reader's notes."""
    # Pages are named by placeholders first, so that each citation finds its entry in the bibliography.
    document = brief_document(with_inner_links(findings.headed_brief), findings.picture_names, is_passed_on=True)
    addresses = {inner_address(n): page.url for n, page in enumerate(findings.brief.sources.pages, start=1)}
    targets: dict[str, str] = {}
    blocks = tuple(_linked(document.blocks, addresses, targets))
    names = findings.picture_names
    images = {names[sha]: content for sha, content in findings.images.items() if sha in names}
    properties = WordProperties(document.title, findings.topic, findings.date)
    return word_file(replace(document, blocks=(*blocks, *note_blocks(findings))), properties, images, targets)


def _linked(blocks: Sequence[Block], addresses: Mapping[str, str], targets: dict[str, str]) -> Iterator[Block]:
    """The blocks with anchors at the entries of the bibliography, which alone link to the pages themselves."""
    for block in blocks:
        if isinstance(block, LineList) and block.numbered:
            yield _bibliography(block, NUMBERED_SOURCES, addresses, targets)
        elif isinstance(block, CollapsedList):
            # A caption may cite a page that no sentence does.
            yield replace(block, items=_bibliography(block.items, OTHER_SOURCES, addresses, targets))
        else:
            yield block


def _bibliography(block: LineList, anchor: str, addresses: Mapping[str, str], targets: dict[str, str]) -> LineList:
    lines: list[Line] = []
    for number, (title, *rest) in enumerate(block.lines, start=1):
        targets[title.url] = f"{anchor}_{number}"
        lines.append((title._replace(url=addresses.get(title.url, "")), *rest))
    return replace(block, lines=tuple(lines), anchor=anchor)
