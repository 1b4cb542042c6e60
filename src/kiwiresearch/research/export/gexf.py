"""GEXF 1.3, Gephi's own exchange format."""

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

SPACE = "http://gexf.net/1.3"
SCHEMA = "http://gexf.net/1.3/gexf.xsd"
TYPES: dict[Kind, str] = {"text": "string", "whole": "integer", "real": "double"}


def gexf(run: RunGraph) -> str:
    """The run as a directed graph; nodes are named by their ref."""
    root = root_of("gexf", SPACE, SCHEMA, version="1.3")
    meta = SubElement(root, "meta")
    SubElement(meta, "creator").text = "kiwiresearch"
    SubElement(meta, "description").text = run.topic
    graph = SubElement(root, "graph", defaultedgetype="directed", idtype="string", mode="static")
    _declare(graph, "node", PAGE_FIELDS)
    _declare(graph, "edge", LINK_FIELDS)
    nodes = SubElement(graph, "nodes", count=str(len(run.pages)))
    for page in run.pages:
        _tell(SubElement(nodes, "node", id=page.ref, label=PAGE_LABEL.spelled(page)), PAGE_FIELDS, page)
    edges = SubElement(graph, "edges", count=str(len(run.links)))
    for number, link in enumerate(run.links):
        ends = {"id": f"e{number}", "source": link.source, "target": link.target, "type": "directed"}
        edge = SubElement(edges, "edge", ends, weight=LINK_WEIGHT.spelled(link), label=LINK_LABEL.spelled(link))
        _tell(edge, LINK_FIELDS, link)
    return document(root)


def _declare(graph: Element, owner: str, fields: Sequence[Field[Thing]]) -> None:
    attributes = SubElement(graph, "attributes", {"class": owner, "mode": "static"})
    for field in fields:
        SubElement(attributes, "attribute", id=field.name, title=field.name, type=TYPES[field.kind])


def _tell(element: Element, fields: Sequence[Field[Thing]], thing: Thing) -> None:
    values = SubElement(element, "attvalues")
    for field in fields:
        if text := field.spelled(thing):
            SubElement(values, "attvalue", {"for": field.name, "value": text})
