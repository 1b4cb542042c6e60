"""What the sources of the desk say: the words they ask for, and the markup of its templates."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

from jinja2 import Environment, nodes

import kiwiresearch.web.desk

DESK = Path(kiwiresearch.web.desk.__file__).parent
TEMPLATES = sorted((DESK / "templates").rglob("*.html"))
PICTURES = sorted((DESK.parent.parent / "brief").glob("*_picture.py"))
LEGEND = DESK.parent.parent / "brief" / "legend.py"
PROOF = DESK.parent.parent / "cases" / "person_proof.py"
MODULES = [*sorted(DESK.parent.rglob("*.py")), *PICTURES, LEGEND, PROOF]
SCRIPTS = sorted(path for path in (DESK / "static").rglob("*.js") if "vendor" not in path.parts)
SHEETS = sorted((DESK / "static").rglob("*.css"))

ASKS = frozenset({"t", "words"})
"""What the catalogue is called where it is asked."""
CALL = re.compile(rf"\b(?:{'|'.join(sorted(ASKS))})\(")

KEY = re.compile(r"[a-z]+(?:\.[\w-]+)+\.?")
VOID = frozenset({"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"})


@dataclass(frozen=True, slots=True)
class Asked:
    """A place where a sentence is asked for by its key."""

    where: str
    key: str
    values: frozenset[str] | None
    """The values given with it; None where that cannot be read from the source."""


@functools.cache
def asked() -> tuple[Asked, ...]:
    """Every sentence that the sources ask for by its whole key."""
    found = [one for path in TEMPLATES for one in _of_template(path)]
    return (*found, *(one for path in MODULES for one in _of(path)))


def _of_template(path: Path) -> Iterator[Asked]:
    tree = Environment(autoescape=True).parse(path.read_text(encoding="utf-8"))
    for call in tree.find_all(nodes.Call):
        if not (isinstance(call.node, nodes.Name) and call.node.name in ASKS and call.args):
            continue
        values = None if call.dyn_kwargs else frozenset(str(one.key) for one in call.kwargs)
        for choice in _choices(call.args[0]):
            yield Asked(f"{path.name}:{call.lineno}", choice, values)


def _choices(expected: nodes.Expr) -> Iterator[str]:
    if isinstance(expected, nodes.Const):
        yield str(expected.value)
    elif isinstance(expected, nodes.CondExpr):
        yield from _choices(expected.expr1)
        yield from _choices(expected.expr2) if expected.expr2 else ()


def _of(path: Path) -> Iterator[Asked]:
    source = path.read_text(encoding="utf-8")
    if not CALL.search(source):
        return
    for call in ast.walk(ast.parse(source)):
        if not (isinstance(call, ast.Call) and call.args and _name(call.func) in ASKS):
            continue
        first = call.args[0]
        if isinstance(first, ast.Constant) and isinstance(first.value, str) and KEY.fullmatch(first.value):
            names = [one.arg for one in call.keywords]
            values = None if None in names else frozenset(name for name in names if name)
            yield Asked(f"{path.name}:{call.lineno}", first.value, values)


def _name(called: ast.expr) -> str:
    if isinstance(called, ast.Name):
        return called.id
    return called.attr if isinstance(called, ast.Attribute) else ""


@functools.cache
def mentioned() -> frozenset[str]:
    """Every text in quotes that could be a key, or the beginning of several."""
    sources = [path.read_text(encoding="utf-8") for path in (*TEMPLATES, *MODULES, *SCRIPTS)]
    found = {text for source in sources for text in re.findall(r"""["']([a-z_]+\.[\w.-]*)["'{]""", source)}
    families = {text for source in sources for text in re.findall(r"""named\(\s*["']([\w.-]+)["']""", source)}
    return frozenset(found | {f"{family}." for family in families})


class Markup(HTMLParser):
    """A template without what Jinja does to it: expressions are a sign, statements are nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        """Element, attribute and value."""
        self.scripts: list[str] = []
        self._within: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self._within.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._within:
            del self._within[len(self._within) - 1 - self._within[::-1].index(tag) :]

    def handle_data(self, data: str) -> None:
        if self._within and self._within[-1] in ("script", "style"):
            self.scripts.append(data)
        elif not CODE.intersection(self._within):
            self.texts.append(ATTRIBUTE.sub("", data))


CODE = frozenset({"code", "kbd"})
"""What is typed as it stands, in every language."""
ATTRIBUTE = re.compile(r"""[\w-]+="[^"]*\"""")
"""What a macro writes into a tag stands outside of one in its own source."""
EXPRESSION = "\N{WHITE SQUARE}"


def markup(path: Path) -> Markup:
    """The elements and texts of a template."""
    source = re.sub(r"\{% block body_class %\}.*?\{% endblock %\}", "", path.read_text(encoding="utf-8"))
    source = re.sub(r"\{#.*?#\}|\{%.*?%\}", "", source, flags=re.DOTALL)
    read = Markup()
    read.feed(re.sub(r"\{\{.*?\}\}", EXPRESSION, source, flags=re.DOTALL))
    read.close()
    return read
