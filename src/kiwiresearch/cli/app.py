"""The commands. Each imports what it needs when it runs, so that `--help` is quick."""

from __future__ import annotations

from typing import Annotated

import typer

from kiwiresearch import __version__
from kiwiresearch.cli import asking, auditing, bulk, comparing, mcp, proofs, runs, serving, working
from kiwiresearch.cli.atlas import atlas
from kiwiresearch.cli.books import books
from kiwiresearch.cli.diff import diff
from kiwiresearch.cli.hosts import hosts
from kiwiresearch.cli.kin import gathered
from kiwiresearch.cli.options import AsJson, Wanted, open_books, tell_missing, the_desk
from kiwiresearch.cli.people import users
from kiwiresearch.cli.working_jobs import jobs
from kiwiresearch.errors import BadSettings, BadUsage, PageNotFound

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
app.add_typer(gathered(), name="kin")
app.add_typer(users, name="users")
app.add_typer(jobs, name="jobs")
app.add_typer(hosts, name="hosts")
app.command("ask")(asking.ask)
app.command("audit")(auditing.audit)
app.command("bulk")(bulk.bulk)
app.command("mcp")(mcp.mcp)
app.command("research")(runs.research)
app.command("serve")(serving.serve)
app.command("worker")(working.worker)
app.command("export")(runs.export)
app.command("claims")(proofs.claims)
app.command("conflicts")(proofs.conflicts)
app.command("verify")(proofs.verify)
app.command("compare")(comparing.compare)
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
    book: Wanted = None,
    section: Annotated[
        str,
        typer.Option("--section", "-s", help="Only the section of this heading.", metavar="HEADING"),
    ] = "",
    links: Annotated[bool, typer.Option("--links", help="Show where the page links to.")] = False,
    json: AsJson = False,
) -> None:
    """Read a page: its text, sections, facts, links and signals."""
    from kiwiresearch.cli import show
    from kiwiresearch.research.desk import find_page

    if not title.strip():
        raise BadUsage("The title is empty.", remedy="Give the title of a page, such as 'Sunset'.")
    desk = the_desk()
    with open_books(desk, book or []) as shelf:
        found = find_page(shelf, title)
        chosen = found.page.below(section) if section else ()
        if section and not chosen:
            names = ", ".join(repr(s.heading) for s in found.page.sections[1:]) or "none but the lead"
            raise PageNotFound(
                f"The page {found.page.title!r} has no section {section!r}.", remedy=f"Its sections: {names}."
            )
        if json:
            from kiwiresearch.page.record import record_of

            show.document(record_of(found.page, only=chosen))
        else:
            show.page(found.page, found.book, only=chosen, with_links=links)


@app.command()
def search(
    words: Annotated[
        list[str] | None,
        typer.Argument(help="What to look for: a title, some words or a question.", metavar="QUERY"),
    ] = None,
    book: Wanted = None,
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
    json: AsJson = False,
) -> None:
    """Find the right page for a title, some words or a question."""
    from kiwiresearch.cli import show
    from kiwiresearch.research.finding import Finder, record_of
    from kiwiresearch.search.find import Wish

    query = " ".join(words or [])
    if bool(query.strip()) == bool(batch):
        raise BadUsage("Give either a query or --batch FILE.", remedy="Such as: kiwiresearch search 'Bronze Age'")
    wish = Wish(limit=limit, fast=fast, focus=focus)
    desk = the_desk()
    with open_books(desk, book or []) as shelf, Finder(desk, shelf, all_books=bool(book)) as finder:
        if batch:
            from kiwiresearch.cli.batch import each_query

            raise typer.Exit(each_query(batch, finder, wish))
        found = finder.find(query, wish)
        tell_missing(found.missing)
        if json:
            show.document(record_of(found, finder))
        if not found.hits:
            raise finder.nothing(query)
        if not json:
            show.hits(found, finder, explain=explain)


@app.command()
def doctor(json: AsJson = False) -> None:
    """Look for books and servers, and say what works and what to do about the rest."""
    from kiwiresearch.cli import show
    from kiwiresearch.research.doctor import Finding, examine

    try:
        findings = examine(the_desk())
    except BadSettings as problem:  # what keeps every other command from running is what a doctor is for
        findings = [Finding("settings", "broken", problem.message, problem.remedy)]
    if json:
        show.document({"findings": [finding.record() for finding in findings]})
    else:
        show.findings(findings)
    if any(finding.state == "broken" for finding in findings):
        raise typer.Exit(1)


program = typer.main.get_command(app)
"""The commands put together, once: that takes longer than many of them run."""
