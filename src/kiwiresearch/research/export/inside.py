"""Citations that lead to a page of the export itself, where the quotes are, and not to the book."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from kiwiresearch.brief.brief import Brief
from kiwiresearch.claims.claim import Claim

PLACE = "zim://inside/"
CLAIM = "claim:"
"""How the anchor of a claim begins; the anchor of a section has no colon, since it is percent-encoded."""

IN_HTML = re.compile(rf'href="{PLACE}(\d+)(?:#([^"]*))?"')
IN_MARKDOWN = re.compile(rf"\\.|\]\({PLACE}(\d+)(?:#([^)]*))?\)", re.DOTALL)
"""The first branch passes over a sign that is escaped, and so never begins a link."""

Address = Callable[[int, str], str]
"""Where a page is by its number, or the section or claim of it that has this anchor."""


def led_inside(brief: Brief) -> Brief:
    """The brief with addresses that `html_links` and `markdown_links` know: its pages by their numbers."""
    pages = tuple(replace(one, url=page_inside(n)) for n, one in enumerate(brief.sources.pages, start=1))
    return replace(brief, sources=replace(brief.sources, pages=pages))


def page_inside(number: int, claim: Claim | None = None) -> str:
    """The address of a page, or of a claim on it."""
    return f"{PLACE}{number}" + (f"#{CLAIM}{claim_hash(claim)}" if claim else "")


def claim_hash(claim: Claim) -> str:
    """The part of a claim's id that names it: figures and letters alone."""
    return claim.id.rpartition(":")[2]


def html_links(text: str, address: Address) -> str:
    return IN_HTML.sub(lambda found: f'href="{address(int(found[1]), found[2] or "")}"', text)


def markdown_links(text: str, address: Address) -> str:
    return IN_MARKDOWN.sub(lambda found: f"]({address(int(found[1]), found[2] or '')})" if found[1] else found[0], text)
