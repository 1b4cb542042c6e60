"""The crawl without the article on its topic: does it visit the pages that editors linked with that article?

Sixty articles are hidden in turn, each with all links to it. The topic is the title of the article, and the pages that
belong to it are those that it links to and those that link to it.
The baselines, in the same run, are all links in their order from the same seeds, and the best results of the search.
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
from evals.hidden import BookWithoutArticle, CachedBook, HiddenArchive, LinkTargets
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
MIN_LINKS = 15
IGNORED_PLACES = frozenset({"navigation", "hidden"})

Links = Mapping[str, Sequence[str]]


def crawl_from(book: OpenBook, start_step: CrawlStep, strategy: Strategy) -> list[str]:
    """The paths that a crawl visits, in its order; its first step, the search, is given."""
    crawl = _plan(book, start_step.topic if isinstance(start_step, StartStep) else "", strategy)
    return [result.step.path for result in walk(crawl, [start_step]) if isinstance(result.step, VisitStep)]


def _plan(book: OpenBook, topic: str, strategy: Strategy = "priority") -> CrawlPlan:
    return CrawlPlan([book], topic, settings=CrawlSettings(max_pages=PAGES, strategy=strategy), embedder=embedder())


@cache
def embedder() -> StaticEmbedder:
    """The embedder that crawls use by default."""
    return StaticEmbedder()


def seeds_of(start_step: CrawlStep) -> list[str]:
    """The pages that the crawl starts from; the baseline starts from them too."""
    return [seed.path for seed in start_step.seeds] if isinstance(start_step, StartStep) else []


@dataclass(frozen=True, slots=True)
class Case:
    """A topic, the pages that belong to it, and the path of the hidden article, if one is hidden."""

    topic: str
    gold: frozenset[str]
    hidden: str = ""


@dataclass(frozen=True, slots=True)
class Visits:
    """The pages of one topic: those visited by each strategy, the results of the search, and the seeds."""

    by_strategy: dict[str, list[str]]
    hits: list[str]
    seeds: list[str]


def measure() -> tuple[str, dict[str, float], dict[str, float]] | None:
    """Precision, recall and lead of the strategies; the figures of the baselines are not pinned."""
    file, questions = SHARED_DATA / BOOK, SHARED_DATA / QUESTIONS
    if not (file.is_file() and questions.is_file()):
        return None
    cores = max(1, min(os.cpu_count() or 1, 8))
    archive = LibzimArchive(file)
    with multiprocessing.get_context("spawn").Pool(cores) as pool:
        paths = list(archive.articles())
        links = dict(chain.from_iterable(pool.map(partial(read_links, file), _split(paths, cores))))
        cases = [*choose_articles(archive, links), *load_questions(questions)]
        parts = pool.map(partial(visit_all, file), [cases[number::cores] for number in range(cores)])
    visits: list[Visits | None] = [None] * len(cases)
    for number, part in enumerate(parts):
        visits[number::cores] = part
    rows = [(case, case_visits) for case, case_visits in zip(cases, visits, strict=True) if case_visits]
    figures, unpinned = figures_of(links, rows)
    return digest_of(file, questions), figures, unpinned


def read_links(file: Path, paths: Iterable[str]) -> list[tuple[str, list[str]]]:
    archive = LibzimArchive(file)
    return [(path, links_of(archive, path)) for path in paths]


def links_of(archive: Archive, source: str) -> list[str]:
    """The pages that a page links to, each once, in its order, without menus and the book's start page."""
    excluded = (None, source, archive.book.main_page)
    targets = [link.target for link in open_page(archive, source).links if link.place not in IGNORED_PLACES]
    resolved = dict.fromkeys(archive.resolve(target) for target in dict.fromkeys(targets))
    return [path for path in resolved if path is not None and path not in excluded]


def choose_articles(archive: Archive, links: Links) -> list[Case]:
    """One case for each of the articles with enough links that come first by the hash of their paths."""
    linking: dict[str, set[str]] = {path: set() for path in links}
    for path, targets in links.items():
        for target in linking.keys() & targets:
            linking[target].add(path)
    main_page = archive.book.main_page
    candidates = [path for path in links if len(links[path]) >= MIN_LINKS and path != main_page]
    candidates.sort(key=lambda path: hashlib.sha256(path.encode()).digest())
    return [
        Case(archive.title(path), frozenset({*links[path], *linking[path]} & links.keys() - {path, main_page}), path)
        for path in candidates[:ARTICLES]
    ]


def load_questions(questions: Path) -> list[Case]:
    """Questions that need several pages together; they are asked of the whole book."""
    rows = [json.loads(line) for line in questions.read_text(encoding="utf-8").splitlines()]
    return [Case(row["question"], frozenset(row["paths"])) for row in rows]


def visit_all(file: Path, cases: Iterable[Case]) -> list[Visits]:
    archive = LibzimArchive(file)
    targets = LinkTargets(archive)
    with _title_index(archive) as titles:
        whole = CachedBook(archive, titles)
        return [
            _visit_without(HiddenArchive(archive, case.hidden, targets), whole, case)
            if case.hidden
            else _visit(whole, case)
            for case in cases
        ]


def _visit_without(archive: HiddenArchive, whole: OpenBook, case: Case) -> Visits:
    with _title_index(archive) as titles:
        visits = _visit(BookWithoutArticle(archive, titles, whole), case)
    for path in chain(visits.hits, visits.seeds, *visits.by_strategy.values()):
        assert path != case.hidden, f"the hidden article {path!r} was visited"
    return visits


@contextmanager
def _title_index(archive: Archive) -> Iterator[TitleIndex | None]:
    """The title index of exactly what the archive shows."""
    with tempfile.TemporaryDirectory() as folder:
        file = titles_file(Path(folder), archive.book)
        build_titles(archive, file)
        titles = open_titles(file, archive.book)
        try:
            yield titles
        finally:
            if titles:
                titles.close()


def _visit(book: OpenBook, case: Case) -> Visits:
    hits = [hit.ref.path for hit in search_books([book], case.topic, SearchOptions(limit=PAGES)).hits]
    start_step = next(walk(_plan(book, case.topic))).step
    strategies = STRATEGIES if case.hidden else STRATEGIES[:1]
    walks: dict[str, list[str]] = {name: crawl_from(book, start_step, name) for name in strategies}
    return Visits(walks, hits, seeds_of(start_step))


def breadth_first(links: Links, seeds: Iterable[str], hidden: str) -> list[str]:
    """The baseline: the pages reached by following every link in order, first those of the seeds."""
    queue = deque(seeds)
    seen = {*queue, hidden}
    visited: list[str] = []
    while queue and len(visited) < PAGES:
        path = queue.popleft()
        visited.append(path)
        for target in links.get(path, ()):
            if target not in seen:
                seen.add(target)
                queue.append(target)
    return visited


def figures_of(links: Links, rows: Sequence[tuple[Case, Visits]]) -> tuple[dict[str, float], dict[str, float]]:
    """The pinned figures, and those that are not pinned."""
    rows_by_method: dict[str, list[tuple[Case, list[str]]]] = {
        **{name: _paths_of(rows, name) for name in STRATEGIES},
        "breadth_first": [(case, breadth_first(links, visits.seeds, case.hidden)) for case, visits in rows],
        "search": [(case, visits.hits) for case, visits in rows],
    }
    articles = {name: [row for row in method_rows if row[0].hidden] for name, method_rows in rows_by_method.items()}
    questions = {
        name: [row for row in method_rows if not row[0].hidden] for name, method_rows in rows_by_method.items()
    }
    precision = {
        name: fmean(_count_found(*row) / max(len(row[1]), 1) for row in method_rows)
        for name, method_rows in articles.items()
    }
    recall = {
        name: fmean(_count_found(*row) / len(row[0].gold) for row in method_rows)
        for name, method_rows in articles.items()
    }
    evidence = {
        name: fmean(case.gold <= set(paths) for case, paths in method_rows)
        for name, method_rows in questions.items()
        if method_rows
    }
    figures: dict[str, float] = {}
    unpinned: dict[str, float] = {}
    for measure_name, by_method in (("precision", precision), ("recall", recall)):
        figures |= {f"{name}_{measure_name}": by_method[name] for name in STRATEGIES}
        figures |= {
            f"lead_over_{baseline}_{measure_name}": by_method["priority"] - by_method[baseline]
            for baseline in ("bfs", "breadth_first")
        }
        unpinned |= {f"{name}_{measure_name}": by_method[name] for name in ("breadth_first", "search")}
    figures["lead_over_search_recall"] = recall["priority"] - recall["search"]
    figures["strategyqa_all_evidence"] = evidence["priority"]
    unpinned["search_precision_of_40"] = fmean(_count_found(*row) / PAGES for row in articles["search"])
    unpinned |= {f"strategyqa_{name}": evidence[name] for name in ("breadth_first", "search")}
    unpinned["pages_that_belong"] = fmean(len(case.gold) for case, _ in articles["search"])
    return figures, unpinned


def _paths_of(rows: Sequence[tuple[Case, Visits]], name: str) -> list[tuple[Case, list[str]]]:
    return [(case, visits.by_strategy[name]) for case, visits in rows if name in visits.by_strategy]


def _count_found(case: Case, paths: Sequence[str]) -> int:
    return len(case.gold.intersection(paths))


def _split(paths: Sequence[str], count: int) -> list[Sequence[str]]:
    """Split the paths into `count` parts that keep their order, because it is the fastest to read."""
    size = -(-len(paths) // count)
    return [paths[start : start + size] for start in range(0, len(paths), size)]
