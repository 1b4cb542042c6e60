"""The commands. Each imports what it needs when it runs, so that `--help` is quick."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from kiwiresearch import __version__
from kiwiresearch.errors import BadSettings, BadUsage, KiwiError, PageNotFound

if TYPE_CHECKING:
    from kiwiresearch.research.desk import Desk
    from kiwiresearch.zim.book import Book
    from kiwiresearch.zim.library import Placed, Shelf
    from kiwiresearch.zim.sources import Source

app = typer.Typer(
    name="kiwiresearch",
    help="An offline research desk over Kiwix ZIM files.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help, so that asking for it does not import rich
    context_settings={"help_option_names": ["-h", "--help"]},
)
books = typer.Typer(help="The books on your shelf.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(books, name="books")

AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]
Wanted = Annotated[
    list[str] | None,
    typer.Option(
        "--book",
        "-b",
        help="A book by name, title, UUID or path; may be given more than once.",
        metavar="BOOK",
    ),
]


def _version(value: bool) -> None:
    if value:
        print(f"kiwiresearch {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    del version


@app.command()
def page(
    title: Annotated[str, typer.Argument(help="The page's title or path.")],
    book: Wanted = None,
    section: Annotated[
        str,
        typer.Option("--section", "-s", help="Only the section of this heading.", metavar="HEADING"),
    ] = "",
    links: Annotated[bool, typer.Option("--links", help="Show where the page links to.")] = False,
    json: AsJson = False,
) -> None:
    """Read a page: its text, sections, facts, links and signals."""
    from kiwiresearch.cli import show
    from kiwiresearch.research.desk import find_page

    if not title.strip():
        raise BadUsage("The title is empty.", remedy="Give the title of a page, such as 'Sunset'.")
    desk = _desk()
    with _shelf(desk, book or []) as shelf:
        found = find_page(shelf, title)
        chosen = found.page.below(section) if section else ()
        if section and not chosen:
            names = ", ".join(repr(s.heading) for s in found.page.sections[1:]) or "none but the lead"
            raise PageNotFound(
                f"The page {found.page.title!r} has no section {section!r}.", remedy=f"Its sections: {names}."
            )
        if json:
            from kiwiresearch.page.record import record_of

            show.document(record_of(found.page, only=chosen))
        else:
            show.page(found.page, found.book, only=chosen, with_links=links)


@app.command()
def search(
    words: Annotated[
        list[str] | None,
        typer.Argument(help="What to look for: a title, some words or a question.", metavar="QUERY"),
    ] = None,
    book: Wanted = None,
    limit: Annotated[int, typer.Option("--limit", "-n", help="How many pages to show.", metavar="N")] = 10,
    focus: Annotated[
        str, typer.Option("--focus", help="A hint that decides between senses, such as 'planet'.", metavar="WORDS")
    ] = "",
    fast: Annotated[bool, typer.Option("--fast", help="Titles and the books' own indexes; read no page.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show what each score is made of.")] = False,
    batch: Annotated[
        str,
        typer.Option("--batch", help="A file of JSON lines, each with a query; '-' is standard input.", metavar="FILE"),
    ] = "",
    json: AsJson = False,
) -> None:
    """Find the right page for a title, some words or a question."""
    from kiwiresearch.cli import show
    from kiwiresearch.research.finding import Finder, record_of
    from kiwiresearch.search.find import Wish

    query = " ".join(words or [])
    if bool(query.strip()) == bool(batch):
        raise BadUsage("Give either a query or --batch FILE.", remedy="Such as: kiwiresearch search 'Bronze Age'")
    wish = Wish(limit=limit, fast=fast, focus=focus)
    desk = _desk()
    with _shelf(desk, book or []) as shelf, Finder(desk, shelf, all_books=bool(book)) as finder:
        if batch:
            from kiwiresearch.cli.batch import each_query

            raise typer.Exit(each_query(batch, finder, wish))
        found = finder.find(query, wish)
        if json:
            show.document(record_of(found, finder))
        if not found.hits:
            raise finder.nothing(query)
        if not json:
            show.hits(found, finder, explain=explain)


@app.command()
def doctor(json: AsJson = False) -> None:
    """Look for books and servers, and say what works and what to do about the rest."""
    from kiwiresearch.cli import show
    from kiwiresearch.research.doctor import Finding, examine

    try:
        findings = examine(_desk())
    except BadSettings as problem:  # what keeps every other command from running is what a doctor is for
        findings = [Finding("settings", "broken", problem.message, problem.remedy)]
    if json:
        show.document({"findings": [finding.record() for finding in findings]})
    else:
        show.findings(findings)
    if any(finding.state == "broken" for finding in findings):
        raise typer.Exit(1)


@books.command("list")
def books_list(json: AsJson = False) -> None:
    """Show the books on your shelf."""
    from kiwiresearch.cli import show
    from kiwiresearch.research.inventory import inventory

    desk = _desk()
    with _shelf(desk, []) as shelf:
        rows = inventory(desk, shelf)
        if json:
            show.document({"sample": shelf.is_sample, "books": [row.record() for row in rows]})
        else:
            show.books(rows)


@books.command("add")
def books_add(
    what: Annotated[
        list[str],
        typer.Argument(help="ZIM files, folders, a library.xml or the address of a kiwix-serve."),
    ],
    json: AsJson = False,
) -> None:
    """Put books on your shelf."""
    from kiwiresearch.cli import show
    from kiwiresearch.zim.library import placed

    if any(not text.strip() for text in what):
        raise BadUsage("The name of a book is empty.", remedy="Give a file, a folder or an address.")
    desk = _desk()
    problems: list[KiwiError] = []
    found: list[tuple[Book, Source]] = []
    for text in what:
        try:
            found += desk.look_up_each(text, problems)
        except KiwiError as problem:
            problems.append(problem)
    fresh = desk.shelf_file.add([placed(book, source) for book, source in found])
    if json:
        added = [{"id": b.id, "name": b.name, "title": b.title, "source": str(b.source)} for b in fresh]
        show.document({"added": added, "problems": [str(problem) for problem in problems]})
    else:
        show.added(fresh, found)
    for complaint in problems:
        print(f"kiwiresearch: {complaint}", file=sys.stderr)
    if problems:
        raise typer.Exit(problems[0].exit_code)


@books.command("remove")
def books_remove(
    name: Annotated[list[str], typer.Argument(help="Name, title, UUID or path of a book.")],
    json: AsJson = False,
) -> None:
    """Take books off your shelf; their files stay where they are."""
    from kiwiresearch.cli import show

    desk = _desk()
    gone = desk.on_shelf(name)
    desk.shelf_file.remove(gone)
    if json:
        show.document({"removed": [{"id": b.id, "name": b.name, "title": b.title} for b in gone]})
    else:
        for book in gone:
            show.line(f"Taken off the shelf: {book.title} ({book.source}). The file stays where it is.")


@books.command("info")
def books_info(
    name: Annotated[str, typer.Argument(help="Name, title, UUID or path of a book.")] = "",
    json: AsJson = False,
) -> None:
    """Show all that is known of a book."""
    from kiwiresearch.cli import show
    from kiwiresearch.research.inventory import inventory

    desk = _desk()
    with _shelf(desk, [name] if name else []) as shelf:
        rows = inventory(desk, shelf)
        for row in rows:
            if row.problem is not None:
                raise row.problem
        if json:
            show.document({"books": [row.record() for row in rows]})
        else:
            for row in rows:
                show.book(row)


@books.command("check")
def books_check(
    name: Annotated[list[str] | None, typer.Argument(help="Books to check; all if none is named.")] = None,
    json: AsJson = False,
) -> None:
    """Compare books with their checksums, which finds any damage."""
    from kiwiresearch.cli import show

    desk = _desk()
    rows: list[tuple[Placed, str, str]] = []
    for book in _shelf(desk, name or [], trusting=True).books:
        state, reason = desk.check(book)
        rows.append((book, state, reason))
        if not json:
            show.checked(book, state, reason)
    if json:
        documents = [
            {"id": book.id, "name": book.name, "source": str(book.source), "state": state, "reason": reason}
            for book, state, reason in rows
        ]
        show.document({"books": documents})
    if any(state in ("damaged", "unopenable") for _, state, _ in rows):
        raise typer.Exit(1)


@books.command("index")
def books_index(
    name: Annotated[list[str] | None, typer.Argument(help="Books to index; all if none is named.")] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", help="Only the first N titles, for a quick trial.", metavar="N", min=1)
    ] = None,
    json: AsJson = False,
) -> None:
    """Build the title index of books, which finds pages by any words of their titles, also mistyped ones."""
    from kiwiresearch.cli import show
    from kiwiresearch.research.title_indexes import TitleIndexes
    from kiwiresearch.zim.sources import is_address

    desk = _desk()
    indexes = TitleIndexes(desk.folders.cache / "titles")
    rows: list[dict[str, object]] = []
    with _shelf(desk, name or []) as shelf:
        for archive in shelf.archives():
            if is_address(archive.book.source):
                _say(f"{archive.book.title} is on a server, which keeps its own index of titles.")
                continue
            with show.progress(f"Titles of {archive.book.title}") as tell:
                built = indexes.build(archive, limit=limit, progress=tell)
            rows.append(
                {
                    "id": archive.book.id,
                    "name": archive.book.name,
                    "file": str(built.file),
                    "titles": built.rows,
                    "complete": built.complete,
                    "state": built.state,
                }
            )
            if not json:
                show.indexed(archive.book, built)
    if json:
        show.document({"books": rows})


def _desk() -> Desk:
    from kiwiresearch.research.desk import open_desk

    return open_desk(say=_say)


def _shelf(desk: Desk, wanted: list[str], *, trusting: bool = False) -> Shelf:
    from kiwiresearch.research.desk import SAMPLE_NOTICE

    shelf = desk.shelf(wanted, trusting=trusting)
    if shelf.is_sample:
        _say(SAMPLE_NOTICE)
    return shelf


def _say(message: str) -> None:
    print(message, file=sys.stderr)
