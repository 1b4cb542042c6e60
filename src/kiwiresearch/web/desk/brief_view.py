"""The brief of a run as its page shows it: every statement with the claims, quotes and pages it rests on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import groupby
from urllib.parse import quote as percent

from kiwiresearch.brief.brief import Brief, Gap, Moment, Picture, Source, Statement
from kiwiresearch.brief.context import around
from kiwiresearch.brief.document import Around, each_once
from kiwiresearch.brief.report_words import GAPS
from kiwiresearch.brief.running import Run, paragraphs
from kiwiresearch.claims.claim import Claim, ClaimId
from kiwiresearch.web.desk.moments import when_in_english
from kiwiresearch.web.desk.research_form import NUMBERS, form_address
from kiwiresearch.web.desk.run_frame import RunFrame
from kiwiresearch.web.desk.words import Words
from kiwiresearch.zim.entry import EntryRef

PARTS = (
    "summary", "body", "definitions", "timeline", "mechanisms", "actors", "disputes", "numbers", "gaps", "bibliography",
)  # fmt: skip
"""The parts in reading order, by the names under which the catalogue has their headings."""

MAY_LACK = frozenset({"body", "timeline", "actors"})
"""Parts that a brief leaves out when there is nothing to say; of the others it says that nothing was found."""

GAP_ORDER = tuple(GAPS)


@dataclass(frozen=True, slots=True)
class Quoted:
    """Words of a page that prove a claim, and where they are read; nowhere if the book is not here."""

    text: str
    url: str
    before: str = ""
    after: str = ""
    """What stands around them on the page, where that is shown."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A claim that a statement rests on."""

    claim: Claim
    url: str
    language: str
    quotes: tuple[Quoted, ...]

    @property
    def hedges(self) -> tuple[str, ...]:
        """The words that hedge it, each once."""
        return tuple(dict.fromkeys(hedge.cue for hedge in self.claim.hedges))


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of disagreement: the name the catalogue knows, and what the run says of it in English."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A picture of a page: where its bytes are, and where the page is read; nowhere if the book is not here."""

    picture: Picture
    address: str
    title: str
    url: str
    language: str


class BriefView:
    """A brief with what its page looks up."""

    def __init__(self, frame: RunFrame) -> None:
        self._frame = frame
        self.brief: Brief = frame.brief
        used = {claim.ref for claim in self.brief.claims.values()}
        self.cited = tuple(page for page in self.brief.sources.pages if page.ref in used)
        self.not_cited = tuple(page for page in self.brief.sources.pages if page.ref not in used)
        self._numbers = {page.ref: number for number, page in enumerate(self.cited, 1)}

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts that are shown."""
        return tuple(name for name in PARTS if name not in MAY_LACK or getattr(self.brief, name))

    @property
    def main_language(self) -> str:
        """The language of the run's books; empty where they have several."""
        languages = {book.language for book in self._frame.books}
        return languages.pop() if len(languages) == 1 else ""

    @property
    def again(self) -> str:
        """Where the form is, filled in as it was for this run."""
        frame, chosen = self._frame, self._frame.settings
        numbers = {name: chosen.get(key) for name, key in NUMBERS.items()}
        said = {"topic": frame.topic, "aspect": frame.aspect, "focus": frame.focus, "strategy": chosen.get("strategy")}
        return form_address(said | numbers)

    @staticmethod
    def research(topic: str) -> str:
        """Where the form is for another topic."""
        return form_address({"topic": topic})

    def paragraphs(self, statements: Iterable[Statement]) -> list[list[Run]]:
        """Running text: a paragraph for each page that its sentences are from, cited where their places change."""
        return paragraphs(statements, self.brief.claims)

    def evidence(self, claims: Iterable[ClaimId]) -> tuple[Evidence, ...]:
        """What stands behind a statement or a gap, claim by claim."""
        known = [self.brief.claims[one] for one in claims if one in self.brief.claims]
        return tuple(map(self._one, known, each_once(around(claim, self.brief.context) for claim in known)))

    def language(self, statement: Statement) -> str:
        """The language of a statement: that of the book which its first claim is from."""
        return self._frame.language_of(self.brief.claims[statement.claims[0]].ref.book)

    def when(self, moment: Moment, words: Words) -> str:
        """The date of a moment in English, for `told_date`."""
        return when_in_english(moment, [self.brief.claims[one] for one in moment.statement.claims], words)

    def numbers(self, statement: Statement | Run) -> tuple[int, ...]:
        """The pages of the bibliography that a statement, or a run of them, rests on."""
        found = {self._numbers.get(self.brief.claims[one].ref, 0) for one in statement.claims}
        return tuple(sorted(found - {0}))

    def gaps(self) -> list[tuple[str, list[Gap]]]:
        """What is left open, kind by kind."""
        ordered = sorted(self.brief.gaps, key=lambda gap: GAP_ORDER.index(gap.kind))
        return [(kind, list(gaps)) for kind, gaps in groupby(ordered, key=lambda gap: gap.kind)]

    def pictures(self, part: int | None) -> tuple[Shown, ...]:
        """The pictures of the summary, or of a part of the body by its number."""
        return tuple(self._shown(one) for one in self.brief.pictures if one.part == part)

    def _shown(self, one: Picture) -> Shown:
        title = next((page.title for page in self.brief.sources.pages if page.ref == one.ref), one.ref.path)
        address = f"{self._frame.url('pictures')}/{percent(one.sha256, safe='')}"
        return Shown(one, address, title, self._frame.page_url(one.ref), self.language_of(one.ref))

    def page_url(self, source: Source) -> str:
        return self._frame.page_url(source.ref)

    def book(self, ref: EntryRef) -> str:
        """The title of a page's book."""
        return next((one.title or one.name for one in self._frame.books if one.id == ref.book), "")

    def language_of(self, ref: EntryRef) -> str:
        return self._frame.language_of(ref.book)

    @staticmethod
    def kind(told: str) -> Kind:
        """A kind of disagreement taken apart."""
        name, _, why = told.partition(":")
        return Kind(name.strip().casefold(), why.strip())

    def _one(self, claim: Claim, placed: Around) -> Evidence:
        frame = self._frame
        first, *others = (Quoted(one.text, frame.page_url(one.ref, one.start, one.end)) for one in claim.quotes)
        return Evidence(
            claim=claim,
            url=frame.claim_url(claim.id),
            language=frame.language_of(claim.ref.book),
            quotes=(replace(first, before=placed.before, after=placed.after), *others),
        )
