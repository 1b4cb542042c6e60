"""Pages as a model reads them: a part at a time, fenced, with the citation to give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kiwiresearch.claims.claim import Claim
from kiwiresearch.errors import BadUsage, BookNotFound, PageNotFound
from kiwiresearch.evidence.citation import BOX, INTRODUCTION, cited
from kiwiresearch.llm.prompts import fenced
from kiwiresearch.mcp.arguments import ClaimsArguments, PageArguments, SectionArguments
from kiwiresearch.mcp.parts import Parts
from kiwiresearch.page.doc import PageDoc, Section
from kiwiresearch.page.read import open_page
from kiwiresearch.research.book_names import by_name
from kiwiresearch.research.claiming import claims_of_page
from kiwiresearch.research.desk import near_it
from kiwiresearch.research.finding import Finder
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.zim.book import Book
from kiwiresearch.zim.guarded import hidden_named
from kiwiresearch.zim.lookup import find_path

MOST_TEXT = 8_000
"""Characters of a page that are given at once."""
MOST_CONTENTS = 100


@dataclass(frozen=True, slots=True)
class Read:
    """A page that was read, and its book."""

    page: PageDoc
    book: Book


def section_text(parts: Parts, wanted: SectionArguments) -> str:
    """A page or a section of it; of a long page its contents and its beginning."""
    read = _read(parts, wanted)
    page, section = read.page, wanted.section
    text, name, anchor = _chosen(page, section)
    contents = "" if section or len(text) <= MOST_TEXT else _contents(page)
    if contents and not wanted.start:
        text, name, anchor = _beginning(page)
    shown = text[wanted.start : wanted.start + MOST_TEXT]
    end = wanted.start + len(shown)
    if wanted.start and not shown:
        raise BadUsage(f"The text has {len(text):,} characters.", remedy="Begin before its end.")
    told = [_citation(parts, read, name, anchor)]
    if contents:
        told.append(fenced("contents", contents))
        told.append("The page is long: ask for a section by its heading.")
    told.append(fenced("text", shown))
    if end < len(text):
        told.append(f"Cut at character {end} of {len(text)}: go on with start={end}.")
    return "\n".join(told)


def claims_text(parts: Parts, wanted: ClaimsArguments) -> str:
    """What a page claims, each claim with the words it rests on."""
    read = _read(parts, wanted)
    found = claims_of_page(read.page, read.book.name).of_type(wanted.kind or "").claims
    rows = [_claim(claim) for claim in found[: wanted.limit]]
    more = f"\n{len(found) - len(rows)} more: set a higher limit." if len(found) > len(rows) else ""
    return f"{_citation(parts, read, '', '')}\n{fenced('claims', chr(10).join(rows) or 'None.')}{more}"


def _read(parts: Parts, wanted: PageArguments) -> Read:
    if not wanted.title:
        raise BadUsage("The title is empty.", remedy="Give the title or path of a page, such as search gives.")
    with parts.reading() as finder:
        chosen = _books(finder, wanted.book)
        for book in chosen:
            path = find_path(book.archive, wanted.title)
            if path:
                return Read(open_page(book.archive, path), book.book)
        archives = [book.archive for book in chosen]
        near = near_it(archives, wanted.title)
        hidden = hidden_named(archives, wanted.title)
    raise hidden or PageNotFound(f"There is no page {wanted.title!r}.", remedy=near or "Search for it.")


def _books(finder: Finder, name: str) -> Sequence[OpenBook]:
    found = by_name(finder.books, name, lambda one: one.book) if name else finder.books
    if not found:
        raise BookNotFound(f"There is no book {name!r}.", remedy="The tool 'books' lists them.")
    return found


def _chosen(page: PageDoc, section: str) -> tuple[str, str, str]:
    """The text of a page or section, the section's name and its anchor."""
    folded = section.casefold()
    if not section:
        return page.text, "", ""
    if folded == INTRODUCTION:
        return page.lead, INTRODUCTION, ""
    if folded == BOX and page.infoboxes:
        return "\n\n".join(page.text[box.start : box.end] for box in page.infoboxes), BOX, ""
    found = page.below(section)
    if not found:
        names = ", ".join(repr(one.heading) for one in page.sections[1:][:MOST_CONTENTS]) or "none but the introduction"
        raise PageNotFound(f"The page {page.title!r} has no section {section!r}.", remedy=f"Its sections: {names}.")
    return page.text[found[0].heading_start : found[-1].end].strip(), found[0].heading, found[0].anchor


def _beginning(page: PageDoc) -> tuple[str, str, str]:
    """The introduction; of a page that has none, its first section."""
    first = next((section for section in page.sections if page.section_text(section).strip()), page.sections[0])
    return page.section_text(first).strip(), first.heading or INTRODUCTION, first.anchor


def _contents(page: PageDoc) -> str:
    def row(section: Section) -> str:
        return f"{'  ' * max(section.level - 2, 0)}{section.heading} ({section.end - section.start} characters)"

    rows = [row(section) for section in page.sections[1:][:MOST_CONTENTS]]
    return "\n".join([*rows, *([BOX] if page.infoboxes else [])])


def _citation(parts: Parts, read: Read, section: str, anchor: str) -> str:
    page, book = read.page, read.book
    name = cited(page.title, section) if section and section != INTRODUCTION else page.title
    url = parts.address(page.ref) + (f"#{anchor}" if anchor else "")
    dated = f"{book.title}, {book.date}" if book.date else book.title
    return fenced("citation", f"{name}, in: {dated}. {url}")


def _claim(claim: Claim) -> str:
    hedged = ", hedged" if claim.hedges else ""
    quotes = [f"“{quote.text}”" for quote in claim.quotes]
    told = [*quotes] if claim.text in {quote.text for quote in claim.quotes} else [claim.text, *quotes]
    return f"- [{claim.type}, {claim.confidence:.2f}{hedged}] {' — '.join(told)}"
