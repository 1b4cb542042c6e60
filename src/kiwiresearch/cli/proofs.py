"""The commands that prove: the claims of a page, the conflicts of two texts, and a run from end to end."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kiwiresearch.cli.options import AsJson, Wanted, open_books, the_desk
from kiwiresearch.errors import BadUsage, NothingFound

if TYPE_CHECKING:
    from kiwiresearch.research.claiming import Claimed


def claims(
    title: Annotated[str | None, typer.Argument(help="The page's title or path.")] = None,
    book: Wanted = None,
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
    json: AsJson = False,
) -> None:
    """Show what a page or a text claims, with its type, its hedges and where it says so."""
    from kiwiresearch.research.claiming import checked_type

    given = [title is not None, bool(text), bool(batch)]
    if sum(given) != 1:
        raise BadUsage(
            "Give the title of a page, --text FILE or --batch FILE.", remedy="Such as: kiwiresearch claims 'Hattusa'"
        )
    if named and not text:
        raise BadUsage("--title names a text.", remedy="Give it with --text FILE.")
    wanted = checked_type(kind)
    if batch:
        from kiwiresearch.cli.text_batch import each_text

        raise typer.Exit(each_text(batch, wanted))
    found = _of_text(text, named) if text else _of_page(title or "", book)
    _show_claims(found.of_type(wanted), wanted, json=json)


def _of_page(title: str, book: list[str] | None) -> Claimed:
    from kiwiresearch.research.claiming import claims_of_page
    from kiwiresearch.research.desk import find_page

    if not title.strip():
        raise BadUsage("The title is empty.", remedy="Give the title of a page, such as 'Hattusa'.")
    desk = the_desk()
    with open_books(desk, book or []) as shelf:
        found = find_page(shelf, title)
        return claims_of_page(found.page, found.book.name)


def _of_text(source: str, title: str) -> Claimed:
    from kiwiresearch.cli.text_batch import text_in
    from kiwiresearch.research.claiming import claims_of_text

    words = text_in(source)
    name = "" if source == "-" else Path(source).stem.replace("_", " ")
    return claims_of_text(words, title.strip() or name)


def _show_claims(found: Claimed, wanted: str, *, json: bool) -> None:
    from kiwiresearch.cli import show
    from kiwiresearch.cli.show_proofs import claim_list

    if json:
        show.document(found.record())
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
    json: AsJson = False,
) -> None:
    """Tell whether one text contradicts another, and where; or where the pages of a run do not agree."""
    if (run is not None) == bool(pairs):
        raise BadUsage("Give either a run or --pairs FILE.", remedy="Such as: kiwiresearch conflicts --pairs two.jsonl")
    if pairs:
        from kiwiresearch.cli.text_batch import each_pair

        raise typer.Exit(each_pair(pairs))
    from kiwiresearch.cli import show
    from kiwiresearch.cli.show_proofs import contradiction_list
    from kiwiresearch.research.contradictions import contradictions_of

    found = contradictions_of(folder_of(run or ""))
    if json:
        show.document({"run": run, "conflicts": [one.record() for one in found]})
    else:
        contradiction_list(found)


def verify(
    run: Annotated[str, typer.Argument(help="The folder of a finished run.", metavar="RUN")],
    book: Wanted = None,
    json: AsJson = False,
) -> None:
    """Prove a run again from its books: every file, quote, number, date and name. Exit code 1 if anything fails."""
    from kiwiresearch.cli import show
    from kiwiresearch.cli.show_proofs import proof
    from kiwiresearch.research.verify import shelf_for
    from kiwiresearch.research.verify import verify as prove

    folder = folder_of(run)
    with shelf_for(folder, the_desk(), book or []) as shelf:
        found = prove(folder, shelf)
    if json:
        show.document(found.record())
    else:
        proof(found)
    if not found.holds:
        raise typer.Exit(1)


def folder_of(run: str) -> Path:
    """The folder of a run that a user named."""
    if not run.strip():
        raise BadUsage("The name of the run's folder is empty.", remedy="Name a folder that a run has written.")
    try:
        return Path(run).expanduser()
    except RuntimeError as problem:  # '~name' of nobody
        raise BadUsage(f"There is no home for {run!r}.", remedy="Name a folder.") from problem
