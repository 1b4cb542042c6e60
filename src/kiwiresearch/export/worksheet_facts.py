"""What a worksheet may ask: the sentences of pages that say most about the topic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from kiwiresearch.brief import Brief, salience_by_place, topic_pages_of
from kiwiresearch.claims import Claim, PageClaims
from kiwiresearch.export.findings import RunFindings, dated
from kiwiresearch.export.sentence_filter import (
    BRACKETED_TEXT,
    is_on_the_topic,
    is_sure,
    is_usable,
    names_some,
    names_topic,
)
from kiwiresearch.export.worksheet_patterns import RowQuestion, row_questions
from kiwiresearch.ids import BookId
from kiwiresearch.text import AspectWords, three_letter_code, words_in
from kiwiresearch.zim import EntryRef

LONG_CHARS = 160
"""A longer sentence is a less good fact."""
TOPIC_POINTS, LEAD_POINTS, CITED_POINTS = 0.6, 0.3, 0.6
LONG_POINTS, BRACKET_POINTS = -0.3, -0.2
ROW_POINTS = 2.0
MIN_POINTS = 0.7
"""A sentence with fewer points is only incidental."""
MIN_EVENT_POINTS = 1.4
MAX_FACTS = 150
"""More than a worksheet needs; all facts of a long page would take seconds to compare."""
MAX_SHARED = 0.65
"""Two facts that share this part of the words of the shorter one say the same."""


class WorksheetFact(NamedTuple):
    """A sentence that may be asked about."""

    claim: Claim
    is_main: bool
    """Whether it is about the topic and the requested aspect of it."""
    points: float = MIN_POINTS
    """How much it matters to the topic; questions are made of the best facts first."""

    @property
    def text(self) -> str:
        return self.claim.text

    @property
    def plain(self) -> str:
        """The text without its brackets."""
        return BRACKETED_TEXT.sub("", self.claim.text)


@dataclass(frozen=True, slots=True)
class FactSheet:
    """The facts of a topic, the definitions of what it touches, and all that its pages say."""

    topic: str
    facts: tuple[WorksheetFact, ...]
    definitions: tuple[Claim, ...]
    events: tuple[Claim, ...]
    language: str
    books: Mapping[BookId, str]
    """The titles and dates of the books."""
    all_text: str
    """The text of all claims, to see how a word is usually spelled."""
    openings: frozenset[tuple[EntryRef, int]] = frozenset()
    """Where the pages begin."""
    subject: str = ""
    """What the topic is about, if it is about an aspect of it."""

    @property
    def is_english(self) -> bool:
        return three_letter_code(self.language) == "eng"

    @property
    def named(self) -> str:
        """The words of which a question must have one to be about the topic."""
        return self.subject or self.topic


def facts_of_run(findings: RunFindings) -> FactSheet:
    """The facts of the topic's own pages, then those of pages close to it, and the definitions of both.

    If an aspect is asked for, only the sentences about it are main facts.
    """
    brief = findings.brief
    subject = brief.head or brief.topic
    topic_pages = topic_pages_of(brief)
    doubted = _doubted(brief)
    asked = [page for page in findings.pages if page.source.ref in topic_pages | _close_pages(findings, subject)]
    claims = [claim for page in asked for claim in page.claims if claim.id not in doubted]
    cited = _cited(brief)
    books = brief.sources.books
    language = books[0].language if books else "eng"
    words = AspectWords.of(brief.aspect, language) if brief.aspect else None
    weights = salience_by_place(claims, language)

    def is_main(claim: Claim) -> bool:
        if words is None:
            return claim.ref in topic_pages
        return claim.id in cited or (claim.ref in topic_pages and words.names_any(claim.headings))

    openings = (page.claims[0] for page in asked if page.claims)
    return FactSheet(
        brief.topic if brief.aspect else subject,
        _best_first(
            _fact(claim, subject, weights, is_main=is_main(claim), is_cited=claim.id in cited) for claim in claims
        ),
        tuple(claim for claim in openings if claim.type == "definition" and is_sure(claim) and not brief.aspect),
        tuple(
            claim
            for claim in claims
            if claim.dates
            and is_sure(claim)
            and is_main(claim)
            and _fact(claim, subject, weights, is_main=True).points >= MIN_EVENT_POINTS
        ),
        language,
        {book.id: dated(book.title or book.name, book.date) for book in books},
        " ".join(claim.text for page in findings.pages for claim in page.claims),
        _openings(claims),
        subject,
    )


def facts_of_page(found: PageClaims, book: str) -> FactSheet:
    """The facts of one page."""
    claims = sorted((*found.claims, *found.of_type("statement").claims), key=lambda claim: claim.quotes[0].start)
    topic, language = found.page.title, found.page.language
    weights = salience_by_place(claims, language)
    sure = [claim for claim in claims if is_sure(claim)]
    return FactSheet(
        topic,
        _best_first(_fact(claim, topic, weights, is_main=True) for claim in claims),
        tuple(claim for claim in sure if claim.type == "definition"),
        tuple(
            claim
            for claim in sure
            if claim.dates
            and is_on_the_topic(claim)
            and _fact(claim, topic, weights, is_main=True).points >= MIN_EVENT_POINTS
        ),
        language,
        {found.page.ref.book: book} if book else {},
        " ".join(claim.text for claim in claims),
        _openings(claims),
    )


def _openings(claims: Iterable[Claim]) -> frozenset[tuple[EntryRef, int]]:
    """Where the first sentence of each page begins."""
    first: dict[EntryRef, int] = {}
    for claim in claims:
        if not claim.is_row:
            ref, start = place_of(claim)
            first[ref] = min(start, first.get(ref, start))
    return frozenset(first.items())


def _cited(brief: Brief) -> frozenset[str]:
    """The claims of the prose of a brief.

    Sentences reworded by a model are not used: the answer must be in the words of the page.
    """
    statements = [*brief.summary, *(statement for group in brief.body for statement in group.statements)]
    return frozenset(
        claim.id
        for statement in statements
        if statement.text == (claim := brief.claims[statement.claims[0]]).text or statement.written == "rule"
    )


def _doubted(brief: Brief) -> frozenset[str]:
    """The claims that another page contradicts, or that are one side of a dispute."""
    views = [view.statement for dispute in brief.disputes for view in dispute.views]
    views += [figure.statement for figure in brief.numbers if figure.difference]
    views += [statement for statement in brief.statements() if statement.sureness in ("hedged", "disputed")]
    return frozenset(claim for statement in views for claim in statement.claims)


def _close_pages(findings: RunFindings, topic: str) -> frozenset[EntryRef]:
    """The other pages that begin with the topic, or are among the best of the run and named where the topic begins."""
    topic_pages = topic_pages_of(findings.brief)
    others = [page for page in findings.pages if page.source.ref not in topic_pages]
    points = sorted((page.source.points for page in others), reverse=True)
    # The median: the better half of the pages.
    enough = points[(len(points) - 1) // 2] if points else 0.0
    begins = " ".join(
        claim.text.lower()
        for page in findings.pages
        if page.source.ref in topic_pages
        for claim in page.claims
        if not claim.section
    )
    return frozenset(
        page.source.ref
        for page in others
        if names_topic(f"{page.title} {page.source.opening}", topic)
        or (page.source.points >= enough and page.title.partition(" (")[0].lower() in begins)
    )


def _fact(
    claim: Claim,
    topic: str,
    weights: Mapping[tuple[EntryRef, int], float],
    *,
    is_main: bool,
    is_cited: bool = False,
) -> WorksheetFact:
    if claim.is_row:
        return WorksheetFact(claim, is_main, ROW_POINTS)
    points = weights.get(place_of(claim), 0.0)
    points += TOPIC_POINTS * names_some(claim.text, topic) + LEAD_POINTS * (not claim.section)
    points += CITED_POINTS * is_cited + LONG_POINTS * (len(claim.text) > LONG_CHARS)
    return WorksheetFact(claim, is_main, points + BRACKET_POINTS * ("(" in claim.text))


def _best_first(facts: Iterable[WorksheetFact]) -> tuple[WorksheetFact, ...]:
    """The usable facts: those of the topic first, and of these the ones with the most points."""
    usable = (fact for fact in facts if is_usable(fact.claim) or _is_asked_row(fact))
    return tuple(sorted(usable, key=lambda fact: (not fact.is_main, -fact.points))[:MAX_FACTS])


def _is_asked_row(fact: WorksheetFact) -> bool:
    claim = fact.claim
    return fact.is_main and claim.is_row and not claim.hedges and row_question_of(claim) is not None


def row_question_of(claim: Claim) -> RowQuestion | None:
    """What is asked about a row of an infobox, if its label has a question."""
    label = claim.text.partition(" — ")[2].partition(": ")[0]
    return next((row for row in row_questions() if row.label.fullmatch(label)), None)


def place_of(claim: Claim) -> tuple[EntryRef, int]:
    """Where a claim begins; two claims of one sentence begin at the same place."""
    return claim.ref, claim.quotes[0].start


def distinct(facts: Iterable[WorksheetFact]) -> Iterator[WorksheetFact]:
    """The facts without those that repeat an earlier one in nearly the same words."""
    seen: list[frozenset[str]] = []
    for fact in facts:
        words = frozenset(words_in(fact.text.lower()))
        if all(len(words & other) < min(len(words), len(other)) * MAX_SHARED for other in seen):
            seen.append(words)
            yield fact
