"""XML as text, the same on every machine."""

from __future__ import annotations

from xml.etree.ElementTree import Element, indent, tostring

SCHEMA_INSTANCE = "http://www.w3.org/2001/XMLSchema-instance"


def root_of(name: str, space: str, schema: str, **attributes: str) -> Element:
    """The outermost element of a format that has a namespace and a schema."""
    spaces = {"xmlns": space, "xmlns:xsi": SCHEMA_INSTANCE, "xsi:schemaLocation": f"{space} {schema}"}
    return Element(name, spaces | attributes)


def document(root: Element) -> str:
    """A whole XML document, one element a line."""
    indent(root)
    body = tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'
