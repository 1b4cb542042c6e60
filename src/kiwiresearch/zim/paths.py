"""Paths inside a book: what a link points at, and what a path would be called.

Paths are raw text: they may hold '?', '%20', '+', spaces and emoji as they
stand. Links are percent-encoded, once.

| in the page        | its links          | lead to              |
| ------------------ | ------------------ | -------------------- |
| `Ray_Charles`      | `Soul_music`       | `Soul_music`         |
| `A/Ray_Charles`    | `../A/Soul_music`  | `A/Soul_music`       |
| `A/AC/DC`          | `../Angus_Young`   | `A/Angus_Young`      |
| `Ray_Charles`      | `#Career`          | the page itself      |
| `Ray_Charles`      | `What%3F#Reply`    | `What?`, at `Reply`  |
| `site.org/a/`      | `b?page=2`         | `site.org/a/b?page=2`|
| any                | `https://…`        | nowhere in the book  |
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from urllib.parse import unquote

SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")

INLINE_MARKUP = re.compile(
    r"</?(?:i|b|em|strong|sup|sub|span|small|big|s|u|tt|code|font|var|nowiki)\b[^<>]*>",
    re.IGNORECASE,
)

SCRIPTS = ("javascript:", "data:", "mailto:", "tel:", "geo:", "about:", "blob:", "file:", "urn:", "irc:", "news:")

NAMESPACES = re.compile(r"^(?:[A-Z-]/)")

EXTENSIONS = (".html", ".htm")


@dataclass(frozen=True, slots=True)
class Target:
    """Where a link leads inside the book: a path, and the anchor behind '#', if any."""

    path: str
    anchor: str = ""


def resolve_href(base: str, href: str) -> Target | None:
    """What `href`, found in the page at path `base`, points at; None if outside the book.

    '#anchor' points at the page itself. It is a matter of spelling alone: whether
    the book has the page, and whether it redirects, is for the archive to tell.
    """
    href = href.strip()
    if not href or href.startswith("//"):
        return None
    address, _, anchor = href.partition("#")
    if anchor:
        anchor = _unquoted(anchor)
    if not address:
        return Target(base, anchor)
    if ":" in address and SCHEME.match(address) and _is_scheme(address):
        return None
    address = _unquoted(address)
    if address.startswith("/"):
        path = _without_dots(address.lstrip("/"))
    else:
        folder = base.rpartition("/")[0]
        path = _without_dots(f"{folder}/{address}" if folder else address)
    return Target(path, anchor) if path else None


def _is_scheme(address: str) -> bool:
    """'https://x' and 'mailto:x' are; 'Category:Rivers' and '2001:_A_Space_Odyssey' are not."""
    lowered = address.lower()
    return "://" in lowered[:32] or lowered.startswith(SCRIPTS)


def _unquoted(text: str) -> str:
    return unquote(text, errors="replace") if "%" in text else text


def _without_dots(path: str) -> str:
    if "./" not in path and "//" not in path and not path.endswith("."):
        return path
    kept: list[str] = []
    parts = path.split("/")
    for part in parts:
        if part == "..":
            if kept:
                kept.pop()
        elif part != ".":
            kept.append(part)
    if parts[-1] in (".", ".."):
        kept.append("")
    return "/".join(kept)


def plain_title(title: str) -> str:
    """A title as people read it: without the markup and entities some scrapers leave in."""
    if "<" in title:
        title = INLINE_MARKUP.sub("", title)
    if "&" in title:
        title = html.unescape(title)
    return " ".join(title.split())


def title_of_path(path: str) -> str:
    """What a page is most likely called, told from its path alone."""
    name = NAMESPACES.sub("", path)
    for extension in EXTENSIONS:
        name = name.removesuffix(extension)
    return plain_title(name.replace("_", " ")) or path
