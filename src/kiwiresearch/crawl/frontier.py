"""The pages that a crawl may visit next, in order."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from kiwiresearch.crawl.step import LinkOffer, PageFacts
from kiwiresearch.messages import Message
from kiwiresearch.text import quoted
from kiwiresearch.zim import EntryRef

FrontierKey = tuple[float, int, EntryRef]


@dataclass(slots=True)
class CrawlCandidate:
    """A page that may be visited, and what is known about it so far."""

    ref: EntryRef
    title: str
    depth: int
    stems: frozenset[str] = frozenset()
    """The words of its title and of the links to it."""
    search_share: float = 0.0
    """Its search score, as a share of the best page's."""
    name_share: float = 0.0
    word_share: float = 0.0
    focus_share: float = 0.0
    """The shares of the topic's name, of its words and of the focus that its text has, once known."""
    link_share: float = 0.0
    """The share of the topic's words in its title and in the links to it."""
    meaning: float = 0.0
    is_found: bool = False
    """Whether the search found it, so that no link was needed."""
    votes: float = 0.0
    voters: int = 0
    parent: str = ""
    """The title of the page whose link counts most."""
    best_link: LinkOffer | None = None
    best_link_votes: float = 0.0
    root: str = ""
    """The page near the start of the crawl through which it was first reached."""
    is_list: bool = False
    link_rank: float = 0.0
    """Its rank among all pages of its book, if that is known."""
    facts: PageFacts | None = None
    """The facts from its page, once it has been read."""
    seed_reason: str | None = None
    """Why it is a seed, if it is one."""
    key: FrontierKey | None = None
    """Its latest position in the frontier; heap entries with another key are outdated."""

    def set_facts(self, facts: PageFacts) -> None:
        """Record the facts from its page."""
        self.facts, self.meaning = facts, facts.meaning
        self.name_share, self.word_share, self.focus_share = facts.name_share, facts.word_share, facts.focus_share

    def reason(self) -> Message:
        """How the crawl found it, as a message."""
        if self.seed_reason:
            return Message(f"starting page: {self.seed_reason}", "crawl.seed", why=self.seed_reason)
        linked = _link_reason(self.parent, self.best_link) if self.best_link is not None else None
        if not self.is_found:
            return linked or Message("listed as one of the meanings of a name", "crawl.sense")
        named = Message("its text mentions the topic", "crawl.names_topic")
        how = Message("found by search", "crawl.found") if self.search_share else named
        return Message(f"{how}; {linked}", "crawl.found_and_linked", how=how, linked=linked) if linked else how


def _link_reason(page: str, link: LinkOffer) -> Message:
    where = _link_place(link)
    text = f"{quoted(page)} links to it {where}"
    if not link.sentence or link.place == "table":
        return Message(text, "crawl.linked", page=page, where=where)
    sentence = link.sentence
    return Message(f"{text}: {quoted(sentence)}", "crawl.linked_saying", page=page, where=where, sentence=sentence)


def _link_place(link: LinkOffer) -> Message:
    match link.place:
        case "lead":
            return Message("in its introduction", "crawl.in_lead")
        case "infobox":
            return Message("in its infobox", "crawl.in_infobox")
        case "see also":
            return Message("under “See also”", "crawl.under_see_also")
    if link.section:
        return Message(f"under {quoted(link.section)}", "crawl.under", section=link.section)
    return Message("in its text", "crawl.in_text")


class Frontier:
    """Best score first; then the shallower page; then book and path.

    The last two make the order total: equal scores come out the same way in
    every run, regardless of insertion order. All candidates share one level, or
    each is on the level of its depth.
    """

    def __init__(self, score_of: Callable[[CrawlCandidate], float], *, by_depth: bool) -> None:
        self._score_of = score_of
        self._by_depth = by_depth
        self._levels: dict[int, list[tuple[FrontierKey, EntryRef]]] = {}
        self._candidates: dict[EntryRef, CrawlCandidate] = {}

    def put(self, candidate: CrawlCandidate) -> None:
        """Insert a candidate, or move it after its score has changed."""
        candidate.key = self._key(candidate)
        self._candidates[candidate.ref] = candidate
        # Lazy deletion: the old entry stays in the heap, and `best` skips it because its key is outdated.
        heapq.heappush(self._levels.setdefault(self._level(candidate), []), (candidate.key, candidate.ref))

    def remove(self, ref: EntryRef) -> None:
        self._candidates.pop(ref, None)

    def reorder(self) -> None:
        """Score all candidates again."""
        self._levels.clear()
        for candidate in self._candidates.values():
            self.put(candidate)

    def refresh(self, refs: Iterable[EntryRef]) -> None:
        """Score some pages again, if they are still candidates."""
        for ref in refs:
            if ref in self._candidates:
                self.put(self._candidates[ref])

    def best(self, level: int = 0) -> CrawlCandidate | None:
        """The best candidate of a level; it is not removed.

        The heap is corrected here: a candidate that was moved has an older entry that no longer counts.
        """
        heap = self._levels.get(level, [])
        while heap:
            key, ref = heap[0]
            candidate = self._candidates.get(ref)
            if candidate is None or candidate.key != key or self._level(candidate) != level:
                heapq.heappop(heap)  # removed, or moved since
                continue
            if self._key(candidate) > key:  # its score has dropped since, as its branch filled up
                heapq.heappop(heap)
                self.put(candidate)
                continue
            return candidate
        return None

    def levels(self) -> list[int]:
        """Levels that have candidates, the lowest first."""
        return [level for level in sorted(self._levels) if self.best(level) is not None]

    def __contains__(self, ref: object) -> bool:
        return ref in self._candidates

    def __len__(self) -> int:
        return len(self._candidates)

    def get(self, ref: EntryRef) -> CrawlCandidate | None:
        return self._candidates.get(ref)

    def in_order(self) -> list[CrawlCandidate]:
        """All candidates, the best first."""
        return sorted(self._candidates.values(), key=self._key)

    def _key(self, candidate: CrawlCandidate) -> FrontierKey:
        return (-self._score_of(candidate), candidate.depth, candidate.ref)

    def _level(self, candidate: CrawlCandidate) -> int:
        return candidate.depth if self._by_depth else 0
