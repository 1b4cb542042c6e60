"""A web page as text, with the span of every element that a CSS selector finds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from kiwiresearch.page import regular_document

INVISIBLE = "script, style, template, noscript, head, iframe, svg, object, select, textarea"
HIDDEN = '[hidden], [aria-hidden="true"], [style*="display:none"], [style*="display: none"]'
BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "br", "caption", "dd", "details", "div", "dl", "dt",
    "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li",
    "main", "nav", "ol", "p", "pre", "section", "summary", "table", "tbody", "tfoot", "thead", "tr", "ul",
})  # fmt: skip
CELLS = frozenset({"td", "th"})
ODD_SPACES = {ord(char): " " for char in "\u00a0\u2007\u2009\u200a\u202f\u3000"}
NOTHING: dict[int, str | None] = {ord(char): None for char in "\u200b\u2060\ufeff\u00ad"}
EMPTY = LexborHTMLParser("<p></p>")
"""A page to try selectors on."""
MAX_CHOSEN = 200


def checked_selector(selector: str) -> str:
    """The selector; raises if it is not one."""
    try:
        EMPTY.css(selector)
    except SelectolaxError as problem:
        raise ValueError("not a valid CSS selector") from problem
    return selector


@dataclass(frozen=True, slots=True)
class SelectedElement:
    """A selected element and the span of its words."""

    start: int
    end: int
    node: LexborNode = field(repr=False)

    def attribute(self, name: str) -> str:
        return (self.node.attributes.get(name) or "").strip()

    def link(self) -> str:
        """The link of the element, or the first link in it."""
        inside = self.node.css_first("a[href]")
        return self.attribute("href") or ((inside.attributes.get("href") or "").strip() if inside else "")


class SitePage:
    """A page as text. Elements set `apart` are written like table cells: label, tab, words."""

    def __init__(self, content: bytes, apart: Iterable[str] = ()) -> None:
        document = regular_document(content, without=f"{INVISIBLE}, {HIDDEN}")
        self._tree = LexborHTMLParser(f"<html>{document.body}</html>")
        self._spans: dict[int, tuple[int, int]] = {}
        cells = {node.mem_id for selector in apart for node in self._tree.css(selector)}
        self.text = _written(self._tree, self._spans, cells)

    def choose(self, selector: str) -> list[SelectedElement]:
        """The elements that a selector finds, in page order."""
        nodes = self._tree.css(selector)[:MAX_CHOSEN]
        return [SelectedElement(*self._trimmed(self._spans.get(node.mem_id, (0, 0))), node) for node in nodes]

    def runs(self, chosen: SelectedElement, *, own: bool, exclude: tuple[str, ...] = ()) -> list[tuple[int, int]]:
        """The spans of an element's words, or of its `own` only, without excluded elements; neighbours are joined."""
        left_out = {inner.mem_id for selector in exclude for inner in chosen.node.css(selector)} - {chosen.node.mem_id}
        found: list[tuple[int, int]] = []
        for node in _text_nodes(chosen.node, left_out, own=own):
            start, end = self._spans.get(node.mem_id, (0, 0))
            if start == end:
                continue
            if found and not self.text[found[-1][1] : start].strip():
                found[-1] = (found[-1][0], end)
            else:
                found.append((start, end))
        return [run for run in map(self._trimmed, found) if run[0] < run[1]]

    def _trimmed(self, span: tuple[int, int]) -> tuple[int, int]:
        words = self.text[span[0] : span[1]]
        start = span[0] + len(words) - len(words.lstrip())
        return start, start + len(words.strip())


def _text_nodes(node: LexborNode, left_out: set[int], *, own: bool) -> list[LexborNode]:
    """The texts in an element, in order."""
    found: list[LexborNode] = []
    waiting = _children(node)[::-1]
    while waiting:
        child = waiting.pop()
        if child.is_text_node:
            found.append(child)
        elif not own and child.mem_id not in left_out:
            waiting.extend(_children(child)[::-1])
    return found


def _children(node: LexborNode) -> list[LexborNode]:
    return list(node.iter(include_text=True))


def _written(tree: LexborHTMLParser, spans: dict[int, tuple[int, int]], cells: set[int]) -> str:
    """The text of a page; the span of every node is added to `spans`."""
    out: list[str] = []
    length = 0
    gap = ""
    body = tree.body
    waiting: list[tuple[LexborNode, int]] = [(body, -1)] if body is not None else []
    while waiting:
        node, opened = waiting.pop()
        name = node.tag or ""
        if opened >= 0:  # the end of an element
            # Elements lie on the stack twice: the second time, with where they began, after all that is in them.
            spans[node.mem_id] = (opened, length)
            gap = _widen_gap(gap, name, is_cell=name in CELLS or node.mem_id in cells)
            continue
        if node.is_text_node:
            raw = (node.text_content or "").translate(ODD_SPACES).translate(NOTHING)
            words = " ".join(raw.split())
            if raw[:1].isspace() or not words:
                gap = gap or (" " if raw else "")
            if words:
                joint = gap if out else ""
                out += [joint, words]
                start, length = length + len(joint), length + len(joint) + len(words)
                spans[node.mem_id] = (start, length)
                gap = " " if raw[-1:].isspace() else ""
            continue
        gap = _widen_gap(gap, name, is_cell=name in CELLS or node.mem_id in cells)
        waiting.append((node, length))
        waiting.extend((child, -1) for child in _children(node)[::-1])
    return "".join(out)


def _widen_gap(gap: str, name: str, *, is_cell: bool) -> str:
    if name in BLOCKS:
        return "\n"
    return "\t" if is_cell and gap != "\n" else gap
