"""The pages and links of a run as GraphML, GEXF, CSV tables and Kiwix bookmarks."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Generic, Literal, TypeVar
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from kiwiresearch.runs import RunGraph, RunGraphLink, RunGraphPage
from kiwiresearch.text import CONTROL_CHARACTERS, inert_cell

SCHEMA_INSTANCE = "http://www.w3.org/2001/XMLSchema-instance"


def xml_root(name: str, namespace: str, schema: str, **attributes: str) -> Element:
    """The root element of a format with a namespace and a schema."""
    declared = {"xmlns": namespace, "xmlns:xsi": SCHEMA_INSTANCE, "xsi:schemaLocation": f"{namespace} {schema}"}
    return Element(name, declared | attributes)


def xml_document(root: Element) -> str:
    """An XML document, one element a line; control and direction characters become numbers, which keeps the values."""
    indent(root)
    body = CONTROL_CHARACTERS.sub(lambda code: f"&#x{ord(code[0]):X};", tostring(root, encoding="unicode"))
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'


FieldKind = Literal["text", "whole", "real"]
Value = str | int | float | None
Thing = TypeVar("Thing", RunGraphPage, RunGraphLink)


@dataclass(frozen=True, slots=True)
class GraphField(Generic[Thing]):
    """A named value of a page or a link."""

    name: str
    kind: FieldKind
    of: Callable[[Thing], Value]

    def as_text(self, thing: Thing) -> str:
        """The value as text; empty if there is none."""
        return as_text(self.of(thing))


def as_text(value: Value) -> str:
    """The shortest form of a number that reads back the same; a text unchanged."""
    return "" if value is None else repr(value) if isinstance(value, float) else str(value)


def _page(name: str, kind: FieldKind = "text", *, of: str = "") -> GraphField[RunGraphPage]:
    return GraphField(name, kind, attrgetter(of or name))


def _link(name: str, kind: FieldKind = "text", *, of: str = "") -> GraphField[RunGraphLink]:
    return GraphField(name, kind, attrgetter(of or name))


PAGE_LABEL = _page("label")

PAGE_FIELDS = (
    _page("state"),
    _page("order", "whole"),
    _page("depth", "whole"),
    _page("priority_score", "real"),
    _page("relevance", "real"),
    _page("cluster"),
    _page("reason"),
    _page("lines"),
    _page("book_title"),
    _page("book", of="book.id"),
    _page("path"),
    _page("url"),
    _page("page_id"),
)

LINK_WEIGHT = _link("weight", "real")

LINK_LABEL = _link("label", of="anchor_text")

LINK_FIELDS = (
    _link("count", "whole"),
    _link("context", "real"),
    _link("place"),
    _link("section"),
)


GRAPHML_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
GRAPHML_SCHEMA = "http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd"
GRAPHML_TYPES: dict[FieldKind, str] = {"text": "string", "whole": "int", "real": "double"}

NODE_FIELDS = (PAGE_LABEL, *PAGE_FIELDS)
EDGE_FIELDS = (LINK_WEIGHT, LINK_LABEL, *LINK_FIELDS)


def graphml(run: RunGraph) -> str:
    """The run as a directed graph; nodes are named by their ref."""
    root = xml_root("graphml", GRAPHML_NAMESPACE, GRAPHML_SCHEMA)
    _declare_graphml(root, "node", NODE_FIELDS)
    _declare_graphml(root, "edge", EDGE_FIELDS)
    graph = SubElement(root, "graph", id="run", edgedefault="directed")
    SubElement(graph, "desc").text = run.topic
    for page in run.pages:
        _write_graphml(SubElement(graph, "node", id=page.ref), "node", NODE_FIELDS, page)
    for index, link in enumerate(run.links):
        edge = SubElement(graph, "edge", id=f"e{index}", source=link.source, target=link.target)
        _write_graphml(edge, "edge", EDGE_FIELDS, link)
    return xml_document(root)


def _graphml_key(owner: str, name: str) -> str:
    # words, not d0, d1, …: Gephi uses a key 'd3' as the label, regardless of its name
    return f"{owner}_{name}"


def _declare_graphml(root: Element, owner: str, fields: Sequence[GraphField[Thing]]) -> None:
    for field in fields:
        names = {"attr.name": field.name, "attr.type": GRAPHML_TYPES[field.kind]}
        SubElement(root, "key", {"id": _graphml_key(owner, field.name), "for": owner} | names)


def _write_graphml(element: Element, owner: str, fields: Sequence[GraphField[Thing]], thing: Thing) -> None:
    for field in fields:
        if text := field.as_text(thing):
            SubElement(element, "data", key=_graphml_key(owner, field.name)).text = text


GEXF_NAMESPACE = "http://gexf.net/1.3"
GEXF_SCHEMA = "http://gexf.net/1.3/gexf.xsd"
GEXF_TYPES: dict[FieldKind, str] = {"text": "string", "whole": "integer", "real": "double"}


def gexf(run: RunGraph) -> str:
    """The run as a directed graph; nodes are named by their ref."""
    root = xml_root("gexf", GEXF_NAMESPACE, GEXF_SCHEMA, version="1.3")
    meta = SubElement(root, "meta")
    SubElement(meta, "creator").text = "kiwiresearch"
    SubElement(meta, "description").text = run.topic
    graph = SubElement(root, "graph", defaultedgetype="directed", idtype="string", mode="static")
    _declare_gexf(graph, "node", PAGE_FIELDS)
    _declare_gexf(graph, "edge", LINK_FIELDS)
    nodes = SubElement(graph, "nodes", count=str(len(run.pages)))
    for page in run.pages:
        _write_gexf(SubElement(nodes, "node", id=page.ref, label=PAGE_LABEL.as_text(page)), PAGE_FIELDS, page)
    edges = SubElement(graph, "edges", count=str(len(run.links)))
    for index, link in enumerate(run.links):
        ends = {"id": f"e{index}", "source": link.source, "target": link.target, "type": "directed"}
        edge = SubElement(edges, "edge", ends, weight=LINK_WEIGHT.as_text(link), label=LINK_LABEL.as_text(link))
        _write_gexf(edge, LINK_FIELDS, link)
    return xml_document(root)


def _declare_gexf(graph: Element, owner: str, fields: Sequence[GraphField[Thing]]) -> None:
    attributes = SubElement(graph, "attributes", {"class": owner, "mode": "static"})
    for field in fields:
        SubElement(attributes, "attribute", id=field.name, title=field.name, type=GEXF_TYPES[field.kind])


def _write_gexf(element: Element, fields: Sequence[GraphField[Thing]], thing: Thing) -> None:
    values = SubElement(element, "attvalues")
    for field in fields:
        if text := field.as_text(thing):
            SubElement(values, "attvalue", {"for": field.name, "value": text})


BOOK_PARTS = ("id", "title", "name", "flavour", "language", "date")


def bookmarks(run: RunGraph) -> str:
    """One bookmark for each page that was visited, in order."""
    root = Element("bookmarks")
    visited = [(page.order or 0, page.ref, page) for page in run.pages if page.state == "visited"]
    for _, _, page in sorted(visited, key=lambda row: row[:2]):
        _bookmark(root, page)
    return xml_document(root)


def _bookmark(root: Element, page: RunGraphPage) -> None:
    mark = SubElement(root, "bookmark")
    book = SubElement(mark, "book")
    for part in BOOK_PARTS:
        SubElement(book, part).text = getattr(page.book, part)
    SubElement(mark, "title").text = page.label
    # Kiwix appends this to 'zim://UUID.zim' unchanged: a slash, then the path, not percent-encoded
    SubElement(mark, "url").text = f"/{page.path}"


BACKSLASHES = re.compile(r'\\+(?="|\Z)')


def page_table(run: RunGraph) -> str:
    header = ["Id", "Label", *(field.name for field in PAGE_FIELDS)]
    return table(
        header,
        ([page.ref, PAGE_LABEL.of(page), *(field.of(page) for field in PAGE_FIELDS)] for page in run.pages),
    )


def link_table(run: RunGraph) -> str:
    header = ["Source", "Target", "Type", "Weight", "Label", *(field.name for field in LINK_FIELDS)]
    rows = (
        [
            link.source,
            link.target,
            "Directed",
            LINK_WEIGHT.of(link),
            LINK_LABEL.of(link),
            *(field.of(link) for field in LINK_FIELDS),
        ]
        for link in run.links
    )
    return table(header, rows)


def table(header: Sequence[str], rows: Iterable[Sequence[Value]]) -> str:
    """Rows under their header, as standard CSV."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(header)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue()


def _cell(value: Value) -> str:
    """A number unchanged; text that looks like a formula gets a leading apostrophe."""
    if not isinstance(value, str):
        return as_text(value)
    # Gephi reads a backslash before a quote as an escape, and misses the end of the cell
    text = BACKSLASHES.sub(r"\g<0> ", value)
    return inert_cell(text)
