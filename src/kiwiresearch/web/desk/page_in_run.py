"""The place of a page in a run: why it was chosen, which pages led to it, and what the run took from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kiwiresearch.claims.claim import Claim
from kiwiresearch.ids import BookId
from kiwiresearch.web.desk.notes import notes_for, on_page
from kiwiresearch.web.desk.page_claims import marked_address
from kiwiresearch.web.desk.page_seen import PageSeen
from kiwiresearch.web.desk.run_frame import RunFrame, RunPage
from kiwiresearch.zim.entry import EntryRef

MOST_LINKS = 40
SCHEME = "zim://"


@dataclass(frozen=True, slots=True)
class BackLink:
    """A page of the run that links to this one, and the words that do."""

    title: str
    address: str
    words: str
    section: str


@dataclass(frozen=True, slots=True)
class HereInRun:
    """A page as a run knows it."""

    taken: RunPage | None
    links: tuple[BackLink, ...]
    more_links: int
    known: frozenset[str]
    """The claims that the run has, of those that the page is read to say now."""
    others: tuple[tuple[Claim, str], ...]
    """Claims that only the run has, and where their words are in the frame."""


def in_run(run: RunFrame, found: PageSeen) -> dict[str, Any]:
    """What the template needs: the page's place in the run, and the notes on it."""
    ref = found.page.ref
    claims = [claim for claim in run.claims if claim.ref == ref]
    read_now = {claim.id for claim in found.all_claims}
    links = list(_links_to(run, ref))
    target = on_page(run, ref, found.title) if any(book.id == ref.book for book in run.books) else None
    return {
        "here_in_run": HereInRun(
            taken=next((page for page in run.pages if page.ref == ref), None),
            links=tuple(links[:MOST_LINKS]),
            more_links=max(len(links) - MOST_LINKS, 0),
            known=frozenset(claim.id for claim in claims),
            others=tuple((claim, marked_address(found.plain, claim)) for claim in claims if claim.id not in read_now),
        ),
        "notes_target": target,
        "notes": notes_for(run, target) if target else None,
    }


def _links_to(run: RunFrame, ref: EntryRef) -> Iterator[BackLink]:
    """Links to a page, as the run's graph has them, by the titles of the pages they are on."""
    titles = {node.get("ref"): str(node.get("title") or "") for node in run.graph["nodes"] if isinstance(node, dict)}
    edges = [edge for edge in run.graph["edges"] if isinstance(edge, dict) and edge.get("to") == str(ref)]
    for edge in sorted(edges, key=lambda edge: titles.get(edge.get("from"), "").casefold()):
        source = _ref(str(edge.get("from", "")))
        title = titles.get(edge.get("from")) or source.path
        words, section = str(edge.get("anchor_text") or ""), str(edge.get("section") or "")
        yield BackLink(title, run.page_url(source), "" if words == title else words, section)


def _ref(name: str) -> EntryRef:
    book, _, path = name.removeprefix(SCHEME).partition("/")
    return EntryRef(BookId(book), path)
