"""What people see of an answer: its citations first, then its words as they come, then what to know beside them."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from rich.text import Text

from kiwiresearch.ask.answer import Answer
from kiwiresearch.ask.events import Done, Event, Found, Glance, Thought, Token
from kiwiresearch.ask.record import Link
from kiwiresearch.ask.wording import (
    CLOSEST,
    DISAGREEMENT,
    SENSES,
    Confidence,
    Disagreement,
    Headline,
    Notice,
    Origin,
    Part,
    Refusal,
    Senses,
    Sentence,
    Sources,
    Way,
    Worded,
    beside,
    nearest,
    numbered,
    words_in,
)
from kiwiresearch.cli.show import line, safe, whole_line, write
from kiwiresearch.text.plain import printable

SNIPPET = 300
INSTEAD = "Instead of a model's words, the pages' own, with numbers of their own:"


def show_answer(events: Iterator[Event], link: Link, *, explain: bool = False) -> Answer:
    """Print an answer as it comes, and return it whole."""
    shown = False
    answer: Answer | None = None
    for event in events:
        if isinstance(event, Found):
            _citations(event.answer, link)
            answer = event.answer
        elif isinstance(event, Glance | Thought):
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
        line(INSTEAD)
        _citations(answer, link)
    _lines(answer)


def _citations(answer: Answer, link: Link) -> None:
    sources = numbered(answer)
    for source in sources:
        whole_line(f"{source.mark} {printable(source.cited.citation.words)}")
        whole_line(f"    {printable(link(source.cited))}")
    if sources:
        line("")


def _lines(answer: Answer) -> None:
    for part in words_in(answer):
        if isinstance(part, Headline):
            write(_strong(safe(part.words)))
        elif isinstance(part, Sentence):
            write(_marked(part))


def _marked(part: Sentence) -> Text:
    """The sentence; the short answer in it stands out."""
    before, short, behind = map(safe, (part.before, part.short, part.behind))
    text = Text.assemble(before, _strong(short) if short else "", behind)
    text.append(f" {part.marks}", style="dim")
    return text


def _strong(words: str) -> Text:
    """On a terminal by weight, elsewhere between stars."""
    return Text(words, style="bold green") if sys.stdout.isatty() else Text(f"**{words}**")


def _beside(answer: Answer) -> None:
    for part in beside(answer):
        for shown in _shown(part):
            line(shown)


def _shown(part: Part) -> Iterator[str]:
    """A part in lines; sources have been shown before the words."""
    match part:
        case Refusal():
            yield part.words
            if part.closest:
                yield from ("", CLOSEST)
                for one in part.closest:
                    yield f"  “{printable(one.text)}”"
                    yield f"    {printable(one.cited.citation.words)}"
                yield ""
            if part.near:
                yield nearest([printable(page.title) for page in part.near])
        case Senses():
            yield f"{SENSES} {'; '.join(printable(one.title) for one in part.senses)}."
        case Disagreement():
            yield from ("", f"{DISAGREEMENT} {printable(part.words)}")
            yield from (f"  “{printable(side.quote)}”{side.mark}" for side in part.sides)
        case Notice() | Way():
            yield from ("", printable(part.words))
        case Confidence():
            yield part.words
        case Origin():
            yield f"{part.words(printable)}."
        case Headline() | Sentence() | Worded() | Sources():
            return


def _explained(answer: Answer) -> None:
    line("")
    if answer.score.lines:
        line(f"Score of the first sentence: {answer.score.total:g}")
        for one in answer.score.lines:
            line(f"  {one.points:+g}  {one.signal}")
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
