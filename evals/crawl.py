"""The crawl, with the article on its topic left out: does it gather what editors linked with that article?

60 articles are hidden in turn, each with every link to it. Its title is the
topic, and the pages it links to or is linked from are what belongs there.
Beside the crawl, in the same run: a walk in the order of links from the same
seeds, and the best hits of the search.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain
from pathlib import Path
from statistics import fmean

from evals.data import SHARED_DATA, digest_of
from evals.hidden import BookAtHand, BookWithout, Ends, HiddenArchive
from evals.walking import walk
from kiwiresearch.crawl.settings import STRATEGIES, CrawlSettings, Strategy
from kiwiresearch.crawl.state import CrawlPlan
from kiwiresearch.crawl.step import CrawlStep, StartStep, VisitStep
from kiwiresearch.embed.static import StaticEmbedder
from kiwiresearch.page.parser import open_page
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.shelf_search import SearchOptions, search_books
from kiwiresearch.search.title_index_builder import build_titles, titles_file
from kiwiresearch.search.titles import TitleIndex, open_titles
from kiwiresearch.zim.archive import Archive
from kiwiresearch.zim.libzim import LibzimArchive

BOOK = "zims/schools-2007.zim"
QUESTIONS = "qa/schools/strategyqa.jsonl"
PAGES = 40
ARTICLES = 60
FEWEST_LINKS = 15
OUTSIDE = frozenset({"navigation", "hidden"})

Links = Mapping[str, Sequence[str]]


def crawled(book: OpenBook, begun: CrawlStep, strategy: Strategy) -> list[str]:
    """Paths in the order in which the crawl visits them; the search that it begins with is done once for all."""
    crawl = _crawl(book, begun.topic if isinstance(begun, StartStep) else "", strategy)
    return [result.step.path for result in walk(crawl, [begun]) if isinstance(result.step, VisitStep)]


def _crawl(book: OpenBook, topic: str, strategy: Strategy = "priority") -> CrawlPlan:
    return CrawlPlan([book], topic, settings=CrawlSettings(max_pages=PAGES, strategy=strategy), embedder=embedder())


@cache
def embedder() -> StaticEmbedder:
    """The one that crawls use unless a user has set another."""
    return StaticEmbedder()


def seeds_of(begun: CrawlStep) -> list[str]:
    """Where the crawl begins: the walk in the order of links begins there too."""
    return [seed.path for seed in begun.seeds] if isinstance(begun, StartStep) else []


@dataclass(frozen=True, slots=True)
class Case:
    """A topic, the pages that belong to it, and the article that is hidden, if any."""

    topic: str
    gold: frozenset[str]
    hidden: str = ""


@dataclass(frozen=True, slots=True)
class Visits:
    """What was visited for one topic: by each strategy, by the search, and where the walks began."""

    by_strategy: dict[str, list[str]]
    hits: list[str]
    seeds: list[str]


def measure() -> tuple[str, dict[str, float], dict[str, float]] | None:
    """Precision and recall of both strategies and by how much they lead; beside them the anchors'."""
    file, questions = SHARED_DATA / BOOK, SHARED_DATA / QUESTIONS
    if not (file.is_file() and questions.is_file()):
        return None
    cores = max(1, min(os.cpu_count() or 1, 8))
    archive = LibzimArchive(file)
    with multiprocessing.get_context("spawn").Pool(cores) as pool:
        paths = list(archive.articles())
        links = dict(chain.from_iterable(pool.map(partial(read_links, file), _runs(paths, cores))))
        cases = [*chosen(archive, links), *asked(questions)]
        parts = pool.map(partial(visits, file), [cases[number::cores] for number in range(cores)])
    done: list[Visits | None] = [None] * len(cases)
    for number, part in enumerate(parts):
        done[number::cores] = part
    rows = [(case, visited) for case, visited in zip(cases, done, strict=True) if visited]
    figures, beside = figures_of(links, rows)
    return digest_of(file, questions), figures, beside


def read_links(file: Path, paths: Iterable[str]) -> list[tuple[str, list[str]]]:
    archive = LibzimArchive(file)
    return [(path, links_of(archive, path)) for path in paths]


def links_of(archive: Archive, path: str) -> list[str]:
    """Pages that a page links to, each once, in its order; menus and the book's start page say nothing."""
    apart = (None, path, archive.book.main_page)
    targets = [link.target for link in open_page(archive, path).links if link.place not in OUTSIDE]
    ends = dict.fromkeys(archive.resolve(target) for target in dict.fromkeys(targets))
    return [end for end in ends if end is not None and end not in apart]


def chosen(archive: Archive, links: Links) -> list[Case]:
    """The articles with enough links that come first by the hash of their paths."""
    linking: dict[str, set[str]] = {path: set() for path in links}
    for path, targets in links.items():
        for target in linking.keys() & targets:
            linking[target].add(path)
    main = archive.book.main_page
    enough = [path for path in links if len(links[path]) >= FEWEST_LINKS and path != main]
    enough.sort(key=lambda path: hashlib.sha256(path.encode()).digest())
    return [
        Case(archive.title(path), frozenset({*links[path], *linking[path]} & links.keys() - {path, main}), path)
        for path in enough[:ARTICLES]
    ]


def asked(questions: Path) -> list[Case]:
    """Questions that need several pages together, on the whole book."""
    rows = [json.loads(line) for line in questions.read_text(encoding="utf-8").splitlines()]
    return [Case(row["question"], frozenset(row["paths"])) for row in rows]


def visits(file: Path, cases: Iterable[Case]) -> list[Visits]:
    archive = LibzimArchive(file)
    ends = Ends(archive)
    with _title_index(archive) as titles:
        whole = BookAtHand(archive, titles)
        return [
            _visits_without(HiddenArchive(archive, case.hidden, ends), whole, case)
            if case.hidden
            else _visits(whole, case)
            for case in cases
        ]


def _visits_without(archive: HiddenArchive, whole: OpenBook, case: Case) -> Visits:
    with _title_index(archive) as titles:
        done = _visits(BookWithout(archive, titles, whole), case)
    for path in chain(done.hits, done.seeds, *done.by_strategy.values()):
        assert path != case.hidden, f"the hidden article {path!r} was visited"
    return done


@contextmanager
def _title_index(archive: Archive) -> Iterator[TitleIndex | None]:
    """The title index of just what the archive shows."""
    with tempfile.TemporaryDirectory() as folder:
        file = titles_file(Path(folder), archive.book)
        build_titles(archive, file)
        titles = open_titles(file, archive.book)
        try:
            yield titles
        finally:
            if titles:
                titles.close()


def _visits(book: OpenBook, case: Case) -> Visits:
    hits = [hit.ref.path for hit in search_books([book], case.topic, SearchOptions(limit=PAGES)).hits]
    begun = next(walk(_crawl(book, case.topic))).step
    strategies = STRATEGIES if case.hidden else STRATEGIES[:1]
    walks: dict[str, list[str]] = {name: crawled(book, begun, name) for name in strategies}
    return Visits(walks, hits, seeds_of(begun))


def breadth_first(links: Links, seeds: Iterable[str], hidden: str) -> list[str]:
    """The pages a reader comes to who follows every link in order, first those of the seeds."""
    waiting = deque(seeds)
    seen = {*waiting, hidden}
    visited: list[str] = []
    while waiting and len(visited) < PAGES:
        path = waiting.popleft()
        visited.append(path)
        for target in links.get(path, ()):
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return visited


def figures_of(links: Links, rows: Sequence[tuple[Case, Visits]]) -> tuple[dict[str, float], dict[str, float]]:
    """The figures that have floors, and those beside them."""
    ways: dict[str, list[tuple[Case, list[str]]]] = {
        **{name: _walked(rows, name) for name in STRATEGIES},
        "breadth_first": [(case, breadth_first(links, done.seeds, case.hidden)) for case, done in rows],
        "search": [(case, done.hits) for case, done in rows],
    }
    articles = {name: [row for row in way if row[0].hidden] for name, way in ways.items()}
    questions = {name: [row for row in way if not row[0].hidden] for name, way in ways.items()}
    precision = {name: fmean(_found(*row) / max(len(row[1]), 1) for row in way) for name, way in articles.items()}
    recall = {name: fmean(_found(*row) / len(row[0].gold) for row in way) for name, way in articles.items()}
    evidence = {name: fmean(case.gold <= set(paths) for case, paths in way) for name, way in questions.items() if way}
    figures: dict[str, float] = {}
    beside: dict[str, float] = {}
    for what, of in (("precision", precision), ("recall", recall)):
        figures |= {f"{name}_{what}": of[name] for name in STRATEGIES}
        figures |= {f"lead_over_{other}_{what}": of["priority"] - of[other] for other in ("bfs", "breadth_first")}
        beside |= {f"{name}_{what}": of[name] for name in ("breadth_first", "search")}
    figures["lead_over_search_recall"] = recall["priority"] - recall["search"]
    figures["strategyqa_all_evidence"] = evidence["priority"]
    beside["search_precision_of_40"] = fmean(_found(*row) / PAGES for row in articles["search"])
    beside |= {f"strategyqa_{name}": evidence[name] for name in ("breadth_first", "search")}
    beside["pages_that_belong"] = fmean(len(case.gold) for case, _ in articles["search"])
    return figures, beside


def _walked(rows: Sequence[tuple[Case, Visits]], name: str) -> list[tuple[Case, list[str]]]:
    return [(case, done.by_strategy[name]) for case, done in rows if name in done.by_strategy]


def _found(case: Case, paths: Sequence[str]) -> int:
    return len(case.gold.intersection(paths))


def _runs(paths: Sequence[str], count: int) -> list[Sequence[str]]:
    """The paths in so many runs, each in the order that reads fastest."""
    size = -(-len(paths) // count)
    return [paths[start : start + size] for start in range(0, len(paths), size)]
