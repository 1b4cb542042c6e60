"""Folders of finished runs, and readers of the files that are made of them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from tests.brief.briefs import bronze_age

from kiwiresearch.brief.brief import Brief, brief_record
from kiwiresearch.claims import claim as claims
from kiwiresearch.claims.claim import Claim
from kiwiresearch.runs.notes import NoteOpinion, NoteTarget, add_note

ATLAS = "11111111-1111-1111-1111-111111111111"
FLORA = "22222222-2222-2222-2222-222222222222"

GRAPH_FORMATS = ("graphml", "gexf", "csv", "kiwix-bookmarks")
"""Those that tell of pages and links alone; all others need a brief and its claims."""

WORKSHEETS = ("worksheet", "worksheet-docx", "worksheet-markdown")
PACKED = (".epub", ".docx")
"""Files that are zips."""

GRAPHML = "{http://graphml.graphdrawing.org/xmlns}"
GEXF = "{http://gexf.net/1.3}"


def a_node(name: str, *, book: str = ATLAS, **changes: Any) -> dict[str, Any]:
    return {
        "ref": f"zim://{book}/{name}",
        "page_id": f"sha256:{name}",
        "book": book,
        "path": name,
        "title": name.replace("_", " "),
        "url": f"https://example.org/{name}",
        "state": "visited",
        "order": 1,
        "depth": 0,
        "priority_score": 4.5,
        "relevance": 0.25,
        "lines": [{"signal": "title word", "points": 5.0}, {"signal": "list page", "points": -0.5}],
        "reason": "It is the topic.",
        "cluster": "rivers",
    } | changes


def an_edge(start: dict[str, Any], end: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "from": start["ref"],
        "to": end["ref"],
        "from_page_id": start["page_id"],
        "to_page_id": end["page_id"],
        "weight": 0.75,
        "count": 2,
        "context": 0.5,
        "place": "lead",
        "section": "Course",
        "anchor_text": "the delta",
    } | changes


def a_book_row(book: str, title: str) -> dict[str, Any]:
    return {
        "id": book,
        "name": f"{title.lower()}_en",
        "title": title,
        "date": "2026-01-02",
        "flavour": "maxi",
        "language": "eng",
        "articles": 7,
    }


def a_manifest() -> dict[str, Any]:
    books = [a_book_row(ATLAS, "Atlas"), a_book_row(FLORA, "Flora")]
    return {"topic": "Nile", "fingerprint": "f", "version": "1", "settings": {}, "books": books, "outputs": {}}


def a_graph() -> dict[str, Any]:
    nile = a_node("A/Nile", order=2, depth=1)
    delta = a_node("Nile_delta", order=1)
    reed = a_node("Reed", book=FLORA, state="left", order=None, page_id="sha256:A/Nile", relevance=1)
    return {
        "topic": "Nile & <delta>",
        "nodes": [nile, delta, reed],
        "edges": [an_edge(delta, nile), an_edge(nile, delta), an_edge(nile, reed, weight=2, anchor_text="")],
    }


def a_run(folder: Path, graph: object = None, manifest: object = None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    graph = a_graph() if graph is None else graph
    manifest = a_manifest() if manifest is None else manifest
    (folder / "graph.json").write_text(graph if isinstance(graph, str) else json.dumps(graph), encoding="utf-8")
    (folder / "manifest.json").write_text(
        manifest if isinstance(manifest, str) else json.dumps(manifest), encoding="utf-8"
    )
    return folder


def a_run_of(folder: Path, *nodes: dict[str, Any]) -> Path:
    return a_run(folder, {"topic": "t", "nodes": list(nodes), "edges": [an_edge(node, nodes[0]) for node in nodes]})


def parsed(file: Path) -> ElementTree.Element:
    return ElementTree.fromstring(file.read_bytes())


def rows_of(file: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(file.read_bytes().decode("utf-8"), newline=""), strict=True))


def graphml_rows(root: ElementTree.Element, owner: str) -> list[dict[str, str]]:
    """Nodes or edges as a reader of GraphML sees them: attributes, and data by the names of their keys."""
    names = {key.attrib["id"]: key.attrib["attr.name"] for key in root.iter(f"{GRAPHML}key")}
    return [
        dict(one.attrib) | {names[data.attrib["key"]]: data.text or "" for data in one.iter(f"{GRAPHML}data")}
        for one in root.iter(f"{GRAPHML}{owner}")
    ]


def gexf_rows(root: ElementTree.Element, owner: str) -> list[dict[str, str]]:
    return [
        dict(one.attrib) | {value.attrib["for"]: value.attrib["value"] for value in one.iter(f"{GEXF}attvalue")}
        for one in root.iter(f"{GEXF}{owner}")
    ]


def a_read_run(folder: Path, brief: Brief | None = None, *more: Claim) -> Path:
    """A finished run with a brief, and with all claims of it and more."""
    brief = bronze_age() if brief is None else brief
    rows = [claims.claim_record(claim) for claim in (*brief.claims.values(), *more)]
    a_run(folder)
    (folder / "brief.json").write_text(json.dumps(brief_record(brief)), encoding="utf-8")
    (folder / "claims.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder


def noted(run: Path, claim: Claim, reason: str = "The date is from an old book.") -> Path:
    """The run with a note on a claim, one on its page and one on the whole."""
    doubt, better = NoteOpinion("doubt", reason), NoteOpinion("correct", "It is misspelt", "Ugarit, not Ugaritt")
    add_note(run, NoteTarget("claim", claim.id), doubt, now="2026-02-03T10:00:00+00:00", about=claim.text)
    add_note(run, NoteTarget.of_page(claim.ref), better, now="2026-02-04T10:00:00+00:00", about=claim.page_title)
    add_note(run, NoteTarget("run"), NoteOpinion("agree", "Well done."), now="2026-02-05T10:00:00+00:00")
    return run
