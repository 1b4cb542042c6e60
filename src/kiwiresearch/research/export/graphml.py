"""GraphML, which most graph programs read."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement

from kiwiresearch.research.export.document import document, root_of
from kiwiresearch.research.export.fields import (
    LINK_FIELDS,
    LINK_LABEL,
    LINK_WEIGHT,
    PAGE_FIELDS,
    PAGE_LABEL,
    Field,
    Kind,
    Thing,
)
from kiwiresearch.research.export.reading import RunGraph

SPACE = "http://graphml.graphdrawing.org/xmlns"
SCHEMA = "http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd"
TYPES: dict[Kind, str] = {"text": "string", "whole": "int", "real": "double"}

NODE_FIELDS = (PAGE_LABEL, *PAGE_FIELDS)
EDGE_FIELDS = (LINK_WEIGHT, LINK_LABEL, *LINK_FIELDS)


def graphml(run: RunGraph) -> str:
    """The run as a directed graph; nodes are named by their ref."""
    root = root_of("graphml", SPACE, SCHEMA)
    _declare(root, "node", NODE_FIELDS)
    _declare(root, "edge", EDGE_FIELDS)
    graph = SubElement(root, "graph", id="run", edgedefault="directed")
    SubElement(graph, "desc").text = run.topic
    for page in run.pages:
        _tell(SubElement(graph, "node", id=page.ref), "node", NODE_FIELDS, page)
    for number, link in enumerate(run.links):
        edge = SubElement(graph, "edge", id=f"e{number}", source=link.source, target=link.target)
        _tell(edge, "edge", EDGE_FIELDS, link)
    return document(root)


def _key(owner: str, name: str) -> str:
    # words, not d0, d1, …: Gephi takes a key 'd3' for the label, whatever it is called
    return f"{owner}_{name}"


def _declare(root: Element, owner: str, fields: Sequence[Field[Thing]]) -> None:
    for field in fields:
        names = {"attr.name": field.name, "attr.type": TYPES[field.kind]}
        SubElement(root, "key", {"id": _key(owner, field.name), "for": owner} | names)


def _tell(element: Element, owner: str, fields: Sequence[Field[Thing]], thing: Thing) -> None:
    for field in fields:
        if text := field.spelled(thing):
            SubElement(element, "data", key=_key(owner, field.name)).text = text
