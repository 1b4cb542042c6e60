"""The commands for claims: list them, find contradictions, and compare two runs or two snapshots of a book."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kiwiresearch.cli.options import (
    BookOption,
    JsonOption,
    emit,
    folder_of,
    open_books,
    print_json,
    require_title,
    say,
    user_workspace,
)
from kiwiresearch.errors import BadUsage, NothingFound

if TYPE_CHECKING:
    from kiwiresearch.claims import PageClaims
    from kiwiresearch.diff import SnapshotDiff
    from kiwiresearch.runs import BookEdition


def claims(
    title: Annotated[str | None, typer.Argument(help="The title or path of the page.")] = None,
    book: BookOption = None,
    text: Annotated[
        str, typer.Option("--text", help="Read a plain text file instead ('-' for standard input).", metavar="FILE")
    ] = "",
    named: Annotated[
        str, typer.Option("--title", help="What the text is about (default: the name of the file).", metavar="TITLE")
    ] = "",
    kind: Annotated[
        str, typer.Option("--type", help="Only claims of this type, for example 'causal'.", metavar="TYPE")
    ] = "",
    batch: Annotated[
        str,
        typer.Option(
            "--batch", help="A file of JSON lines, each with a text ('-' for standard input).", metavar="FILE"
        ),
    ] = "",
    json: JsonOption = False,
) -> None:
    """List the claims of a page or a text. Each claim has a type and the place where the page says it."""
    from kiwiresearch.claims import checked_claim_type

    given = [title is not None, bool(text), bool(batch)]
    if sum(given) != 1:
        raise BadUsage(
            "Enter the title of a page, --text FILE or --batch FILE.", remedy="Example: kiwiresearch claims 'Hattusa'"
        )
    if named and not text:
        raise BadUsage("--title works only together with --text.", remedy="Add --text FILE.")
    wanted = checked_claim_type(kind)
    if batch:
        from kiwiresearch.cli.batch import each_text

        raise typer.Exit(each_text(batch, wanted))
    found = _of_text(text, named) if text else _of_page(title or "", book)
    _show_claims(found.of_type(wanted), wanted, json=json)


def _of_page(title: str, book: list[str] | None) -> PageClaims:
    from kiwiresearch.claims import claims_of_page
    from kiwiresearch.workspace import find_page

    require_title(title, "Hattusa")
    workspace = user_workspace()
    with open_books(workspace, book or []) as shelf:
        found = find_page(shelf, title)
        return claims_of_page(found.page, found.book.name)


def _of_text(source: str, title: str) -> PageClaims:
    from kiwiresearch.claims import claims_of_text
    from kiwiresearch.cli.batch import text_in

    words = text_in(source)
    name = "" if source == "-" else Path(source).stem.replace("_", " ")
    return claims_of_text(words, title.strip() or name)


def _show_claims(found: PageClaims, wanted: str, *, json: bool) -> None:
    from kiwiresearch.claims import CUT_NOTICE
    from kiwiresearch.cli.answer_output import print_claims

    if found.is_cut:
        say(CUT_NOTICE)
    if json:
        print_json(found.record())
    if not found.claims:
        which = f"claims of the type {wanted!r}" if wanted else "claims"
        raise NothingFound(
            f"No {which} found in {found.page.title!r}.", remedy="To read the page, run 'kiwiresearch page'."
        )
    if not json:
        print_claims(found)


def conflicts(
    run: Annotated[str | None, typer.Argument(help="The folder of a finished run.", metavar="RUN")] = None,
    pairs: Annotated[
        str,
        typer.Option(
            "--pairs",
            help="A file of JSON lines, each with the texts a and b ('-' for standard input).",
            metavar="FILE",
        ),
    ] = "",
    json: JsonOption = False,
) -> None:
    """Find contradictions between two texts or the pages of a run."""
    if (run is not None) == bool(pairs):
        raise BadUsage(
            "Enter a run, or give a file with --pairs FILE.", remedy="Example: kiwiresearch conflicts --pairs two.jsonl"
        )
    if pairs:
        from kiwiresearch.cli.batch import each_pair

        raise typer.Exit(each_pair(pairs))
    from kiwiresearch.cli.answer_output import print_contradictions
    from kiwiresearch.runs import Run, contradictions_of

    found = contradictions_of(Run.load(folder_of(run or "")))
    emit({"run": run, "conflicts": found}, lambda: print_contradictions(found), as_json=json)


def compare(
    old: Annotated[str, typer.Argument(help="The folder of the earlier run.", metavar="OLD")],
    new: Annotated[str, typer.Argument(help="The folder of the later run.", metavar="NEW")],
    *,
    json: JsonOption = False,
) -> None:
    """Compare two runs claim by claim. They may have different settings or use two editions of a book."""
    from kiwiresearch.cli.answer_output import print_comparison
    from kiwiresearch.diff import compare_runs as compared
    from kiwiresearch.diff import comparison_record, differences, open_compared_run

    found = compared(open_compared_run(folder_of(old)), open_compared_run(folder_of(new)))
    emit(comparison_record(old, new, found, differences(found)), lambda: print_comparison(found), as_json=json)


OldBook = Annotated[
    str,
    typer.Argument(
        help="The older edition: a ZIM file, a book in your library, or a folder written by 'kiwiresearch bulk'.",
        metavar="OLD",
    ),
]
NewBook = Annotated[str, typer.Argument(help="The newer edition, in the same form.", metavar="NEW")]
OnePage = Annotated[str, typer.Option("--page", help="Only the page with this title or path.", metavar="TITLE")]
Kinds = Annotated[
    str,
    typer.Option(
        "--kind",
        help="Only these kinds of change, separated by commas: added, withdrawn, changed, disputed.",
        metavar="KINDS",
    ),
]
Out = Annotated[str, typer.Option("--out", "-o", help="Save all changes to this file, as JSON lines.", metavar="FILE")]
Limit = Annotated[int, typer.Option("--limit", "-n", help="How many changes to show.", metavar="N", min=1)]
Workers = Annotated[
    int, typer.Option("--workers", help="How many processes to use; 0 chooses for you.", metavar="N", min=0, max=256)
]
Force = Annotated[
    bool, typer.Option("--force", help="Compare them even if they are not two editions of the same book.")
]


def diff(
    old: OldBook,
    new: NewBook,
    *,
    page: OnePage = "",
    kind: Kinds = "",
    out: Out = "",
    limit: Limit = 40,
    workers: Workers = 0,
    force: Force = False,
    json: JsonOption = False,
) -> None:
    """Compare two editions of a book. Shows which claims were added, withdrawn, changed or newly disputed."""
    from kiwiresearch.diff import checked_kinds, snapshot_diff, snapshot_places

    kinds = checked_kinds(kind)
    if page and out:
        raise BadUsage("--out and --page cannot be combined.", remedy="Use one of them.")
    with (
        snapshot_places(user_workspace(), old, new) as places,
        snapshot_diff(*places, workers=workers, force=force) as both,
    ):
        _say_order(both.old, both.new)
        if page:
            _one_page(both, page, kinds, json=json)
        else:
            _all_pages(both, kinds, out, limit, json=json)


def _one_page(both: SnapshotDiff, words: str, kinds: tuple[str, ...], *, json: bool) -> None:
    from kiwiresearch.cli import book_output

    found = both.page(words)
    record = both.record() | {"changes": list(found.records(kinds))}
    emit(record, lambda: book_output.print_page(found, kinds), as_json=json)


def _all_pages(both: SnapshotDiff, kinds: tuple[str, ...], out: str, limit: int, *, json: bool) -> None:
    from kiwiresearch.cli import book_output, output
    from kiwiresearch.cli.progress import bulk_display
    from kiwiresearch.diff import CHANGE_KINDS, DiffTally, json_lines_file

    tally = DiffTally(kinds, limit=limit)
    file = folder_of(out) if out else None
    with json_lines_file(file) if file else nullcontext(lambda _: None) as write, bulk_display() as tell:
        write({"kind": "books"} | both.record())
        for change in both.changes(tell):
            tally.add(change)
            for record in change.records(kinds) if file else ():
                write(record)
        write({"kind": "summary", "notes": both.notes} | tally.record())
    if json:
        print_json(both.record() | tally.record() | {"changes": tally.records()})
    else:
        book_output.print_books(both.old, both.new)
        book_output.print_summary(tally, both.notes, with_pages=kinds == CHANGE_KINDS)
        book_output.print_changes(tally)
        if file:
            output.unbroken_line(f"\nAll changes: {file}")


def _say_order(old: BookEdition, new: BookEdition) -> None:
    if old.date and new.date and old.date > new.date:
        say(f"OLD ({old.date}) is newer than NEW ({new.date}), so 'added' and 'withdrawn' are the wrong way round.")
