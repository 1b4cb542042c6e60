"""Statements of Wikidata for the tests, and an endpoint on loopback that answers about them."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pyoxigraph
from tests.http_servers import Request, answer
from tests.kin.source_site import Site, a_site, at, gate_to

from kiwiresearch.kin.sources.registry import load_plugins
from kiwiresearch.kin.sources.wikidata import GREGORIAN, JULIAN, WikidataSource

PREFIXES = """
@prefix wd: <http://www.wikidata.org/entity/> .
@prefix wds: <http://www.wikidata.org/entity/statement/> .
@prefix wdv: <http://www.wikidata.org/value/> .
@prefix wdref: <http://www.wikidata.org/reference/> .
@prefix wdt: <http://www.wikidata.org/prop/direct/> .
@prefix p: <http://www.wikidata.org/prop/> .
@prefix ps: <http://www.wikidata.org/prop/statement/> .
@prefix psv: <http://www.wikidata.org/prop/statement/value/> .
@prefix pq: <http://www.wikidata.org/prop/qualifier/> .
@prefix pqv: <http://www.wikidata.org/prop/qualifier/value/> .
@prefix pr: <http://www.wikidata.org/prop/reference/> .
@prefix prov: <http://www.w3.org/ns/prov#> .
@prefix wikibase: <http://wikiba.se/ontology#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""


class Facts:
    """Statements as Wikidata lays them out, one after the other."""

    def __init__(self) -> None:
        self.turtle = [PREFIXES]
        self._number = 0

    def person(self, item: str, label: str, *others: str) -> None:
        result = json.dumps(label)
        self.turtle.append(f"wd:{item} wdt:P31 wd:Q5 ; rdfs:label {result}@en .")
        self.turtle += [f"wd:{item} skos:altLabel {json.dumps(other)}@en ." for other in others]

    def label(self, item: str, label: str) -> None:
        self.turtle.append(f"wd:{item} rdfs:label {json.dumps(label)}@en .")

    def time(self, time: str, precision: int, calendar: str = GREGORIAN) -> str:
        self._number += 1
        self.turtle.append(
            f'wdv:v{self._number} wikibase:timeValue "{time}T00:00:00Z"^^xsd:dateTime ; '
            f"wikibase:timePrecision {precision} ; wikibase:timeCalendarModel wd:{calendar} ."
        )
        return f"wdv:v{self._number}"

    def date(self, item: str, name: str, time: str, precision: int = 11, calendar: str = GREGORIAN) -> str:
        node = self.time(time, precision, calendar)
        statement = self._statement(item, name, f'"{time}T00:00:00Z"^^xsd:dateTime')
        self.turtle.append(f"{statement} psv:{name} {node} .")
        self.turtle.append(f'wd:{item} wdt:{name} "{time}T00:00:00Z"^^xsd:dateTime .')
        return statement

    def tie(self, item: str, name: str, other: str) -> str:
        return self._statement(item, name, f"wd:{other}")

    def _statement(self, item: str, name: str, value: str) -> str:
        self._number += 1
        statement = f"wds:{item}-{self._number:04}"
        self.turtle.append(f"wd:{item} p:{name} {statement} . {statement} ps:{name} {value} .")
        self.rank(statement, "Normal")
        return statement

    def rank(self, statement: str, rank: str) -> None:
        self.turtle = [line for line in self.turtle if not line.startswith(f"{statement} wikibase:rank")]
        self.turtle.append(f"{statement} wikibase:rank wikibase:{rank}Rank .")

    def qualify(self, statement: str, name: str, value: str, node: str = "") -> None:
        self.turtle.append(f"{statement} pq:{name} {value} .")
        if node:
            self.turtle.append(f"{statement} pqv:{name} {node} .")

    def source(self, statement: str, name: str, value: str) -> None:
        self._number += 1
        self.turtle.append(
            f"{statement} prov:wasDerivedFrom wdref:r{self._number} . wdref:r{self._number} pr:{name} {value} ."
        )

    def store(self) -> pyoxigraph.Store:
        store = pyoxigraph.Store()
        store.load("\n".join(self.turtle).encode(), format=pyoxigraph.RdfFormat.TURTLE)
        return store


def a_family() -> Facts:
    """A father and a daughter of an invented dynasty, one before and one after the calendar changed."""
    facts = Facts()
    facts.person("Q100", "Osric Vane", "Osric the Elder", 'Osric "Oz" Vane')
    facts.person("Q101", "Osric Vane")
    facts.person("Q102", "Linnet Vane")
    facts.person("Q103", "Maud Harrow")
    facts.label("Q200", "Wexcombe")
    facts.label("Q93190", "divorce")
    facts.label("Q5727902", "circa")
    facts.label("Q300", "adoptive daughter")
    # Born 17 June 1703 of the Julian calendar, which the query service gives as 28 June.
    birth = facts.date("Q100", "P569", "1703-06-28", 11, JULIAN)
    facts.source(birth, "P248", "wd:Q36578")
    facts.date("Q100", "P570", "1791-01-01", 9)
    wrong = facts.date("Q100", "P570", "1640-01-01", 9)
    facts.rank(wrong, "Deprecated")
    facts.tie("Q100", "P21", "Q6581097")
    facts.tie("Q100", "P19", "Q200")
    married = facts.tie("Q100", "P26", "Q103")
    facts.qualify(married, "P580", '"1730-01-01T00:00:00Z"^^xsd:dateTime', facts.time("1730-01-01", 9))
    facts.qualify(married, "P582", '"1741-01-01T00:00:00Z"^^xsd:dateTime', facts.time("1741-01-01", 9))
    facts.qualify(married, "P1534", "wd:Q93190")
    child = facts.tie("Q100", "P40", "Q102")
    facts.qualify(child, "P1039", "wd:Q300")
    facts.rank(child, "Preferred")
    facts.tie("Q100", "P22", "Q999")  # an item without a label
    facts.date("Q101", "P569", "1880-03-02")
    facts.date("Q101", "P570", "1950-03-02")
    about = facts.date("Q102", "P569", "1735-01-01", 9)
    facts.qualify(about, "P1480", "wd:Q5727902")
    between = facts.date("Q102", "P570", "1790-01-01", 8)
    facts.qualify(between, "P1319", '"1791-01-01T00:00:00Z"^^xsd:dateTime', facts.time("1791-01-01", 9))
    facts.qualify(between, "P1326", '"1795-01-01T00:00:00Z"^^xsd:dateTime', facts.time("1795-01-01", 9))
    return facts


@contextlib.contextmanager
def endpoint_of(store: pyoxigraph.Store) -> Iterator[Site]:
    """A SPARQL endpoint on loopback, by GET and by POST."""
    with a_site() as one:

        def handle(request: Request) -> None:
            posted = one.arrivals[-1].body
            query = parse_qs(posted or urlsplit(request.path).query)["query"][0]
            results = store.query(query)
            assert isinstance(results, pyoxigraph.QuerySolutions)
            body = results.serialize(format=pyoxigraph.QueryResultsFormat.JSON)
            answer(request, 200, body or b"", Content_Type="application/sparql-results+json")

        one.pages["/sparql"] = handle
        yield one


@contextlib.contextmanager
def wikidata_at(store: pyoxigraph.Store) -> Iterator[WikidataSource]:
    with endpoint_of(store) as one:
        plugin = at(load_plugins().named("wikidata").plugin, one.address)
        yield WikidataSource(plugin, gate_to(one, plugin))
