"""The commands of the atlas: what only a whole book can tell."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer
from typer.core import TyperGroup

from kiwiresearch.cli.kin import Privacy, privacy_mode
from kiwiresearch.cli.options import JsonOption, say, user_workspace
from kiwiresearch.errors import BadUsage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kiwiresearch.atlas.atlas import Atlas, Recipe
    from kiwiresearch.atlas.database import ResultWindow
    from kiwiresearch.atlas.queries import PolicyFilter
    from kiwiresearch.atlas.relatives import PrivacyView

HELP = """What only a whole book can tell, from the folder that 'kiwiresearch bulk' has written.

'kiwiresearch atlas FOLDER' alone shows the book at a glance. What is worked out is kept: the next question is quick.
"""
Folder = Annotated[str, typer.Argument(help="The folder that 'kiwiresearch bulk' has written.", metavar="FOLDER")]
Limit = Annotated[int, typer.Option("--limit", "-n", help="How many rows to show.", metavar="N")]
Offset = Annotated[int, typer.Option("--offset", help="How many rows to leave out first.", metavar="N")]
OnPage = Annotated[str, typer.Option("--page", help="Only on the page of this title or path.", metavar="TITLE")]
Words = Annotated[str, typer.Option("--words", help="Only with these words.", metavar="WORDS")]


class _DefaultToOverview(TyperGroup):
    """A folder where a command could stand asks for the overview."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            if args[1:] and not args[1].startswith("-"):
                known = ", ".join(self.commands)
                raise BadUsage(f"The atlas has no command {args[0]!r}.", remedy=f"The commands are: {known}.")
            args = ["overview", *args]
        return list(super().parse_args(ctx, args))


atlas = typer.Typer(help=HELP, no_args_is_help=True, rich_markup_mode=None, cls=_DefaultToOverview)


@atlas.command()
def overview(folder: Folder, *, json: JsonOption = False) -> None:
    """Show the book at a glance: pages, links, claims, contradictions and people."""
    from kiwiresearch.atlas.contradictions import CONTRADICTIONS
    from kiwiresearch.atlas.graph import GRAPH
    from kiwiresearch.atlas.queries import overview as told
    from kiwiresearch.cli import book_output, output

    opened = _open_atlas(folder, GRAPH, CONTRADICTIONS)
    record = opened.screen.overview(told(opened.atlas))
    output.document(record) if json else book_output.overview(record)


@atlas.command()
def contradictions(
    folder: Folder,
    *,
    kind: Annotated[
        str,
        typer.Option(
            "--kind",
            help="Only this kind: contradiction, 'estimate range', 'unit or rounding', 'different year' or "
            "'different scope'.",
            metavar="KIND",
        ),
    ] = "",
    what: Annotated[str, typer.Option("--of", help="Only of this: number or date.", metavar="WHAT")] = "",
    words: Words = "",
    page: OnPage = "",
    limit: Limit = 20,
    offset: Offset = 0,
    json: JsonOption = False,
) -> None:
    """Show numbers and dates of the same subject that disagree, with both quotes."""
    from kiwiresearch.atlas.contradictions import CONTRADICTIONS, KINDS, ContradictionFilter, ValueKind
    from kiwiresearch.atlas.contradictions import contradictions as told
    from kiwiresearch.cli import book_output, output

    subjects: dict[str, ValueKind | Literal[""]] = {"": "", "number": "a number", "date": "a date"}
    wish = ContradictionFilter(
        _choice("--kind", kind, ("", *KINDS)), subjects[_choice("--of", what, tuple(subjects))], words, page
    )
    window = _window(limit, offset)
    opened = _open_atlas(folder, CONTRADICTIONS)
    found = opened.screen.filter_page(told(opened.atlas, wish, window))
    output.document(found.record()) if json else book_output.contradictions(found)


@atlas.command()
def ranks(
    folder: Folder,
    *,
    by: Annotated[
        str,
        typer.Option(
            "--by", help="authority (PageRank), linked (links to it) or references (that it gives).", metavar="WHAT"
        ),
    ] = "authority",
    words: Annotated[str, typer.Option("--words", help="Only titles with these words.", metavar="WORDS")] = "",
    limit: Limit = 20,
    offset: Offset = 0,
    json: JsonOption = False,
) -> None:
    """Show the pages that matter most: most authoritative, most linked, or best referenced."""
    from kiwiresearch.atlas.graph import GRAPH
    from kiwiresearch.atlas.queries import RANK_ORDERS
    from kiwiresearch.atlas.queries import ranked_pages as told
    from kiwiresearch.cli import book_output, output

    order = _choice("--by", by, RANK_ORDERS)
    window = _window(limit, offset)
    opened = _open_atlas(folder, GRAPH)
    found = opened.screen.filter_page(told(opened.atlas, order, words, window))
    output.document(found.record()) if json else book_output.ranks(found)


@atlas.command()
def regions(
    folder: Folder,
    *,
    of: Annotated[
        str,
        typer.Option(
            "--of",
            help="orphans (no page links there), islands (cut off together), stubs (thin pages that hang together) "
            "or wanted (linked to, and not in the book).",
            metavar="WHAT",
        ),
    ] = "orphans",
    limit: Limit = 20,
    offset: Offset = 0,
    json: JsonOption = False,
) -> None:
    """Show the edges of the book: orphans, islands, regions of stubs, and wanted pages."""
    from kiwiresearch.atlas.graph import GRAPH
    from kiwiresearch.atlas.queries import EDGE_KINDS
    from kiwiresearch.atlas.queries import edge_pages as told
    from kiwiresearch.cli import book_output, output

    which = _choice("--of", of, EDGE_KINDS)
    window = _window(limit, offset)
    opened = _open_atlas(folder, GRAPH)
    found = opened.screen.filter_page(told(opened.atlas, which, window))
    output.document(found.record()) if json else book_output.regions(which, found)


@atlas.command()
def timeline(
    folder: Folder,
    *,
    first: Annotated[
        int | None, typer.Option("--from", help="From this year on; -1200 is 1200 BC.", metavar="Y")
    ] = None,
    last: Annotated[int | None, typer.Option("--to", help="What begins in this year or before.", metavar="Y")] = None,
    subject: Annotated[str, typer.Option("--subject", help="Only about this.", metavar="WORDS")] = "",
    words: Words = "",
    page: OnPage = "",
    limit: Limit = 20,
    offset: Offset = 0,
    json: JsonOption = False,
) -> None:
    """Show everything that the book dates, in the order of time."""
    from kiwiresearch.atlas.queries import TimelineFilter
    from kiwiresearch.atlas.queries import timeline as told
    from kiwiresearch.cli import book_output, output

    wish = TimelineFilter(first, last, subject, words, page)
    window = _window(limit, offset)
    opened = _open_atlas(folder)
    found = opened.screen.filter_page(told(opened.atlas, wish, window))
    output.document(found.record()) if json else book_output.timeline(found)


@atlas.command("kin")
def kin(
    folder: Folder,
    person: Annotated[str, typer.Argument(help="The title of a person's page.", metavar="[PERSON]")] = "",
    other: Annotated[str, typer.Argument(help="Another person: how the two are tied.", metavar="[OTHER]")] = "",
    *,
    ties: Annotated[int, typer.Option("--ties", help="How many ties away relatives may be.", metavar="N")] = 3,
    privacy: Privacy = "",
    limit: Limit = 20,
    offset: Offset = 0,
    json: JsonOption = False,
) -> None:
    """Show the largest families, the relatives of a person, or how two people are tied."""
    from kiwiresearch.atlas import relatives as people
    from kiwiresearch.atlas.families import FAMILIES
    from kiwiresearch.cli import book_output, output

    sight = _sight(privacy, as_json=json)
    window = _window(limit, offset)
    opened = _open_atlas(folder, FAMILIES)
    found, screen = opened.atlas, opened.screen
    if other:
        tied = screen.relation(people.relation(found, person, other, sight))
        output.document(tied) if json else book_output.relation(tied)
    elif person:
        told = _part_of(screen.relatives(people.relatives(found, person, sight, steps=ties)), window)
        output.document(told) if json else book_output.relatives(told)
    else:
        part = screen.filter_page(people.families(found, sight, window))
        output.document(part.record()) if json else book_output.families(part)


class _Opened(NamedTuple):
    """An atlas, and what the policy of the desk hides of it."""

    atlas: Atlas
    screen: PolicyFilter


def _open_atlas(folder: str, *recipes: Recipe) -> _Opened:
    """The atlas of a folder; whoever has to wait for something to be worked out is told so."""
    from kiwiresearch.atlas.atlas import open_atlas
    from kiwiresearch.workspace.atlas import atlas_screen

    workspace = user_workspace()
    found = open_atlas(Path(folder).expanduser().absolute(), workspace.folders.cache)
    screen = atlas_screen(found.book, workspace.settings.policy, workspace.shelf_file.books())
    for recipe in recipes:
        if found.has_tables(*recipe.needs) and not found.has(recipe):
            say(f"Working out the {recipe.name} of {found.book.title or found.book.name!r}, once for all questions.")
    return _Opened(found, screen)


def _sight(privacy: str, *, as_json: bool) -> PrivacyView:
    from kiwiresearch.atlas.relatives import PrivacyView
    from kiwiresearch.cases.case import this_year

    return PrivacyView(privacy_mode(privacy, as_json=as_json), this_year())


def _window(limit: int, offset: int) -> ResultWindow:
    from kiwiresearch.atlas.database import ResultWindow

    return ResultWindow(limit, offset)


def _part_of(told: dict[str, Any], window: ResultWindow) -> dict[str, Any]:
    """Some of the relatives, and how many there are."""
    rows = told["relatives"]
    some = rows[window.offset : window.offset + window.limit]
    return told | {"relatives": some, "total": len(rows), "offset": window.offset}


def _choice(option: str, given: str, known: Sequence[Any]) -> Any:
    if given not in known:
        told = ", ".join(one for one in known if one)
        raise BadUsage(f"{option} is {given!r}.", remedy=f"It must be one of: {told}.")
    return given
