"""Which sentences are shown as the answer, and which passages beside them."""

from __future__ import annotations

from collections.abc import Sequence

from kiwiresearch.ask.passages import Passage
from kiwiresearch.ask.reading import ReadPage
from kiwiresearch.ask.settings import AskSettings
from kiwiresearch.ask.weighing import Weighed

MOST_LINES = 3
FAR_BEHIND, FAR_BEHIND_READ = 4.0, 8.0
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


def passages_of(units: Sequence[Weighed], settings: AskSettings, most: int) -> tuple[Passage, ...]:
    """The passages of the best units, best first, within the budget of tokens; none overlaps another.

    A window of a long section takes its neighbours in, as far as its share of the budget goes:
    what a question asks for often stands a sentence further.
    """
    chosen: list[Passage] = []
    room = float(settings.context_tokens)
    for one in units:
        if len(chosen) >= most:
            break
        unit = one.read.units[one.unit]
        ref = one.read.page.ref
        if any(other.ref == ref and other.start <= unit.start < other.end for other in chosen):
            continue
        share = room / (most - len(chosen))
        taken = [(other.start, other.end) for other in chosen if other.ref == ref]
        passage = _grown(one, share, taken)
        size = tokens_of(passage.text)
        if size <= room:
            chosen.append(passage)
            room -= size
    return tuple(chosen)


def _grown(one: Weighed, share: float, taken: Sequence[tuple[int, int]]) -> Passage:
    """The passage of a unit with units of its section around it, until its share of tokens is used."""
    read = one.read
    passage = read.passage(one.passage)
    first, end = read.spans[one.passage]
    is_shown = any(start < passage.end and passage.start < stop for start, stop in taken)
    if is_shown or tokens_of(passage.text) > share:
        first, end = one.unit, one.unit + 1
    open_before = open_behind = True
    while open_before or open_behind:
        if open_behind:
            open_behind = _may_take(read, first, end, end, share, taken)
            end += open_behind
        if open_before:
            open_before = _may_take(read, first, end, first - 1, share, taken)
            first -= open_before
    start, stop = read.units[first].start, read.units[end - 1].end
    return passage._replace(start=start, end=stop, text=read.page.text[start:stop])


def _may_take(
    read: ReadPage, first: int, end: int, number: int, share: float, taken: Sequence[tuple[int, int]]
) -> bool:
    """Whether a unit beside a passage belongs to it, has room in it, and is not shown yet."""
    if not 0 <= number < len(read.units):
        return False
    unit = read.units[number]
    if unit.section != read.units[first].section or any(start <= unit.start < stop for start, stop in taken):
        return False
    start, stop = min(read.units[first].start, unit.start), max(read.units[end - 1].end, unit.end)
    return tokens_of(read.page.text[start:stop]) <= share
