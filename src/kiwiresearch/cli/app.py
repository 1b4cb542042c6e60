"""All commands. Each imports what it needs when it runs, so that `--help` is fast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer
import typer.core

from kiwiresearch.cli import accounts, claims, kin_cases, kin_change, kin_edits, kin_results, runs, server, verify
from kiwiresearch.cli.accounts import users
from kiwiresearch.cli.atlas import atlas
from kiwiresearch.cli.claims import diff
from kiwiresearch.cli.jobs import jobs
from kiwiresearch.cli.kin import HELP as KIN_HELP
from kiwiresearch.cli.options import (
    BookOption,
    JsonOption,
    emit,
    open_books,
    print_json,
    report_missing,
    require_title,
    say,
    user_workspace,
)
from kiwiresearch.cli.server import hosts
from kiwiresearch.cli.shelf import books, bulk
from kiwiresearch.errors import BadSettings, BadUsage
from kiwiresearch.version import __version__

# The exit code when there is no answer, the same as that of errors about something that was not found.
NOT_ANSWERED = 3


def ask(
    words: Annotated[list[str] | None, typer.Argument(help="Your question.", metavar="QUESTION")] = None,
    book: BookOption = None,
    page: Annotated[str, typer.Option("--page", help="Answer from this page only.", metavar="TITLE")] = "",
    mode: Annotated[
        str,
        typer.Option(
            "--mode",
            help="How a language model writes the answer: default, eli10 (for a ten-year-old), advanced or quiz.",
            metavar="MODE",
        ),
    ] = "default",
    passages: Annotated[
        int,
        typer.Option(
            "--passages", "-k", help="How many passages to use; 0 uses the number in the settings.", metavar="N"
        ),
    ] = 0,
    after: Annotated[
        list[str] | None,
        typer.Option(
            "--after", help="An earlier question in the conversation. You can repeat this option.", metavar="QUESTION"
        ),
    ] = None,
    fast: Annotated[bool, typer.Option("--fast", help="Match words only; skip the reading model.")] = False,
    no_model: Annotated[
        bool, typer.Option("--no-model", help="Answer without the language model, in the books' own sentences.")
    ] = False,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain", help="Show how the answer was scored, and the pages and passages it was chosen from."
        ),
    ] = False,
    batch: Annotated[
        str,
        typer.Option(
            "--batch", help="A file of JSON lines, each with a question ('-' for standard input).", metavar="FILE"
        ),
    ] = "",
    json: JsonOption = False,
) -> None:
    """Answer a question from your books, with citations. If the books have no answer, the command says so."""
    from kiwiresearch.ask import ASK_MODES, AskOptions, ConversationTurn
    from kiwiresearch.workspace import Asker, Finder

    question = " ".join(words or [])
    if bool(question.strip()) == bool(batch):
        raise BadUsage(
            "Enter a question, or give a file with --batch FILE.", remedy="Example: kiwiresearch ask 'What is a comet?'"
        )
    if mode not in ASK_MODES:
        raise BadUsage(f"Unknown mode {mode!r}.", remedy=f"Choose one of: {', '.join(ASK_MODES)}.")
    turns = tuple(ConversationTurn(earlier) for earlier in after or [])
    chosen = next(known for known in ASK_MODES if known == mode)
    options = AskOptions(chosen, passages, page, turns=turns, fast=fast, with_model=not no_model)
    workspace = user_workspace()
    with open_books(workspace, book or []) as shelf, Finder(workspace, shelf, search_every_book=bool(book)) as finder:
        asker = Asker(finder, workspace.settings.ask)
        if batch:
            from kiwiresearch.cli.batch import each_question

            raise typer.Exit(each_question(batch, asker, finder, options))
        if json:
            from kiwiresearch.ask import answer_record

            answer = asker.ask(question, options)
            print_json(answer_record(answer, finder.citation_url))
            report_missing(answer.missing)
        else:
            from kiwiresearch.cli.answer_output import show_answer

            answer = show_answer(asker.events(question, options), finder.citation_url, explain=explain)
    if not answer.grounded:
        raise typer.Exit(NOT_ANSWERED)


def _kin_commands() -> typer.Typer:
    commands = typer.Typer(help=KIN_HELP, no_args_is_help=True, rich_markup_mode=None)
    for name, command in {
        **kin_cases.WORK_COMMANDS,
        **kin_results.COMMANDS,
        **kin_change.COMMANDS,
        **kin_edits.COMMANDS,
        **kin_results.EXPORT_COMMANDS,
        **kin_cases.CASE_COMMANDS,
    }.items():
        commands.command(name)(command)
    return commands


app = typer.Typer(
    name="kiwiresearch",
    help="Offline research in Kiwix ZIM files. To research a topic: kiwiresearch TOPIC",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help, so that asking for it does not import rich
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(value: bool) -> None:
    if value:
        print(f"kiwiresearch {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    del version


def page(
    title: Annotated[str, typer.Argument(help="The title or path of the page.")],
    book: BookOption = None,
    section: Annotated[
        str,
        typer.Option("--section", "-s", help="Show only the section with this heading.", metavar="HEADING"),
    ] = "",
    links: Annotated[bool, typer.Option("--links", help="Also list the links on the page.")] = False,
    json: JsonOption = False,
) -> None:
    """Read a page: its text, sections, infoboxes and links."""
    from kiwiresearch.cli import output
    from kiwiresearch.codec import plain
    from kiwiresearch.page import CUT_NOTICE, page_record
    from kiwiresearch.workspace import find_page, sections_named

    require_title(title, "Sunset")
    workspace = user_workspace()
    with open_books(workspace, book or []) as shelf:
        found = find_page(shelf, title)
        chosen = sections_named(found.page, section) if section else ()
        if found.page.is_cut:
            say(CUT_NOTICE)
        emit(
            plain(page_record(found.page, only=chosen)) | {"is_cut": found.page.is_cut},
            lambda: output.print_page(found.page, found.book, only=chosen, with_links=links),
            as_json=json,
        )


def search(
    words: Annotated[
        list[str] | None,
        typer.Argument(help="What to search for: a title, some words or a question.", metavar="QUERY"),
    ] = None,
    book: BookOption = None,
    limit: Annotated[int, typer.Option("--limit", "-n", help="How many pages to show.", metavar="N")] = 10,
    focus: Annotated[
        str,
        typer.Option(
            "--focus",
            help="Words that matter most, for example 'planet' if a name has several meanings.",
            metavar="WORDS",
        ),
    ] = "",
    fast: Annotated[
        bool, typer.Option("--fast", help="Search titles and the books' own indexes without reading pages.")
    ] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show how each result was scored.")] = False,
    batch: Annotated[
        str,
        typer.Option(
            "--batch", help="A file of JSON lines, each with a query ('-' for standard input).", metavar="FILE"
        ),
    ] = "",
    json: JsonOption = False,
) -> None:
    """Search your books for a title, some words or a question."""
    from kiwiresearch.cli import output
    from kiwiresearch.search import SearchOptions
    from kiwiresearch.workspace import Finder, search_record

    query = " ".join(words or [])
    if bool(query.strip()) == bool(batch):
        raise BadUsage(
            "Enter what to search for, or give a file with --batch FILE.",
            remedy="Example: kiwiresearch search 'Bronze Age'",
        )
    options = SearchOptions(limit=limit, fast=fast, focus=focus)
    workspace = user_workspace()
    with open_books(workspace, book or []) as shelf, Finder(workspace, shelf, search_every_book=bool(book)) as finder:
        if batch:
            from kiwiresearch.cli.batch import each_query

            raise typer.Exit(each_query(batch, finder, options))
        found = finder.find(query, options)
        report_missing(found.missing)
        if json:
            print_json(search_record(found, finder))
        if not found.hits:
            raise finder.nothing_found_error(query)
        if not json:
            output.print_hits(found, finder, explain=explain)


def doctor(json: JsonOption = False) -> None:
    """Check your setup. Finds problems with settings, books and the model, and ZIM files that you could add."""
    from kiwiresearch.cli import output
    from kiwiresearch.workspace import Diagnosis, diagnose

    try:
        findings = diagnose(user_workspace())
    except BadSettings as problem:  # other commands fail on this; the doctor is there to explain it
        findings = [Diagnosis("settings", "broken", problem.message, problem.remedy)]
    emit({"findings": findings}, lambda: output.print_findings(findings), as_json=json)
    if any(finding.state == "broken" for finding in findings):
        raise typer.Exit(1)


# Help lists them in this order: what most people need comes first.
COMMANDS: dict[str, Callable[..., None]] = {
    "research": runs.research,
    "ask": ask,
    "search": search,
    "page": page,
    "claims": claims.claims,
    "conflicts": claims.conflicts,
    "verify": verify.verify,
    "sign": verify.sign,
    "export": runs.export,
    "worksheet": runs.worksheet,
    "compare": claims.compare,
    "diff": diff,
    "bulk": bulk,
    "serve": server.serve,
    "mcp": server.mcp,
    "worker": server.worker,
    "audit": accounts.audit,
    "doctor": doctor,
}
GROUPS = {
    "books": books,
    "kin": _kin_commands(),
    "atlas": atlas,
    "jobs": jobs,
    "users": users,
    "hosts": hosts,
}
for name, command in COMMANDS.items():
    app.command(name)(command)
for name, group in GROUPS.items():
    app.add_typer(group, name=name)

# Newer versions of typer show the Python type of an argument in the help: "TOPIC <list[str]>".
typer.core.TyperArgument.display_type_rich = lambda *_, **__: None  # type: ignore[method-assign]
program = typer.main.get_command(app)
"""All commands, assembled once: that takes longer than many of them run."""
