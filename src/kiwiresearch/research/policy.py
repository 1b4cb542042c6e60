"""The profile of an institution at work: which books of the shelf it lets through, and what readers are told of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kiwiresearch.zim.library import Placed
from kiwiresearch.zim.policy import Policy, book_hidden


def allowed(books: Sequence[Placed], policy: Policy) -> list[Placed]:
    """The books of a shelf that a policy allows; where it allows none, that is said."""
    kept = [book for book in books if policy.allows(names_of(book))]
    if books and not kept:
        raise book_hidden(books[0].title or books[0].name, policy)
    return kept


def left_out(books: Sequence[Placed], policy: Policy) -> list[Placed]:
    """The books of a shelf that a policy does not allow."""
    return [book for book in books if not policy.allows(names_of(book))]


def told_left_out(books: Sequence[Placed], policy: Policy) -> str:
    """How many books are not offered, and why, in a sentence; empty where all are."""
    count = len(left_out(books, policy)) if policy.books else 0
    things = "1 book of the shelf is" if count == 1 else f"{count} books of the shelf are"
    return f"{things} left out by {policy.whose}." if count else ""


def profile_record(policy: Policy, books: Sequence[Placed]) -> dict[str, Any]:
    """What readers may know of the policy: whose it is, and how much it leaves out; the titles are the owner's."""
    return {
        "name": policy.name,
        "notice": policy.notice,
        "restricts": policy.restricts,
        "rules": len(policy.hidden),
        "books_left_out": len(left_out(books, policy)),
        "fingerprint": policy.fingerprint,
    }


def names_of(book: Placed) -> tuple[str, ...]:
    """What a policy may call a book of the shelf."""
    places = () if book.source.is_served else (book.source.path.name, Path(book.source.path.name).stem)
    return (book.id, book.name, book.title, book.source.served, *places)
