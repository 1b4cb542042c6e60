"""A snapshot of a book as it is compared, and its pages; here read from a ZIM file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

from kiwiresearch.claims import Claim, claims_of
from kiwiresearch.errors import BookDamaged
from kiwiresearch.ids import short_hash
from kiwiresearch.page import PageDoc, open_page
from kiwiresearch.runs import BookEdition
from kiwiresearch.zim import Policy, find_path, hidden_page_error, with_policy

if TYPE_CHECKING:
    from kiwiresearch.zim import LibzimArchive

DISTINCTIVE_CHARS = 200
"""Pages with the same text count as one page only if it is this long: short texts are often the same."""

REFRESH = re.compile(rb"http-equiv", re.IGNORECASE)
"""A sign that the page may only redirect elsewhere."""


@dataclass(frozen=True, slots=True)
class SnapshotPage:
    """A page of a snapshot; its claims are read on demand."""

    path: str
    title: str
    digest: str
    """Of its text and its marks of doubt; empty if unknown."""
    is_distinctive: bool
    """Whether its text is long enough to recognize it by."""
    claims: Callable[[], Sequence[Claim]]


class Snapshot(Protocol):
    """A snapshot of a book: its pages in a fixed order, and each of them by path and title."""

    @property
    def book(self) -> BookEdition: ...

    @property
    def language(self) -> str: ...

    @property
    def lead_only(self) -> bool:
        """Whether its pages consist of the introduction only."""
        ...

    @property
    def has_all_pages(self) -> bool:
        """Whether it includes the pages without claims."""
        ...

    @property
    def pages(self) -> int:
        """About how many pages it has."""
        ...

    def paths(self) -> Iterator[str]:
        """The paths of all pages."""
        ...

    def resolve(self, path: str) -> str | None:
        """Where a path leads after redirects; None if the snapshot does not have it."""
        ...

    def by_title(self, title: str) -> str | None:
        """The path of the page of this title, redirects followed."""
        ...

    def title(self, path: str) -> str: ...

    def find(self, words: str) -> str | None:
        """The page that a title or path from the user refers to."""
        ...

    def read(self, path: str) -> SnapshotPage | None:
        """The page at a path; None if it only redirects."""
        ...

    def raw(self, path: str) -> bytes | None:
        """The unparsed page; None if that is not available."""
        ...

    def dated_or_measured(self) -> Iterator[Claim]:
        """Every claim with a number or a date, if all of them have been read already; else none."""
        ...

    def close(self) -> None: ...


class ZimSnapshot:
    """A snapshot in a ZIM file, without what a policy hides."""

    has_all_pages = True

    def __init__(self, archive: LibzimArchive, policy: Policy) -> None:
        self._bare = archive
        self._archive = with_policy(archive, policy)
        book = archive.book
        self.book = BookEdition(book.id, book.name, book.title, book.date, book.flavour, book.language)
        self.language = book.language or "eng"
        self.lead_only = book.lead_only
        self._articles = archive.directory().articles

    @property
    def pages(self) -> int:
        return len(self._articles)

    def paths(self) -> Iterator[str]:
        for number in self._articles:
            try:
                named = self._bare.name_at(int(number))
            except BookDamaged:  # an entry without a name cannot be looked up
                continue
            if named.is_html and hidden_page_error(self._archive, named.path) is None:
                yield named.path

    def resolve(self, path: str) -> str | None:
        return self._archive.resolve(path)

    def by_title(self, title: str) -> str | None:
        return self._archive.by_title(title)

    def title(self, path: str) -> str:
        return self._archive.title(path)

    def find(self, words: str) -> str | None:
        return find_path(self._archive, words)

    def read(self, path: str) -> SnapshotPage | None:
        page = open_page(self._archive, path)
        if page.ref.path != path:
            return None
        claims = partial(claims_of, page, self.book.name)
        return SnapshotPage(path, page.title, page_digest(page), len(page.text) >= DISTINCTIVE_CHARS, claims)

    def raw(self, path: str) -> bytes | None:
        content = self._archive.read(path).content
        return None if REFRESH.search(content) else content

    def dated_or_measured(self) -> Iterator[Claim]:
        return iter(())

    def close(self) -> None:
        self._archive.close()


def page_digest(page: PageDoc) -> str:
    """A hash of a page's text, with its marks of doubt."""
    needed = sum(mark.kind == "citation needed" for mark in page.marks)
    return digest(short_hash(page.text), disputed=page.signals.disputed.holds, citation_needed=needed)


def digest(text_sha: str, *, disputed: bool, citation_needed: int) -> str:
    """The same, from the hash of the text."""
    return f"{text_sha} {disputed:d} {citation_needed}"
