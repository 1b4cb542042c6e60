"""A claim: one thing a page says, with the page's words as proof; and its JSON form."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, NamedTuple, NewType, get_args

from kiwiresearch.codec import JsonDict, Record
from kiwiresearch.errors import QuoteNotFound
from kiwiresearch.evidence import INFOBOX, Citation, Quote, recorded_quote
from kiwiresearch.ids import BookId, short_hash
from kiwiresearch.search import Score, ScoreTerm
from kiwiresearch.text import Hedge, HedgeKind, Quantity
from kiwiresearch.text.dates import DateMention, DateRange
from kiwiresearch.zim import EntryRef

ClaimId = NewType("ClaimId", str)
ClaimType = Literal["definition", "causal", "numeric", "timeline", "comparative", "disputed", "quote", "statement"]
"""A claim that fits no other type is a statement."""
CLAIM_TYPES: tuple[ClaimType, ...] = get_args(ClaimType)
NameSource = Literal["", "title", "before"]
"""Where the name that replaced a pronoun came from: the title or an earlier sentence; empty if nothing was replaced."""
DependsOn = Literal["", "subject", "previous"]
"""The context a sentence needs to be understood: the subject of its page ('She was born …'), or the previous sentence
('However, this method …')."""
MAX_QUOTES = 3


class Measure(NamedTuple):
    """A number of a claim, what it measures, of what, and when; its offsets are in the claim's text."""

    quantity: Quantity
    what: str
    of: str
    when: DateRange | None


class ClaimSignals(NamedTuple):
    """Signs on the page of how well a claim is supported."""

    references: int = 0
    """Reference marks in the sentence and right after it."""
    section_references: int = 0
    page_references: int = 0
    citation_needed: bool = False
    disputed: bool = False
    stub: bool = False


NO_SIGNALS = ClaimSignals()
NO_SCORE = Score()


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing a page says: `text` uses the page's words, `quotes` are those words with their offsets."""

    text: str
    type: ClaimType
    subject: str
    """The name of its subject, understandable without the page."""
    scope: str
    """The subject, and where or when the claim holds if it says so."""
    quotes: tuple[Quote, ...]
    """One to three; the first is the sentence, or part of a sentence, that makes the claim."""
    page_title: str
    section: str
    anchor: str
    headings: tuple[str, ...] = ()
    """The headings above it, the outermost first; the last one is that of its section."""
    book_name: str = ""
    also: tuple[ClaimType, ...] = ()
    """Other types that fit."""
    tags: tuple[str, ...] = ()
    hedges: tuple[Hedge, ...] = ()
    """Words that hedge it; their offsets are in `text`."""
    signals: ClaimSignals = NO_SIGNALS
    measures: tuple[Measure, ...] = ()
    dates: tuple[DateMention, ...] = ()
    """Dates in it; their offsets are in `text`."""
    names: tuple[str, ...] = ()
    """The texts of its links to other pages."""
    score: Score = NO_SCORE
    """How credible it is, in log-odds."""
    origin: Literal["rule", "model"] = "rule"
    inserted_name_from: NameSource = ""
    depends_on: DependsOn = ""
    """The context it needs, if it cannot be understood alone."""
    id: ClaimId = field(init=False, repr=False, compare=False)
    """A hash of what it says and where, so that a claim has the same id in every run."""

    def __post_init__(self) -> None:
        if not 1 <= len(self.quotes) <= MAX_QUOTES:
            raise QuoteNotFound(
                f"A claim must have one to three quotes, but {self.text[:60]!r} has {len(self.quotes)}."
            )
        # The class is frozen, and the id is derived from its other fields.
        object.__setattr__(self, "id", self._hash())

    @property
    def ref(self) -> EntryRef:
        return self.quotes[0].ref

    def _hash(self) -> ClaimId:
        ref = self.quotes[0].ref
        places = "".join([f"\n{start}-{end}\n{text}" for _, start, end, text in self.quotes])
        content = f"{ref.book}\n{ref.path}\n{self.type}\n{self.text}{places}"
        return ClaimId(short_hash(content))

    @property
    def confidence(self) -> float:
        """How likely it is right, from 0 to 1."""
        return confidence_of(self.score)

    @property
    def is_row(self) -> bool:
        """Whether it is from an infobox or a table, not from a sentence."""
        # A row of a table has three quotes: value, label and heading. So may a model's claim, from three sentences.
        return self.origin == "rule" and (self.section == INFOBOX or len(self.quotes) == MAX_QUOTES)

    @property
    def citation(self) -> Citation:
        return Citation(self.quotes[0], self.book_name, self.page_title, self.section, self.anchor)


def confidence_of(score: Score) -> float:
    """The probability for a sum of log-odds."""
    # Limited before `exp`, which overflows for large sums; beyond 30 the rounded result no longer changes.
    return round(1 / (1 + math.exp(-max(min(score.total, 30.0), -30.0))), 2)


@dataclass(frozen=True, slots=True)
class ClaimRecord(Record):
    """One thing that a page or a text says; docs/reference/claims.md describes its fields."""

    claim_id: str
    claim: str
    """The claim, as a sentence that makes sense on its own."""
    claim_type: ClaimType
    also: tuple[ClaimType, ...]
    """What else it is."""
    subject: str
    name_put_in: NameSource
    """Where the name that replaces a pronoun comes from: the `title` of the page, or the sentence `before`; empty if
    no pronoun was replaced.
    """
    depends_on: DependsOn
    """What is needed to understand it: the `subject` of its page, or the `previous` sentence; empty if nothing is."""
    scope: str
    names: tuple[str, ...]
    topic_tags: tuple[str, ...]
    confidence: float
    confidence_terms: tuple[ScoreTerm, ...]
    dates: tuple[dict[str, Any], ...]
    measures: tuple[dict[str, Any], ...]
    hedging: tuple[dict[str, Any], ...]
    hedging_flags: dict[str, bool]
    evidence_signals: dict[str, Any]
    origin: str
    """Who found it: the rules, or a model."""
    book: str
    book_name: str
    path: str
    page_title: str
    section: str
    section_heading: str
    headings: tuple[str, ...]
    """The headings above it, outermost first."""
    anchor: str
    spans: tuple[dict[str, Any], ...]
    """Its position in the `plain_text` of the page."""
    support_snippets: tuple[str, ...]
    """This text, letter by letter."""

    @classmethod
    def of(cls, claim: Claim) -> ClaimRecord:
        values: Mapping[str, Any] = claim_record(claim)
        return cls(**values)


def claim_record(claim: Claim) -> JsonDict:
    """A claim as `claims.jsonl` has it."""
    kinds = {hedge.kind for hedge in claim.hedges}
    signals, ref = claim.signals, claim.quotes[0].ref
    # The keys are written in alphabetical order, which makes sorting them later nearly free.
    return {
        "also": list(claim.also),
        "anchor": claim.anchor,
        "book": ref.book,
        "book_name": claim.book_name,
        "claim": claim.text,
        "claim_id": claim.id,
        "claim_type": claim.type,
        "confidence": claim.confidence,
        "confidence_terms": [{"points": term.points, "signal": term.signal} for term in claim.score.terms],
        "dates": [{**date_record(mention.when), "start": mention.start, "end": mention.end} for mention in claim.dates],
        "depends_on": claim.depends_on,
        "evidence_signals": {
            "citation_needed": signals.citation_needed,
            "disputed": signals.disputed,
            "page_references": signals.page_references,
            "references": signals.references,
            "section_references": signals.section_references,
            "stub": signals.stub,
        },
        "headings": list(claim.headings),
        "hedging": [{"cue": cue, "end": end, "kind": kind, "start": start} for start, end, cue, kind in claim.hedges],
        "hedging_flags": {flag: flag in kinds for flag in get_args(HedgeKind)},
        "measures": [_measure(measure) for measure in claim.measures],
        "name_put_in": claim.inserted_name_from,
        "names": list(claim.names),
        "origin": claim.origin,
        "page_title": claim.page_title,
        "path": ref.path,
        "scope": claim.scope,
        "section": claim.section,
        "section_heading": claim.section,
        "spans": [{"end": quote.end, "sha": quote.sha, "start": quote.start} for quote in claim.quotes],
        "subject": claim.subject,
        "support_snippets": [quote.text for quote in claim.quotes],
        "topic_tags": list(claim.tags),
    }


def claim_from_record(row: Mapping[str, Any]) -> Claim:
    """The claim of a record; ValueError, KeyError or TypeError if it is malformed."""
    ref = EntryRef(BookId(row["book"]), row["path"])
    quotes = tuple(
        recorded_quote(ref, place["start"], place["end"], text)
        for place, text in zip(row["spans"], row["support_snippets"], strict=True)
    )
    if not quotes:
        raise ValueError("a claim must have a quote")
    return Claim(
        text=row["claim"],
        type=row["claim_type"],
        subject=row["subject"],
        scope=row["scope"],
        quotes=quotes,
        page_title=row["page_title"],
        section=row["section"],
        anchor=row["anchor"],
        book_name=row["book_name"],
        also=tuple(row["also"]),
        tags=tuple(row["topic_tags"]),
        hedges=tuple(Hedge(**hedge) for hedge in row["hedging"]),
        signals=ClaimSignals(**row["evidence_signals"]),
        measures=tuple(_measure_of(item, row["subject"]) for item in row["measures"]),
        dates=tuple(DateMention(item["start"], item["end"], date_from_record(item)) for item in row["dates"]),
        names=tuple(row["names"]),
        score=Score(tuple(ScoreTerm(**line) for line in row["confidence_terms"])),
        origin=row["origin"],
        headings=tuple(row["headings"]),
        inserted_name_from=row["name_put_in"],
        depends_on=row["depends_on"],
    )


# The same dates occur again and again in the claims of one topic, and their EDTF is not cheap to write.
@lru_cache(maxsize=4_096)
def date_record(when: DateRange) -> Mapping[str, str | int | bool]:
    """A date as plain data, also in EDTF, which other programs read."""
    return {
        "edtf": when.edtf(),
        "earliest": when.earliest,
        "latest": when.latest,
        "precision": when.precision,
        "qualifier": when.qualifier,
        "calendar": when.calendar,
        "lasts": when.lasts,
    }


def date_from_record(row: Mapping[str, Any]) -> DateRange:
    names = ("earliest", "latest", "precision", "qualifier", "calendar", "lasts")
    return DateRange(**{name: row[name] for name in names})


def _measure(measure: Measure) -> JsonDict:
    """A measure without `of`: that is the claim's subject, which its record has."""
    quantity: JsonDict = dict(zip(Quantity._fields, measure.quantity, strict=True))
    return quantity | {"what": measure.what, "when": date_record(measure.when) if measure.when else None}


def _measure_of(row: Mapping[str, Any], subject: str) -> Measure:
    quantity = Quantity(*[row[name] for name in Quantity._fields])
    return Measure(quantity, row["what"], subject, date_from_record(row["when"]) if row["when"] else None)
