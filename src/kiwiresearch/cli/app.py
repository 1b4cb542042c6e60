"""All commands. Each imports what it needs when it runs, so that `--help` is fast."""

from __future__ import annotations

from typing import Annotated

import typer

from kiwiresearch.cli import accounts, claims, kin_cases, kin_change, kin_results, runs, server
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
    user_workspace,
)
from kiwiresearch.cli.server import hosts
from kiwiresearch.cli.shelf import books, bulk
from kiwiresearch.errors import BadSettings, BadUsage
from kiwiresearch.version import __version__

NOT_ANSWERED = 3


def ask(
    words: Annotated[list[str] | None, typer.Argument(help="The question.", metavar="QUESTION")] = None,
    book: BookOption = None,
    page: Annotated[str, typer.Option("--page", help="Answer from this page alone.", metavar="TITLE")] = "",
    mode: Annotated[
        str, typer.Option("--mode", help="How a model words it: default, eli10, advanced or quiz.", metavar="MODE")
    ] = "default",
    passages: Annotated[
        int, typer.Option("--passages", "-k", help="How many passages to take it from.", metavar="N")
    ] = 0,
    after: Annotated[
        list[str] | None,
        typer.Option("--after", help="An earlier question of the conversation; may be given more than once."),
    ] = None,
    fast: Annotated[
        bool, typer.Option("--fast", help="Choose sentences by words alone, without reading them.")
    ] = False,
    no_model: Annotated[bool, typer.Option("--no-model", help="Only the books' own words.")] = False,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Show the score of the answer, and the passages and pages that were looked at."),
    ] = False,
    batch: Annotated[
        str,
        typer.Option("--batch", help="A file of JSON lines, each with a question; '-' is standard input."),
    ] = "",
    json: JsonOption = False,
) -> None:
    """Answer a question from the books: citations first, then their words, or an honest 'not here'."""
    from kiwiresearch.ask import MODES, AskOptions, ConversationTurn
    from kiwiresearch.workspace import Asker, Finder

    question = " ".join(words or [])
    if bool(question.strip()) == bool(batch):
        raise BadUsage("Give either a question or --batch FILE.", remedy="Such as: kiwiresearch ask 'What is a comet?'")
    if mode not in MODES:
        raise BadUsage(f"There is no mode {mode!r}.", remedy=f"Use one of: {', '.join(MODES)}.")
    turns = tuple(ConversationTurn(earlier) for earlier in after or [])
    chosen = next(known for known in MODES if known == mode)
    options = AskOptions(chosen, passages, page, turns=turns, fast=fast, with_model=not no_model)
    workspace = user_workspace()
    with open_books(workspace, book or []) as shelf, Finder(workspace, shelf, all_books=bool(book)) as finder:
        asker = Asker(finder, workspace.settings.ask)
        if batch:
            from kiwiresearch.cli.batch import each_question

            raise typer.Exit(each_question(batch, asker, finder, options))
        if json:
            from kiwiresearch.ask import record_of

            answer = asker.ask(question, options)
            print_json(record_of(answer, finder.citation_url))
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
        **kin_results.EXPORT_COMMANDS,
        **kin_cases.CASE_COMMANDS,
    }.items():
        commands.command(name)(command)
    return commands


app = typer.Typer(
    name="kiwiresearch",
    help="An offline research desk over Kiwix ZIM files. 'kiwiresearch TOPIC' researches a topic.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help, so that asking for it does not import rich
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(atlas, name="atlas")
app.add_typer(books, name="books")
app.add_typer(_kin_commands(), name="kin")
app.add_typer(users, name="users")
app.add_typer(jobs, name="jobs")
app.add_typer(hosts, name="hosts")
app.command("ask")(ask)
app.command("audit")(accounts.audit)
app.command("bulk")(bulk)
app.command("mcp")(server.mcp)
app.command("research")(runs.research)
app.command("serve")(server.serve)
app.command("worker")(server.worker)
app.command("export")(runs.export)
app.command("claims")(claims.claims)
app.command("conflicts")(claims.conflicts)
app.command("verify")(claims.verify)
app.command("compare")(claims.compare)
app.command("diff")(diff)


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


@app.command()
def page(
    title: Annotated[str, typer.Argument(help="The page's title or path.")],
    book: BookOption = None,
    section: Annotated[
        str,
        typer.Option("--section", "-s", help="Only the section of this heading.", metavar="HEADING"),
    ] = "",
    links: Annotated[bool, typer.Option("--links", help="Show where the page links to.")] = False,
    json: JsonOption = False,
) -> None:
    """Read a page: its text, sections, facts, links and signals."""
    from kiwiresearch.cli import output
    from kiwiresearch.page import page_record
    from kiwiresearch.workspace import find_page, sections_named

    if not title.strip():
        raise BadUsage("The title is empty.", remedy="Give the title of a page, such as 'Sunset'.")
    workspace = user_workspace()
    with open_books(workspace, book or []) as shelf:
        found = find_page(shelf, title)
        chosen = sections_named(found.page, section) if section else ()
        emit(
            page_record(found.page, only=chosen),
            lambda: output.page(found.page, found.book, only=chosen, with_links=links),
            as_json=json,
        )


@app.command()
def search(
    words: Annotated[
        list[str] | None,
        typer.Argument(help="What to look for: a title, some words or a question.", metavar="QUERY"),
    ] = None,
    book: BookOption = None,
    limit: Annotated[int, typer.Option("--limit", "-n", help="How many pages to show.", metavar="N")] = 10,
    focus: Annotated[
        str, typer.Option("--focus", help="A hint that decides between senses, such as 'planet'.", metavar="WORDS")
    ] = "",
    fast: Annotated[bool, typer.Option("--fast", help="Titles and the books' own indexes; read no page.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show what each score is made of.")] = False,
    batch: Annotated[
        str,
        typer.Option("--batch", help="A file of JSON lines, each with a query; '-' is standard input.", metavar="FILE"),
    ] = "",
    json: JsonOption = False,
) -> None:
    """Find the right page for a title, some words or a question."""
    from kiwiresearch.cli import output
    from kiwiresearch.search import SearchOptions
    from kiwiresearch.workspace import Finder, search_record

    query = " ".join(words or [])
    if bool(query.strip()) == bool(batch):
        raise BadUsage("Give either a query or --batch FILE.", remedy="Such as: kiwiresearch search 'Bronze Age'")
    options = SearchOptions(limit=limit, fast=fast, focus=focus)
    workspace = user_workspace()
    with open_books(workspace, book or []) as shelf, Finder(workspace, shelf, all_books=bool(book)) as finder:
        if batch:
            from kiwiresearch.cli.batch import each_query

            raise typer.Exit(each_query(batch, finder, options))
        found = finder.find(query, options)
        report_missing(found.missing)
        if json:
            print_json(search_record(found, finder))
        if not found.hits:
            raise finder.nothing_found(query)
        if not json:
            output.hits(found, finder, explain=explain)


@app.command()
def doctor(json: JsonOption = False) -> None:
    """Look for books and servers, and say what works and what to do about the rest."""
    from kiwiresearch.cli import output
    from kiwiresearch.workspace import Diagnosis, diagnose

    try:
        findings = diagnose(user_workspace())
    except BadSettings as problem:  # other commands fail on this; the doctor is there to explain it
        findings = [Diagnosis("settings", "broken", problem.message, problem.remedy)]
    emit({"findings": findings}, lambda: output.findings(findings), as_json=json)
    if any(finding.state == "broken" for finding in findings):
        raise typer.Exit(1)


program = typer.main.get_command(app)
"""All commands, assembled once: that takes longer than many of them run."""
