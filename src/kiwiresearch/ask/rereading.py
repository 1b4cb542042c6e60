"""The best passages read by meaning: which of their sentences answers the question, with which words, how surely."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from kiwiresearch.ask.answer import Verdict
from kiwiresearch.ask.choosing import Stretch, stretches_of
from kiwiresearch.ask.ladder import Evidence
from kiwiresearch.ask.question import Question
from kiwiresearch.ask.reading import ReadPage
from kiwiresearch.ask.strength import Strength, right_when_read
from kiwiresearch.ask.weighing import Weighed, weigh_another, with_reader
from kiwiresearch.embed.embedder import similarity
from kiwiresearch.embed.static import StaticEmbedder
from kiwiresearch.reader.form import Text

if TYPE_CHECKING:
    from kiwiresearch.reader.reader import Reader, ReadText, ReadUnit
    from kiwiresearch.zim.entry import EntryRef

MOST_STRETCHES, MOST_TOKENS = 10, 800
"""So many stretches of text are read, and so many tokens in all."""

LIKENESS = 5.0
"""What likeness to the question is worth, beside the score by words, where it is decided what to read."""

UNREAD = -8.0
"""The relevance of a sentence whose passage was not read: less than that of almost any that was."""

PLAIN_YES, PLAINLY_RELEVANT = 3.5, 2.0
"""How much more a text must say yes than no for a question to be answered with yes, and how relevant the sentence must
be. Of 196 questions of CMU's, 54 are answered so, and 52 of them rightly. No is never said for what was read: where the
model said it plainly, it was wrong as often as right.
"""

Key = tuple["EntryRef", int]


@dataclass(frozen=True, slots=True)
class _Seen:
    """What the model says of a unit, and of the passage it stands in."""

    unit: ReadUnit
    text: ReadText


def reread(reader: Reader, question: Question, evidence: Evidence, least: float) -> Evidence:
    """The same evidence, its units in the order that words and meaning give together, and how strong it is so.

    Below a confidence of `least`, nothing answers.
    """
    if not evidence.units or evidence.parts:
        return evidence
    stretches = to_read(question, evidence.units)
    found = _read(reader, question, stretches)
    weighed = (*evidence.units, *_between(evidence.units, stretches, question))
    units = [with_reader(one, *_said(found, one)) for one in weighed]
    units.sort(key=lambda one: (-one.total, one.place))
    best = found.get((units[0].read.page.ref, units[0].unit))
    right = right_when_read(units, question, evidence.strength)
    strength = Strength(evidence.strength.held, right, evidence.strength.covered)
    verdict = _verdict(best) if question.kind == "yes_no" else ""
    read = replace(evidence, units=tuple(units), strength=strength, verdict=verdict)
    return _with_route(read, least)


def _with_route(evidence: Evidence, least: float) -> Evidence:
    """What reading makes of the route: words alone may have seen no answer where there is one, or one where is none."""
    title = evidence.units[0].read.page.title
    if evidence.strength.right < least:
        why = "What comes closest is too weak to be called an answer."
        return replace(evidence, route="none", why=why, verdict="")
    if evidence.route == "none":
        return replace(evidence, route="fulltext", why=f"The full text led to {title!r}.")
    return evidence


def _verdict(best: _Seen | None) -> Verdict:
    is_plain = best is not None and best.unit.relevance >= PLAINLY_RELEVANT and best.text.yes >= PLAIN_YES
    return "yes" if is_plain else ""


def _said(found: dict[Key, _Seen], one: Weighed) -> tuple[dict[str, float], tuple[int, int] | None]:
    """What the model says of a unit, by name, and where in it the answer stands."""
    seen = found.get((one.read.page.ref, one.unit))
    if seen is None:
        return {"relevance": UNREAD, "answer's words": UNREAD, "passage answers": UNREAD}, None
    unit, shift = seen.unit, len(_prefix(one.read, one.unit))
    words = (unit.start - shift, unit.end - shift)
    said = {"relevance": unit.relevance, "answer's words": unit.span, "passage answers": seen.text.answers}
    return said, words if words[1] > words[0] >= 0 else None


def _read(reader: Reader, question: Question, stretches: Sequence[Stretch]) -> dict[Key, _Seen]:
    found: dict[Key, _Seen] = {}
    for one, text in zip(stretches, reader.read(question.text, [text_of(one) for one in stretches]), strict=True):
        for number, unit in enumerate(text.units, start=one.first):
            found[one.read.page.ref, number] = _Seen(unit, text)
    return found


def _between(units: Sequence[Weighed], stretches: Sequence[Stretch], question: Question) -> Iterator[Weighed]:
    """Units that are read with others and have too few of the question's words to be weighed before."""
    known = {(one.read.page.ref, one.unit) for one in units}
    of_page = {one.read.page.ref: one for one in units}
    for stretch in stretches:
        ref = stretch.read.page.ref
        for number in range(stretch.first, stretch.end):
            if (ref, number) not in known:
                yield weigh_another(of_page[ref], number, question)


def to_read(question: Question, units: Sequence[Weighed]) -> list[Stretch]:
    """What is read: the stretches around the units that are best by words and by likeness to the question."""
    rows = _embedder().embed([question.text, *(f"{one.read.page.title}. {one.text}" for one in units)])
    likes = similarity(rows[0], rows[1:])
    order = sorted(range(len(units)), key=lambda at: (-units[at].total - LIKENESS * likes[at], units[at].place))
    return stretches_of([units[at] for at in order], MOST_TOKENS, MOST_STRETCHES)


@cache
def _embedder() -> StaticEmbedder:
    return StaticEmbedder()


def text_of(stretch: Stretch) -> Text:
    """A stretch as the model reads it."""
    read, first = stretch.read, stretch.first
    is_box = read.units[first].kind == "box"
    heading = "" if is_box else read.contexts[read.context_of[first]]
    return Text(read.page.title, heading, tuple(row_of(read, number) for number in range(first, stretch.end)))


def row_of(read: ReadPage, number: int) -> str:
    """A unit as the model reads it: a row of a box with what it stands below."""
    return (_prefix(read, number) + read.text(read.units[number])).replace("\t", ":")


def _prefix(read: ReadPage, number: int) -> str:
    """'Population ' before the row '- Total' of a box: what the row stands below."""
    above = read.contexts[read.context_of[number]] if read.units[number].kind == "box" else ""
    return f"{above} " if above else ""
