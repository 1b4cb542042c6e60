"""Which sentences are shown as the answer, and which passages beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kiwiresearch.ask.passages import Passage
from kiwiresearch.ask.reading import ReadPage
from kiwiresearch.ask.settings import AskSettings
from kiwiresearch.ask.weighing import Weighed

MOST_LINES = 3
FAR_BEHIND, FAR_BEHIND_READ = 4.0, 20.0
"""A sentence with so much less than the best one is not shown beside it; scores are wider apart where it was read."""

WANTED, UNWANTED = "kind of answer", "not the kind"
TOKENS_A_WORD = 1.33
CHARS_A_TOKEN = 4.0


def tokens_of(text: str) -> float:
    """About how many tokens a model reads in a text; rather more than fewer."""
    return max(len(text.split()) * TOKENS_A_WORD, len(text) / CHARS_A_TOKEN)


def lines_of(units: Sequence[Weighed], *, most: int = MOST_LINES) -> tuple[Weighed, ...]:
    """The best unit, and others that are nearly as good; none twice, none in the same words."""
    chosen: list[Weighed] = []
    texts: set[str] = set()
    wants_kind = bool(units) and units[0].parts.get(WANTED, 0.0) > 0
    far = FAR_BEHIND_READ if units and "relevance" in units[0].parts else FAR_BEHIND
    for one in units:
        if len(chosen) >= most or one.total < units[0].total - far:
            break
        if wants_kind and one.parts.get(UNWANTED, 0.0) >= 1:
            continue  # the best one says when; that another does not is no answer
        folded = " ".join(one.text.casefold().split())
        if folded not in texts:
            texts.add(folded)
            chosen.append(one)
    return tuple(chosen)


class Stretch(NamedTuple):
    """Units of a page that stand together: from `first` to the one before `end`."""

    read: ReadPage
    first: int
    end: int
    passage: int
    """The passage that the best of them belongs to."""

    @property
    def start(self) -> int:
        return self.read.units[self.first].start

    @property
    def stop(self) -> int:
        return self.read.units[self.end - 1].end

    @property
    def tokens(self) -> float:
        return tokens_of(self.read.page.text[self.start : self.stop])

    def shown(self) -> Passage:
        """The stretch as a passage."""
        passage = self.read.passage(self.passage)
        return passage._replace(start=self.start, end=self.stop, text=self.read.page.text[self.start : self.stop])


def passages_of(units: Sequence[Weighed], settings: AskSettings, most: int) -> tuple[Passage, ...]:
    """What is shown beside an answer: the stretches around the best units."""
    return tuple(one.shown() for one in stretches_of(units, settings.context_tokens, most))


def stretches_of(units: Sequence[Weighed], tokens: float, most: int) -> list[Stretch]:
    """The best units, best first, each with what stands around it, within a budget of tokens; none overlaps another.

    A unit takes in its passage and the neighbours of that, as far as its share of the budget goes:
    what a question asks for often stands a sentence further.
    """
    chosen: list[Stretch] = []
    room = float(tokens)
    for one in units:
        if len(chosen) >= most:
            break
        same = [other for other in chosen if other.read.page.ref == one.read.page.ref]
        if any(other.first <= one.unit < other.end for other in same):
            continue
        stretch = _grown(one, room / (most - len(chosen)), same)
        if stretch.tokens <= room:
            chosen.append(stretch)
            room -= stretch.tokens
    return chosen


def _grown(one: Weighed, share: float, taken: Sequence[Stretch]) -> Stretch:
    """A unit with others of its section around it, until its share of tokens is used."""
    whole = Stretch(one.read, *one.read.spans[one.passage], one.passage)
    is_taken = any(other.first < whole.end and whole.first < other.end for other in taken)
    grown = whole if not is_taken and whole.tokens <= share else whole._replace(first=one.unit, end=one.unit + 1)
    open_before = open_behind = True
    while open_before or open_behind:
        if open_behind:
            further = grown._replace(end=grown.end + 1)
            open_behind = _may_take(further, grown.end, share, taken)
            grown = further if open_behind else grown
        if open_before:
            further = grown._replace(first=grown.first - 1)
            open_before = _may_take(further, grown.first - 1, share, taken)
            grown = further if open_before else grown
    return grown


def _may_take(further: Stretch, number: int, share: float, taken: Sequence[Stretch]) -> bool:
    """Whether a unit beside a stretch belongs to it, has room in it, and is in no other one."""
    units = further.read.units
    if not 0 <= number < len(units) or any(other.first <= number < other.end for other in taken):
        return False
    inner = further.first + 1 if number == further.first else further.first
    return units[number].section == units[inner].section and further.tokens <= share
