"""Pages of real books: is all of it read, does every offset point at its own words, is nothing missed?

Each claim is checked against the HTML itself with the bare parser, not with
the reader under test.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import sentencex
from selectolax.lexbor import LexborHTMLParser

from evals.data import SHARED_DATA, digest_of
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.page.parser import read_page
from kiwiresearch.zim.libzim import LibzimArchive
from kiwiresearch.zim.paths import resolve_href

MARKS = 'sup.reference, span.reference, [id^="cite_ref"], [id^="_ref"], .mw-ref, .Template-Fact, script, style'
NUMBER = re.compile(r"\[\d{1,3}\]")
EVERY = 23
"""Sentence ends are compared on each n-th page, since the other splitter is slow."""


def measure() -> tuple[str, dict[str, float]] | None:
    """All figures, or nothing where the data is missing."""
    schools = SHARED_DATA / "zims" / "schools-2007.zim"
    real = sorted((SHARED_DATA / "zims" / "real").glob("*.zim"))
    if not schools.is_file():
        return None
    figures = {f"schools_{name}": value for name, value in _book(schools).items()}
    totals = [_book(file) for file in real]
    figures["real_articles_read"] = sum(total["articles_read"] for total in totals)
    for name in ("offsets_true", "links_found", "free_of_marks"):
        weights = [(total[name], total["articles_read"]) for total in totals if total["articles_read"]]
        figures[f"real_{name}"] = sum(v * w for v, w in weights) / sum(w for _, w in weights)
    return digest_of(schools, *real), figures


def _book(file: Path) -> dict[str, float]:
    archive = LibzimArchive(file)
    tally = Tally()
    for number, path in enumerate(archive.articles()):
        entry = archive.read(path)
        page = read_page(entry, language=archive.book.language or "eng")
        tally.page(archive, page, entry.content, compare_sentences=number % EVERY == 0)
    archive.close()
    return tally.figures()


class Tally:
    """Counts over the pages of one book."""

    def __init__(self) -> None:
        self.pages = self.true = self.clean = 0
        self.links_wanted = self.links_found = 0
        self.rows_wanted = self.rows_found = 0
        self.ends_ours = self.ends_theirs = self.ends_both = 0

    def page(self, archive: LibzimArchive, page: PageDoc, content: bytes, *, compare_sentences: bool) -> None:
        self.pages += 1
        self.true += all(_offsets(page))
        tree = LexborHTMLParser(content)
        wanted = _links(archive, page.ref.path, tree)
        self.links_wanted += len(wanted)
        self.links_found += len(wanted & {link.target for link in page.links})
        self._rows(page, tree)
        for node in tree.css(MARKS):
            node.decompose()
        body = tree.body
        visible = body.text(separator="") if body else ""
        self.clean += len(NUMBER.findall(page.text)) <= len(NUMBER.findall(visible)) and "<script" not in page.text
        if compare_sentences and page.language == "eng":
            self._sentences(page)

    def _rows(self, page: PageDoc, tree: LexborHTMLParser) -> None:
        keys = {row.key.casefold() for box in page.infoboxes for row in box.rows}
        for row in tree.css("table.infobox > tbody > tr"):
            cells = [cell for cell in row.iter() if cell.tag in ("th", "td")]
            if [cell.tag for cell in cells] == ["th", "td"] and all(cell.text().strip() for cell in cells):
                key = " ".join(re.sub(r"\[\w+\]", "", cells[0].text(separator=" ")).split()).rstrip(":").strip("•· ")
                if key and not cells[0].css("sup, sub, br, style, [style]"):
                    self.rows_wanted += 1
                    self.rows_found += key.casefold() in keys

    def _sentences(self, page: PageDoc) -> None:
        starts = set(page.sentences)
        for block in page.blocks:
            if block.kind not in ("paragraph", "item"):
                continue
            text = page.text[block.start : block.end]
            ours = {start - block.start for start in starts if block.start < start < block.end}
            theirs = {row["start_index"] for row in sentencex.get_sentence_boundaries("en", text)} - {0}
            self.ends_ours += len(ours)
            self.ends_theirs += len(theirs)
            self.ends_both += len(ours & theirs)

    def figures(self) -> dict[str, float]:
        figures = {
            "articles_read": float(self.pages),
            "offsets_true": self.true / max(self.pages, 1),
            "links_found": self.links_found / self.links_wanted if self.links_wanted else 1.0,
            "free_of_marks": self.clean / max(self.pages, 1),
        }
        if self.rows_wanted:
            figures["infobox_rows_found"] = self.rows_found / self.rows_wanted
        if self.ends_ours and self.ends_theirs:
            figures["sentence_ends_f1"] = 2 * self.ends_both / (self.ends_ours + self.ends_theirs)
        return figures


def _links(archive: LibzimArchive, path: str, tree: LexborHTMLParser) -> set[str]:
    """Where the links of the HTML body lead inside the book."""
    found = set()
    for node in tree.css("body a[href]"):
        target = resolve_href(path, node.attributes["href"] or "")
        if target and target.path != path and archive.resolve(target.path):
            found.add(target.path)
    return found


def _offsets(page: PageDoc) -> Iterator[bool]:
    """Whether each thing of the page stands where it says."""
    text = page.text
    yield text == text.strip()
    for link in page.links:
        if link.in_text:
            yield text[link.start : link.end] == link.text
            yield link.sentence_start <= link.start and link.end <= link.sentence_end
    for section in page.sections[1:]:
        yield text.startswith(section.heading, section.heading_start)
        yield section.heading_start <= section.start <= section.end
    for block in page.blocks:
        yield block.start < block.end and (text[block.start : block.end].strip() != "")
    for box in page.infoboxes:
        for row in box.rows:
            yield text[row.start : row.end] == row.value
    for table in page.tables:
        for cells in table.rows:
            for cell in cells:
                yield text[cell.start : cell.end] == text[cell.start : cell.end].strip()
    last = 0
    for block in page.blocks:
        yield block.start >= last
        last = block.end
