"""The commands about runs: researching a topic, and handing a run to other programs."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kiwiresearch.cli.options import BookOption, JsonOption, open_books, print_json, report_missing, say, user_workspace
from kiwiresearch.errors import BadUsage, Interrupted
from kiwiresearch.export import formats_help

if TYPE_CHECKING:
    from kiwiresearch.runs import Research


def research(
    words: Annotated[
        list[str],
        typer.Argument(help="What to research, such as 'causes of the Bronze Age collapse'.", metavar="TOPIC"),
    ],
    book: BookOption = None,
    depth: Annotated[
        int | None, typer.Option("--depth", help="How many links away from the first pages to go.", metavar="N")
    ] = None,
    max_pages: Annotated[
        int | None, typer.Option("--max-pages", help="How many pages to take at most.", metavar="N")
    ] = None,
    max_links: Annotated[
        int | None, typer.Option("--max-links", help="How many new pages one page may bring in.", metavar="N")
    ] = None,
    strategy: Annotated[
        str | None,
        typer.Option(
            "--strategy", help="'priority': the best page next; 'bfs': depth by depth.", metavar="priority|bfs"
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option("--out", "-o", help="The folder of the run; runs/DATE_topic if not given.", metavar="DIR"),
    ] = None,
    focus: Annotated[
        str, typer.Option("--focus", help="Words that matter most, such as 'metallurgy, drought'.", metavar="WORDS")
    ] = "",
    aspect: Annotated[
        str,
        typer.Option("--aspect", help="The side of the topic that is wanted, such as causes.", metavar="WORDS"),
    ] = "",
    include_lists: Annotated[
        bool | None,
        typer.Option("--include-lists/--exclude-lists", help="Take list pages like others, or not at all."),
    ] = None,
    fast: Annotated[bool, typer.Option("--fast", help="Compare words only, no meanings.")] = False,
    critic: Annotated[bool, typer.Option("--critic", help="Have a second look at what a model wrote.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run that was stopped.")] = False,
    json: JsonOption = False,
) -> None:
    """Research a topic: find its pages, follow their links, and write down what was taken and why.

    'research' itself need not be typed: the first word that is no command is a topic.
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
        say("There is nothing for --critic to look at: without a model every sentence is a page's own.")
    with open_books(workspace, book or []) as shelf, Finder(workspace, shelf, all_books=bool(book)) as finder:
        report_missing(finder.missing)
        work = Research(finder, task)
        folder = _folder(out, work, resume=resume)
        if resume and not holds_run(folder):
            say(f"There is nothing to resume in {str(folder)!r}, so a new run begins.")
        try:
            with run_display(task.settings.max_pages, as_json=json) as display:
                done = work.run(folder, display.tell)
        except KeyboardInterrupt:
            if json:
                print_json({"event": "interrupted", "run": str(folder)})
            raise Interrupted(
                f"Interrupted. What was done is kept in {str(folder)!r}.",
                remedy=f"To go on, give the same command with --resume --out {shlex.quote(str(folder))}",
            ) from None
        display.done(done)


def _folder(out: str | None, work: Research, *, resume: bool) -> Path:
    from datetime import UTC, datetime

    from kiwiresearch.runs import choose_run_folder

    if out is not None:
        if not out.strip() or any(ord(char) < ord(" ") for char in out):
            what = "holds a control character" if out.strip() else "is empty"
            raise BadUsage(f"The name of the folder {what}.", remedy="Such as: --out runs/bronze-age")
        try:
            return Path(out).expanduser()
        except RuntimeError as problem:  # '~name' of an unknown user
            raise BadUsage(f"There is no home for {out!r}.", remedy="Name a folder.") from problem
    # A folder of today's date is for people; nothing in it depends on the day.
    today = datetime.now(UTC).astimezone().date().isoformat()  # noqa: TID251
    return choose_run_folder(work.task.topic, work.fingerprint, today, resume=resume)


def _option_name(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def export(
    run: Annotated[str, typer.Argument(help="The folder of a finished run.", metavar="RUN")],
    to: Annotated[str, typer.Option("--to", help=formats_help(), metavar="FORMAT")],
    out: Annotated[
        str | None, typer.Option("--out", "-o", help="A file or folder; RUN/export if not given.", metavar="PATH")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Write a run for readers and other programs: to read, to cite, to count, to draw, or as a book for Kiwix."""
    from kiwiresearch.cli import output
    from kiwiresearch.export import export as write

    files = write(Path(run), to, Path(out) if out is not None else None)
    if json:
        print_json({"files": [str(file) for file in files]})
    else:
        for file in files:
            output.line(f"Written: {file}")
