"""A run as a folder of notes for Obsidian: an index, the brief, and a note for each page with its claims."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote as percent

from kiwiresearch.brief.document import Document
from kiwiresearch.brief.markdown import markdown
from kiwiresearch.brief.report import report
from kiwiresearch.research.export.findings import Findings, SourcePage, title_of
from kiwiresearch.research.export.inside import CLAIM, led_inside, markdown_links
from kiwiresearch.research.export.note_names import note_names
from kiwiresearch.research.export.obsidian_page import PAGES, block_name, page_note, wiki_link
from kiwiresearch.research.export.obsidian_text import front_matter, in_words, own_signs_escaped, tag
from kiwiresearch.research.export.packing import Made
from kiwiresearch.research.export.remarks import HEADING, remarks
from kiwiresearch.research.export.row import clean
from kiwiresearch.research.topics import folder_name

INDEX = "Index"
BRIEF = "Brief"
NOTES = "Notes"
PLAIN_HEADING = re.compile(r"\w+(?:[ -]\w+)*")


def obsidian(findings: Findings) -> Iterator[Made]:
    """The files of the folder, the index first."""
    names = note_names(page.title for page in findings.pages)
    yield _file(INDEX, _index(findings, names))
    yield _file(BRIEF, _linked(findings, names, "brief", report(led_inside(findings.brief))))
    if findings.notes:
        document = Document(HEADING, remarks(findings, inside=True)[1:])
        yield _file(NOTES, _linked(findings, names, "notes", document))
    notes = findings.notes_on_claims
    for page, name in zip(findings.pages, names, strict=True):
        yield _file(f"{PAGES}/{name}", page_note(page, names, notes, _topic_tag(findings)))


def _file(name: str, text: str) -> Made:
    return Made(f"{name}.md", clean(text).encode())


def _topic_tag(findings: Findings) -> str:
    return tag("research", folder_name(findings.topic))


def _head(findings: Findings, kind: str) -> str:
    return front_matter({"topic": findings.topic, "kind": kind, "tags": ["kiwiresearch", _topic_tag(findings)]}) + "\n"


def _index(findings: Findings, names: list[str]) -> str:
    books = findings.brief.sources.books
    lines = [f"# {in_words(findings.topic)}", "", f"- [[{BRIEF}]]"]
    lines += [f"- [[{NOTES}]]"] if findings.notes else []
    lines += ["", "## Books", ""]
    for book in books:
        edition = f", edition of {in_words(book.date)}" if book.date else ""
        lines.append(f"- {in_words(title_of(book))}{edition}, {in_words(book.id)}")
    lines += ["", "## Pages", ""]
    for page, name in zip(findings.pages, names, strict=True):
        lines.append(f"- {wiki_link(name)}: {len(page.claims)} claim{'' if len(page.claims) == 1 else 's'}")
    return _head(findings, "index") + "\n".join(lines) + "\n"


def _linked(findings: Findings, names: list[str], kind: str, document: Document) -> str:
    """A document as a note, whose citations lead to the notes of the pages."""
    sections = [_headings(page) for page in findings.pages]

    def address(number: int, anchor: str) -> str:
        place = percent(f"{PAGES}/{names[number - 1]}.md")
        if anchor.startswith(CLAIM):
            return f"{place}#^{block_name(anchor.removeprefix(CLAIM))}"
        heading = sections[number - 1].get(anchor, "")
        return f"{place}#{percent(heading)}" if heading else place

    return _head(findings, kind) + _words_escaped(markdown_links(markdown(document), address))


def _headings(page: SourcePage) -> dict[str, str]:
    """The headings of a page by the anchors of citations: those whose signs Obsidian finds again in a link."""
    found = {percent(claim.anchor, errors="replace"): claim.section for claim in page.claims}
    return {anchor: heading for anchor, heading in found.items() if PLAIN_HEADING.fullmatch(heading)}


def _words_escaped(text: str) -> str:
    """The signs of Obsidian escaped in all lines but for headings, which begin with one."""
    lines = []
    for line in text.split("\n"):
        marks, space, words = line.partition(" ") if line.startswith("#") else ("", "", line)
        lines.append(marks + space + own_signs_escaped(words))
    return "\n".join(lines)
