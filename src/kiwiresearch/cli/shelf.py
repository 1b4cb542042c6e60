"""The commands for the books on the shelf, and the one that writes a book into tables."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from kiwiresearch.cli.options import JsonOption, emit, open_books, print_json, say, user_workspace
from kiwiresearch.errors import BadUsage, Interrupted, KiwiError, NotOffered
from kiwiresearch.version import __version__

if TYPE_CHECKING:
    from kiwiresearch.bulk import Engine, WrittenFolder
    from kiwiresearch.workspace import BookState
    from kiwiresearch.zim import Book, BookLocation, ListedBook

books = typer.Typer(help="Manage the books in your library.", no_args_is_help=True, rich_markup_mode=None)


@books.command("list")
def books_list(json: JsonOption = False) -> None:
    """List the books in your library."""
    from kiwiresearch.cli import output
    from kiwiresearch.workspace import book_statuses

    workspace = user_workspace()
    with open_books(workspace, []) as shelf:
        rows = book_statuses(workspace, shelf)
        emit(
            {"sample": shelf.is_sample, "books": [row.record() for row in rows]},
            lambda: output.print_books(rows),
            as_json=json,
        )


@books.command("add")
def books_add(
    what: Annotated[
        list[str],
        typer.Argument(help="ZIM files, folders, a library.xml, or the address of a kiwix-serve server."),
    ],
    json: JsonOption = False,
) -> None:
    """Add books to your library."""
    from kiwiresearch.cli import output
    from kiwiresearch.zim import listed_book

    if any(not text.strip() for text in what):
        raise BadUsage("No file, folder or address was given.", remedy="Enter a file, a folder or an address.")
    workspace = user_workspace()
    problems: list[KiwiError] = []
    found: list[tuple[Book, BookLocation]] = []
    for text in what:
        try:
            found += workspace.look_up_each(text, problems)
        except KiwiError as problem:
            problems.append(problem)
    fresh = workspace.shelf_file.add([listed_book(book, source) for book, source in found])
    if json:
        added = [{"id": b.id, "name": b.name, "title": b.title, "source": str(b.source)} for b in fresh]
        print_json({"added": added, "problems": [str(problem) for problem in problems]})
    else:
        output.print_added(fresh, found)
    for complaint in problems:
        print(f"kiwiresearch: {complaint}", file=sys.stderr)
    if problems:
        raise typer.Exit(problems[0].exit_code)


@books.command("remove")
def books_remove(
    name: Annotated[list[str], typer.Argument(help="The name, title, UUID or path of a book.")],
    json: JsonOption = False,
) -> None:
    """Remove books from your library. Their files are not deleted."""
    from kiwiresearch.cli import output

    workspace = user_workspace()
    gone = workspace.on_shelf(name)
    workspace.shelf_file.remove(gone)
    if json:
        print_json({"removed": [{"id": b.id, "name": b.name, "title": b.title} for b in gone]})
    else:
        for book in gone:
            output.line(f"Removed from your library: {book.title}. The file was not deleted: {book.source}")


@books.command("info")
def books_info(
    name: Annotated[str, typer.Argument(help="The name, title, UUID or path of a book.")] = "",
    json: JsonOption = False,
) -> None:
    """Show the details of a book."""
    from kiwiresearch.cli import output
    from kiwiresearch.workspace import book_statuses

    workspace = user_workspace()
    with open_books(workspace, [name] if name else []) as shelf:
        rows = book_statuses(workspace, shelf)
        for row in rows:
            if row.problem is not None:
                raise row.problem
        if json:
            print_json({"books": [row.record() for row in rows]})
        else:
            for row in rows:
                output.print_book(row)


@books.command("check")
def books_check(
    name: Annotated[list[str] | None, typer.Argument(help="The books to check (default: all).")] = None,
    json: JsonOption = False,
) -> None:
    """Check books for damage by comparing them with their checksums."""
    from kiwiresearch.cli import output

    workspace = user_workspace()
    rows: list[tuple[ListedBook, BookState, str]] = []
    for book in open_books(workspace, name or [], skip_open_check=True).books:
        state, reason = workspace.check(book)
        rows.append((book, state, reason))
        if not json:
            output.print_check(book, state, reason)
    if json:
        documents = [
            {"id": book.id, "name": book.name, "source": str(book.source), "state": state, "reason": reason}
            for book, state, reason in rows
        ]
        print_json({"books": documents})
    if any(state in ("damaged", "unopenable") for _, state, _ in rows):
        raise typer.Exit(1)


@books.command("index")
def books_index(
    name: Annotated[list[str] | None, typer.Argument(help="The books to index (default: all).")] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", help="Index only the first N titles, to try it quickly.", metavar="N", min=1),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Build the title index of books. Search then finds pages by any word of their titles, even misspelled."""
    from kiwiresearch.cli import output
    from kiwiresearch.workspace import TitleIndexes
    from kiwiresearch.zim import BookLocation, is_address

    workspace = user_workspace()
    indexes = TitleIndexes(workspace.folders.cache / "titles")
    rows: list[dict[str, object]] = []
    with open_books(workspace, name or []) as shelf:
        for archive in shelf.archives():
            if is_address(archive.book.source):
                say(f"{archive.book.title} is on a server, which has its own title index.")
                continue
            if BookLocation(archive.book.source).is_on_peer:
                say(f"{archive.book.title} is on another host, which has its own title index.")
                continue
            with output.progress(f"Indexing {archive.book.title}") as report:
                built = indexes.build(archive, limit=limit, progress=report)
            names = {"id": archive.book.id, "name": archive.book.name, "file": str(built.file)}
            rows.append(names | {"titles": built.rows, "complete": built.complete, "state": built.state})
            if not json:
                output.print_index_build(archive.book, built)
    if json:
        print_json({"books": rows})


ALL_TABLES = "titles,pages,links,claims,people"
"""Written out, because a command must not import jobs for its help; a test compares it."""


def bulk(
    *,
    book: Annotated[
        str, typer.Option("--book", "-b", help="The book: its name, title, UUID or path.", metavar="BOOK")
    ] = "",
    what: Annotated[
        str, typer.Option("--what", help="The tables to write, separated by commas.", metavar="TABLES")
    ] = ALL_TABLES,
    out: Annotated[str, typer.Option("--out", "-o", help="The folder to write the tables to.", metavar="FOLDER")] = "",
    engine: Annotated[str, typer.Option("--engine", help="'processes' or 'ray'.", metavar="ENGINE")] = "processes",
    address: Annotated[
        str,
        typer.Option("--address", help="A running Ray cluster, for example 10.0.0.1:6379.", metavar="ADDRESS"),
    ] = "",
    workers: Annotated[
        int, typer.Option("--workers", "-w", help="How many processes to use; 0 means one per core.", metavar="N")
    ] = 0,
    batch: Annotated[
        int, typer.Option("--batch", help="How many entries each process handles at a time; 0 means 500.", metavar="N")
    ] = 0,
    check: Annotated[
        str, typer.Option("--check", help="Check the files of a finished folder instead.", metavar="FOLDER")
    ] = "",
    json: JsonOption = False,
) -> None:
    """Write every page of a book into Parquet tables. If it is interrupted, run it again to continue."""
    from kiwiresearch.system import expand_user

    if check:
        if book or out:
            raise BadUsage(
                "--check cannot be combined with --book or --out.", remedy="Example: kiwiresearch bulk --check FOLDER"
            )
        raise typer.Exit(_check_folder(expand_user(check), json=json))
    if not book or not out:
        raise BadUsage(
            "--book and --out are both required.", remedy="Example: kiwiresearch bulk --book wikipedia.zim --out FOLDER"
        )
    from kiwiresearch.bulk import checked_tables, write_book
    from kiwiresearch.cli.progress import bulk_display

    tables = checked_tables(what.split(","))
    file, folder = _file_of(book), expand_user(out)
    try:
        with bulk_display() as tell:
            written = write_book(
                file,
                tables,
                folder,
                version=__version__,
                engine=cast("Engine", engine),
                workers=workers,
                batch=batch,
                address=address,
                tell=tell,
            )
    except KeyboardInterrupt:
        given = {"--book": book, "--what": ",".join(tables), "--out": out}
        if engine == "ray":
            given |= {"--engine": engine} | ({"--address": address} if address else {})
        again = " ".join(f"{name} {shlex.quote(value)}" for name, value in given.items())
        raise Interrupted(
            "Interrupted. Finished batches are saved.", remedy=f"To continue: kiwiresearch bulk {again}"
        ) from None
    _show_written(written, json=json)


def _file_of(name: str) -> Path:
    """The file of the named book, opened once to check it."""
    from kiwiresearch.workspace import shelf_of
    from kiwiresearch.zim import is_address

    if is_address(name):
        raise _served(name)
    workspace = user_workspace()
    with shelf_of(workspace, [name]) as shelf:
        if len(shelf.books) != 1:
            raise BadUsage(
                f"{name!r} matches {len(shelf.books)} books.", remedy="Enter the UUID or the path of one of them."
            )
        found = shelf.books[0]
        if found.source.is_served:
            raise _served(found.title)
        shelf.open(found)
        return found.source.path


def _served(name: str) -> NotOffered:
    return NotOffered(
        f"kiwix-serve cannot list all pages of {name!r}.",
        remedy="Use the ZIM file itself with --book.",
    )


def _show_written(written: WrittenFolder, *, json: bool) -> None:
    from kiwiresearch.cli import output
    from kiwiresearch.text import count_of

    manifest = written.manifest
    if json:
        print_json({**manifest.summary(), "folder": str(written.folder), "was_finished": written.was_finished})
        return
    if written.was_finished:
        output.line("This folder is already complete. Nothing to do.")
    entries = count_of(manifest.entries, "entry", "entries")
    output.line(f"{manifest.book.title!r} ({manifest.book.date or 'no date'}): {entries}.")
    for name, table in manifest.tables.items():
        output.line(f"{name:8}{count_of(table.rows, 'row ', 'rows'):>19} in {count_of(len(table.shards), 'file')}")
    output.unbroken_line(f"Manifest: {written.folder / 'manifest.json'}")


def _check_folder(folder: Path, *, json: bool) -> int:
    from kiwiresearch.bulk import check_folder
    from kiwiresearch.cli import output

    proof = check_folder(folder)
    if json:
        summary = proof.folder.manifest.summary()
        print_json({**summary, "holds": proof.is_intact, "problems": list(proof.problems)})
    else:
        for problem in proof.problems:
            output.unbroken_line(problem)
        rows = sum(table.rows for table in proof.folder.manifest.tables.values())
        verdict = "no damage found" if proof.is_intact else "damage found"
        output.line(f"{proof.shards:,} files with {rows:,} rows: {verdict}.")
    if not proof.is_intact and sys.stderr is not None:
        say("kiwiresearch: Delete the folder, then run 'kiwiresearch bulk' again.")
    return 0 if proof.is_intact else 1
