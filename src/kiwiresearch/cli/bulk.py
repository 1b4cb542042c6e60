"""The command that works through a whole book."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from kiwiresearch import __version__
from kiwiresearch.cli.options import AsJson, say, the_desk
from kiwiresearch.errors import BadUsage, Interrupted, NotOffered

if TYPE_CHECKING:
    from kiwiresearch.bulk.run import Engine, Written

ALL = "titles,pages,links,claims,people"


def bulk(
    *,
    book: Annotated[
        str, typer.Option("--book", "-b", help="The book, by name, title, UUID or path of its file.", metavar="BOOK")
    ] = "",
    what: Annotated[
        str, typer.Option("--what", help="Which tables, with commas between them.", metavar="TABLES")
    ] = ALL,
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
    json: AsJson = False,
) -> None:
    """Write every article of a book into tables of Parquet; run it again to go on after an interruption."""
    if check:
        if book or out:
            raise BadUsage("--check goes alone.", remedy="Such as: kiwiresearch bulk --check FOLDER")
        raise typer.Exit(_check(Path(check).expanduser(), json=json))
    if not book or not out:
        raise BadUsage(
            "A book and a folder are needed.", remedy="Such as: kiwiresearch bulk --book wikipedia.zim --out FOLDER"
        )
    from kiwiresearch.bulk.run import write_book
    from kiwiresearch.bulk.tables import checked_what
    from kiwiresearch.cli.bulk_progress import told

    tables = checked_what(what.split(","))
    file, folder = _file_of(book), Path(out).expanduser()
    try:
        with told() as tell:
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
    _show(written, json=json)


def _file_of(name: str) -> Path:
    """The file of a book that a user named, opened once to see that it can be trusted."""
    from kiwiresearch.zim.sources import is_address

    if is_address(name):
        raise _served(name)
    desk = the_desk()
    with desk.shelf([name]) as shelf:
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


def _show(written: Written, *, json: bool) -> None:
    from kiwiresearch.cli import show
    from kiwiresearch.text.plural import counted

    manifest = written.manifest
    if json:
        show.document({**manifest.summary(), "folder": str(written.folder), "was_finished": written.was_finished})
        return
    if written.was_finished:
        show.line("This folder was finished before; nothing was done.")
    entries = counted(manifest.entries, "entry", "entries")
    show.line(f"{manifest.book.title!r} of {manifest.book.date or 'no date'}: {entries}.")
    for name, table in manifest.tables.items():
        show.line(f"{name:8}{counted(table.rows, 'row ', 'rows'):>19} in {counted(len(table.shards), 'file')}")
    show.whole_line(f"Manifest: {written.folder / 'manifest.json'}")


def _check(folder: Path, *, json: bool) -> int:
    from kiwiresearch.bulk.checking import check_folder
    from kiwiresearch.cli import show

    proof = check_folder(folder)
    if json:
        summary = proof.opened.manifest.summary()
        show.document({**summary, "holds": proof.holds, "problems": list(proof.problems)})
    else:
        for problem in proof.problems:
            show.whole_line(problem)
        rows = sum(table.rows for table in proof.opened.manifest.tables.values())
        show.line(f"{proof.shards:,} files with {rows:,} rows: {'all as written' if proof.holds else 'damaged'}.")
    if not proof.holds and sys.stderr is not None:
        say("kiwiresearch: Remove the folder, and make it again with 'kiwiresearch bulk'.")
    return 0 if proof.holds else 1
