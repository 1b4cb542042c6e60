"""SPARQL endpoints, and the queries that are sent to Wikidata."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from kiwiresearch.errors import SourceUnreachable
from kiwiresearch.kin.sources.gate import Gate
from kiwiresearch.kin.sources.plugin import Plugin
from kiwiresearch.kin.sources.request_limits import FetchedPage
from kiwiresearch.kin.sources.transport import Request, display_url
from kiwiresearch.kin.tree import FieldName

ACCEPT = "application/sparql-results+json"
# `transport.MAX_URL` refuses addresses of more than 4,000 characters.
MAX_GET_URL = 3_500
MAX_ROWS = 20_000

Row = Mapping[str, str]
"""The values of a row by variable: addresses or literals."""


class Endpoint:
    """A SPARQL endpoint behind the gate; a query too long for an address is posted."""

    def __init__(self, plugin: Plugin, gate: Gate, url: str = "") -> None:
        self.plugin = plugin
        self._gate = gate
        self.url = url or plugin.base_url + (plugin.search.endpoint if plugin.search else "/sparql")
        self._posts = plugin.search is not None and plugin.search.method == "POST"

    def ask(self, query: str) -> tuple[FetchedPage, Sequence[Row]]:
        """The answer as it came, and its rows."""
        short = f"{self.url}?{urlencode({'query': query, 'format': 'json'})}"
        if self._posts or len(short) > MAX_GET_URL:
            request = Request(self.url, "POST", {"query": query}, ACCEPT)
        else:
            request = Request(short, accept=ACCEPT)
        page = self._gate.get(self.plugin, request)
        if page.status != 200:
            raise SourceUnreachable(f"The endpoint {self.url!r} returned an error ({page.status}).")
        return page, rows_of(page)


def rows_of(page: FetchedPage) -> list[Row]:
    """The rows of an answer, without malformed ones."""
    try:
        bindings = json.loads(page.content)["results"]["bindings"]
        return [_row(row) for row in bindings[:MAX_ROWS] if isinstance(row, dict)]
    except (ValueError, KeyError, TypeError, RecursionError) as problem:
        raise SourceUnreachable(
            f"The reply from {display_url(page.url)!r} is not a SPARQL result.",
            remedy="Check that this is the address of a SPARQL endpoint.",
        ) from problem


def _row(binding: dict[str, Any]) -> Row:
    cells = {name: cell for name, cell in binding.items() if isinstance(cell, dict) and cell.get("type") != "bnode"}
    return {name: str(cell["value"]) for name, cell in cells.items() if isinstance(cell.get("value"), str)}


def literal(text: str, language: str = "") -> str:
    """A SPARQL string literal; nothing in the text can end it early."""
    # A line break, as any other control character, would be an error of syntax inside a literal.
    plain = "".join(char for char in text if char.isprintable() and not 0xD800 <= ord(char) <= 0xDFFF)
    escaped = plain.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"@{language}' if language else f'"{escaped}"'


PREFIXES = """PREFIX wd: <http://www.wikidata.org/entity/>
PREFIX wdt: <http://www.wikidata.org/prop/direct/>
PREFIX p: <http://www.wikidata.org/prop/>
PREFIX ps: <http://www.wikidata.org/prop/statement/>
PREFIX psv: <http://www.wikidata.org/prop/statement/value/>
PREFIX pq: <http://www.wikidata.org/prop/qualifier/>
PREFIX pqv: <http://www.wikidata.org/prop/qualifier/value/>
PREFIX pr: <http://www.wikidata.org/prop/reference/>
PREFIX prov: <http://www.w3.org/ns/prov#>
PREFIX wikibase: <http://wikiba.se/ontology#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX skos: <http://www.w3.org/2004/02/skos/core#>
"""

PROPERTIES: dict[str, tuple[FieldName, str]] = {
    "P569": ("birth_date", "date of birth"),
    "P570": ("death_date", "date of death"),
    "P1636": ("baptism_date", "date of baptism"),
    "P4602": ("burial_date", "date of burial"),
    "P19": ("birth_place", "place of birth"),
    "P20": ("death_place", "place of death"),
    "P119": ("burial_place", "place of burial"),
    "P21": ("sex", "sex"),
    "P22": ("father", "father"),
    "P25": ("mother", "mother"),
    "P26": ("spouse", "spouse"),
    "P451": ("partner", "partner"),
    "P40": ("child", "child"),
    "P3373": ("sibling", "sibling"),
    "P106": ("occupation", "occupation"),
    "P97": ("title", "noble title"),
}
"""The properties that are read, with their field and the label of their line."""

START, END, EARLIEST, LATEST = "P580", "P582", "P1319", "P1326"
CIRCUMSTANCES, END_CAUSE, KINSHIP = "P1480", "P1534", "P1039"
QUALIFIERS = (START, END, EARLIEST, LATEST, CIRCUMSTANCES, END_CAUSE, KINSHIP)
LANGUAGES = {"eng": "en", "deu": "de", "fra": "fr", "spa": "es", "ita": "it", "nld": "nl", "por": "pt", "rus": "ru"}
MAX_PEOPLE = 20


def code_of(language: str) -> str:
    """The two-letter code of a language in Wikidata; English if it is not listed."""
    return LANGUAGES.get(language, "en")


def people(name: str, language: str) -> str:
    """People with this name or alias, and the years they lived in."""
    wanted = " ".join(literal(name, code) for code in dict.fromkeys((code_of(language), "en", "mul")))
    return f"""{PREFIXES}SELECT ?item ?birth ?death WHERE {{
  VALUES ?name {{ {wanted} }}
  ?item rdfs:label|skos:altLabel ?name ; wdt:P31 wd:Q5 .
  OPTIONAL {{ ?item wdt:P569 ?birth }}
  OPTIONAL {{ ?item wdt:P570 ?death }}
}} ORDER BY ?item LIMIT {MAX_PEOPLE * 4}"""


def label(item: str, language: str) -> str:
    """The name of an item; `person` is bound if it is a human."""
    return f"""{PREFIXES}SELECT ?label ?person WHERE {{
  wd:{item} rdfs:label ?label . FILTER(LANG(?label) IN ("{code_of(language)}", "en", "mul"))
  OPTIONAL {{ wd:{item} wdt:P31 ?person . FILTER(?person = wd:Q5) }}
}} ORDER BY (LANG(?label) != "{code_of(language)}") LIMIT 1"""


def statements(item: str, language: str) -> str:
    """The statements about a person that are not deprecated, each with its value node and its label."""
    rows = " ".join(f"(p:{name} ps:{name} psv:{name})" for name in PROPERTIES)
    return f"""{PREFIXES}SELECT ?p ?s ?rank ?value ?label ?time ?precision ?calendar ?source WHERE {{
  VALUES (?p ?ps ?psv) {{ {rows} }}
  wd:{item} ?p ?s .
  ?s wikibase:rank ?rank .
  FILTER(?rank != wikibase:DeprecatedRank)
  ?s ?ps ?value .
  OPTIONAL {{ ?s ?psv ?node . ?node wikibase:timeValue ?time ; wikibase:timePrecision ?precision ;
    wikibase:timeCalendarModel ?calendar }}
  OPTIONAL {{ ?value rdfs:label ?label . FILTER(LANG(?label) IN ("{code_of(language)}", "en", "mul")) }}
  OPTIONAL {{ ?s prov:wasDerivedFrom ?reference . ?reference pr:P248|pr:P854 ?source }}
}} ORDER BY ?p ?s (LANG(?label) != "{code_of(language)}") ?source"""


def qualifiers(item: str) -> str:
    """Qualifiers of those statements: from when, until when, earliest, latest, about, how it ended."""
    rows = " ".join(f"(pq:{name} pqv:{name})" for name in QUALIFIERS)
    owners = " ".join(f"p:{name}" for name in PROPERTIES)
    return f"""{PREFIXES}SELECT ?s ?q ?value ?label ?time ?precision ?calendar WHERE {{
  VALUES ?p {{ {owners} }}
  VALUES (?q ?qv) {{ {rows} }}
  wd:{item} ?p ?s .
  ?s ?q ?value .
  OPTIONAL {{ ?s ?qv ?node . ?node wikibase:timeValue ?time ; wikibase:timePrecision ?precision ;
    wikibase:timeCalendarModel ?calendar }}
  OPTIONAL {{ ?value rdfs:label ?label . FILTER(LANG(?label) = "en") }}
}} ORDER BY ?s ?q ?value"""
