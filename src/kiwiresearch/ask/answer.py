"""An answer with its passages and citations, and the events by which it arrives."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Literal, NamedTuple

from kiwiresearch.ask.settings import Mode
from kiwiresearch.evidence import Citation
from kiwiresearch.search.interpretation import Sense
from kiwiresearch.search.query import Score
from kiwiresearch.zim.archive import EntryRef
from kiwiresearch.zim.peer import MissingBooks

PassageKind = Literal["text", "row", "box"]
KEY_LENGTH = 6
KEY_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"


class Passage(NamedTuple):
    """A part of a page that can be cited: `page.text[start:end] == text`."""

    ref: EntryRef
    title: str
    section: str
    """The heading it stands below; empty in the introduction."""
    anchor: str
    kind: PassageKind
    start: int
    end: int
    text: str

    @property
    def key(self) -> str:
        """An opaque name of this place: nobody can make one up that happens to be right."""
        return key_of(self.ref, self.start, self.end)


def key_of(ref: EntryRef, start: int, end: int) -> str:
    """Six letters from a hash of the place."""
    digest = sha256(f"{ref.book}\n{ref.path}\n{start}\n{end}".encode("utf-8", "replace")).digest()
    return "".join(KEY_ALPHABET[byte % len(KEY_ALPHABET)] for byte in digest[:KEY_LENGTH])


Route = Literal["title", "fulltext", "widened", "page", "none"]
"""Which step of the ladder gave the answer; `page` where the user named one page."""

Verdict = Literal["yes", "no", ""]
"""The answer to a question for yes or no; empty where the text does not bear out either."""

NO_SCORE = Score()
GENERAL = "General (no local cite): "


@dataclass(frozen=True, slots=True)
class AnswerBook:
    """A book that an answer was taken from: how old it is and what it leaves out."""

    id: str
    name: str
    title: str
    date: str
    flavour: str
    language: str


@dataclass(frozen=True, slots=True)
class AnswerCitation:
    """A citation of an answer, under a key that only we can make."""

    key: str
    citation: Citation
    book: AnswerBook
    snippet: str
    """The passage around the quote, for a chip or a list."""
    number: int = 0
    """The number it goes by in the answer's text, the same from the first event to the last; from 1 on."""


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """A sentence of an answer and the keys of the citations it rests on: none only in general words."""

    text: str
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AnswerConflict:
    """Two passages that do not agree, and how: the same kinds as in a brief."""

    kind: str
    a_key: str
    b_key: str
    a_quote: str
    b_quote: str
    words: str
    """One sentence for people: "One says 1889, the other 1887"."""


@dataclass(frozen=True, slots=True)
class DroppedSentence:
    """Something a model said that is not shown, and why."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class ExaminedPage:
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
    lines: tuple[AnswerSentence, ...] = ()
    citations: tuple[AnswerCitation, ...] = ()
    closest: tuple[AnswerCitation, ...] = ()
    """Where nothing is claimed to answer: the sentences that come closest, best first."""
    senses: tuple[Sense, ...] = ()
    """What else a name in the question may mean; the answer is about one of them."""
    score: Score = NO_SCORE
    """What put the first line first, term by term."""
    present: AnswerBook | None = None
    """The book that answers a question about the present, which it knows only as of its date."""
    passages: tuple[Passage, ...] = ()
    """What was read closest, best first; shown also where nothing answers."""
    pages: tuple[ExaminedPage, ...] = ()
    conflicts: tuple[AnswerConflict, ...] = ()
    books: tuple[AnswerBook, ...] = ()
    sure: float = 0.0
    """How often answers with such evidence were right, from 0 to 1."""
    notices: tuple[str, ...] = ()
    """What a reader should know beside it: verbatim only, an old book, a book of leads only."""
    mode: Mode = "default"
    model: str = ""
    """The model that put it into words; empty where the words are the page's own."""
    reader: str = ""
    """The reading model, by its id, that chose the sentences; empty where words alone did."""
    dropped: tuple[DroppedSentence, ...] = ()
    subject: str = ""
    """What the question is about, for the next question of the conversation."""
    missing: tuple[MissingBooks, ...] = ()
    """Books that could not be asked, since the hosts that have them are away."""

    @property
    def short_span(self) -> tuple[int, int]:
        """Where the short answer stands in the first line; an empty span where there is none."""
        return (self.short_at, self.short_at + len(self.short)) if self.short and self.short_at >= 0 else (0, 0)


@dataclass(frozen=True, slots=True)
class Preview:
    """What words alone find, before the passages are read by meaning; what is found then takes its place."""

    answer: Answer


@dataclass(frozen=True, slots=True)
class EvidenceFound:
    """Where the answer will be taken from.

    The answer in it is whole but for the words of a model: route, why, citations,
    passages, conflicts and books stand. Without a model it is the answer itself.
    """

    answer: Answer


@dataclass(frozen=True, slots=True)
class Thought:
    """Thinking of a model, as it arrives; it is no part of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class AnswerText:
    """Words of the answer, checked, as they arrive: put together they are the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class Done:
    """The last event: the whole answer."""

    answer: Answer


Event = Preview | EvidenceFound | Thought | AnswerText | Done
