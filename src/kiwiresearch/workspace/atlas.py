"""Uses of the tables of complete books: page ranks for crawls, and hiding rows of an atlas by a policy."""

from __future__ import annotations

import math
from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kiwiresearch.atlas import PolicyFilter
from kiwiresearch.bulk import BookIdentity
from kiwiresearch.errors import BadSettings, RunError
from kiwiresearch.ids import BookId
from kiwiresearch.system import expand_user
from kiwiresearch.workspace.policy import names_of_book
from kiwiresearch.zim import EntryRef, ListedBook, Policy, book_hidden_error

if TYPE_CHECKING:
    import numpy as np

    Numbers = np.ndarray[Any, np.dtype[Any]]
    from kiwiresearch.atlas import Atlas

FULL_RANK = 100.0
"""A page with this many times the average rank has the maximum link rank."""


@dataclass(frozen=True)
class LinkRanks:
    """The link ranks of pages, for the books whose link graph is known."""

    books: Mapping[BookId, Ranks]

    def __call__(self, ref: EntryRef) -> float:
        """The link rank of a page from 0 to 1, on a logarithmic scale, since most pages of any book have little."""
        ranks = self.books.get(ref.book)
        rank = ranks.of(ref.path) if ranks else 0.0
        return round(min(1.0, math.log1p(rank) / math.log1p(FULL_RANK)), 4)

    def fingerprints(self) -> dict[str, str]:
        """The hash of each book's shards, which is part of what identifies a run."""
        return {book: ranks.fingerprint for book, ranks in sorted(self.books.items())}


@dataclass(frozen=True)
class Ranks:
    """The ranks of a book's pages by a hash of their paths: 16 bytes per page, however long the paths are."""

    fingerprint: str
    keys: Numbers
    """Sorted."""
    ranks: Numbers

    def of(self, path: str) -> float:
        key = path_key(path)
        at = int(self.keys.searchsorted(self.keys.dtype.type(key)))
        return float(self.ranks[at]) if at < len(self.keys) and int(self.keys[at]) == key else 0.0


def path_key(path: str) -> int:
    return int.from_bytes(sha256(path.encode("utf-8", "replace")).digest()[:8])


def load_link_ranks(folders: Sequence[str], cache: Path, books: Collection[BookId]) -> LinkRanks | None:
    """The link ranks for a run over some books; None unless a folder has the links of one of them."""
    from kiwiresearch.atlas import open_atlas, shards_fingerprint

    found: dict[BookId, Ranks] = {}
    for folder in folders:
        try:
            atlas = open_atlas(expand_user(folder).absolute(), cache)
        except RunError as problem:
            raise BadSettings(
                f"A folder in the setting 'atlas' cannot be used. {problem.message}",
                remedy="Create it again with 'kiwiresearch bulk', or remove it from the setting.",
            ) from problem
        if atlas.book.id in books and atlas.has_tables("pages", "links"):
            found.setdefault(atlas.book.id, _ranks(atlas, shards_fingerprint(atlas.bulk)))
    return LinkRanks(found) if found else None


def _ranks(atlas: Atlas, fingerprint: str) -> Ranks:
    import numpy as np

    from kiwiresearch.atlas import GRAPH

    keys, ranks = array("Q"), array("d")
    with atlas.database(files=atlas.files(GRAPH)) as database:
        for path, rank in database.stream("SELECT path, rank FROM graph"):
            keys.append(path_key(path))
            ranks.append(rank)
    by_path = np.frombuffer(keys, dtype=np.uint64)
    order = np.argsort(by_path, kind="stable")
    return Ranks(f"sha256:{fingerprint}", by_path[order], np.frombuffer(ranks, dtype=np.float64)[order])


def policy_filter_for(book: BookIdentity, policy: Policy, shelf: Iterable[ListedBook]) -> PolicyFilter:
    """The filter for what a policy hides of a book, by any of its names; BookHidden if the book is not allowed."""
    names = [book.id, book.name, book.title, book.file, Path(book.file).stem]
    names += [name for listed in shelf if listed.id == book.id for name in names_of_book(listed)]
    if not policy.allows(names):
        raise book_hidden_error(book.title or book.name, policy)
    return PolicyFilter(policy.titles_of(names), policy.label)
