"""Pages that matter: PageRank as it is defined, the same bits however the work is cut, and the lists made of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from kiwiresearch.atlas import graph as edges_module
from kiwiresearch.atlas import graph as pagerank_module
from kiwiresearch.atlas.atlas import Atlas
from kiwiresearch.atlas.database import ResultWindow
from kiwiresearch.atlas.graph import DAMPING_FACTOR, Edges, connected_groups, pagerank
from kiwiresearch.atlas.queries import ranked_pages

Pairs = Sequence[tuple[int, int]]


def an_edge_file(folder: Path, pages: int, pairs: Pairs) -> Edges:
    file = folder / "edges.bin"
    file.write_bytes(np.array(sorted(pairs), dtype="<i4").reshape(-1, 2).tobytes())
    return Edges(pages, len(pairs), file)


def by_definition(pages: int, pairs: Pairs) -> list[float]:
    """PageRank by its matrix, times the number of pages."""
    matrix = np.full((pages, pages), 0.0)
    for source in range(pages):
        targets = [target for one, target in pairs if one == source]
        for target in targets or range(pages):
            matrix[target, source] += 1 / len(targets or range(pages))
    system = np.eye(pages) - DAMPING_FACTOR * matrix
    solved: list[float] = (np.linalg.solve(system, np.full(pages, (1 - DAMPING_FACTOR) / pages)) * pages).tolist()
    return solved


GRAPHS: list[tuple[int, Pairs]] = [
    (3, [(0, 1), (1, 2), (2, 0)]),
    (4, [(0, 1), (2, 1), (3, 1)]),
    (5, [(0, 1), (1, 0), (2, 3), (3, 4), (0, 4), (2, 0)]),
    (2, []),
]


@pytest.mark.parametrize(("pages", "pairs"), GRAPHS)
def test_ranks_are_those_of_the_definition(pages: int, pairs: Pairs, tmp_path: Path) -> None:
    """Following links, jumping at times, and leaving dead ends give what solving the equations gives."""
    found = pagerank(an_edge_file(tmp_path, pages, pairs))
    assert found.tolist() == pytest.approx(by_definition(pages, pairs), abs=1e-7)


def test_ranks_do_not_depend_on_how_the_links_are_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same bits come out whether all links are in memory or a few at a time, before they are rounded."""
    monkeypatch.setattr(pagerank_module, "RANK_DECIMALS", 17)
    pairs = [(one, (one * 7 + step) % 50) for one in range(50) for step in (1, 2, 5) if one != (one * 7 + step) % 50]
    edges = an_edge_file(tmp_path, 50, sorted(set(pairs)))
    whole = pagerank(edges)
    for at_once in (1, 13, 50):
        monkeypatch.setattr(edges_module, "LINKS_PER_CHUNK", at_once)
        assert pagerank(edges).tobytes() == whole.tobytes()


def test_a_book_without_pages_has_no_ranks(tmp_path: Path) -> None:
    """Nothing is worked out of nothing."""
    assert len(pagerank(an_edge_file(tmp_path, 0, []))) == 0


def test_groups_hang_together_however_long_the_chain_is(tmp_path: Path) -> None:
    """A chain of a thousand pages is one group, named by its first; others stay apart."""
    chain = [(one + 1, one) if one % 2 else (one, one + 1) for one in range(999)]
    found = connected_groups(an_edge_file(tmp_path, 1_003, [*chain, (1_001, 1_002)]))
    assert set(found[:1_000].tolist()) == {0}
    assert found[1_000:].tolist() == [1_000, 1_001, 1_001]


def test_groups_among_some_pages_use_no_other(tmp_path: Path) -> None:
    """Two pages that only a page outside joins are not of one group."""
    edges = an_edge_file(tmp_path, 4, [(0, 1), (1, 2), (2, 3)])
    assert connected_groups(edges, np.array([True, False, True, True])).tolist() == [0, 1, 2, 2]


def test_pages_come_by_authority_by_links_and_by_references(elm_atlas: Atlas) -> None:
    """The page that most link to is first by authority and by links, and each order is total."""
    for by in ("authority", "linked"):
        found = ranked_pages(elm_atlas, by, "", ResultWindow())
        assert found.rows[0]["title"] == "Elmland"
        assert found.total == len(found.rows) == 13
    assert ranked_pages(elm_atlas, "references", "", ResultWindow(limit=1)).total == 13


def test_pages_are_found_by_words_of_their_title(elm_atlas: Atlas) -> None:
    """Words may be in any case, and a row has its links and rank."""
    found = ranked_pages(elm_atlas, "linked", "rowe ADA", ResultWindow())
    assert [(row["path"], row["linked"]) for row in found.rows] == [("Ada_Rowe", 3)]
    assert found.rows[0]["rank"] > 1


def test_a_part_of_a_list_says_how_many_there_are(elm_atlas: Atlas) -> None:
    """Beyond the last row there are none, and the total stays."""
    assert ranked_pages(elm_atlas, "linked", "", ResultWindow(limit=5, offset=10)).total == 13
    assert ranked_pages(elm_atlas, "linked", "", ResultWindow(limit=5, offset=100)).rows == ()
