"""An answer with its passages and citations, and the events of a streamed answer."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Literal, NamedTuple

from kiwiresearch.ask.settings import AskMode
from kiwiresearch.evidence import Citation
from kiwiresearch.search import Score, Sense
from kiwiresearch.zim import EntryRef, MissingBooks

PassageKind = Literal["text", "row", "box"]
# `GROUP` in `draft.py` relies on this length.
KEY_LENGTH = 6
# Without i, l, o, 0 and 1, which are easily confused.
KEY_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"


class Passage(NamedTuple):
    """A part of a page that can be cited: `page.text[start:end] == text`."""

    ref: EntryRef
    title: str
    section: str
    """Its heading; empty in the introduction."""
    anchor: str
    kind: PassageKind
    start: int
    end: int
    text: str

    @property
    def key(self) -> str:
        """An opaque name of this span, so that a model cannot invent one that exists."""
        return key_of(self.ref, self.start, self.end)


def key_of(ref: EntryRef, start: int, end: int) -> str:
    """Six letters and digits from a hash of the span."""
    digest = sha256(f"{ref.book}\n{ref.path}\n{start}\n{end}".encode("utf-8", "replace")).digest()
    return "".join(KEY_ALPHABET[byte % len(KEY_ALPHABET)] for byte in digest[:KEY_LENGTH])


Route = Literal["title", "fulltext", "widened", "page", "none"]
"""Which search gave the answer; `page` if the user named one page, `none` if the question is refused (`refusal.py`)."""

YesNo = Literal["yes", "no", ""]
"""The answer to a yes-or-no question; empty if the text supports neither."""

NO_SCORE = Score()
GENERAL = "General (no local cite): "


@dataclass(frozen=True, slots=True)
class AnswerBook:
    """A book that an answer comes from: how old it is and what it does not include."""

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
    """Its number in the answer's text, from 1; it stays the same from the first event to the last."""


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """A sentence of an answer and the keys of its citations; only a model's general words have none."""

    text: str
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AnswerConflict:
    """Two passages that do not agree; the kinds are those of a brief."""

    kind: str
    a_key: str
    b_key: str
    a_quote: str
    b_quote: str
    words: str
    """One sentence for people: "One says 1889, the other 1887"."""


@dataclass(frozen=True, slots=True)
class RejectedSentence:
    """A sentence of a model that is not shown, and why."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class ExaminedPage:
    """A page that was examined, and its score."""

    ref: EntryRef
    title: str
    score: float
    copies: tuple[EntryRef, ...] = ()
    """The same page in other books."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, or a refusal if it is not grounded."""

    question: str
    asked: str
    """The question as it was understood: "and his wife?" with the name filled in."""
    route: Route
    why: str
    """Why this route, in a sentence."""
    grounded: bool
    """Whether the books answer the question; decided in `refusal.py`."""
    text: str = ""
    """The answer as text; empty if there is none. A model's general words begin with `GENERAL`."""
    short: str = ""
    """The few words that are the answer, a part of a cited quote, if they can be determined."""
    short_at: int = -1
    """Where they are in the first line."""
    verdict: YesNo = ""
    chosen: str = ""
    """In a comparison, the thing that the cited figures favour."""
    lines: tuple[AnswerSentence, ...] = ()
    citations: tuple[AnswerCitation, ...] = ()
    closest: tuple[AnswerCitation, ...] = ()
    """If the question is refused, the sentences that come closest, best first."""
    senses: tuple[Sense, ...] = ()
    """Meanings of a name in the question; the answer is about one of them."""
    score: Score = NO_SCORE
    """The score of the first line."""
    as_of_book: AnswerBook | None = None
    """The book that answers a question about the present, as of its own date."""
    passages: tuple[Passage, ...] = ()
    """The passages that were read closely, best first; also shown with a refusal."""
    pages: tuple[ExaminedPage, ...] = ()
    conflicts: tuple[AnswerConflict, ...] = ()
    books: tuple[AnswerBook, ...] = ()
    confidence: float = 0.0
    """The probability that the answer is right."""
    notices: tuple[str, ...] = ()
    """Notices for the reader: only quoted, an old book, a book of introductions only."""
    mode: AskMode = "default"
    model: str = ""
    """The model that worded it; empty if it is quoted from the page."""
    reader: str = ""
    """The id of the reading model that chose the sentences; empty if words alone did."""
    rejected: tuple[RejectedSentence, ...] = ()
    refusal: str = ""
    """Why there is no answer; empty if there is one."""
    subject: str = ""
    """The subject of the question, for the next question of the conversation."""
    missing: tuple[MissingBooks, ...] = ()
    """Books that could not be searched, since their hosts are unreachable."""

    @property
    def short_span(self) -> tuple[int, int]:
        """The span of the short answer in the first line; empty if there is none."""
        return (self.short_at, self.short_at + len(self.short)) if self.short and self.short_at >= 0 else (0, 0)


@dataclass(frozen=True, slots=True)
class Preview:
    """The answer by words alone, until the reading model has read the passages."""

    answer: Answer


@dataclass(frozen=True, slots=True)
class EvidenceFound:
    """The answer by rule, complete except for a model's wording; without a model it is final."""

    answer: Answer


@dataclass(frozen=True, slots=True)
class Thought:
    """A model's thinking as it arrives; not part of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class AnswerText:
    """A part of the answer's text, already checked, as it arrives."""

    text: str


@dataclass(frozen=True, slots=True)
class Done:
    """The last event: the complete answer."""

    answer: Answer


Event = Preview | EvidenceFound | Thought | AnswerText | Done
