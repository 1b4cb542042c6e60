"""What a question gives: an answer with its citations, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kiwiresearch.ask.passages import Passage
from kiwiresearch.ask.settings import Mode
from kiwiresearch.evidence.citation import Citation
from kiwiresearch.search.hit import Score
from kiwiresearch.search.senses import Sense
from kiwiresearch.zim.entry import EntryRef
from kiwiresearch.zim.peer import Missing

Route = Literal["title", "fulltext", "widened", "page", "none"]
"""Which step of the ladder gave the answer; `page` where the user named one page."""

Verdict = Literal["yes", "no", ""]
"""The answer to a question for yes or no; empty where the text does not bear out either."""

NO_SCORE = Score()
GENERAL = "General (no local cite): "


@dataclass(frozen=True, slots=True)
class BookNote:
    """The book an answer comes from: how old it is and what it leaves out."""

    id: str
    name: str
    title: str
    date: str
    flavour: str
    language: str


@dataclass(frozen=True, slots=True)
class Cited:
    """A citation of an answer, under a key that only we can make."""

    key: str
    citation: Citation
    book: BookNote
    snippet: str
    """The passage around the quote, for a chip or a list."""
    number: int = 0
    """The number it goes by in the answer's text, the same from the first event to the last; from 1 on."""


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence of an answer and the keys of the citations it rests on: none only in general words."""

    text: str
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two passages that do not agree, and how: the same kinds as in a brief."""

    kind: str
    a_key: str
    b_key: str
    a_quote: str
    b_quote: str
    words: str
    """One sentence for people: "One says 1889, the other 1887"."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """Something a model said that is not shown, and why."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Looked:
    """A page that was looked at, and the score that put it there."""

    ref: EntryRef
    title: str
    score: float
    copies: tuple[EntryRef, ...] = ()
    """The same page in other books."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer; not grounded means that the books do not hold one, or not that we can see."""

    question: str
    asked: str
    """The question as it was understood: "and his wife?" with the name put in."""
    route: Route
    why: str
    """Why this route, in a sentence."""
    grounded: bool
    text: str = ""
    """What answers, for people; empty where nothing does. General words of a model begin with `GENERAL`."""
    short: str = ""
    """The few words that are the answer, a part of a cited quote, where a rule can tell."""
    short_at: int = -1
    """Where they stand in the first line."""
    verdict: Verdict = ""
    chosen: str = ""
    """Of two things that are compared, the one that the figures cited for both give."""
    lines: tuple[Line, ...] = ()
    citations: tuple[Cited, ...] = ()
    closest: tuple[Cited, ...] = ()
    """Where nothing is claimed to answer: the sentences that come closest, best first."""
    senses: tuple[Sense, ...] = ()
    """What else a name in the question may mean; the answer is about one of them."""
    score: Score = NO_SCORE
    """What put the first line first, term by term."""
    present: BookNote | None = None
    """The book that answers a question about the present, which it knows only as of its date."""
    passages: tuple[Passage, ...] = ()
    """What was read closest, best first; shown also where nothing answers."""
    pages: tuple[Looked, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    books: tuple[BookNote, ...] = ()
    sure: float = 0.0
    """How often answers with such evidence were right, from 0 to 1."""
    notices: tuple[str, ...] = ()
    """What a reader should know beside it: verbatim only, an old book, a book of leads only."""
    mode: Mode = "default"
    model: str = ""
    """The model that put it into words; empty where the words are the page's own."""
    reader: str = ""
    """The reading model, by its id, that chose the sentences; empty where words alone did."""
    dropped: tuple[Dropped, ...] = ()
    subject: str = ""
    """What the question is about, for the next question of the conversation."""
    missing: tuple[Missing, ...] = ()
    """Books that could not be asked, since the hosts that have them are away."""

    @property
    def short_span(self) -> tuple[int, int]:
        """Where the short answer stands in the first line; an empty span where there is none."""
        return (self.short_at, self.short_at + len(self.short)) if self.short and self.short_at >= 0 else (0, 0)
