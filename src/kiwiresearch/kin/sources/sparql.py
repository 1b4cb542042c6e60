"""Questions in SPARQL to any endpoint, and answers in its JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from kiwiresearch.errors import SourceUnreachable
from kiwiresearch.kin.sources.addresses import shown
from kiwiresearch.kin.sources.compliance import Gate
from kiwiresearch.kin.sources.kept import Page
from kiwiresearch.kin.sources.line import Request
from kiwiresearch.kin.sources.plugin import Plugin

ACCEPT = "application/sparql-results+json"
LONGEST_GET = 3_500
MAX_ROWS = 20_000

Row = Mapping[str, str]
"""The values of a row by variable: an address, or the letters of a literal."""


class Endpoint:
    """A SPARQL endpoint, behind the gate; a question too long for an address is posted."""

    def __init__(self, plugin: Plugin, gate: Gate, url: str = "") -> None:
        self.plugin = plugin
        self._gate = gate
        self.url = url or plugin.base_url + (plugin.search.endpoint if plugin.search else "/sparql")
        self._posts = plugin.search is not None and plugin.search.method == "POST"

    def ask(self, query: str) -> tuple[Page, Sequence[Row]]:
        """The answer as it came, and its rows."""
        short = f"{self.url}?{urlencode({'query': query, 'format': 'json'})}"
        if self._posts or len(short) > LONGEST_GET:
            request = Request(self.url, "POST", {"query": query}, ACCEPT)
        else:
            request = Request(short, accept=ACCEPT)
        page = self._gate.get(self.plugin, request)
        if page.status != 200:
            raise SourceUnreachable(f"The endpoint {self.url!r} answers with an error ({page.status}).")
        return page, rows_of(page)


def rows_of(page: Page) -> list[Row]:
    """The rows of an answer; a row that is none is left out."""
    try:
        bindings = json.loads(page.content)["results"]["bindings"]
        return [_row(row) for row in bindings[:MAX_ROWS] if isinstance(row, dict)]
    except (ValueError, KeyError, TypeError, RecursionError) as problem:
        raise SourceUnreachable(
            f"The answer of {shown(page.url)!r} is no result of a SPARQL query.", remedy="Is this a SPARQL endpoint?"
        ) from problem


def _row(binding: dict[str, Any]) -> Row:
    cells = {name: cell for name, cell in binding.items() if isinstance(cell, dict) and cell.get("type") != "bnode"}
    return {name: str(cell["value"]) for name, cell in cells.items() if isinstance(cell.get("value"), str)}


def literal(text: str, language: str = "") -> str:
    """A string of SPARQL: whatever is in the text, it stays a string."""
    plain = "".join(char for char in text if char.isprintable() and not 0xD800 <= ord(char) <= 0xDFFF)
    escaped = plain.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"@{language}' if language else f'"{escaped}"'
