"""Addresses of a kiwix-serve: its own, and those of the pages of a book, which differ by version."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlsplit

from kiwiresearch.errors import BookUnreachable

OWN_PAGES = re.compile(r"/(?:viewer|content|catalog|search|raw|suggest)\b.*$")
ORIGIN = re.compile(r"^[a-z]+://[^/]*")
SURROGATE = re.compile("[\ud800-\udfff]")
SAFE = "/:@!$'()*,;="
"""What stays as it is in the path of an address; '+' and '?' are content there, so they do not."""


@dataclass(frozen=True, slots=True)
class BookAddresses:
    """Where a server has the pages of one book."""

    root: str
    """The server's own address."""
    base: str
    """The path below which the book is, as the catalogue tells it."""
    name: str

    @property
    def home(self) -> str:
        """The book's first page, below the root."""
        return f"{self.base.removeprefix(self._prefix)}/"

    def raw(self, path: str) -> str:
        """A page just as it is in the book, below the root."""
        return f"/raw/{quoted(self.name)}/content/{quoted(path, SAFE)}"

    def url(self, path: str) -> str:
        """An address that opens a page in a browser."""
        origin = self.root.removesuffix(self._prefix) if self._prefix else self.root
        return f"{origin}{self.base}/{quoted(path, SAFE)}"

    def path_in(self, address: str) -> str | None:
        """The book's path in an address of any version: below its base, /content or /raw.

        A '?' in it belongs to the path: kiwix-serve does not encode it, and has no queries for pages.
        """
        route = ORIGIN.sub("", address)
        prefix, name = self._prefix, quoted(self.name)
        for base in (
            f"{self.base}/",
            f"{prefix}/content/{name}/",
            f"{prefix}/raw/{name}/content/",
            f"{prefix}/{name}/",
        ):
            if route.startswith(base) and len(route) > len(base):
                return unquote(route[len(base) :])
        return None

    @property
    def _prefix(self) -> str:
        return urlsplit(self.root).path


def root_of(address: str) -> str:
    """The server's address from any address of its pages that a person may have copied."""
    if "://" not in address:
        address = f"http://{address}"
    wrong = BookUnreachable(f"{address!r} is no address of a kiwix-serve.", remedy="Give one like http://host:8080.")
    try:
        parts = urlsplit(address)
    except ValueError as problem:
        raise wrong from problem
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise wrong
    return f"{parts.scheme}://{parts.netloc}{OWN_PAGES.sub('', parts.path).rstrip('/')}"


def quoted(text: str, safe: str = "") -> str:
    """A text as a part of an address."""
    return quote(text, safe=safe)


def can_be_asked(text: str) -> bool:
    """Half a surrogate pair has no bytes, so no address can hold it."""
    return not SURROGATE.search(text)
