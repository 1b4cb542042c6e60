"""Which books of the shelf an institution's policy allows, and the names by which books are known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar

from kiwiresearch.codec import OMIT_DEFAULT, Record
from kiwiresearch.ids import BookId
from kiwiresearch.zim import ListedBook, Policy, book_hidden_error, is_address


def allowed_books(books: Sequence[ListedBook], policy: Policy) -> list[ListedBook]:
    """The books of a shelf that a policy allows; BookHidden if it allows none of them."""
    allowed = [book for book in books if policy.allows(names_of_book(book))]
    if books and not allowed:
        raise book_hidden_error(books[0].title or books[0].name, policy)
    return allowed


def hidden_books(books: Sequence[ListedBook], policy: Policy) -> list[ListedBook]:
    """The books of a shelf that a policy does not allow."""
    return [book for book in books if not policy.allows(names_of_book(book))]


def hidden_books_notice(books: Sequence[ListedBook], policy: Policy) -> str:
    """A sentence saying how many books are hidden, and by whom; empty if none are."""
    count = len(hidden_books(books, policy)) if policy.books else 0
    things = "1 book in your library is" if count == 1 else f"{count} books in your library are"
    return f"{things} hidden by {policy.label}." if count else ""


@dataclass(frozen=True, slots=True)
class PolicySummary(Record):
    """The policy of the server, as shown to readers."""

    name: str
    """Whose policy it is; may be empty."""
    notice: str
    restricts: bool
    """Whether anything is hidden."""
    rules: int
    """How many titles, or patterns of titles, are hidden."""
    books_left_out: int
    fingerprint: str
    """A hash of the rules, which runs under these rules record."""
    hidden: tuple[str, ...] | None = field(default=None, metadata=OMIT_DEFAULT)
    """The titles themselves; only owners see this."""
    books: tuple[str, ...] | None = field(default=None, metadata=OMIT_DEFAULT)
    """The books that are allowed; only owners see this."""


def policy_summary(policy: Policy, books: Sequence[ListedBook], *, with_titles: bool) -> PolicySummary:
    """A summary of the policy for readers: whose it is, and how much it hides; titles are for owners only."""
    return PolicySummary(
        policy.name,
        policy.notice,
        policy.restricts,
        len(policy.hidden),
        len(hidden_books(books, policy)),
        policy.fingerprint,
        hidden=policy.hidden if with_titles else None,
        books=policy.books if with_titles else None,
    )


def names_of_book(book: ListedBook) -> tuple[str, ...]:
    """The names by which a policy may refer to a book of the shelf."""
    places = () if book.source.is_served else (book.source.path.name, Path(book.source.path.name).stem)
    return (book.id, book.name, book.title, book.source.served, *places)


T = TypeVar("T")


class NamedBook(Protocol):
    """A `Book` or a `ListedBook`."""

    @property
    def id(self) -> BookId: ...
    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def source(self) -> object: ...


def books_matching(books: Iterable[T], wanted: str, book_of: Callable[[T], NamedBook]) -> tuple[T, ...]:
    """The books with this name, ignoring case: all of several editions, or none."""
    folded = wanted.casefold().strip()
    return tuple(book for book in books if folded in _names(book_of(book)))


def _names(book: NamedBook) -> set[str]:
    """UUID, name, title, and the name of its file or on its server."""
    source = str(book.source)
    own = source.rpartition("#")[2] if is_address(source) else Path(source).stem
    return {name.casefold() for name in (book.id, book.name, book.title, own) if name}
