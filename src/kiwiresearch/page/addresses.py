"""Where the links of a shown page lead: into its book, outside, or nowhere."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple
from urllib.parse import quote

from kiwiresearch.zim.paths import resolve_href

Way = Literal["inside", "outside", "nowhere"]

UNSEEN = re.compile("[\t\n\r]")
EDGES = "".join(map(chr, range(0x21)))
"""Browsers take white space and control characters off an address, so 'java\\nscript:' is one."""

OUTSIDE = re.compile(r"(?:https?://[^/\\\s]|mailto:[^\s])", re.IGNORECASE)
HOST_ONLY = re.compile(r"//[^/\\\s]")
PICTURE = re.compile(r"data:image/(?:png|jpe?g|gif|webp|avif|svg\+xml|bmp|x-icon)[;,]", re.IGNORECASE)
FONT = re.compile(r"data:(?:font/|application/(?:x-)?font|application/octet-stream)[^,]*,", re.IGNORECASE)

_STEP = r"[\w(),'!*=+@-][\w(),'!*=+@.-]*"
PLAIN = re.compile(rf"(?:\./)?{_STEP}(?:/{_STEP})*/?(?:#[\w(),'!*=+@.:/-]*)?")
"""Addresses that lead a browser where the book means, as they stand: no scheme, no query, no dots, no codes."""

SAFE = "/:@!$&'()*+,;=~"


class Address(NamedTuple):
    """Where a link leads, spelled for a browser; empty for nowhere."""

    way: Way
    url: str


NOWHERE = Address("nowhere", "")


class Addresses:
    """The addresses in one file of a book: `root` is where the book is served, `path` the file's path in it."""

    def __init__(self, root: str, path: str, *, base: str = "") -> None:
        self._root = root
        self._path = path
        target = resolve_href(path, base) if base else None
        if target is not None:
            self._path = target.path
        self.is_moved = self._path != path
        """Whether the page says that its addresses count from elsewhere."""

    def link(self, href: str) -> Address:
        """Where a link leads when it is followed."""
        tidy = _tidy(href)
        if tidy.startswith("#"):
            return Address("inside", tidy)
        if OUTSIDE.match(tidy):
            return Address("outside", tidy)
        if HOST_ONLY.match(tidy):
            return Address("outside", f"https:{tidy}")
        url = self._inside(tidy)
        return Address("inside", url) if url else NOWHERE

    def file(self, href: str) -> str:
        """Where a picture, style sheet or the like is loaded from: the book, or nowhere."""
        tidy = _tidy(href)
        if PICTURE.match(tidy):
            return tidy
        if tidy.startswith(("#", "//")):
            return ""
        return self._inside(tidy)

    def _inside(self, tidy: str) -> str:
        if not self.is_moved and PLAIN.fullmatch(tidy):
            return tidy
        # A backslash is a slash to browsers, but never to books.
        target = resolve_href(self._path, tidy)
        if target is None or "\0" in target.path:
            return ""
        anchor = f"#{quote(target.anchor, safe=SAFE, errors='replace')}" if target.anchor else ""
        return address_of(self._root, target.path) + anchor


def address_of(root: str, path: str) -> str:
    """Where a path of a book is served; each character stands for itself."""
    return root + quote(path, safe=SAFE, errors="replace")


def _tidy(href: str) -> str:
    return UNSEEN.sub("", href).strip(EDGES)
