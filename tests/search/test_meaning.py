"""Vectors beside words: what is compared, what it counts, and that nothing is done where nobody asked for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from tests.search.shelves import Noting, titles

import kiwiresearch
from kiwiresearch.embed.embedder import Embedder, Vectors, unit_rows
from kiwiresearch.embed.static import StaticEmbedder
from kiwiresearch.search.book_search import LEAD_WORDS
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.query import Hit
from kiwiresearch.search.rank import point_table
from kiwiresearch.search.shelf_search import SearchHelpers, SearchOptions, search_books

Ready = Callable[..., OpenBook]

SKY = {"star", "sky", "space", "heavens"}
STAGE = {"film", "actor", "cinema"}
NOVA = {
    "Nova (1)": "<p>Nova is seen in cinema with one actor</p>",
    "Nova (2)": "<p>Nova is seen in space with one comet</p>",
}


class Topics:
    """Knows two things, the sky and the stage: a text is as near to each as it has words of it; 'not' turns it round.

    It notes what it was asked for.
    """

    id = "topics"
    dimensions = 2

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked.append(list(texts))
        words = [text.casefold().replace(".", " ").split() for text in texts]
        counts = [[sum(word in topic for word in some) for topic in (SKY, STAGE)] for some in words]
        sign = [[-1.0] if "not" in some else [1.0] for some in words]
        return unit_rows(np.array(sign) * counts)


def meanings(hits: Sequence[Hit]) -> dict[str, float]:
    return {hit.title: term.points for hit in hits for term in hit.score.terms if term.signal == "meaning"}


def test_the_title_and_lead_of_each_page_are_compared_with_the_query(ready: Ready) -> None:
    """The query, and of each candidate its title and the beginning of its article, are embedded once (R221)."""
    note = "<p>For others see elsewhere.</p>"
    article = " ".join(f"moon{number}" for number in range(100))
    pages = {"Moon": f"<h1>Moon</h1>{note}<p>The {article}</p>", "Tide": "<p>The moon makes the tide.</p>"}
    embedder = Topics()
    search_books([ready(Noting(pages))], "what is the moon", helpers=SearchHelpers(embedder=lambda: embedder))
    ((query, *leads),) = embedder.asked
    assert query == "what is the moon"
    assert sorted(leads) == [
        f"Moon. {' '.join(f'The {article}'.split()[:LEAD_WORDS])}",
        "Tide. The moon makes the tide.",
    ]


@pytest.mark.parametrize(
    ("query", "lead", "share"),
    [
        ("nova sky", "Nova is in space", 1.0),
        ("nova sky", "Nova is a film", 0.0),
        ("nova sky film", "Nova is in space", 0.5**0.5),
        ("nova sky", "Nova is not in space", 0.0),
        ("nova", "Nova is in space", 0.0),
    ],
    ids=["alike", "unlike", "half", "against", "unknown"],
)
def test_likeness_is_a_line_of_the_score(ready: Ready, query: str, lead: str, share: float) -> None:
    """The cosine of the two vectors counts, times the points of the table; no page loses by it (R46)."""
    (hit,) = search_books(
        [ready(Noting({"Nova": f"<p>{lead}</p>"}))], query, helpers=SearchHelpers(embedder=Topics)
    ).hits
    assert f"{meanings([hit]).get('Nova', 0):.1f}" == f"{point_table()['text']['meaning'] * share:.1f}"


@pytest.mark.parametrize(
    ("query", "embedder", "first"),
    [
        ("nova heavens", None, "Nova (1)"),
        ("nova film", Topics, "Nova (1)"),
        ("nova heavens", Topics, "Nova (2)"),
        ("nova film director", StaticEmbedder, "Nova (1)"),
        ("nova star astronomy", StaticEmbedder, "Nova (2)"),
    ],
    ids=["no embedder", "topics: stage", "topics: sky", "static: stage", "static: sky"],
)
def test_meaning_decides_where_words_do_not(
    ready: Ready, query: str, embedder: Callable[[], Embedder] | None, first: str
) -> None:
    """Of two pages with the same words of the query, the one with the same meaning comes first (R46, R221)."""
    hits = search_books([ready(Noting(NOVA))], query, helpers=SearchHelpers(embedder=embedder)).hits
    assert titles(hits)[0] == first
    without = [hit.score.total - meanings([hit]).get(hit.title, 0) for hit in hits]
    assert f"{without[0]:.2f}" == f"{without[1]:.2f}"


@pytest.mark.parametrize("embedder", [Topics(), StaticEmbedder()], ids=["topics", "static"])
def test_words_and_meaning_make_one_score(ready: Ready, embedder: Topics | StaticEmbedder) -> None:
    """What the words say stays as it is, meaning is one line more, and the total is the sum of both (R261)."""
    book = ready(Noting(NOVA))
    plain = {hit.title: hit.score for hit in search_books([book], "nova in space").hits}
    for hit in search_books([book], "nova in space", helpers=SearchHelpers(embedder=lambda: embedder)).hits:
        rows = [term for term in hit.score.terms if term.signal != "meaning"]
        assert rows == list(plain[hit.title].terms)
        assert "best passage" in {term.signal for term in rows}
        assert f"{hit.score.total:.2f}" == f"{plain[hit.title].total + meanings([hit]).get(hit.title, 0):.2f}"
    assert (
        meanings(search_books([book], "nova in space", helpers=SearchHelpers(embedder=lambda: embedder)).hits)[
            "Nova (2)"
        ]
        > 0
    )


def test_without_an_embedder_nothing_is_said_of_meaning(ready: Ready) -> None:
    """A search that has none has no such line."""
    assert meanings(search_books([ready(Noting(NOVA))], "nova in space").hits) == {}


def test_a_quick_search_asks_no_embedder(ready: Ready) -> None:
    """Where no page is read there is no lead to compare."""
    embedder = Topics()
    assert search_books(
        [ready(Noting(NOVA))], "nova in space", SearchOptions(fast=True), SearchHelpers(embedder=lambda: embedder)
    ).hits
    assert embedder.asked == []


def test_without_candidates_no_embedder_is_called(ready: Ready) -> None:
    """Without a candidate there is nothing to compare with."""
    embedder = Topics()
    assert search_books([ready(Noting(NOVA))], "zeppelin", helpers=SearchHelpers(embedder=lambda: embedder)).hits == ()
    assert embedder.asked == []


@pytest.mark.parametrize(("embedder", "kept"), [("", False), ("static", True)])
def test_vectors_are_kept_only_where_an_embedder_is_set(
    a_book: Callable[..., Path], home: Path, monkeypatch: pytest.MonkeyPatch, embedder: str, kept: bool
) -> None:
    """No file of vectors is written unless the user sets an embedder (R258)."""
    monkeypatch.setenv("KIWIRESEARCH_EMBEDDER", embedder)
    shelf = kiwiresearch.open_shelf([a_book({"Nova": "<p>Nova is in space.</p>"})])
    (hit,) = shelf.search("nova in the sky").hits
    shelf.close()
    assert bool(list(home.rglob("vectors*"))) is kept
    assert bool(meanings([hit])) is kept


COMMAND = """
import json, sys
from kiwiresearch.cli.start import run
code = run(["search", "galaxy", "--book", sys.argv[1], *sys.argv[2:]])
print(json.dumps([code, sorted({"numpy", "tokenizers"} & sys.modules.keys())]))
"""


@pytest.mark.parametrize("options", [[], ["--fast"]], ids=["full", "fast"])
def test_a_search_without_an_embedder_loads_none(sample_zim: Path, home: Path, options: list[str]) -> None:
    """Without vectors, the libraries that make them are not loaded."""
    environment = {**os.environ, "KIWIRESEARCH_EMBEDDER": ""}
    command = [sys.executable, "-c", COMMAND, str(sample_zim), *options]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert json.loads(done.stdout.splitlines()[-1]) == [0, []]
