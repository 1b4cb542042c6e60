"""A page that may be visited, and what speaks for and against it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from kiwiresearch.crawl.points import points
from kiwiresearch.crawl.step import Facts, Offer
from kiwiresearch.text.plain import quoted
from kiwiresearch.zim.entry import EntryRef

Row = tuple[str, float]
MANY_REFERENCES = 100
LONG = 20_000


@dataclass(slots=True)
class Candidate:
    """What is known of a page before it is taken; it grows as the crawl goes on."""

    ref: EntryRef
    title: str
    depth: int
    stems: frozenset[str] = frozenset()
    """The words of its title and of the links to it."""
    share: float = 0.0
    named: float = 0.0
    page: float = 0.0
    focus: float = 0.0
    """How much it is about the topic, as search and its text tell."""
    meaning: float = 0.0
    is_found: bool = False
    """The search found it; no link was needed."""
    in_words: float = 0.0
    votes: float = 0.0
    voters: int = 0
    parent: str = ""
    """The title of the page whose link counts most."""
    best: Offer | None = None
    best_votes: float = 0.0
    root: str = ""
    """The page near the beginning through which it was first reached."""
    is_list: bool = False
    standing: float = 0.0
    """How much its whole book makes of it, where that is known."""
    facts: Facts | None = None
    seed: str = ""
    """Why it is a seed, if it is one."""
    key: tuple[float, int, EntryRef] | None = field(default=None)
    """Its place in the frontier, so that old places are known for what they are."""

    def learn(self, facts: Facts) -> None:
        """Take in what the page itself shows."""
        self.facts = facts
        self.named, self.page, self.focus, self.meaning = facts.named, facts.page, facts.focus, facts.meaning

    def reason(self) -> str:
        """How the crawl came to it, in words."""
        if self.seed:
            return f"seed: {self.seed}"
        link = self.best
        linked = ""
        if link is not None:
            where = {"lead": "in its lead", "infobox": "in its infobox", "see also": "under 'See also'"}.get(
                link.place, f"under {quoted(link.section)}" if link.section else "in its text"
            )
            linked = f"{quoted(self.parent)} links to it {where}"
            linked += f": {quoted(link.sentence)}" if link.sentence and link.place != "table" else ""
        if self.is_found:
            how = "found by search" if self.share else "its text names the topic"
            return f"{how}; {linked}" if linked else how
        return linked or "listed as a sense of a name"

    def relevance_rows(self) -> list[Row]:
        """How much the page is about the topic, before it is set against the best page found."""
        if not (self.page or self.share or self.focus):
            return []
        worth = points()["relevance"]
        return [
            ("found by search", worth["search"] * self.share),
            ("names the topic", worth["named"] * self.named),
            ("topic words on the page", worth["page"] * self.page),
            ("focus", worth["focus"] * self.focus),
        ]

    def raw_relevance(self) -> float:
        return sum(points for _, points in self.relevance_rows())

    def relevance(self, scale: float) -> float:
        """The same as a share, at most 1: what its own links count by."""
        return round(min(1.0, self.raw_relevance() * scale / 100), 4)

    def authority_rows(self) -> list[Row]:
        worth, rows = points()["authority"], []
        if self.voters > 1:
            rows.append(("linked from visited pages", worth["inbound"] * math.log(self.voters)))
        if self.standing:
            rows.append(("standing in the book", worth["standing"] * self.standing))
        if self.facts is not None:
            references = math.log1p(self.facts.references) / math.log1p(MANY_REFERENCES)
            rows.append(("references", worth["references"] * min(1.0, references)))
            rows.append(("length", worth["length"] * min(1.0, self.facts.length / LONG)))
        return rows

    def signal_rows(self, *, lists: bool) -> Iterator[Row]:
        """What its kind takes off; `lists` says whether lists are worth less."""
        worth, facts = points()["page_signals"], self.facts
        if lists and (self.is_list or (facts is not None and facts.is_list)):
            yield "list page", worth["list"]
        if facts is not None and facts.is_stub:
            yield "stub", worth["stub"]
        if facts is not None and facts.is_disambiguation:
            yield "disambiguation page", worth["disambiguation"]
