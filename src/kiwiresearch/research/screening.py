"""Which pages of an atlas the profile of an institution hides."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from kiwiresearch.atlas.screen import Screen
from kiwiresearch.bulk.manifest import Subject
from kiwiresearch.research.policy import names_of
from kiwiresearch.zim.library import Placed
from kiwiresearch.zim.policy import Policy, book_hidden


def screen_of(book: Subject, policy: Policy, shelf: Iterable[Placed]) -> Screen:
    """What a policy hides of a book, by whatever name it or the shelf calls it; BookHidden if it allows none of it."""
    names = [book.id, book.name, book.title, book.file, Path(book.file).stem]
    names += [name for placed in shelf if placed.id == book.id for name in names_of(placed)]
    if not policy.allows(names):
        raise book_hidden(book.title or book.name, policy)
    return Screen(policy.titles_of(names), policy.whose)
