"""graph.json: the pages of a crawl and the links between them."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from tests.crawl.trails import a_shelf_book, settings, state_after, steps_of

from kiwiresearch.codec import plain
from kiwiresearch.crawl.outputs import CrawlGraph, crawl_graph, graph_text, link_weight
from kiwiresearch.crawl.state import CrawlPlan, CrawlState
from kiwiresearch.crawl.step import LinkOffer
from kiwiresearch.ids import page_id
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.query import ScoreTerm


def crawled(*books: OpenBook, topic: str = "salt road", **options: Any) -> CrawlState:
    crawl = CrawlPlan(books, topic, settings=settings(fast=True, **options))
    return state_after(crawl, steps_of(crawl))


def graph_of(state: CrawlState) -> CrawlGraph:
    return crawl_graph(state, lambda ref: f"http://host/{ref.path}")


def drawn(state: CrawlState) -> dict[str, Any]:
    """The graph as JSON."""
    return dict(plain(graph_of(state)))


def edge(graph: dict[str, Any], start: str, end: str) -> dict[str, Any]:
    titles = {node["ref"]: node["title"] for node in graph["nodes"]}
    (found,) = [one for one in graph["edges"] if (titles[one["from"]], titles[one["to"]]) == (start, end)]
    assert isinstance(found, dict)
    return found


def test_visited_pages_are_nodes_with_their_scores(salt_book: OpenBook) -> None:
    """A visited page is a node with its id, its relevance, and the score with the lines it is made of (R27, R126)."""
    state = crawled(salt_book, max_pages=6)
    nodes = [node for node in drawn(state)["nodes"] if node["state"] == "visited"]
    assert len(nodes) == 6
    for order, (node, step) in enumerate(zip(nodes, state.visited.values(), strict=True), start=1):
        assert (node["order"], node["title"], node["depth"]) == (order, step.title, step.depth)
        assert node["ref"] == f"zim://{salt_book.book.id}/{step.path}"
        assert node["page_id"] == page_id(step.title)
        assert node["relevance"] == step.relevance
        assert Decimal(str(node["priority_score"])) == sum(Decimal(str(line["points"])) for line in node["lines"])
        assert node["reason"] == step.reason


def test_the_best_that_were_left_are_nodes_too(salt_book: OpenBook) -> None:
    """As many candidates as pages are shown, the best first, as they are at the end."""
    state = crawled(salt_book, max_pages=4)
    left = [node for node in drawn(state)["nodes"] if node["state"] == "left"]
    best = state.frontier.in_order()[:4]
    assert [node["title"] for node in left] == [candidate.title for candidate in best]
    assert [node["priority_score"] for node in left] == [state.scoring.points(candidate) for candidate in best]
    assert {(node["order"], node["url"].startswith("http://host/")) for node in left} == {(None, True)}


def test_edges_have_both_ends(salt_book: OpenBook) -> None:
    """Each edge leads from a visited page to a page of the graph, and names both by page id (R5, R127)."""
    graph = drawn(crawled(salt_book, max_pages=8))
    ids = {node["ref"]: node["page_id"] for node in graph["nodes"]}
    visited = {node["ref"] for node in graph["nodes"] if node["state"] == "visited"}
    assert len(graph["edges"]) > 10
    for one in graph["edges"]:
        assert one["from"] in visited
        assert (one["from_page_id"], one["to_page_id"]) == (ids[one["from"]], ids[one["to"]])


def test_an_edge_has_its_places_and_counts() -> None:
    """An edge has the number of links, how much of the topic is beside them, their place and words (R127)."""
    book = a_shelf_book(
        {
            "Salt road": """
                An old way.
                == Use ==
                There is a [[Mill]]. On the salt road stood an [[Inn|old inn]], and the [[Inn]] was full.
            """,
            "Inn": "A house.\n== Life ==\nIt was loud on the salt road.",
            "Mill": "A wheel.\n== Life ==\nIt was wet.",
        }
    )
    graph = drawn(crawled(book))
    inn, mill = edge(graph, "Salt road", "Inn"), edge(graph, "Salt road", "Mill")
    assert (inn["count"], inn["context"], inn["weight"]) == (2, 1.0, 3.0)
    assert (mill["count"], mill["context"], mill["weight"]) == (1, 0.0, 1.0)
    assert (inn["place"], inn["section"], inn["anchor_text"]) == ("body", "Use", "old inn")


@pytest.mark.parametrize(("times", "context", "weight"), [(1, 0.0, 1.0), (3, 0.25, 3.25), (2, 1.0, 3.0)])
def test_a_weight_is_how_often_and_in_which_context(times: int, context: float, weight: float) -> None:
    """A link's weight grows with their number and with the topic's words around them (R127)."""
    assert link_weight(LinkOffer("A", "A", 1.0, times, context, "body", "", "", "", True)) == weight


def test_links_stay_in_their_book() -> None:
    """Pages of the same path in two books are two nodes, and no edge crosses between the books."""
    books = []
    for name in ("Hills", "Coast"):
        inn = f"An inn of the {name}.\n== Life ==\nSalt road."
        texts = {"Salt road": f"The salt road of the {name} had an [[Inn]].\n== Way ==\nLong.", "Inn": inn}
        books.append(a_shelf_book(texts, name=name))
    graph = drawn(crawled(*books))
    assert len({node["ref"] for node in graph["nodes"]}) == len(graph["nodes"]) == 4
    assert len(graph["edges"]) == 2
    assert all(one["from"].rpartition("/")[0] == one["to"].rpartition("/")[0] for one in graph["edges"])


def test_the_file_is_json_with_a_line_for_each(salt_book: OpenBook) -> None:
    """Read back, the file is the graph; each node and each edge has a line of its own."""
    made = graph_of(crawled(salt_book, max_pages=5))
    graph, text = plain(made), graph_text(made)
    assert json.loads(text) == graph
    assert text.count("\n") == len(graph["nodes"]) + len(graph["edges"]) + 3
    assert [json.loads(line.rstrip(","))["title"] for line in text.splitlines() if '"title":' in line] == [
        node["title"] for node in graph["nodes"]
    ]


def test_a_graph_without_links_is_json_too() -> None:
    """A crawl of one page has one node and no edge."""
    made = graph_of(crawled(a_shelf_book({"Salt road": "Alone.\n== Way ==\nShort."})))
    graph = plain(made)
    assert json.loads(graph_text(made)) == graph
    assert (len(graph["nodes"]), graph["edges"], graph["topic"]) == (1, [], "salt road")


def test_titles_with_line_breaks_stay_on_their_line(salt_book: OpenBook) -> None:
    """Whatever is in a title, the lines of the file are those of its nodes and edges."""
    made = graph_of(crawled(salt_book, max_pages=1))
    graph = CrawlGraph("a\u2028b\x85", (replace(made.nodes[0], title="x\ny\u2029z"),), ())
    text = graph_text(graph)
    assert len(text.splitlines()) == text.count("\n") == 5
    assert json.loads(text) == plain(graph)


def test_terms_of_a_score_are_plain_data() -> None:
    """Signals and their points keep their order."""
    terms = (ScoreTerm("keywords", 2.5), ScoreTerm("stub", -5.0))
    assert plain(terms) == [
        {"signal": "keywords", "points": 2.5},
        {"signal": "stub", "points": -5.0},
    ]
