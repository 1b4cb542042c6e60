"""The loop with a source outside the books: asked only about the dead, logged, and left alone when it wants to be."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.http_servers import answer
from tests.kin.loop_family import PAGES, a_case, named, open_family, person_page, researcher, run, write_family
from tests.kin.source_site import at, gate_to
from tests.kin.source_wikidata import Facts, endpoint_of

from kiwiresearch.kin.loop.progress import COMPLETE
from kiwiresearch.kin.sources.registry import load_plugins
from kiwiresearch.kin.sources.wikidata import WikidataSource
from kiwiresearch.search.open_book import OpenBook


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> OpenBook:
    return open_family(write_family(tmp_path_factory.mktemp("family") / "family.zim"))


def the_millers() -> Facts:
    """Older generations, which the book does not have."""
    facts = Facts()
    for item, name in (("Q10", "Gideon Penhallow"), ("Q11", "Barnaby Penhallow"), ("Q12", "Obed Penhallow")):
        facts.person(item, name)
    facts.date("Q10", "P569", "1740-01-01", 9)
    facts.date("Q10", "P570", "1800-01-01", 9)
    facts.tie("Q10", "P40", "Q11")
    facts.tie("Q10", "P22", "Q12")
    facts.date("Q12", "P569", "1710-01-01", 9)
    facts.date("Q12", "P570", "1780-01-01", 9)
    facts.tie("Q12", "P40", "Q10")
    return facts


def test_the_dead_are_searched_outside_when_books_lack_them(tmp_path: Path, book: OpenBook) -> None:
    """Tier 0 is asked first, then the next tier; its relatives are followed by their own records (R276, R293)."""
    with endpoint_of(the_millers().store()) as site, a_case(tmp_path, generations=3) as store:
        plugin = at(load_plugins().named("wikidata").plugin, site.address)
        run(researcher(store, book, WikidataSource(plugin, gate_to(site, plugin))))
        tree = store.tree()
        assert named(tree, "Obed Penhallow").external["record"] == "https://www.wikidata.org/wiki/Q12"
        gideon = named(tree, "Gideon Penhallow")
        assert gideon.birth is not None
        assert (gideon.birth.first_year, gideon.external["record"]) == (1740, "https://www.wikidata.org/wiki/Q10")
        assert [tree.persons[one].name for one in tree.parents(gideon.id)] == ["Obed Penhallow"]
        asked = [row.source for row in store.queries() if row.query == "Gideon Penhallow"]
        assert asked == ["wikipedia", "wikidata"]
        assert {row.source for row in store.queries() if "Barnaby" in row.query} == {"wikipedia"}


def test_nobody_who_may_be_alive_is_asked_for_outside(tmp_path: Path) -> None:
    """Relatives of the living are looked for in the books alone, and the log says why (R269, R276)."""
    rows = {"Born": "3 May 1971", "Children": "Maximilian Penhallow"}
    ivy = person_page("Ivy Penhallow", "born 3 May 1971", rows, "is a maker of clocks.")
    book = open_family(write_family(tmp_path / "new.zim", {"Ivy Penhallow": ivy, "Clocks": PAGES["Clocks"]}))
    with endpoint_of(the_millers().store()) as site, a_case(tmp_path, seeds=("Ivy Penhallow",)) as store:
        plugin = at(load_plugins().named("wikidata").plugin, site.address)
        run(researcher(store, book, WikidataSource(plugin, gate_to(site, plugin))))
        assert site.arrivals == []
        rows_of = [(row.source, row.negative) for row in store.queries() if row.query == "Maximilian Penhallow"]
        assert rows_of == [("wikipedia", True), ("wikidata (not asked: privacy)", False)]


def test_a_source_that_wants_rest_is_asked_later(tmp_path: Path, book: OpenBook) -> None:
    """'Too many requests' puts the item off for as long as it says; the case ends for now and says so (R276)."""
    with endpoint_of(the_millers().store()) as site, a_case(tmp_path) as store:
        handle = site.pages["/sparql"]
        site.pages["/sparql"] = lambda request: answer(request, 429, "later", Retry_After="3600")
        plugin = at(load_plugins().named("wikidata").plugin, site.address)
        one = researcher(store, book, WikidataSource(plugin, gate_to(site, plugin)))
        last = run(one)[-1]
        assert (last.reason, last.reason in COMPLETE) == ("waiting", False)
        assert "Searches waiting for a source: " in last.sentence
        put_off = store.queues.items("frontier", "pending")
        assert {item.not_before[:16] for item in put_off} == {"2026-01-01T01:00"}
        assert ("wikidata (no answer: resting)", False) in [(row.source, row.negative) for row in store.queries()]
        site.pages["/sparql"] = handle


def test_a_source_that_is_down_does_not_end_the_case(tmp_path: Path, book: OpenBook) -> None:
    """A source that does not answer is recorded, is not evidence of absence, and the books are read all the same."""
    with endpoint_of(the_millers().store()) as site, a_case(tmp_path) as store:
        site.pages["/sparql"] = lambda request: answer(request, 500, "broken")
        plugin = at(load_plugins().named("wikidata").plugin, site.address)
        run(researcher(store, book, WikidataSource(plugin, gate_to(site, plugin))))
        rows = [(row.source, row.negative) for row in store.queries() if row.query == "Flora Penhallow"]
        assert rows == [("wikipedia", True), ("wikidata (no answer: unreachable)", False)]
        assert named(store.tree(), "Barnaby Penhallow").birth is not None
