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
    from kiwiresearch.zim import Book, ListedBook, Source

books = typer.Typer(help="The books on your shelf.", no_args_is_help=True, rich_markup_mode=None)


@books.command("list")
def books_list(json: JsonOption = False) -> None:
    """Show the books on your shelf."""
    from kiwiresearch.cli import output
    from kiwiresearch.workspace import book_statuses

    workspace = user_workspace()
    with open_books(workspace, []) as shelf:
        rows = book_statuses(workspace, shelf)
        emit(
            {"sample": shelf.is_sample, "books": [row.record() for row in rows]},
            lambda: output.books(rows),
            as_json=json,
        )


@books.command("add")
def books_add(
    what: Annotated[
        list[str],
        typer.Argument(help="ZIM files, folders, a library.xml or the address of a kiwix-serve."),
    ],
    json: JsonOption = False,
) -> None:
    """Put books on your shelf."""
    from kiwiresearch.cli import output
    from kiwiresearch.zim import listed_book

    if any(not text.strip() for text in what):
        raise BadUsage("The name of a book is empty.", remedy="Give a file, a folder or an address.")
    workspace = user_workspace()
    problems: list[KiwiError] = []
    found: list[tuple[Book, Source]] = []
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
        output.added(fresh, found)
    for complaint in problems:
        print(f"kiwiresearch: {complaint}", file=sys.stderr)
    if problems:
        raise typer.Exit(problems[0].exit_code)


@books.command("remove")
def books_remove(
    name: Annotated[list[str], typer.Argument(help="Name, title, UUID or path of a book.")],
    json: JsonOption = False,
) -> None:
    """Take books off your shelf; their files stay where they are."""
    from kiwiresearch.cli import output

    workspace = user_workspace()
    gone = workspace.on_shelf(name)
    workspace.shelf_file.remove(gone)
    if json:
        print_json({"removed": [{"id": b.id, "name": b.name, "title": b.title} for b in gone]})
    else:
        for book in gone:
            output.line(f"Taken off the shelf: {book.title} ({book.source}). The file stays where it is.")


@books.command("info")
def books_info(
    name: Annotated[str, typer.Argument(help="Name, title, UUID or path of a book.")] = "",
    json: JsonOption = False,
) -> None:
    """Show all that is known of a book."""
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
                output.book(row)


@books.command("check")
def books_check(
    name: Annotated[list[str] | None, typer.Argument(help="Books to check; all if none is named.")] = None,
    json: JsonOption = False,
) -> None:
    """Compare books with their checksums, which finds any damage."""
    from kiwiresearch.cli import output

    workspace = user_workspace()
    rows: list[tuple[ListedBook, str, str]] = []
    for book in open_books(workspace, name or [], trusting=True).books:
        state, reason = workspace.check(book)
        rows.append((book, state, reason))
        if not json:
            output.checked(book, state, reason)
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
    name: Annotated[list[str] | None, typer.Argument(help="Books to index; all if none is named.")] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", help="Only the first N titles, for a quick trial.", metavar="N", min=1)
    ] = None,
    json: JsonOption = False,
) -> None:
    """Build the title index of books, which finds pages by any words of their titles, also mistyped ones."""
    from kiwiresearch.cli import output
    from kiwiresearch.workspace import TitleIndexes
    from kiwiresearch.zim import Source, is_address

    workspace = user_workspace()
    indexes = TitleIndexes(workspace.folders.cache / "titles")
    rows: list[dict[str, object]] = []
    with open_books(workspace, name or []) as shelf:
        for archive in shelf.archives():
            if is_address(archive.book.source):
                say(f"{archive.book.title} is on a server, which keeps its own index of titles.")
                continue
            if Source(archive.book.source).is_on_peer:
                say(f"{archive.book.title} is on another host, which keeps its own index of titles.")
                continue
            with output.progress(f"Titles of {archive.book.title}") as report:
                built = indexes.build(archive, limit=limit, progress=report)
            names = {"id": archive.book.id, "name": archive.book.name, "file": str(built.file)}
            rows.append(names | {"titles": built.rows, "complete": built.complete, "state": built.state})
            if not json:
                output.indexed(archive.book, built)
    if json:
        print_json({"books": rows})


ALL_TABLES = "titles,pages,links,claims,people"


def bulk(
    *,
    book: Annotated[
        str, typer.Option("--book", "-b", help="The book, by name, title, UUID or path of its file.", metavar="BOOK")
    ] = "",
    what: Annotated[
        str, typer.Option("--what", help="Which tables, with commas between them.", metavar="TABLES")
    ] = ALL_TABLES,
    out: Annotated[str, typer.Option("--out", "-o", help="The folder to write to.", metavar="FOLDER")] = "",
    engine: Annotated[str, typer.Option("--engine", help="processes, or ray.", metavar="ENGINE")] = "processes",
    address: Annotated[
        str,
        typer.Option("--address", help="A Ray cluster that runs already, such as 10.0.0.1:6379.", metavar="ADDRESS"),
    ] = "",
    workers: Annotated[
        int, typer.Option("--workers", "-w", help="How many processes; 0 for one a core.", metavar="N")
    ] = 0,
    batch: Annotated[
        int, typer.Option("--batch", help="How many entries are done at once; 0 for 500.", metavar="N")
    ] = 0,
    check: Annotated[
        str, typer.Option("--check", help="Prove a finished folder again instead.", metavar="FOLDER")
    ] = "",
    json: JsonOption = False,
) -> None:
    """Write every article of a book into tables of Parquet; run it again to go on after an interruption."""
    if check:
        if book or out:
            raise BadUsage("--check goes alone.", remedy="Such as: kiwiresearch bulk --check FOLDER")
        raise typer.Exit(_check_folder(Path(check).expanduser(), json=json))
    if not book or not out:
        raise BadUsage(
            "A book and a folder are needed.", remedy="Such as: kiwiresearch bulk --book wikipedia.zim --out FOLDER"
        )
    from kiwiresearch.bulk import checked_tables, write_book
    from kiwiresearch.cli.progress import bulk_display

    tables = checked_tables(what.split(","))
    file, folder = _file_of(book), Path(out).expanduser()
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
            "Interrupted. The batches that were finished are kept.", remedy=f"To go on: kiwiresearch bulk {again}"
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
                f"{name!r} stands for {len(shelf.books)} books.", remedy="Name one of them by its UUID or its file."
            )
        found = shelf.books[0]
        if found.source.is_served:
            raise _served(found.title)
        shelf.open(found)
        return found.source.path


def _served(name: str) -> NotOffered:
    return NotOffered(
        f"A kiwix-serve does not list the articles of {name!r}.",
        remedy="Give the ZIM file itself to work through a whole book.",
    )


def _show_written(written: WrittenFolder, *, json: bool) -> None:
    from kiwiresearch.cli import output
    from kiwiresearch.text import count_of

    manifest = written.manifest
    if json:
        print_json({**manifest.summary(), "folder": str(written.folder), "was_finished": written.was_finished})
        return
    if written.was_finished:
        output.line("This folder was finished before; nothing was done.")
    entries = count_of(manifest.entries, "entry", "entries")
    output.line(f"{manifest.book.title!r} of {manifest.book.date or 'no date'}: {entries}.")
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
        output.line(f"{proof.shards:,} files with {rows:,} rows: {'all as written' if proof.is_intact else 'damaged'}.")
    if not proof.is_intact and sys.stderr is not None:
        say("kiwiresearch: Remove the folder, and make it again with 'kiwiresearch bulk'.")
    return 0 if proof.is_intact else 1
