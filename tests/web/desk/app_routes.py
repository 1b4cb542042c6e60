"""All routes of an app, and what a page is made of, for tests that walk over the whole desk."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

from fastapi import FastAPI

from kiwiresearch.web.guard.requests import is_browser_path

FIELD = re.compile(r"\{(\w+)(?::\w+)?\}")


@dataclass(frozen=True, slots=True, order=True)
class Address:
    """A route for people: how it is asked, and its path with fields in braces."""

    method: str
    path: str

    def filled(self, values: Mapping[str, str], default: str = "x") -> str:
        """The path with values in its fields."""
        return FIELD.sub(lambda found: values.get(found[1], default), self.path)


def addresses_of(app: FastAPI) -> list[Address]:
    """Every route for people, once for each method that it takes."""
    found = {
        Address(method, route.path)
        for route in _routes(app.router)
        for method in route.methods
        if is_browser_path({"path": route.path})
    }
    return sorted(found)


def _routes(router: Any) -> Iterator[Any]:
    for route in router.routes:
        inner = getattr(route, "original_router", None)
        if inner is not None:
            yield from _routes(inner)
        elif getattr(route, "methods", None):
            yield route


@dataclass(slots=True)
class Made:
    """What is in a page: its elements, and what a strict policy would forbid in it."""

    elements: set[str] = field(default_factory=set)
    forbidden: list[str] = field(default_factory=list)


class _Look(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.made = Made()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.made.elements.add(tag)
        bad = [name for name in given if name.startswith("on") or name in ("style", "srcdoc")]
        if bad or tag in ("style", "object", "embed", "base") or (tag == "script" and "src" not in given):
            self.made.forbidden.append(f"<{tag} {given}>")
        if any((value or "").strip().lower().startswith(("javascript:", "vbscript:")) for value in given.values()):
            self.made.forbidden.append(f"<{tag} {given}>")

    handle_startendtag = handle_starttag


def look_at(page: str) -> Made:
    """Take a page apart as a browser does."""
    look = _Look()
    look.feed(page)
    look.close()
    return look.made
