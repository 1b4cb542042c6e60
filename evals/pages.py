"""Pages of real books: are all of them read, does every offset point at its words, and is nothing missing?

Each page is compared with its HTML, which is parsed by selectolax alone and not by the code under test.
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

REFERENCE_MARKS = (
    'sup.reference, span.reference, [id^="cite_ref"], [id^="_ref"], .mw-ref, .Template-Fact, script, style'
)
REFERENCE_NUMBER = re.compile(r"\[\d{1,3}\]")
SENTENCE_STEP = 23
"""Sentence ends are compared on every n-th page, because the other splitter is slow."""


def measure() -> tuple[str, dict[str, float]] | None:
    """All figures, or nothing where the data is missing."""
    schools = SHARED_DATA / "zims" / "schools-2007.zim"
    real = sorted((SHARED_DATA / "zims" / "real").glob("*.zim"))
    if not schools.is_file():
        return None
    figures = {f"schools_{name}": value for name, value in _measure_book(schools).items()}
    totals = [_measure_book(file) for file in real]
    figures["real_articles_read"] = sum(total["articles_read"] for total in totals)
    for name in ("offsets_true", "links_found", "free_of_marks"):
        weights = [(total[name], total["articles_read"]) for total in totals if total["articles_read"]]
        figures[f"real_{name}"] = sum(value * weight for value, weight in weights) / sum(
            weight for _, weight in weights
        )
    return digest_of(schools, *real), figures


def _measure_book(file: Path) -> dict[str, float]:
    archive = LibzimArchive(file)
    tally = Tally()
    for number, path in enumerate(archive.articles()):
        entry = archive.read(path)
        page = read_page(entry, language=archive.book.language or "eng")
        tally.add_page(archive, page, entry.content, compare_sentences=number % SENTENCE_STEP == 0)
    archive.close()
    return tally.figures()


class Tally:
    """The counts over the pages of one book."""

    def __init__(self) -> None:
        self.pages = self.with_true_offsets = self.without_marks = 0
        self.links_wanted = self.links_found = 0
        self.rows_wanted = self.rows_found = 0
        self.our_ends = self.other_ends = self.common_ends = 0

    def add_page(self, archive: LibzimArchive, page: PageDoc, content: bytes, *, compare_sentences: bool) -> None:
        self.pages += 1
        self.with_true_offsets += all(_check_offsets(page))
        tree = LexborHTMLParser(content)
        wanted = _html_links(archive, page.ref.path, tree)
        self.links_wanted += len(wanted)
        self.links_found += len(wanted & {link.target for link in page.links})
        self._count_infobox_rows(page, tree)
        for node in tree.css(REFERENCE_MARKS):
            node.decompose()
        body = tree.body
        visible = body.text(separator="") if body else ""
        self.without_marks += (
            len(REFERENCE_NUMBER.findall(page.text)) <= len(REFERENCE_NUMBER.findall(visible))
            and "<script" not in page.text
        )
        if compare_sentences and page.language == "eng":
            self._compare_sentences(page)

    def _count_infobox_rows(self, page: PageDoc, tree: LexborHTMLParser) -> None:
        keys = {row.key.casefold() for box in page.infoboxes for row in box.rows}
        for row in tree.css("table.infobox > tbody > tr"):
            cells = [cell for cell in row.iter() if cell.tag in ("th", "td")]
            if [cell.tag for cell in cells] == ["th", "td"] and all(cell.text().strip() for cell in cells):
                key = " ".join(re.sub(r"\[\w+\]", "", cells[0].text(separator=" ")).split()).rstrip(":").strip("•· ")
                if key and not cells[0].css("sup, sub, br, style, [style]"):
                    self.rows_wanted += 1
                    self.rows_found += key.casefold() in keys

    def _compare_sentences(self, page: PageDoc) -> None:
        starts = set(page.sentences)
        for block in page.blocks:
            if block.kind not in ("paragraph", "item"):
                continue
            text = page.text[block.start : block.end]
            ours = {start - block.start for start in starts if block.start < start < block.end}
            others = {row["start_index"] for row in sentencex.get_sentence_boundaries("en", text)} - {0}
            self.our_ends += len(ours)
            self.other_ends += len(others)
            self.common_ends += len(ours & others)

    def figures(self) -> dict[str, float]:
        figures = {
            "articles_read": float(self.pages),
            "offsets_true": self.with_true_offsets / max(self.pages, 1),
            "links_found": self.links_found / self.links_wanted if self.links_wanted else 1.0,
            "free_of_marks": self.without_marks / max(self.pages, 1),
        }
        if self.rows_wanted:
            figures["infobox_rows_found"] = self.rows_found / self.rows_wanted
        if self.our_ends and self.other_ends:
            figures["sentence_ends_f1"] = 2 * self.common_ends / (self.our_ends + self.other_ends)
        return figures


def _html_links(archive: LibzimArchive, path: str, tree: LexborHTMLParser) -> set[str]:
    """The pages of the book that links in the HTML body lead to."""
    found = set()
    for node in tree.css("body a[href]"):
        target = resolve_href(path, node.attributes["href"] or "")
        if target and target.path != path and archive.resolve(target.path):
            found.add(target.path)
    return found


def _check_offsets(page: PageDoc) -> Iterator[bool]:
    """For each part of the page, whether it is at its offsets."""
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
    last_end = 0
    for block in page.blocks:
        yield block.start >= last_end
        last_end = block.end
