"""The commands about the shelf."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from kiwiresearch.cli.options import AsJson, open_books, say, the_desk
from kiwiresearch.errors import BadUsage, KiwiError

if TYPE_CHECKING:
    from kiwiresearch.zim.book import Book
    from kiwiresearch.zim.library import Placed
    from kiwiresearch.zim.sources import Source

books = typer.Typer(help="The books on your shelf.", no_args_is_help=True, rich_markup_mode=None)


@books.command("list")
def books_list(json: AsJson = False) -> None:
    """Show the books on your shelf."""
    from kiwiresearch.cli import show
    from kiwiresearch.research.inventory import inventory

    desk = the_desk()
    with open_books(desk, []) as shelf:
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
    desk = the_desk()
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

    desk = the_desk()
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

    desk = the_desk()
    with open_books(desk, [name] if name else []) as shelf:
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

    desk = the_desk()
    rows: list[tuple[Placed, str, str]] = []
    for book in open_books(desk, name or [], trusting=True).books:
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
    from kiwiresearch.zim.sources import Source, is_address

    desk = the_desk()
    indexes = TitleIndexes(desk.folders.cache / "titles")
    rows: list[dict[str, object]] = []
    with open_books(desk, name or []) as shelf:
        for archive in shelf.archives():
            if is_address(archive.book.source):
                say(f"{archive.book.title} is on a server, which keeps its own index of titles.")
                continue
            if Source(archive.book.source).is_far:
                say(f"{archive.book.title} is on another host, which keeps its own index of titles.")
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
