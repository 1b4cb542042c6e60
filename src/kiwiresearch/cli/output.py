"""Output for people. Text from books is printed as plain text, never as markup or terminal codes."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kiwiresearch.page import PageDoc, PageSignals, Section
from kiwiresearch.text import CONTROLS_IN_LINES, count_of
from kiwiresearch.workspace import CHECK_WORDS, BookState, BookStatus, Diagnosis
from kiwiresearch.zim import Book, BookLocation, ListedBook

if TYPE_CHECKING:
    from kiwiresearch.search import IndexBuild, SearchResult
    from kiwiresearch.workspace import Finder

MAX_WIDTH = 92


def line(text: str) -> None:
    _console().print(Text(safe(text)))


def write(text: Text) -> None:
    """A line with some of its words marked."""
    _console().print(text)


def unbroken_line(text: str) -> None:
    """Print a line without wrapping it, so that a path in it can be copied."""
    _console().print(Text(safe(text)), soft_wrap=True)


def safe(text: str) -> str:
    """Without characters that could move the cursor, change the terminal or reorder what is on the line."""
    return CONTROLS_IN_LINES.sub("", text)


def _console() -> Console:
    is_plain = bool(os.environ.get("NO_COLOR"))
    terminal = False if is_plain else None  # NO_COLOR means no codes, not even bold
    console = Console(file=sys.stdout, highlight=False, soft_wrap=not sys.stdout.isatty(), force_terminal=terminal)
    if console.width > MAX_WIDTH:
        console.width = MAX_WIDTH
    return console


def print_page(page: PageDoc, book: Book, *, only: Sequence[Section] = (), with_links: bool = False) -> None:
    """A page, or some of its sections, formatted for reading."""
    console = _console()
    chosen = only or page.sections
    console.print(Text(safe(page.title), style="bold underline"))
    console.print(Text(safe(_origin(page, book)), style="dim"))
    if signals := _signal_words(page.signals):
        console.print(Text(f"Notes: {signals}", style="yellow"))
    for note in page.hatnotes if not only else ():
        console.print(Text(safe(note), style="italic dim"))
    if not only:
        _infoboxes(console, page)
    for index, part in enumerate(chosen):
        # A section without text is shown only if sections below it follow.
        following = chosen[index + 1].level if index + 1 < len(chosen) else 0
        if part.end > part.start or following > part.level:
            _section(console, page, part)
    if with_links:
        _links(console, page)
    elif not only:
        _footer(console, page)


def _origin(page: PageDoc, book: Book) -> str:
    parts = [book.title, book.date]
    if page.provenance.edited:
        parts.append(f"edited {page.provenance.edited}")
    if page.provenance.revision:
        parts.append(f"revision {page.provenance.revision}")
    return " · ".join(part for part in parts if part)


def _signal_words(signals: PageSignals) -> str:
    named = (
        ("stub", signals.stub),
        ("citation needed", signals.citation_needed),
        ("disputed", signals.disputed),
        ("disambiguation page", signals.disambiguation),
        ("list", signals.list_page),
    )
    return ", ".join(f"{name} ({signal.basis}: {signal.why})" for name, signal in named if signal)


def _infoboxes(console: Console, page: PageDoc) -> None:
    for box in page.infoboxes:
        if not box.rows:
            continue
        title = Text(safe(box.title)) if box.title else None
        table = Table(title=title, show_header=False, title_justify="left")
        table.add_column(style="bold", max_width=24)
        table.add_column(max_width=60)
        for row in box.rows:
            table.add_row(Text(safe(row.key)), Text(safe(row.value)))
        console.print()
        console.print(table)


def _section(console: Console, page: PageDoc, section: Section) -> None:
    if section.heading:
        console.print()
        indent = max(section.level - 2, 0)
        style = "bold" if section.level > 2 else "bold cyan"
        console.print(Text("  " * indent + safe(section.heading), style=style))
    rows: list[str] = []
    for block in page.blocks:
        if not section.start <= block.start < section.end or block.kind == "heading":
            continue
        text = safe(page.text[block.start : block.end])
        if block.kind == "row":
            rows.append(text)
            continue
        _rows(console, rows)
        if block.kind == "item":
            _indented(console, f"• {text}", 2)
        elif block.kind == "code":
            console.print()
            _indented(console, text, 4)
        else:
            console.print()
            console.print(Text(text, style="italic" if block.kind in ("caption", "quote") else ""))
    _rows(console, rows)


def _rows(console: Console, rows: list[str]) -> None:
    """Print the collected rows of a table, in columns on a terminal and as lines elsewhere, and clear them."""
    if console.soft_wrap:
        for row in rows:
            _indented(console, row.replace("\t", " | "), 2)
    elif rows:
        table = Table.grid(padding=(0, 3, 0, 0), pad_edge=True)
        for row in rows:
            table.add_row("", *(Text(cell) for cell in row.split("\t")))
        console.print(table)
    rows.clear()


def _indented(console: Console, text: str, width: int) -> None:
    if console.soft_wrap:  # not a terminal: lines are not wrapped, for programs that read them
        console.print(Text("\n".join(" " * width + row for row in text.split("\n"))))
    else:
        console.print(Padding(Text(text), (0, 0, 0, width)))


def _footer(console: Console, page: PageDoc) -> None:
    linked = len({link.target for link in page.links})
    counts = [
        count_of(len(page.sections) - 1, "section"),
        f"links to {count_of(linked, 'page')}",
        count_of(page.signals.references, "reference"),
    ]
    if page.categories:
        counts.append(f"categories: {', '.join(page.categories)}")
    console.print()
    console.print(Text(safe(" · ".join(counts)), style="dim"))


def _links(console: Console, page: PageDoc) -> None:
    table = Table(title=Text(f"Links on {safe(page.title)}"), title_justify="left")
    for name in ("page", "link text", "section", "position"):
        table.add_column(name)
    for link in page.links:
        heading = page.sections[link.section].heading
        table.add_row(*(Text(safe(cell)) for cell in (link.target_title, link.text, heading, link.place)))
    console.print()
    console.print(table)


def print_books(rows: Sequence[BookStatus]) -> None:
    """The shelf, two lines per book."""
    console = _console()
    for row in rows:
        if row.book is None:
            console.print(
                Text(safe(row.listed.title), style="bold").append(f"  {CHECK_WORDS['unopenable']}", style="red")
            )
            console.print(Text(safe(f"  {row.problem}"), style="red"))
            continue
        book = row.book
        indexes = book.indexes
        search = "full-text search" if indexes.full_text else "title search" if indexes.titles else "no index"
        articles = f"{book.articles:,} articles"
        facts = book.date, "/".join(book.languages), book.flavour, articles, search, CHECK_WORDS[row.check]
        console.print(Text(safe(book.title), style="bold").append(f"  {safe(book.name)}", style="cyan"))
        console.print(Text(safe("  " + " · ".join(fact for fact in facts if fact))))
        place = f"on host {row.host}" if row.host else str(row.listed.source)
        console.print(Text(safe(f"  {place}"), style="dim"))


def print_book(row: BookStatus) -> None:
    """The details of one book."""
    if row.book is None:
        return
    book = row.book
    flavour = book.flavour or "unknown"
    if book.lead_only:
        flavour += " (introductions only)"
    indexes = [name for name, has in (("full text", book.indexes.full_text), ("titles", book.indexes.titles)) if has]
    lines = (
        ("Name", book.name), ("UUID", book.id), ("Source", str(row.listed.source)),
        ("Description", book.description), ("Date", book.date or "unknown"),
        ("Language", ", ".join(book.languages) or "unknown"), ("Flavour", flavour), ("Creator", book.creator),
        ("Publisher", book.publisher), ("Scraper", book.scraper), ("Kind", book.kind),
        ("Wikipedia", "yes" if book.is_wikipedia else "no"),
        ("Articles", f"{book.articles:,}"), ("Entries", f"{book.entries:,}"), ("Media", f"{book.media:,}"),
        ("Size", f"{book.size_bytes:,} bytes"), ("Indexes", ", ".join(indexes) or "none"),
        ("Main page", book.main_page), ("Paths", "old (A/…)" if book.old_namespaces else "new"),
        ("Tags", "; ".join(book.tags)), ("Check", CHECK_WORDS[row.check]),
    )  # fmt: skip
    table = Table(title=Text(safe(book.title)), show_header=False, title_justify="left")
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for key, value in lines:
        if value:
            table.add_row(key, Text(safe(value)))
    _console().print(table)


def print_added(fresh: Sequence[ListedBook], found: Iterable[tuple[Book, BookLocation]]) -> None:
    """The books that `books add` has added."""
    books = {(book.id, source): book for book, source in found}
    for listed in fresh:
        book = books[listed.id, listed.source]
        facts = f"{book.articles:,} articles", book.date, "/".join(book.languages)
        details = ", ".join(filter(None, facts))
        line(f"Added {listed.title} ({details})")
    if not fresh and books:
        line("Nothing to add: your library already has these books.")


def print_check(book: ListedBook, state: BookState, reason: str) -> None:
    """The outcome of one check."""
    if state == "sound":
        line(f"{book.title}: {CHECK_WORDS[state]}.")
    else:
        words = ", ".join(filter(None, (CHECK_WORDS[state], reason)))
        line(f"{book.title}: {words} ({book.source}).")


SUBJECTS = {"shelf": "Library"}
"""Headings of the doctor that differ from the name of the subject in JSON."""
SIGNS = {"fine": ("✓", "green"), "note": ("•", "yellow"), "broken": ("✗", "red")}


def print_hits(found: SearchResult, finder: Finder, *, explain: bool) -> None:
    """The hits of a search, with snippets, and with `explain` the terms of their scores."""
    console = _console()
    if found.corrected:
        console.print(Text(f"Showing results for: {safe(found.corrected)}", style="yellow"))
    several = len({hit.ref.book for hit in found.hits}) > 1
    for number, hit in enumerate(found.hits, start=1):
        head = Text.assemble((f"{number:2}. ", "dim"), (safe(hit.title), "bold"))
        if hit.alias:
            head.append(f", found as {safe(hit.alias)}", style="dim")
        if several:
            head.append(f"  {safe(finder.book_name(hit.ref.book))}", style="cyan")
        head.append(f"  {hit.score.total:g}", style="dim")
        console.print(head)
        if hit.snippet:
            _indented(console, safe(hit.snippet), 4)
        if explain:
            for term in hit.score.terms:
                console.print(Text(f"    {term.points:+8.2f}  {term.signal}", style="dim"))
    if found.hidden.pages:
        console.print(Text(safe(found.hidden.sentence("result")), style="yellow"))
    if found.senses:
        console.print(Text(f"\n{safe(found.query)!r} has several meanings in your books:", style="bold"))
        for sense in found.senses:
            shown = Text.assemble((safe(sense.title), "bold"), f" — {safe(sense.line)}" if sense.line else "")
            console.print(Padding(shown, (0, 0, 0, 2)) if not console.soft_wrap else Text("  ") + shown)
        qualifiers = (re.search(r"\(([^()]+)\)$", sense.title) for sense in found.senses)
        example = next((f", for example: --focus {safe(found[1])!r}" for found in qualifiers if found), "")
        console.print(Text(f"Choose one with --focus and a word about it{example}", style="dim"))


@contextlib.contextmanager
def progress(label: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on standard error if that is a terminal, else nothing."""
    if not sys.stderr.isatty():
        yield lambda _done, _of: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task(safe(label).replace("[", "("), total=None)
        yield lambda done, of: bar.update(task, completed=done, total=of)


def print_index_build(book: Book, built: IndexBuild) -> None:
    """The result of building a title index."""
    if built.state == "busy":
        line(f"{book.title}: another process is already building its title index.")
        return
    how = "already has" if built.state == "kept" else "now has"
    part = "" if built.complete else ", not yet complete"
    line(f"{book.title} {how} an index of {built.rows:,} titles{part} ({built.file}).")


def print_findings(rows: Sequence[Diagnosis]) -> None:
    """The findings of the doctor."""
    console = _console()
    subject = ""
    for row in rows:
        if row.subject != subject:
            subject = row.subject
            console.print(Text(SUBJECTS.get(subject, subject[:1].upper() + safe(subject[1:])), style="bold"))
        sign, style = SIGNS[row.state]
        console.print(Text(f"  {sign} {safe(row.message)}", style=style))
        if row.remedy:
            console.print(Text(f"      → {safe(row.remedy)}"))
