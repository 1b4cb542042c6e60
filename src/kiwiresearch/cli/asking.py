"""The command that answers questions."""

from __future__ import annotations

from typing import Annotated

import typer

from kiwiresearch.cli.options import AsJson, Wanted, open_books, tell_missing, the_desk
from kiwiresearch.errors import BadUsage

NOT_ANSWERED = 3


def ask(
    words: Annotated[list[str] | None, typer.Argument(help="The question.", metavar="QUESTION")] = None,
    book: Wanted = None,
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
    json: AsJson = False,
) -> None:
    """Answer a question from the books: citations first, then their words, or an honest 'not here'."""
    from kiwiresearch.ask.settings import MODES
    from kiwiresearch.ask.wish import AskWish, Turn
    from kiwiresearch.research.asking import Asker
    from kiwiresearch.research.finding import Finder

    question = " ".join(words or [])
    if bool(question.strip()) == bool(batch):
        raise BadUsage("Give either a question or --batch FILE.", remedy="Such as: kiwiresearch ask 'What is a comet?'")
    if mode not in MODES:
        raise BadUsage(f"There is no mode {mode!r}.", remedy=f"Use one of: {', '.join(MODES)}.")
    turns = tuple(Turn(earlier) for earlier in after or [])
    chosen = next(known for known in MODES if known == mode)
    wish = AskWish(chosen, passages, page, turns=turns, fast=fast, with_model=not no_model)
    desk = the_desk()
    with open_books(desk, book or []) as shelf, Finder(desk, shelf, all_books=bool(book)) as finder:
        asker = Asker(finder, desk.settings.ask)
        if batch:
            from kiwiresearch.cli.ask_batch import each_question

            raise typer.Exit(each_question(batch, asker, finder, wish))
        if json:
            from kiwiresearch.ask.record import record_of
            from kiwiresearch.cli import show

            answer = asker.ask(question, wish)
            show.document(record_of(answer, finder.link))
            tell_missing(answer.missing)
        else:
            from kiwiresearch.cli.show_answer import show_answer

            answer = show_answer(asker.events(question, wish), finder.link, explain=explain)
    if not answer.grounded:
        raise typer.Exit(NOT_ANSWERED)
