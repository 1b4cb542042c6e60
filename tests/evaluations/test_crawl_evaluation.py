"""What the evaluation of the crawl counts: the rule for articles, what belongs to them, and the shares found."""

from __future__ import annotations

import hashlib

import pytest
from evals.crawl import ARTICLES, MIN_LINKS, PAGES, Case, Visits, breadth_first, choose_articles, figures_of, links_of
from tests.zim.memory import MemoryArchive

NAMES = [f"Page_{number:03}" for number in range(100)]


def a_link(path: str) -> str:
    return f'<a href="{path}">{path}</a>'


def test_links_are_listed_once_in_their_order() -> None:
    """Redirects are followed; the page itself, the start page, menus and what is missing are left out."""
    links = "".join(map(a_link, ("C", "B", "Bee", "A#x", "Start", "Nowhere", "D")))
    menu = f'<div class="navbox">{a_link("E")}</div>'
    pages = {"A": f"<body><p>{links}</p>{menu}</body>", "B": "", "C": "", "D": "", "E": "", "Start": ""}
    archive = MemoryArchive(pages, {"Bee": "B"}, main_page="Start")
    assert links_of(archive, "A") == ["C", "B", "D"]


def test_articles_are_chosen_by_the_hash_of_their_paths() -> None:
    """Only articles with enough links, the first sixty; what links there belongs to them as what they link to."""
    archive = MemoryArchive(dict.fromkeys(NAMES, ""), main_page="Page_000")
    rich, poor = NAMES[:80], NAMES[80:]
    links = {name: [other for other in NAMES[1:31] if other != name][:MIN_LINKS] for name in rich}
    links |= dict.fromkeys(poor, NAMES[1:MIN_LINKS])
    cases = choose_articles(archive, links)
    order = sorted(rich[1:], key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    assert [case.hidden for case in cases] == order[:ARTICLES]
    for case in cases:
        linking = {name for name in NAMES[1:] if case.hidden in links[name]}
        assert case.gold == {*links[case.hidden], *linking} - {case.hidden}
        assert case.topic == case.hidden.replace("_", " ")


def test_the_walk_in_link_order_goes_round_by_round() -> None:
    """First the seeds, then all their links, then theirs; never the hidden article, never more than the pages asked."""
    links = {"A": ["C", "Gone", "D"], "B": ["D", "A", "E"], "C": ["F"], "D": ["G"], "Gone": ["H"]}
    assert breadth_first(links, ["A", "B"], "Gone") == ["A", "B", "C", "D", "E", "F", "G"]
    assert breadth_first({"A": NAMES}, ["A"], "") == ["A", *NAMES[: PAGES - 1]]
    assert breadth_first(links, [], "Gone") == []


def test_figures_are_shares_of_what_was_visited_and_of_what_belongs() -> None:
    """Precision counts visited pages, recall those that belong; fewer hits than asked are misses in one figure."""
    links = {"A": ["B", "X"], "B": [], "X": []}
    article = Case("Topic", frozenset("ABCD"), "Gone")
    question = Case("Why?", frozenset("AB"))
    rows = [
        (article, Visits({"priority": list("ABXY"), "bfs": list("AXYZ")}, hits=["A", "B"], seeds=["A"])),
        (article, Visits({"priority": list("ABCD"), "bfs": []}, hits=[], seeds=[])),
        (question, Visits({"priority": list("XBA"), "bfs": ["A"]}, hits=["A"], seeds=["A"])),
    ]
    figures, unpinned = figures_of(links, rows)
    assert figures == pytest.approx(
        {
            "priority_precision": 3 / 4,
            "priority_recall": 3 / 4,
            "bfs_precision": 1 / 8,
            "bfs_recall": 1 / 8,
            "lead_over_bfs_precision": 5 / 8,
            "lead_over_bfs_recall": 5 / 8,
            "lead_over_breadth_first_precision": 3 / 4 - 1 / 3,
            "lead_over_breadth_first_recall": 1 / 2,
            "lead_over_search_recall": 1 / 2,
            "strategyqa_all_evidence": 1.0,
        }
    )
    assert unpinned == pytest.approx(
        {
            "breadth_first_precision": 1 / 3,
            "breadth_first_recall": 1 / 4,
            "search_precision": 1 / 2,
            "search_recall": 1 / 4,
            "search_precision_of_40": 1 / PAGES,
            "strategyqa_breadth_first": 1.0,
            "strategyqa_search": 0.0,
            "pages_that_belong": 4.0,
        }
    )
