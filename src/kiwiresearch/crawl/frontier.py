"""Pages that may be visited: what speaks for and against them, whether they bring something new, their order."""

from __future__ import annotations

import base64
import heapq
import math
import tomllib
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from kiwiresearch.crawl.step import LinkOffer, PageFacts
from kiwiresearch.messages.message import Message
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.search.book_search import title_and_lead
from kiwiresearch.text.display import quoted
from kiwiresearch.text.words import fold, words_in
from kiwiresearch.zim.archive import EntryRef

if TYPE_CHECKING:
    from kiwiresearch.embed.embedder import Embedder, Vectors


@cache
def crawl_points() -> dict[str, dict[str, float]]:
    """All groups of points by name."""
    text = (files("kiwiresearch.crawl") / "points.toml").read_text(encoding="utf-8")
    return {name: {key: float(value) for key, value in group.items()} for name, group in tomllib.loads(text).items()}


ScoreRow = tuple[str, float]
MANY_REFERENCES = 100
LONG = 20_000


@dataclass(slots=True)
class CrawlCandidate:
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
    best: LinkOffer | None = None
    best_votes: float = 0.0
    root: str = ""
    """The page near the beginning through which it was first reached."""
    is_list: bool = False
    standing: float = 0.0
    """How much its whole book makes of it, where that is known."""
    facts: PageFacts | None = None
    seed: Message | None = None
    """Why it is a seed, if it is one."""
    key: tuple[float, int, EntryRef] | None = field(default=None)
    """Its place in the frontier, so that old places are known for what they are."""

    def learn(self, facts: PageFacts) -> None:
        """Take in what the page itself shows."""
        self.facts = facts
        self.named, self.page, self.focus, self.meaning = facts.named, facts.page, facts.focus, facts.meaning

    def reason(self) -> Message:
        """How the crawl came to it."""
        if self.seed:
            return Message(f"seed: {self.seed}", "crawl.seed", why=self.seed)
        linked = _link_reason(self.parent, self.best) if self.best is not None else None
        if not self.is_found:
            return linked or Message("listed as a sense of a name", "crawl.sense")
        named = Message("its text names the topic", "crawl.names_topic")
        how = Message("found by search", "crawl.found") if self.share else named
        return Message(f"{how}; {linked}", "crawl.found_and_linked", how=how, linked=linked) if linked else how

    def relevance_rows(self) -> list[ScoreRow]:
        """How much the page is about the topic, before it is set against the best page found."""
        if not (self.page or self.share or self.focus):
            return []
        worth = crawl_points()["relevance"]
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

    def authority_rows(self) -> list[ScoreRow]:
        worth, rows = crawl_points()["authority"], []
        if self.voters > 1:
            rows.append(("linked from visited pages", worth["inbound"] * math.log(self.voters)))
        if self.standing:
            rows.append(("standing in the book", worth["standing"] * self.standing))
        if self.facts is not None:
            references = math.log1p(self.facts.references) / math.log1p(MANY_REFERENCES)
            rows.append(("references", worth["references"] * min(1.0, references)))
            rows.append(("length", worth["length"] * min(1.0, self.facts.length / LONG)))
        return rows

    def signal_rows(self, *, lists: bool) -> Iterator[ScoreRow]:
        """What its kind takes off; `lists` says whether lists are worth less."""
        worth, facts = crawl_points()["page_signals"], self.facts
        if lists and (self.is_list or (facts is not None and facts.is_list)):
            yield "list page", worth["list"]
        if facts is not None and facts.is_stub:
            yield "stub", worth["stub"]
        if facts is not None and facts.is_disambiguation:
            yield "disambiguation page", worth["disambiguation"]


def _link_reason(page: str, link: LinkOffer) -> Message:
    """That a page links to another, and where."""
    where = _link_place(link)
    text = f"{quoted(page)} links to it {where}"
    if not link.sentence or link.place == "table":
        return Message(text, "crawl.linked", page=page, where=where)
    sentence = link.sentence
    return Message(f"{text}: {quoted(sentence)}", "crawl.linked_saying", page=page, where=where, sentence=sentence)


def _link_place(link: LinkOffer) -> Message:
    match link.place:
        case "lead":
            return Message("in its lead", "crawl.in_lead")
        case "infobox":
            return Message("in its infobox", "crawl.in_infobox")
        case "see also":
            return Message("under 'See also'", "crawl.under_see_also")
    if link.section:
        return Message(f"under {quoted(link.section)}", "crawl.under", section=link.section)
    return Message("in its text", "crawl.in_text")


FrontierKey = tuple[float, int, EntryRef]


class Frontier:
    """Best score first; then the shallower page; then book and path.

    The last two make the order total: equal scores come out the same way on
    every run, whatever order they went in. Candidates wait by level: all on
    one, or each on its depth.
    """

    def __init__(self, score_of: Callable[[CrawlCandidate], float], *, by_depth: bool) -> None:
        self._score_of = score_of
        self._by_depth = by_depth
        self._levels: dict[int, list[tuple[FrontierKey, EntryRef]]] = {}
        self._candidates: dict[EntryRef, CrawlCandidate] = {}

    def put(self, candidate: CrawlCandidate) -> None:
        """Place a candidate, or place it anew when what speaks for it has changed."""
        candidate.key = self._key(candidate)
        self._candidates[candidate.ref] = candidate
        heapq.heappush(self._levels.setdefault(self._level(candidate), []), (candidate.key, candidate.ref))

    def remove(self, ref: EntryRef) -> None:
        self._candidates.pop(ref, None)

    def reorder(self) -> None:
        """Score all candidates again, after something changed that concerns all."""
        self._levels.clear()
        for candidate in self._candidates.values():
            self.put(candidate)

    def refresh(self, refs: Iterable[EntryRef]) -> None:
        """Score some candidates again: those of them that are still waiting."""
        for ref in refs:
            if ref in self._candidates:
                self.put(self._candidates[ref])

    def best(self, level: int = 0) -> CrawlCandidate | None:
        """The best candidate of a level; it stays where it is."""
        heap = self._levels.get(level, [])
        while heap:
            key, ref = heap[0]
            candidate = self._candidates.get(ref)
            if candidate is None or candidate.key != key or self._level(candidate) != level:
                heapq.heappop(heap)  # taken, or placed anew since
                continue
            if self._key(candidate) > key:  # a branch has filled up since it was placed
                heapq.heappop(heap)
                self.put(candidate)
                continue
            return candidate
        return None

    def levels(self) -> list[int]:
        """Levels on which candidates wait, the lowest first."""
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


class TopicMeaning:
    """Compares pages with the topic; an embedder that fails on the way is an error, not another kind of run."""

    def __init__(self, embedder: Embedder, topic: str) -> None:
        self._embedder = embedder
        self._topic = topic
        self._row: Vectors | None = None

    def likeness(self, pages: Sequence[tuple[str, str]]) -> list[float]:
        """For each title and text, how like its beginning is to the topic."""
        return [meaning for meaning, _ in self._compared(pages)]

    def of(self, title: str, text: str) -> tuple[float, str]:
        """The same for one page, and its vector as text."""
        return self._compared([(title, text)])[0]

    def _compared(self, pages: Sequence[tuple[str, str]]) -> list[tuple[float, str]]:
        from kiwiresearch.embed.embedder import similarity

        if not pages:
            return []
        if self._row is None:
            self._row = self._embedder.embed([self._topic])[0]
        rows = self._embedder.embed([title_and_lead(title, text) for title, text in pages])
        likeness = similarity(self._row, rows)
        return [(round(float(like), 4), vector_to_text(row)) for like, row in zip(likeness, rows, strict=True)]


def vector_to_text(row: Vectors) -> str:
    """A vector as text; nothing is lost, since vectors have the precision of half floats."""
    return base64.b64encode(row.astype("<f2").tobytes()).decode("ascii")


def vector_from_text(text: str) -> Vectors:
    import numpy as np

    return np.frombuffer(base64.b64decode(text), dtype="<f2").astype(np.float32)


SHINGLE = 4
SKETCHED_WORDS = 160
SKETCH = 32
COPIED = SKETCH // 2
"""Pages that share this many of their smallest shingles say nearly the same at their beginning."""

EDITED = SKETCH // 8
"""Pages of one title in two books that share this many are editions of one article."""

ALIKE = 0.6
"""Pages whose vectors are this near are of one branch, where the book tells no categories."""

MAX_CATEGORIES = 12


def sketch_of(levelled: str) -> tuple[int, ...]:
    """The smallest hashes of runs of words: texts that share many share most of their words."""
    words = words_in(levelled[: 12 * SKETCHED_WORDS])[:SKETCHED_WORDS]
    runs = {" ".join(words[start : start + SHINGLE]) for start in range(len(words) - SHINGLE + 1)}
    return tuple(sorted({zlib.crc32(run.encode("utf-8", "replace")) for run in runs})[:SKETCH])


def paragraphs_of(page: PageDoc, levelled: str) -> str:
    """The first paragraphs of a page: boxes and lists may be the same on many."""
    taken: list[str] = []
    for block in page.blocks:
        if block.kind == "paragraph":
            taken.append(levelled[block.start : block.end])
            if sum(map(len, taken)) > 12 * SKETCHED_WORDS:
                break
    return "\n".join(taken)


class Copies:
    """The sketches of the pages visited so far, and their titles."""

    def __init__(self) -> None:
        self._pages: dict[int, list[str]] = {}
        self._titles: dict[str, str] = {}

    def add(self, title: str, sketch: Sequence[int], book: str = "") -> None:
        self._titles.setdefault(fold(title), book)
        for hashed in sketch:
            self._pages.setdefault(hashed, []).append(title)

    def original(self, sketch: Sequence[int], title: str = "", book: str = "") -> str:
        """The title of a visited page that says nearly the same; empty if there is none.

        Two editions of an article have the same title in two books, and share less.
        """
        shared = Counter(name for hashed in sketch for name in self._pages.get(hashed, ()))
        if title and self._titles.get(fold(title), book) != book and shared[title] >= EDITED:
            return title
        name, count = min(shared.items(), key=lambda item: (-item[1], item[0]), default=("", 0))
        return name if count >= COPIED else ""


class Branches:
    """How many pages were taken of each category, or of each group of like pages."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._trunk: set[str] = set()
        self._names: list[str] = []
        self._vectors: list[Vectors] = []
        self._matrix: Vectors | None = None

    def add(self, branch: str, facts: PageFacts, *, is_seed: bool = False) -> bool:
        """Count a page; true if pages that were placed before may now be of another branch, or of the topic itself."""
        is_new = False
        for name in facts.categories or (branch,):
            self._counts[name] += 1
            if is_seed:
                self._trunk.add(name)
                is_new = True
        if facts.vector and not facts.categories and branch not in self._names:
            self._names.append(branch)
            self._vectors.append(vector_from_text(facts.vector))
            self._matrix = None
            is_new = True
        return is_new

    def of(self, title: str, facts: PageFacts | None, parent: str) -> str:
        """The branch of a page: its least filled category, the group it is like, or the page that led to it."""
        if facts is None:
            return parent or title
        if facts.categories:
            return min(facts.categories, key=lambda name: (name not in self._trunk, self._counts[name], name))
        if facts.vector:
            return self._nearest(facts.vector) or title
        return parent or title

    def over(self, branch: str, most: int) -> int:
        """How many pages too many a branch would have with one more; what the seeds are of is the topic itself."""
        return 0 if branch in self._trunk else max(0, self._counts[branch] + 1 - most)

    def _nearest(self, vector: str) -> str:
        if not self._vectors:
            return ""
        import numpy as np

        from kiwiresearch.embed.embedder import similarity

        if self._matrix is None:
            self._matrix = np.stack(self._vectors)
        likeness = similarity(vector_from_text(vector), self._matrix)
        best = int(likeness.argmax())
        return self._names[best] if likeness[best] >= ALIKE else ""
