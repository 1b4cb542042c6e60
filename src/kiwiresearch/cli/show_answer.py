"""What people see of an answer: its citations first, then its words as they come, then what to know beside them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from rich.text import Text

from kiwiresearch.ask.answer import Answer, Line
from kiwiresearch.ask.events import Done, Event, Found, Thought, Token
from kiwiresearch.ask.record import Link
from kiwiresearch.ask.wording import sureness
from kiwiresearch.cli.show import line, safe, whole_line, write
from kiwiresearch.text.plain import printable

MOST_NEAR = 3
SNIPPET = 300


def show_answer(events: Iterator[Event], link: Link, *, explain: bool = False) -> Answer:
    """Print an answer as it comes, and return it whole."""
    shown = False
    answer: Answer | None = None
    for event in events:
        if isinstance(event, Found):
            _citations(event.answer, link)
            answer = event.answer
        elif isinstance(event, Thought):
            continue
        elif isinstance(event, Token):
            if answer is None or event.text != answer.text or not answer.lines:
                sys.stdout.write(safe(event.text))
                sys.stdout.flush()
                shown = True
        elif isinstance(event, Done):
            if event.answer.lines and not event.answer.model:
                _own_words(event.answer, answer, link)
            answer = event.answer
    if answer is None:
        raise TypeError("events end with Done")
    if shown and answer.model:
        sys.stdout.write("\n")
    _beside(answer)
    if explain:
        _explained(answer)
    return answer


def _own_words(answer: Answer, found: Answer | None, link: Link) -> None:
    """The page's own sentences; where a model should have worded them, the citations it was offered are not theirs."""
    if found is not None and found.citations != answer.citations:
        _citations(answer, link)
    _lines(answer)


def _citations(answer: Answer, link: Link) -> None:
    for cited in answer.citations:
        whole_line(f"[{cited.number}] {printable(cited.citation.words)}")
        whole_line(f"    {printable(link(cited))}")
    if answer.citations:
        line("")


def _lines(answer: Answer) -> None:
    numbers = {cited.key: cited.number for cited in answer.citations}
    for number, one in enumerate(answer.lines):
        write(_marked(one, (0, 0) if number else answer.short_span, numbers))


def _marked(one: Line, span: tuple[int, int], numbers: dict[str, int]) -> Text:
    """The sentence; the short answer in it stands out, on a terminal by weight, elsewhere between stars."""
    start, end = span
    before, short, behind = (_plain(part) for part in (one.text[:start], one.text[start:end], one.text[end:]))
    star = "**" if short and not sys.stdout.isatty() else ""
    text = Text(before + star)
    text.append(short, style="bold green")
    text.append(star + behind)
    text.append(f" {''.join(f'[{numbers[key]}]' for key in one.keys if key in numbers)}", style="dim")
    return text


def _plain(text: str) -> str:
    """Cells of a row kept apart, and nothing that moves the cursor."""
    return safe(CELLS.sub(": ", text.replace("\n", ", ")))


CELLS = re.compile(r":?\t+")


def _beside(answer: Answer) -> None:
    if not answer.grounded:
        line("Nothing in the books answers this." if not answer.text else "Nothing in the books bears this out.")
        titles = list(dict.fromkeys(page.title for page in answer.pages))[:MOST_NEAR]
        if titles:
            line(f"The nearest pages are: {', '.join(printable(title) for title in titles)}.")
    for conflict in answer.conflicts:
        line("")
        line(f"Sources do not agree. {printable(conflict.words)}")
        line(f"  “{printable(conflict.a_quote)}”")
        line(f"  “{printable(conflict.b_quote)}”")
    for notice in answer.notices:
        line("")
        line(printable(notice))
    line("")
    line(f"Route: {answer.route}. {printable(answer.why)}")
    if answer.grounded:
        line(sureness(answer.sure))
    for book in answer.books:
        words = ", ".join(filter(None, (book.title or book.name, book.date, book.flavour)))
        line(f"From {printable(words)}.")


def _explained(answer: Answer) -> None:
    line("")
    line("Pages, best first:")
    for page in answer.pages:
        line(f"  {page.score:g}  {printable(page.title)}")
    line("Passages, best first:")
    for passage in answer.passages:
        section = passage.section or "introduction"
        text = " ".join(passage.text.split())
        line(f"  {printable(passage.title)} — {printable(section)}: {printable(text[:SNIPPET])}")
    for dropped in answer.dropped:
        line(f"  left out ({printable(dropped.reason)}): {printable(dropped.text)}")
