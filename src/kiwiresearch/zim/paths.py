"""Paths inside a book: where links lead, and which page a person's words mean."""

from __future__ import annotations

import difflib
import html
import re
from dataclasses import dataclass
from urllib.parse import unquote

from kiwiresearch.zim.archive import Archive

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


NEAR = 8


def find_path(archive: Archive, words: str) -> str | None:
    """The page of this title or path; case, underscores and file endings may differ."""
    words = " ".join(words.split()) if "\n" in words else words.strip()
    if not words:
        return None
    for title in dict.fromkeys((words, words.replace("_", " "), words[:1].upper() + words[1:])):
        found = archive.by_title(title)
        if found:
            return found
    underscored = words.replace(" ", "_")
    for name in dict.fromkeys((words, underscored, underscored[:1].upper() + underscored[1:])):
        for path in (name, *(f"{name}{extension}" for extension in EXTENSIONS)):
            found = archive.resolve(path)
            if found:
                return found
    spaced = words.replace("_", " ")
    folded = spaced.casefold()
    for match in archive.suggest(spaced, NEAR):
        if folded in (match.title.casefold(), match.alias.casefold()):
            return archive.resolve(match.path)
    for first in spaced.split()[:1]:  # a title whose markup the index keeps
        for match in archive.suggest(first, 4 * NEAR):
            if match.title.casefold() == folded:
                return match.path
    return None


def near_titles(archive: Archive, words: str) -> list[str]:
    """Titles that a person may have meant, nearest first."""
    words = words.replace("_", " ")
    titles = [match.title for match in archive.suggest(words, NEAR)]
    for length in (5, 4, 3, 2):  # a slip of the finger is seldom in the first letters
        if len(words) > length:
            titles += [match.title for match in archive.suggest(words[:length], 4 * NEAR)]
    for word in sorted(words.split(), key=len, reverse=True)[:2]:
        titles += [match.title for match in archive.suggest(word, NEAR)]
    titles += [match.title for match in archive.search(words, NEAR)]
    unique = list(dict.fromkeys(titles))
    ranked = difflib.get_close_matches(words, unique, n=3, cutoff=0.3)
    return ranked or unique[:3]
