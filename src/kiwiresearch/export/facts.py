"""What a worksheet may ask: sentences of pages that can be read alone, and that nothing hedges or disputes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from kiwiresearch.brief import Brief, topic_pages_of
from kiwiresearch.claims import Claim, PageClaims
from kiwiresearch.export.findings import RunFindings
from kiwiresearch.text import share_root, three_letter_code, words_in
from kiwiresearch.zim import EntryRef

MIN_CHARS = 35
MAX_CHARS = 230
LONG_CHARS = 160
"""A longer sentence is a less good fact."""
LIFE_POINTS = 5
MAX_FACTS = 150
"""More than a worksheet needs; all facts of a long page would take seconds to compare."""
OPENERS = re.compile(
    r"(?:However|Also|Thus|Therefore|Then|Later|But|And|Or|So|Instead|Indeed|Furthermore|Moreover|Similarly|Likewise|"
    r"Nevertheless|Nonetheless|Hence|Conversely|Additionally|Consequently|Finally|Meanwhile|Afterwards|This|These|"
    r"Those|That|Such|There|Here|Both|Another|Other|Some|It|They|Its|Their|Former|Latter|As of|According|One|"
    r"Written|Originally|No|Rather|Therein|Eventually|Soon|Following|Initially)\b"
)
"""Beginnings of sentences that go on from another one, or say little by themselves."""
UNSUITABLE_FOR_CLASS = re.compile(
    r"\b(?:sexual(?! (?:reproduction|selection))\w*|sex (?:with|life|work)|sodomy|rap(?:e|ed|ist)|porn\w*|"
    r"prostitut\w*|suicides?|heroin|cocaine|narcotics?)\b",
    re.IGNORECASE,
)
"""Words of sentences that a teacher would rather choose than find on a worksheet."""
BARE_START = re.compile(r"The [a-z]+ (?:was|were|had|then|[a-z]+ed)\b")
"""'The offensive slowed': a sentence before has said which one."""
POINTERS = re.compile(
    r"\[|\bsee\b|\bbelow\b|\babove\b|\bthis (?:article|page|section|list)\b|\bdiagram\b|\bfigure\b|\btable\b|"
    r"\bformer\b|\blatter\b|\bsuch as this\b|\brespectively\b|\bmentioned\b|"
    r"\b(?:the following|the same|that same|must have)\b|=(?![^()]*\))|…|"
    r"\bthere\b(?! (?:is|are|was|were))|\bcorresponding\b|\bthis\b|\bthese\b|\bthose\b|"
    r"\bin (?:his|her|their|its) (?:honou?r|memory)\b|[:;]|\bthe (?:younger|older|other) one\b|"
    r"\bthe (?:next|previous|preceding) (?:\w+ )?(?:days?|weeks?|months?|years?)\b|^[^,]{5,80}, it\b|"
    r"\b(?:B\.C|A\.D)\. (?-i:[A-Z])|\brefer to\b|\band now\b|\bestimates?\b|\bsuch\b(?! as\b)|"
    r"\b(?:e\.g|i\.e)\.|\bdid (?:not )?(?:so|oblige)\b|\bas (?:stated|noted|described)\b|"
    r"\bthe (?:tune|song|album|film|book|city|town|site|building|project|event|incident|dynasty|two|three|others?|"
    r"petition|decree|proposal|bill|motion|treaty|law|offensive|raid)\b(?! (?:of|called|named|that|on|for)\b)",
    re.IGNORECASE,
)
"""Words that point to something that is not on the worksheet."""
FRAGMENT = re.compile(r"(?:BCE?|AD|CE|B\.C\.?|A\.D\.?)\s")
"""The rest of a sentence that was cut after 'c.' or a number."""
VERB = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|do|does|did|can|could|may|might|must|will|would|shall|should|began|became|"
    r"came|went|took|made|gave|led|wrote|saw|won|lost|fell|rose|grew|found|built|held|kept|left|met|ran|sent|set|spoke|"
    r"spent|stood|taught|thought|told|broke|brought|bought|chose|drew|drove|fought|knew|laid|sold|sank|swept|\w+ed|"
    r"(?!\w*(?:ss|us|is)\b)[a-z]+s)\b"
)
"""A word that can be the verb of a sentence; headings and cut sentences often have none."""
STUDY = re.compile(r"(?:An?|Recent|In \d{4},? an?) [^,]*\b(?:study|studies|poll)\b", re.IGNORECASE)
SIDE_SECTION = re.compile(
    r"metaphor|popular culture|fiction|trivia|\bin (?:film|the media|media|literature|music|games)\b|see also|"
    r"references|external links|further reading|^notes$|bibliograph|conspiracy|quotations?$|miscell",
    re.IGNORECASE,
)
"""Headings of sections that are not about the topic itself."""
UNNAMED_PERSON = re.compile(r"\b(?:they|them|theirs|he|she|him|his|her)\b|^\W*(?:\w+ ){0,2}their\b", re.IGNORECASE)
"""Words for somebody whom another sentence may have named; further on, 'their' is mostly the subject's own."""
PLURAL_PRONOUN = re.compile(r"\b(?:they|them|their|theirs)\b", re.IGNORECASE)
PERSON = (
    r"(?!(?:In|On|At|By|From|Under|After|Before|The|An?|During|Around|Since|Until|For|With|As|While|When) )"
    r"[A-Z][\w.'’-]+(?:(?: (?:van|von|der|den|de|da|di|of|the|bin|ibn|al))* [A-Z][\w.'’-]*){1,3}"
)
"""Two to four capitalised words, which may name a person: only their verb shows whether they do."""
NAMED_FIRST = re.compile(rf"(?:In [^,]{{3,25}},? )?{PERSON}\b")
PRONOUN = re.compile(r"\b(?:he|she|it|him|his|her|its)\b", re.IGNORECASE)
PERSONAL = re.compile(r"(?:.{0,40}\b)?(?:He|She|His|Her|he|she|his|her)\b")
LIFE = re.compile(r"(?P<name>.+) — (?P<what>Born|Died): ")
"""A row of an infobox about a person."""
PAIRS = (("(", ")"), ("“", "”"))
MAX_SHARED = 0.65
"""Two facts that share this part of the words of the shorter one say the same."""


class WorksheetFact(NamedTuple):
    """A sentence that may be asked about."""

    claim: Claim
    about: str
    """The subject, if the sentence does not name it; it is printed in front."""
    is_main: bool
    """Whether it comes from a page about the topic itself."""
    points: int = 0
    """How much it is about the topic; questions are made of the best facts first."""

    @property
    def text(self) -> str:
        return self.claim.text


@dataclass(frozen=True, slots=True)
class FactSheet:
    """The facts of a topic, the definitions of what it touches, and all that its pages say."""

    topic: str
    facts: tuple[WorksheetFact, ...]
    definitions: tuple[Claim, ...]
    events: tuple[Claim, ...]
    language: str
    books: tuple[str, ...]
    """The titles and dates of the books."""
    all_text: str
    """The text of all claims, to see how a word is usually spelled."""

    @property
    def is_english(self) -> bool:
        return three_letter_code(self.language) == "eng"


def facts_of_run(findings: RunFindings) -> FactSheet:
    """The facts of the topic's own pages, then those of pages close to it, and the definitions of both."""
    brief = findings.brief
    topic = brief.head or brief.topic
    topic_pages = topic_pages_of(brief)
    doubted = _doubted(brief)
    # What a model has reworded is not asked: the answer must be in the words of the page.
    cited = {
        claim.id
        for statement in brief.statements()
        if statement.text == (claim := brief.claims[statement.claims[0]]).text
    }
    close = _close_pages(findings, topic)
    asked = [page for page in findings.pages if page.source.ref in topic_pages | close]
    claims = [claim for page in asked for claim in page.claims if claim.id not in doubted]
    facts = (
        _fact(claim, topic, is_main=claim.ref in topic_pages, is_cited=claim.id in cited)
        for claim in claims
        if is_usable(claim)
    )
    openings = (page.claims[0] for page in asked if page.claims)
    books = brief.sources.books
    return FactSheet(
        topic,
        (
            *_best_first(facts),
            *_lives(claim for claim in claims if claim.ref in topic_pages),
        ),
        tuple(claim for claim in openings if claim.type == "definition" and is_sure(claim) and claim.id not in doubted),
        tuple(
            claim
            for claim in claims
            if claim.dates and is_sure(claim) and (claim.ref in topic_pages or claim.id in cited)
        ),
        books[0].language if books else "eng",
        tuple(f"{book.title or book.name} ({book.date})" if book.date else book.title or book.name for book in books),
        " ".join(claim.text for page in findings.pages for claim in page.claims),
    )


def _close_pages(findings: RunFindings, topic: str) -> frozenset[EntryRef]:
    """The other pages that begin with the topic, or are among the best of the run and named where the topic begins."""
    topic_pages = topic_pages_of(findings.brief)
    others = [page for page in findings.pages if page.source.ref not in topic_pages]
    points = sorted((page.source.points for page in others), reverse=True)
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


def names_topic(text: str, topic: str) -> bool:
    """Whether a text has all longer words of a topic, or forms of them."""
    words = [word.lower() for word in words_in(text)]
    wanted = [word.lower() for word in words_in(topic) if len(word) > 3] or [word.lower() for word in words_in(topic)]
    return all(share_root(item, words) or item in words for item in wanted)


def facts_of_page(found: PageClaims, book: str) -> FactSheet:
    """The facts of one page."""
    claims = sorted((*found.claims, *found.of_type("statement").claims), key=lambda claim: claim.quotes[0].start)
    sure = [claim for claim in claims if is_sure(claim)]
    topic = found.page.title
    facts = (_fact(claim, topic, is_main=True) for claim in sure if is_usable(claim))
    return FactSheet(
        topic,
        (*_best_first(facts), *_lives(claims)),
        tuple(claim for claim in sure if claim.type == "definition"),
        tuple(claim for claim in sure if claim.dates),
        found.page.language,
        (book,) if book else (),
        " ".join(claim.text for claim in claims),
    )


def _best_first(facts: Iterable[WorksheetFact]) -> list[WorksheetFact]:
    """The facts of the topic's own pages first, and of these the ones with the most points."""
    return sorted(facts, key=lambda fact: (not fact.is_main, -fact.points))[:MAX_FACTS]


def _lives(claims: Iterable[Claim]) -> Iterator[WorksheetFact]:
    """When somebody was born and died, from the rows of an infobox."""
    for claim in claims:
        if claim.is_row and not claim.hedges and claim.dates and LIFE.match(claim.text):
            yield WorksheetFact(claim, "", is_main=True, points=LIFE_POINTS)


def _fact(claim: Claim, topic: str, *, is_main: bool, is_cited: bool = False) -> WorksheetFact:
    needs_name = claim.depends_on == "subject" and PRONOUN.search(claim.text)
    about = claim.page_title if needs_name else ""
    has_topic = names_some(f"{about} {claim.text}", topic)
    points = 3 * has_topic + 2 * (not claim.section) + 2 * is_cited
    points -= (len(claim.text) > LONG_CHARS) + ("(" in claim.text) + (claim.text.startswith("The ") and not has_topic)
    return WorksheetFact(claim, about, is_main, points)


def names_some(text: str, topic: str) -> bool:
    """Whether a text has a longer word of a topic, or a form of it."""
    words = [word.lower() for word in words_in(text)]
    return any(share_root(word.lower(), words) for word in words_in(topic) if len(word) > 3)


def _doubted(brief: Brief) -> frozenset[str]:
    """The claims that another page contradicts, or that are one side of a dispute."""
    views = [view.statement for dispute in brief.disputes for view in dispute.views]
    views += [figure.statement for figure in brief.numbers if figure.difference]
    views += [statement for statement in brief.statements() if statement.sureness in ("hedged", "disputed")]
    return frozenset(claim for statement in views for claim in statement.claims)


def is_sure(claim: Claim) -> bool:
    """Whether a page says it plainly, in a sentence of its own."""
    signals = claim.signals
    return not (
        claim.is_row
        or claim.hedges
        or "disputed" in (claim.type, *claim.also)
        or signals.citation_needed
        or signals.disputed
        or claim.origin != "rule"
    )


def is_usable(claim: Claim) -> bool:
    """Whether it is a plain sentence that can be read without those around it."""
    text = claim.text
    return (
        is_sure(claim)
        and claim.depends_on != "previous"
        and claim.type != "quote"
        and MIN_CHARS <= len(text) <= MAX_CHARS
        and text.endswith(".")
        and (text[0].isupper() or text[0].isdigit())
        and not OPENERS.match(text)
        and not BARE_START.match(text)
        and not UNSUITABLE_FOR_CLASS.search(text)
        and not POINTERS.search(text)
        and not FRAGMENT.match(text)
        and not STUDY.match(text)
        and VERB.search(text) is not None
        and not any(SIDE_SECTION.search(heading) for heading in claim.headings)
        and all(text.count(left) == text.count(right) for left, right in PAIRS)
        and text.count('"') % 2 == 0
        # In place of 'They', a title in the singular would be wrong.
        and (not claim.inserted_name_from or PERSONAL.match(claim.quotes[0].text) is not None)
        and is_clear(claim)
    )


def is_clear(claim: Claim) -> bool:
    """Whether a sentence, read alone, says who its pronouns are.

    'He' is the name it begins with, or the subject that is printed in front; 'they' may always be others.
    """
    text = claim.text
    if claim.depends_on == "subject":
        return not PLURAL_PRONOUN.search(text)
    return not UNNAMED_PERSON.search(text) or (NAMED_FIRST.match(text) is not None and not PLURAL_PRONOUN.search(text))


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
