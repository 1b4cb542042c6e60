"""The command that compares two snapshots of a book."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kiwiresearch.cli.options import AsJson, say, the_desk
from kiwiresearch.cli.proofs import folder_of
from kiwiresearch.errors import BadUsage

if TYPE_CHECKING:
    from kiwiresearch.research.book_pairs import BookSeen
    from kiwiresearch.research.snapshots import Snapshots

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
    json: AsJson = False,
) -> None:
    """Compare two snapshots of a book claim by claim: what was added, withdrawn, changed and is newly disputed."""
    from kiwiresearch.research.snapshots import snapshots
    from kiwiresearch.research.snapshots_change import checked_kinds
    from kiwiresearch.research.snapshots_places import places_of

    kinds = checked_kinds(kind)
    if page and out:
        raise BadUsage("--out is for all pages, and --page for one.", remedy="Leave one of them out.")
    with places_of(the_desk(), old, new) as places, snapshots(*places, workers=workers, force=force) as both:
        _say_order(both.old, both.new)
        if page:
            _page(both, page, kinds, json=json)
        else:
            _all(both, kinds, out, limit, json=json)


def _page(both: Snapshots, words: str, kinds: tuple[str, ...], *, json: bool) -> None:
    from kiwiresearch.cli import show, show_diff

    found = both.page(words)
    if json:
        show.document(both.record() | {"changes": list(found.records(kinds))})
    else:
        show_diff.page(found, kinds)


def _all(both: Snapshots, kinds: tuple[str, ...], out: str, limit: int, *, json: bool) -> None:
    from kiwiresearch.cli import show, show_diff
    from kiwiresearch.cli.bulk_progress import told
    from kiwiresearch.research.snapshots_change import KINDS
    from kiwiresearch.research.snapshots_lines import lines_into
    from kiwiresearch.research.snapshots_told import Tally

    tally = Tally(kinds, limit=limit)
    file = folder_of(out) if out else None
    with lines_into(file) if file else nullcontext(_nowhere) as write, told() as tell:
        write({"kind": "books"} | both.record())
        for change in both.changes(tell):
            tally.add(change)
            for record in change.records(kinds) if file else ():
                write(record)
        write({"kind": "summary", "notes": both.notes} | tally.record())
    if json:
        show.document(both.record() | tally.record() | {"changes": tally.records()})
    else:
        show_diff.books(both.old, both.new)
        show_diff.summary(tally, both.notes, with_pages=kinds == KINDS)
        show_diff.changes(tally)
        if file:
            show.whole_line(f"\nEvery change: {file}")


def _nowhere(_: Any) -> None:
    return None


def _say_order(old: BookSeen, new: BookSeen) -> None:
    if old.date and new.date and old.date > new.date:
        say(f"OLD is of {old.date} and NEW of {new.date}: what is told as added was withdrawn.")
