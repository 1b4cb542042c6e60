"""The commands of the atlas: facts that need the tables of a complete book."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer
from typer.core import TyperGroup

from kiwiresearch.cli.kin import Privacy, privacy_mode
from kiwiresearch.cli.options import JsonOption, emit, say, user_workspace
from kiwiresearch.errors import BadUsage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kiwiresearch.atlas import Atlas, PolicyFilter, Recipe, ResultWindow

HELP = """Explore a whole book. First write it into tables with 'kiwiresearch bulk'.

'kiwiresearch atlas FOLDER' shows an overview. Results are calculated once and then saved.
"""
Folder = Annotated[str, typer.Argument(help="A folder written by 'kiwiresearch bulk'.", metavar="FOLDER")]
Limit = Annotated[int, typer.Option("--limit", "-n", help="How many rows to show.", metavar="N")]
Offset = Annotated[int, typer.Option("--offset", help="How many rows to skip first.", metavar="N")]
OnPage = Annotated[str, typer.Option("--page", help="Only the page with this title or path.", metavar="TITLE")]
Words = Annotated[str, typer.Option("--words", help="Only rows with these words.", metavar="WORDS")]


class _DefaultToOverview(TyperGroup):
    """A folder instead of a command name means the overview."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            # After a folder only options follow, so another word shows that the first was meant as a command.
            if args[1:] and not args[1].startswith("-"):
                known = ", ".join(self.commands)
                raise BadUsage(f"Unknown atlas command {args[0]!r}.", remedy=f"Choose one of: {known}.")
            args = ["overview", *args]
        return list(super().parse_args(ctx, args))


atlas = typer.Typer(help=HELP, no_args_is_help=True, rich_markup_mode=None, cls=_DefaultToOverview)


@atlas.command()
def overview(folder: Folder, *, json: JsonOption = False) -> None:
    """Show the pages, links, claims and people of the book."""
    from kiwiresearch.atlas import CONTRADICTIONS, GRAPH
    from kiwiresearch.atlas import overview as query
    from kiwiresearch.cli import book_output

    opened = _open_atlas(folder, GRAPH, CONTRADICTIONS)
    record = opened.screen.overview(query(opened.atlas))
    emit(record, lambda: book_output.print_overview(record), as_json=json)


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
    what: Annotated[
        str,
        typer.Option("--of", help="Only contradictions between values of this kind: number or date.", metavar="WHAT"),
    ] = "",
    words: Words = "",
    page: OnPage = "",
    limit: Limit = 20,
    offset: Offset = 0,
    json: JsonOption = False,
) -> None:
    """Show numbers and dates that disagree. Shows both quotes."""
    from kiwiresearch.atlas import CONTRADICTIONS, KINDS, ContradictionFilter, ValueKind
    from kiwiresearch.atlas.contradictions import contradictions as query
    from kiwiresearch.cli import book_output

    subjects: dict[str, ValueKind | Literal[""]] = {"": "", "number": "a number", "date": "a date"}
    chosen = ContradictionFilter(
        _choice("--kind", kind, ("", *KINDS)), subjects[_choice("--of", what, tuple(subjects))], words, page
    )
    window = _window(limit, offset)
    opened = _open_atlas(folder, CONTRADICTIONS)
    found = opened.screen.filter_page(query(opened.atlas, chosen, window))
    emit(found, lambda: book_output.print_contradictions(found), as_json=json)


@atlas.command()
def ranks(
    folder: Folder,
    *,
    by: Annotated[
        str,
        typer.Option(
            "--by",
            help="'authority' (PageRank), 'linked' (links to the page) or 'references' (on the page).",
            metavar="WHAT",
        ),
    ] = "authority",
    words: Annotated[
        str, typer.Option("--words", help="Only pages with these words in their title.", metavar="WORDS")
    ] = "",
    limit: Limit = 20,
    offset: Offset = 0,
    json: JsonOption = False,
) -> None:
    """Show the most important pages. They are sorted by authority, links or references."""
    from kiwiresearch.atlas import GRAPH, RANK_ORDERS
    from kiwiresearch.atlas import ranked_pages as query
    from kiwiresearch.cli import book_output

    order = _choice("--by", by, RANK_ORDERS)
    window = _window(limit, offset)
    opened = _open_atlas(folder, GRAPH)
    found = opened.screen.filter_page(query(opened.atlas, order, words, window))
    emit(found, lambda: book_output.print_ranks(found), as_json=json)


@atlas.command()
def regions(
    folder: Folder,
    *,
    of: Annotated[
        str,
        typer.Option(
            "--of",
            help="'orphans' (no page links to them), 'islands' (groups without links to the rest), "
            "'stubs' (groups of short pages that link to each other) or 'wanted' (linked to, but not in the book).",
            metavar="WHAT",
        ),
    ] = "orphans",
    limit: Limit = 20,
    offset: Offset = 0,
    json: JsonOption = False,
) -> None:
    """Show gaps in the book. They are orphans, islands, groups of stubs, and missing pages."""
    from kiwiresearch.atlas import EDGE_KINDS, GRAPH
    from kiwiresearch.atlas import edge_pages as query
    from kiwiresearch.cli import book_output

    which = _choice("--of", of, EDGE_KINDS)
    window = _window(limit, offset)
    opened = _open_atlas(folder, GRAPH)
    found = opened.screen.filter_page(query(opened.atlas, which, window))
    emit(found, lambda: book_output.print_regions(which, found), as_json=json)


@atlas.command()
def timeline(
    folder: Folder,
    *,
    first: Annotated[int | None, typer.Option("--from", help="The first year; -1200 is 1200 BC.", metavar="Y")] = None,
    last: Annotated[
        int | None, typer.Option("--to", help="The last year in which an event may start.", metavar="Y")
    ] = None,
    subject: Annotated[str, typer.Option("--subject", help="Only claims about this subject.", metavar="WORDS")] = "",
    words: Words = "",
    page: OnPage = "",
    limit: Limit = 20,
    offset: Offset = 0,
    json: JsonOption = False,
) -> None:
    """Show the dated claims of the book, in chronological order."""
    from kiwiresearch.atlas import TimelineFilter
    from kiwiresearch.atlas import timeline as query
    from kiwiresearch.cli import book_output

    chosen = TimelineFilter(first, last, subject, words, page)
    window = _window(limit, offset)
    opened = _open_atlas(folder)
    found = opened.screen.filter_page(query(opened.atlas, chosen, window))
    emit(found, lambda: book_output.print_timeline(found), as_json=json)


@atlas.command("kin")
def kin(
    folder: Folder,
    person: Annotated[str, typer.Argument(help="The title of a person's page.", metavar="[PERSON]")] = "",
    other: Annotated[
        str, typer.Argument(help="Another person, to see how the two are related.", metavar="[OTHER]")
    ] = "",
    *,
    ties: Annotated[int, typer.Option("--ties", help="How many relationships away relatives can be.", metavar="N")] = 3,
    privacy: Privacy = "",
    limit: Limit = 20,
    offset: Offset = 0,
    json: JsonOption = False,
) -> None:
    """Show families, relatives, or how two people are related."""
    from kiwiresearch.atlas import FAMILIES, PrivacyView, family_queries
    from kiwiresearch.cases import this_year
    from kiwiresearch.cli import book_output

    view = PrivacyView(privacy_mode(privacy, as_json=json), this_year())
    window = _window(limit, offset)
    opened = _open_atlas(folder, FAMILIES)
    found, screen = opened.atlas, opened.screen
    if other:
        tied = screen.relation(family_queries.relation(found, person, other, view))
        emit(tied, lambda: book_output.print_relation(tied), as_json=json)
    elif person:
        record = screen.relatives(family_queries.relatives(found, person, view, steps=ties))
        rows = record["relatives"]
        some = rows[window.offset : window.offset + window.limit]
        shown = {**record, "relatives": some, "total": len(rows), "offset": window.offset}
        emit(shown, lambda: book_output.print_relatives(shown), as_json=json)
    else:
        part = screen.filter_page(family_queries.families(found, view, window))
        emit(part, lambda: book_output.print_families(part), as_json=json)


class _Opened(NamedTuple):
    """An atlas, and the filter that hides parts of it under the policy."""

    atlas: Atlas
    screen: PolicyFilter


def _open_atlas(folder: str, *recipes: Recipe) -> _Opened:
    """The atlas of a folder; a message says if tables must be computed first."""
    from kiwiresearch.atlas import open_atlas
    from kiwiresearch.system import expand_user
    from kiwiresearch.workspace import policy_filter_for

    workspace = user_workspace()
    found = open_atlas(expand_user(folder).absolute(), workspace.folders.cache)
    screen = policy_filter_for(found.book, workspace.settings.policy, workspace.shelf_file.books())
    for recipe in recipes:
        if found.has_tables(*recipe.needs) and not found.has(recipe):
            say(f"Calculating the {recipe.name} of {found.book.title or found.book.name!r}. This happens only once.")
    return _Opened(found, screen)


def _window(limit: int, offset: int) -> ResultWindow:
    from kiwiresearch.atlas import ResultWindow

    return ResultWindow(limit, offset)


def _choice(option: str, given: str, known: Sequence[Any]) -> Any:
    if given not in known:
        choices = ", ".join(item for item in known if item)
        raise BadUsage(f"{option} cannot be {given!r}.", remedy=f"Choose one of: {choices}.")
    return given
