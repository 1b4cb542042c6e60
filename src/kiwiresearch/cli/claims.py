"""The commands for claims: list them, verify a run, and compare two runs or two snapshots of a book."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kiwiresearch.cli.options import BookOption, JsonOption, emit, open_books, print_json, say, user_workspace
from kiwiresearch.errors import BadUsage, NothingFound

if TYPE_CHECKING:
    from kiwiresearch.claims import PageClaims
    from kiwiresearch.diff import SnapshotDiff
    from kiwiresearch.runs import BookEdition


def claims(
    title: Annotated[str | None, typer.Argument(help="The page's title or path.")] = None,
    book: BookOption = None,
    text: Annotated[
        str, typer.Option("--text", help="A file of plain text instead; '-' is standard input.", metavar="FILE")
    ] = "",
    named: Annotated[
        str, typer.Option("--title", help="What the text is about; its file's name if not given.", metavar="TITLE")
    ] = "",
    kind: Annotated[
        str, typer.Option("--type", help="Only claims of this type, such as 'causal'.", metavar="TYPE")
    ] = "",
    batch: Annotated[
        str,
        typer.Option("--batch", help="A file of JSON lines, each with a text; '-' is standard input.", metavar="FILE"),
    ] = "",
    json: JsonOption = False,
) -> None:
    """Show what a page or a text claims, with its type, its hedges and where it says so."""
    from kiwiresearch.claims import checked_claim_type

    given = [title is not None, bool(text), bool(batch)]
    if sum(given) != 1:
        raise BadUsage(
            "Give the title of a page, --text FILE or --batch FILE.", remedy="Such as: kiwiresearch claims 'Hattusa'"
        )
    if named and not text:
        raise BadUsage("--title names a text.", remedy="Give it with --text FILE.")
    wanted = checked_claim_type(kind)
    if batch:
        from kiwiresearch.cli.batch import each_text

        raise typer.Exit(each_text(batch, wanted))
    found = _of_text(text, named) if text else _of_page(title or "", book)
    _show_claims(found.of_type(wanted), wanted, json=json)


def _of_page(title: str, book: list[str] | None) -> PageClaims:
    from kiwiresearch.claims import claims_of_page
    from kiwiresearch.workspace import find_page

    if not title.strip():
        raise BadUsage("The title is empty.", remedy="Give the title of a page, such as 'Hattusa'.")
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
    from kiwiresearch.cli.answer_output import claim_list

    if json:
        print_json(found.record())
    if not found.claims:
        which = f"claims of the type {wanted!r}" if wanted else "claims"
        raise NothingFound(
            f"The rules find no {which} in {found.page.title!r}.", remedy="Read it with 'kiwiresearch page'."
        )
    if not json:
        claim_list(found)


def conflicts(
    run: Annotated[str | None, typer.Argument(help="The folder of a finished run.", metavar="RUN")] = None,
    pairs: Annotated[
        str,
        typer.Option(
            "--pairs", help="A file of JSON lines, each with the texts a and b; '-' is standard input.", metavar="FILE"
        ),
    ] = "",
    json: JsonOption = False,
) -> None:
    """Tell whether one text contradicts another, and where; or where the pages of a run do not agree."""
    if (run is not None) == bool(pairs):
        raise BadUsage("Give either a run or --pairs FILE.", remedy="Such as: kiwiresearch conflicts --pairs two.jsonl")
    if pairs:
        from kiwiresearch.cli.batch import each_pair

        raise typer.Exit(each_pair(pairs))
    from kiwiresearch.cli.answer_output import contradiction_list
    from kiwiresearch.runs import Run, contradictions_of

    found = contradictions_of(Run.load(folder_of(run or "")))
    emit({"run": run, "conflicts": found}, lambda: contradiction_list(found), as_json=json)


def verify(
    run: Annotated[str, typer.Argument(help="The folder of a finished run.", metavar="RUN")],
    book: BookOption = None,
    json: JsonOption = False,
) -> None:
    """Prove a run again from its books: every file, quote, number, date and name. Exit code 1 if anything fails."""
    from kiwiresearch.cli.answer_output import proof
    from kiwiresearch.verify import shelf_for
    from kiwiresearch.verify import verify_run as prove

    folder = folder_of(run)
    with shelf_for(folder, user_workspace(), book or []) as shelf:
        found = prove(folder, shelf)
    emit(found.record(), lambda: proof(found), as_json=json)
    if not found.holds:
        raise typer.Exit(1)


def folder_of(run: str) -> Path:
    """The folder of a run as a user named it."""
    if not run.strip():
        raise BadUsage("The name of the run's folder is empty.", remedy="Name a folder that a run has written.")
    try:
        return Path(run).expanduser()
    except RuntimeError as problem:  # '~name' of an unknown user
        raise BadUsage(f"There is no home for {run!r}.", remedy="Name a folder.") from problem


def compare(
    old: Annotated[str, typer.Argument(help="The folder of the run to compare with.", metavar="OLD")],
    new: Annotated[str, typer.Argument(help="The folder of the run whose changes you want to see.", metavar="NEW")],
    *,
    json: JsonOption = False,
) -> None:
    """Compare two runs claim by claim: other settings, or an older and a newer snapshot of the same book."""
    from kiwiresearch.cli.answer_output import comparison
    from kiwiresearch.diff import compare_runs as compared
    from kiwiresearch.diff import comparison_record, differences, open_compared_run

    found = compared(open_compared_run(folder_of(old)), open_compared_run(folder_of(new)))
    emit(comparison_record(old, new, found, differences(found)), lambda: comparison(found), as_json=json)


OldBook = Annotated[
    str, typer.Argument(help="The older book: a ZIM file, a name on your shelf or a folder of 'bulk'.", metavar="OLD")
]
NewBook = Annotated[str, typer.Argument(help="The newer one, named in the same way.", metavar="NEW")]
OnePage = Annotated[str, typer.Option("--page", help="Only the page of this title or path.", metavar="TITLE")]
Kinds = Annotated[
    str,
    typer.Option("--kind", help="Only some of: added, withdrawn, changed, disputed; with commas.", metavar="KINDS"),
]
Out = Annotated[str, typer.Option("--out", "-o", help="A file for every change, as JSON lines.", metavar="FILE")]
Limit = Annotated[int, typer.Option("--limit", "-n", help="How many changes to show.", metavar="N", min=1)]
Workers = Annotated[
    int, typer.Option("--workers", help="How many processes compare; 0 for what fits.", metavar="N", min=0, max=256)
]
Force = Annotated[bool, typer.Option("--force", help="Compare also what are no two snapshots of one book.")]


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
    """Compare two snapshots of a book claim by claim: what was added, withdrawn, changed and is newly disputed."""
    from kiwiresearch.diff import checked_kinds, snapshot_diff, snapshot_places

    kinds = checked_kinds(kind)
    if page and out:
        raise BadUsage("--out is for all pages, and --page for one.", remedy="Leave one of them out.")
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
    emit(both.record() | {"changes": list(found.records(kinds))}, lambda: book_output.page(found, kinds), as_json=json)


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
        book_output.books(both.old, both.new)
        book_output.summary(tally, both.notes, with_pages=kinds == CHANGE_KINDS)
        book_output.changes(tally)
        if file:
            output.unbroken_line(f"\nEvery change: {file}")


def _say_order(old: BookEdition, new: BookEdition) -> None:
    if old.date and new.date and old.date > new.date:
        say(f"OLD is of {old.date} and NEW of {new.date}: what is told as added was withdrawn.")
