"""A claim: one thing a page says, in words that stand alone, with the page's own words as proof."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal, NamedTuple, NewType, get_args

from kiwiresearch.errors import QuoteNotFound
from kiwiresearch.evidence.citation import BOX, Citation
from kiwiresearch.evidence.quote import Quote
from kiwiresearch.search.hit import Score
from kiwiresearch.text.hedges import Hedge
from kiwiresearch.text.quantities import Quantity
from kiwiresearch.text.when import Dated, DateRange
from kiwiresearch.zim.entry import EntryRef

ClaimId = NewType("ClaimId", str)
ClaimType = Literal["definition", "causal", "numeric", "timeline", "comparative", "disputed", "quote", "statement"]
"""A statement is what a page says without being of any other type."""
CLAIM_TYPES: tuple[ClaimType, ...] = get_args(ClaimType)
PutIn = Literal["", "title", "before"]
"""Where a name comes from that stands in place of a pronoun: nowhere, the page's title, or a sentence before."""
DependsOn = Literal["", "subject", "previous"]
"""What a sentence needs that points outside itself: to know whom its page is about ('She was born …'), or the sentence
before it ('However, this method …')."""
MOST_QUOTES = 3


class Measure(NamedTuple):
    """A number of a claim, with what is measured, of what, and when; the quantity's offsets point into the claim."""

    quantity: Quantity
    what: str
    of: str
    when: DateRange | None


class Signals(NamedTuple):
    """What the page shows about how well the claim is founded."""

    references: int = 0
    """Reference marks in and right behind the sentence."""
    section_references: int = 0
    page_references: int = 0
    citation_needed: bool = False
    disputed: bool = False
    stub: bool = False


NO_SIGNALS = Signals()
NO_SCORE = Score()


@dataclass(frozen=True, slots=True)
class Claim:
    """What a page says: `text` is made of the page's words, `quotes` are those words where they stand."""

    text: str
    type: ClaimType
    subject: str
    """What it is about, by a name that a reader of the claim alone understands."""
    scope: str
    """What it applies to: the subject, and where or when it holds if the claim says so."""
    quotes: tuple[Quote, ...]
    """One to three; the first is the sentence, or the part of it, that says so."""
    page_title: str
    section: str
    anchor: str
    headings: tuple[str, ...] = ()
    """The headings it stands below, the outermost first; the last one is its section's."""
    book_name: str = ""
    also: tuple[ClaimType, ...] = ()
    """Other types it could be filed under."""
    tags: tuple[str, ...] = ()
    hedges: tuple[Hedge, ...] = ()
    """Words that hedge it; their offsets point into `text`."""
    signals: Signals = NO_SIGNALS
    measures: tuple[Measure, ...] = ()
    dates: tuple[Dated, ...] = ()
    """Dates it names; their offsets point into `text`."""
    names: tuple[str, ...] = ()
    """Pages it links to, by the words that link to them."""
    score: Score = NO_SCORE
    """Why it is believed or not, in log-odds."""
    origin: Literal["rule", "model"] = "rule"
    put_in: PutIn = ""
    """Where the name comes from that stands in place of a pronoun, if one does."""
    depends_on: DependsOn = ""
    """What it can only be read with, if it cannot be read by itself."""
    id: ClaimId = field(init=False, repr=False, compare=False)
    """A hash of what it says and where: the same claim has the same id in every run."""

    def __post_init__(self) -> None:
        if not 1 <= len(self.quotes) <= MOST_QUOTES:
            raise QuoteNotFound(f"A claim has one to three quotes, {self.text[:60]!r} has {len(self.quotes)}.")
        object.__setattr__(self, "id", self._hash())

    @property
    def ref(self) -> EntryRef:
        return self.quotes[0].ref

    def _hash(self) -> ClaimId:
        ref = self.quotes[0].ref
        places = "".join([f"\n{start}-{end}\n{text}" for _, start, end, text in self.quotes])
        told = f"{ref.book}\n{ref.path}\n{self.type}\n{self.text}{places}"
        return ClaimId("sha256:" + sha256(told.encode("utf-8", "replace")).hexdigest()[:32])

    @property
    def confidence(self) -> float:
        """How likely it is right, from 0 to 1."""
        return confidence_of(self.score)

    @property
    def is_row(self) -> bool:
        """Whether it comes from a box or a table, not from a sentence."""
        return self.section == BOX or len(self.quotes) == MOST_QUOTES

    @property
    def citation(self) -> Citation:
        return Citation(self.quotes[0], self.book_name, self.page_title, self.section, self.anchor)


def confidence_of(score: Score) -> float:
    """The probability that belongs to a sum of log-odds."""
    return round(1 / (1 + math.exp(-max(min(score.total, 30.0), -30.0))), 2)
