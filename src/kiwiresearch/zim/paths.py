"""Paths inside a book: where links lead, and which page a title or path refers to."""

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

FOREIGN_SCHEMES = (
    "javascript:",
    "data:",
    "mailto:",
    "tel:",
    "geo:",
    "about:",
    "blob:",
    "file:",
    "urn:",
    "irc:",
    "news:",
)

NAMESPACES = re.compile(r"^(?:[A-Z-]/)")

EXTENSIONS = (".html", ".htm")

MIN_SIMILARITY = 0.4
"""How similar a title must be to the words to be offered in place of them."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a link leads inside the book: a path, and the anchor after '#', if any."""

    path: str
    anchor: str = ""


def resolve_href(base: str, href: str) -> Target | None:
    """Where `href`, found on the page at path `base`, leads; None if that is outside the book.

    '#anchor' leads to the page itself. Only spelling is considered: whether the book
    has the target, or redirects it, is up to the archive.
    """
    href = href.strip()
    if not href or href.startswith("//"):
        return None
    address, _, anchor = href.partition("#")
    if anchor:
        anchor = _unquoted(anchor)
    if not address:
        return Target(base, anchor)
    # The colon is tested first, because this runs for every link of every page.
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
    """True for 'https://x' and 'mailto:x', but not for 'Category:Rivers' or '2001:_A_Space_Odyssey'."""
    lowered = address.lower()
    return "://" in lowered[:32] or lowered.startswith(FOREIGN_SCHEMES)


def _unquoted(text: str) -> str:
    return unquote(text, errors="replace") if "%" in text else text


def _without_dots(path: str) -> str:
    if "./" not in path and "//" not in path and not path.endswith("."):
        return path
    result: list[str] = []
    parts = path.split("/")
    for part in parts:
        if part == "..":
            # A slice, since '..' at the root must not fail.
            del result[-1:]
        elif part != ".":
            result.append(part)
    if parts[-1] in (".", ".."):
        result.append("")
    return "/".join(result)


def plain_title(title: str) -> str:
    """A title without the markup and entities that some scrapers leave in."""
    if "<" in title:
        title = INLINE_MARKUP.sub("", title)
    if "&" in title:
        title = html.unescape(title)
    return " ".join(title.split())


def title_of_path(path: str) -> str:
    """The most likely title of a page, derived from its path alone."""
    name = NAMESPACES.sub("", path)
    for extension in EXTENSIONS:
        name = name.removesuffix(extension)
    return plain_title(name.replace("_", " ")) or path


MAX_SUGGESTIONS = 8


def find_path(archive: Archive, name: str) -> str | None:
    """The path of the page with this title or path; case, underscores and file extensions may differ."""
    name = " ".join(name.split()) if "\n" in name else name.strip()
    if not name:
        return None
    # From exact to approximate: titles, then paths, then suggestions that differ only in case.
    for title in dict.fromkeys((name, name.replace("_", " "), name[:1].upper() + name[1:])):
        if found := archive.by_title(title):
            return found
    underscored = name.replace(" ", "_")
    for path in dict.fromkeys((name, underscored, underscored[:1].upper() + underscored[1:])):
        for extension in ("", *EXTENSIONS):
            if found := archive.resolve(path + extension):
                return found
    spaced = name.replace("_", " ")
    folded = spaced.casefold()
    for match in archive.suggest(spaced, MAX_SUGGESTIONS):
        if folded in (match.title.casefold(), match.alias.casefold()):
            return archive.resolve(match.path)
    # Some indexes hold titles with their markup, so that only the first word finds them.
    for first in spaced.split()[:1]:
        for match in archive.suggest(first, 4 * MAX_SUGGESTIONS):
            if match.title.casefold() == folded:
                return match.path
    return None


def near_titles(archive: Archive, words: str) -> list[str]:
    """Titles that may have been meant, the most similar first."""
    words = words.replace("_", " ")
    titles = [match.title for match in archive.suggest(words, MAX_SUGGESTIONS)]
    for length in (5, 4, 3, 2):  # typos are rare in the first letters
        if len(words) > length:
            titles += [match.title for match in archive.suggest(words[:length], 4 * MAX_SUGGESTIONS)]
    for word in sorted(words.split(), key=len, reverse=True)[:2]:
        titles += [match.title for match in archive.suggest(word, MAX_SUGGESTIONS)]
    titles += [match.title for match in archive.search(words, MAX_SUGGESTIONS)]
    unique = list(dict.fromkeys(titles))
    longer = [title for title in unique if re.match(rf"{re.escape(words)}\b", title, re.IGNORECASE)]
    folded = {title.casefold(): title for title in unique}
    similar = difflib.get_close_matches(words.casefold(), list(folded), n=3, cutoff=MIN_SIMILARITY)
    return list(dict.fromkeys([*longer, *(folded[title] for title in similar)]))[:3]
