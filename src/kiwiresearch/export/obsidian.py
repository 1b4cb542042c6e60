"""A run as a folder of notes for Obsidian: an index, the brief, and one note per page with its claims."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from urllib.parse import quote as percent

from kiwiresearch.brief import brief_document
from kiwiresearch.claims import Claim
from kiwiresearch.document import Document
from kiwiresearch.document.markdown import markdown
from kiwiresearch.evidence import INTRODUCTION
from kiwiresearch.export.brief_files import (
    CLAIM_ANCHOR,
    HEADING,
    claim_hash,
    markdown_links,
    note_blocks,
    note_lines,
    with_inner_links,
)
from kiwiresearch.export.findings import RunFindings
from kiwiresearch.export.packing import ExportedFile, unique_file_names
from kiwiresearch.runs import Note, RunPage, book_title, xml_safe
from kiwiresearch.text import escaped_anywhere
from kiwiresearch.workspace import folder_name

OWN_SIGNS = re.compile(r"\\.|\]\([^)\s]*\)|[#^$%=]", re.DOTALL)
"""Escaped characters and the targets of links are matched first, and left alone."""
NOT_IN_YAML = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff]")
"""Characters that YAML does not print, and marks that change the writing direction."""
NOT_IN_TAGS = re.compile(r"[^\w/-]+")


def own_signs_escaped(text: str) -> str:
    """Markdown in which characters that only Obsidian interprets are escaped."""
    return OWN_SIGNS.sub(lambda found: found[0] if len(found[0]) > 1 else f"\\{found[0]}", text)


def escaped_words(text: str) -> str:
    """A text in one line without any markup."""
    return own_signs_escaped(escaped_anywhere(text))


def tag(*parts: str) -> str:
    """A nested tag such as 'claim/causal': letters, digits, hyphens and slashes, and not digits alone."""
    plain = "/".join(filter(None, (NOT_IN_TAGS.sub("-", part).strip("-/") for part in parts)))
    return plain if re.search(r"[^\W\d]", plain) else f"tag-{plain}"


def front_matter(values: Mapping[str, str | int | Sequence[str]]) -> str:
    """YAML front matter: every text is in double quotes, so that nothing in it is YAML."""
    lines = [f"{name}: {_value(value)}" for name, value in values.items()]
    return "\n".join(["---", *lines, "---", ""])


def _value(value: str | int | Sequence[str]) -> str:
    if isinstance(value, int):
        return str(value)
    return _quoted(value) if isinstance(value, str) else f"[{', '.join(map(_quoted, value))}]"


def _quoted(text: str) -> str:
    # A JSON string is also a YAML string, except for a few characters.
    return NOT_IN_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(xml_safe(text), ensure_ascii=False))


PAGES = "Pages"
MAX_ID = 16


def wiki_link(name: str) -> str:
    """A link to the note of a page, shown by its name."""
    return f"[[{PAGES}/{name}|{name}]]"


def block_name(claim: str) -> str:
    """The id of a claim's block, from the claim's hash."""
    return claim[:MAX_ID]


def page_note(page: RunPage, names: Sequence[str], notes: Mapping[str, Sequence[Note]], topic_tag: str) -> str:
    lines = [f"# {escaped_words(page.title)}", ""]
    if page.source.opening:
        lines += [f"> {escaped_words(page.source.opening)}", ""]
    if page.source.why:
        lines += [f"*Why it was read:* {escaped_words(page.source.why)}", ""]
    remarks = [_remark(note) for note in notes.get(str(page.source.ref), ())]
    lines += [*remarks, ""] if remarks else []
    lines += ["## Claims", "", *_claims(page, notes)]
    if page.links_to:
        lines += ["", "## Links to", ""]
        lines += [f"- {wiki_link(names[index - 1])}" for index in page.links_to]
    head = front_matter(
        {
            "title": page.title,
            "kind": "page",
            "book": page.book_title,
            "book_date": page.book.date,
            "book_id": str(page.book.id),
            "path": page.source.ref.path,
            "url": page.source.url,
            "order": page.number,
            "depth": page.source.depth,
            "tags": ["kiwiresearch", topic_tag],
        }
    )
    return f"{head}\n" + "\n".join(lines) + "\n"


def _claims(page: RunPage, notes: Mapping[str, Sequence[Note]]) -> Iterator[str]:
    if not page.claims:
        yield "No claims were found on this page."
    seen: set[str] = set()
    for section, claims in groupby(page.claims, key=lambda claim: claim.section):
        yield f"### {escaped_words(section) or INTRODUCTION.capitalize()}"
        yield ""
        for claim in claims:
            if claim.id not in seen:
                seen.add(claim.id)
                yield from _claim(claim, notes.get(claim.id, ()))
        yield ""


def _claim(claim: Claim, notes: Sequence[Note]) -> Iterator[str]:
    tags = [tag("claim", claim.type)] + (["hedged"] if claim.hedges else [])
    yield f"- {escaped_words(claim.text)} {' '.join(f'#{item}' for item in tags)} ^{block_name(claim_hash(claim))}"
    for quote in claim.quotes:
        yield f"    > {escaped_words(quote.text)}"
    cues = ", ".join(f"“{escaped_words(cue)}”" for cue in dict.fromkeys(hedge.cue for hedge in claim.hedges))
    held = f", hedged by {cues}" if cues else ""
    yield "    >"
    yield f"    > Confidence {claim.confidence:.0%}{held}"
    yield from (_remark(note, "    ") for note in notes)


def _remark(note: Note, before: str = "") -> str:
    """A note as a list item that keeps its line breaks."""
    return f"{before}- **Note.** " + f"  \n{before}  ".join(map(escaped_words, note_lines(note)))


INDEX = "Index"
BRIEF = "Brief"
NOTES = "Notes"
# "Early life" and "Post-war years"; not "1914–1918", nor "Music & art", whose signs Obsidian changes in links.
PLAIN_HEADING = re.compile(r"\w+(?:[ -]\w+)*")


def obsidian(findings: RunFindings) -> Iterator[ExportedFile]:
    """The files of the folder, the index first."""
    names = unique_file_names(page.title for page in findings.pages)
    yield _file(INDEX, _index(findings, names))
    yield _file(
        BRIEF,
        _linked(findings, names, "brief", brief_document(with_inner_links(findings.headed_brief), is_shared=True)),
    )
    if findings.notes:
        document = Document(HEADING, note_blocks(findings, inside=True)[1:])
        yield _file(NOTES, _linked(findings, names, "notes", document))
    notes = findings.notes_by_target
    for page, name in zip(findings.pages, names, strict=True):
        yield _file(f"{PAGES}/{name}", page_note(page, names, notes, _topic_tag(findings)))


def _file(name: str, text: str) -> ExportedFile:
    return ExportedFile(f"{name}.md", xml_safe(text).encode())


def _topic_tag(findings: RunFindings) -> str:
    return tag("research", folder_name(findings.topic))


def _note_head(findings: RunFindings, kind: str) -> str:
    return front_matter({"topic": findings.topic, "kind": kind, "tags": ["kiwiresearch", _topic_tag(findings)]}) + "\n"


def _index(findings: RunFindings, names: list[str]) -> str:
    books = findings.brief.sources.books
    lines = [f"# {escaped_words(findings.topic)}", "", f"- [[{BRIEF}]]"]
    lines += [f"- [[{NOTES}]]"] if findings.notes else []
    lines += ["", "## Books", ""]
    for book in books:
        edition = f", {escaped_words(book.date)} edition" if book.date else ""
        lines.append(f"- {escaped_words(book_title(book))}{edition}, {escaped_words(book.id)}")
    lines += ["", "## Pages", ""]
    for page, name in zip(findings.pages, names, strict=True):
        lines.append(f"- {wiki_link(name)}: {len(page.claims)} claim{'' if len(page.claims) == 1 else 's'}")
    return _note_head(findings, "index") + "\n".join(lines) + "\n"


def _linked(findings: RunFindings, names: list[str], kind: str, document: Document) -> str:
    """A document as a note; its citations link to the notes of the pages."""
    sections = [_headings(page) for page in findings.pages]

    def address(number: int, anchor: str) -> str:
        place = percent(f"{PAGES}/{names[number - 1]}.md")
        if anchor.startswith(CLAIM_ANCHOR):
            return f"{place}#^{block_name(anchor.removeprefix(CLAIM_ANCHOR))}"
        heading = sections[number - 1].get(anchor, "")
        return f"{place}#{percent(heading)}" if heading else place

    return _note_head(findings, kind) + _words_escaped(markdown_links(markdown(document), address))


def _headings(page: RunPage) -> dict[str, str]:
    """The headings of a page by the anchors of citations; only those that Obsidian finds by a link."""
    found = {percent(claim.anchor, errors="replace"): claim.section for claim in page.claims}
    return {anchor: heading for anchor, heading in found.items() if PLAIN_HEADING.fullmatch(heading)}


def _words_escaped(text: str) -> str:
    """The text with Obsidian's characters escaped, but not the marks of headings."""
    lines = []
    for line in text.split("\n"):
        marks, space, words = line.partition(" ") if line.startswith("#") else ("", "", line)
        lines.append(marks + space + own_signs_escaped(words))
    return "\n".join(lines)
