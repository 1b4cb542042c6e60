"""The commands about runs: researching a topic, and handing a run to other programs."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kiwiresearch.cli.options import (
    BookOption,
    JsonOption,
    open_books,
    print_json,
    report_missing,
    require_title,
    say,
    user_workspace,
)
from kiwiresearch.errors import BadUsage, Interrupted
from kiwiresearch.export import formats_help

if TYPE_CHECKING:
    from kiwiresearch.runs import Research


def research(
    words: Annotated[
        list[str],
        typer.Argument(help="The topic, for example 'causes of the Bronze Age collapse'.", metavar="TOPIC"),
    ],
    book: BookOption = None,
    depth: Annotated[
        int | None, typer.Option("--depth", help="How many links away from the starting pages to go.", metavar="N")
    ] = None,
    max_pages: Annotated[
        int | None, typer.Option("--max-pages", help="The maximum number of pages to read.", metavar="N")
    ] = None,
    max_links: Annotated[
        int | None,
        typer.Option(
            "--max-links", help="The maximum number of new pages to add from the links of one page.", metavar="N"
        ),
    ] = None,
    strategy: Annotated[
        str | None,
        typer.Option(
            "--strategy", help="'priority' reads the best page next; 'bfs' goes level by level.", metavar="priority|bfs"
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option("--out", "-o", help="Where to save the result (default: runs/DATE_topic).", metavar="DIR"),
    ] = None,
    focus: Annotated[
        str, typer.Option("--focus", help="Words that matter most, for example 'metallurgy, drought'.", metavar="WORDS")
    ] = "",
    aspect: Annotated[
        str,
        typer.Option("--aspect", help="The aspect of the topic to research, for example 'causes'.", metavar="WORDS"),
    ] = "",
    include_lists: Annotated[
        bool | None,
        typer.Option("--include-lists/--exclude-lists", help="Read list pages like any other page, or skip them."),
    ] = None,
    fast: Annotated[bool, typer.Option("--fast", help="Match words only, without comparing meanings.")] = False,
    critic: Annotated[bool, typer.Option("--critic", help="Have the language model review what it wrote.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Continue a run that was stopped.")] = False,
    finish: Annotated[
        bool,
        typer.Option("--finish", help="Write the brief of a run that was stopped, from the pages it has read."),
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print each step as a line of JSON.")] = False,
) -> None:
    """Research a topic and write a brief. Every sentence has a source.

    You can omit the word 'research': kiwiresearch TOPIC does the same.
    """
    from kiwiresearch.cli.progress import run_display
    from kiwiresearch.jobs import ResearchRequest, research_task
    from kiwiresearch.runs import Research, holds_run
    from kiwiresearch.workspace import Finder, checked_aspect, checked_focus, checked_topic, with_values

    topic, focus, aspect = checked_topic(" ".join(words)), checked_focus(focus), checked_aspect(aspect)
    workspace = user_workspace()
    request = ResearchRequest(topic, focus, depth, max_pages, max_links, strategy, critic=critic, aspect=aspect)
    settings = workspace.settings
    if include_lists is not None:
        lists = "include" if include_lists else "exclude"
        settings = with_values(settings, {"link_filters.lists": ("--include-lists", lists)})
    task = research_task(request, settings, option_name=_option_name, fast=fast)
    if critic and not workspace.settings.model_url.strip():
        say("--critic has no effect: no language model is set, so every sentence is taken from a page.")
    with open_books(workspace, book or []) as shelf, Finder(workspace, shelf, search_every_book=bool(book)) as finder:
        report_missing(finder.missing)
        work = Research(finder, task)
        folder = _folder(out, work, resume=resume or finish)
        if resume and not holds_run(folder):
            say(f"No interrupted run in {str(folder)!r}. Starting a new one.")
        try:
            with run_display(task.settings.max_pages, as_json=json) as display:
                done = work.run(folder, display.tell, read_no_more=finish)
        except KeyboardInterrupt:
            if json:
                print_json({"event": "interrupted", "run": str(folder)})
            raise Interrupted(
                f"Interrupted. Your progress is saved in {str(folder)!r}.",
                remedy=f"To continue, run the same command with --resume --out {shlex.quote(str(folder))}. "
                "To write the brief from the pages read so far, use --finish instead of --resume.",
            ) from None
        display.finish(done)


def _folder(out: str | None, work: Research, *, resume: bool) -> Path:
    from datetime import UTC, datetime

    from kiwiresearch.runs import choose_run_folder
    from kiwiresearch.system import expand_user

    if out is not None:
        if not out.strip() or any(ord(char) < ord(" ") for char in out):
            what = "contains a control character" if out.strip() else "is empty"
            raise BadUsage(f"The folder name {what}.", remedy="Example: --out runs/bronze-age")
        return expand_user(out)
    # The date in the folder name is only for people; the contents do not depend on it.
    today = datetime.now(UTC).astimezone().date().isoformat()  # noqa: TID251
    return choose_run_folder(work.task.topic, work.fingerprint, today, resume=resume)


def _option_name(name: str) -> str:
    return f"--{name.replace('_', '-')}"


QuestionsOption = Annotated[
    int,
    typer.Option(
        "--questions",
        help="How many questions a worksheet has, from 3 to 30 (default: up to 14, as many good ones as the page "
        "yields).",
        metavar="NUMBER",
    ),
]
KindOption = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        help="A kind of question for a worksheet: open, truth, numbers, words, matching or order; repeat it for "
        "several (default: all).",
        metavar="KIND",
    ),
]


def export(
    run: Annotated[str, typer.Argument(help="The folder of a finished run.", metavar="RUN")],
    to: Annotated[str, typer.Option("--to", "--format", help=formats_help(), metavar="FORMAT")],
    out: Annotated[
        str | None,
        typer.Option("--out", "-o", help="The file or folder to write (default: RUN/export).", metavar="PATH"),
    ] = None,
    questions: QuestionsOption = 0,
    kind: KindOption = None,
    json: JsonOption = False,
) -> None:
    """Export a run to another format. Formats are available for reading, citing, spreadsheets, graphs and Kiwix."""
    from kiwiresearch.cli import output
    from kiwiresearch.export import choice_of
    from kiwiresearch.export import export as write

    browser, choice = user_workspace().settings.browser, choice_of(questions, kind or ())
    files = write(Path(run), to, Path(out) if out is not None else None, browser=browser, choice=choice)
    if json:
        print_json({"files": [str(file) for file in files]})
    else:
        for file in files:
            output.line(f"Saved: {file}")


def worksheet(
    title: Annotated[str, typer.Argument(help="The title or path of the page.")],
    book: BookOption = None,
    format_name: Annotated[
        str, typer.Option("--format", "--to", help="html, docx or markdown.", metavar="FORMAT")
    ] = "html",
    out: Annotated[
        str | None,
        typer.Option(
            "--out", "-o", help="The file to write (default: TITLE-worksheet in this folder).", metavar="FILE"
        ),
    ] = None,
    questions: QuestionsOption = 0,
    kind: KindOption = None,
    json: JsonOption = False,
) -> None:
    """Make a worksheet from one page. It has questions for a class, and answers that quote the page."""
    from kiwiresearch.claims import claims_of_page
    from kiwiresearch.cli import output
    from kiwiresearch.export import WORKSHEET_SUFFIXES, choice_of, page_worksheet_file, safe_name
    from kiwiresearch.runs import reporting_file_errors
    from kiwiresearch.system import write_atomically
    from kiwiresearch.workspace import find_page

    if format_name not in WORKSHEET_SUFFIXES:
        raise BadUsage(
            f"{format_name!r} is not a worksheet format.", remedy=f"Choose one of: {', '.join(WORKSHEET_SUFFIXES)}."
        )
    choice = choice_of(questions, kind or ())
    require_title(title, "Hattusa")
    with open_books(user_workspace(), book or []) as shelf:
        found = find_page(shelf, title)
        read = claims_of_page(found.page, found.book.name)
        file = page_worksheet_file(read, format_name, found.book, choice)
    place = Path(out) if out is not None else Path(f"{safe_name(found.page.title)}-{file.name}")
    with reporting_file_errors(place, "Free up disk space, or choose another place with --out."):
        write_atomically(place, file.content)
    if json:
        print_json({"files": [str(place)]})
    else:
        output.line(f"Saved: {place}")
