"""An institution's policy: which books and pages it hides, and a book without its hidden pages."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from kiwiresearch.codec import Record
from kiwiresearch.errors import BadSettings, BookHidden, KiwiError, PageHidden, PageNotFound, RedirectLoop
from kiwiresearch.ids import canonical_json, short_hash
from kiwiresearch.messages import Message
from kiwiresearch.text import fold
from kiwiresearch.zim.archive import Archive, Book, Entry, EntryInfo, Match, TitleEntry
from kiwiresearch.zim.paths import find_path, title_of_path
from kiwiresearch.zim.sources import BookLocation, is_address

BOOK_SEPARATOR = "|"
"""Separates the name of a book from a title in a rule for that book only."""

ANYTHING = "*"


@dataclass(frozen=True, slots=True)
class Policy:
    """An institution's profile: the table [policy] of the settings, which applies to all users of the server."""

    name: str = ""
    """The name of the institution, as shown to readers, such as 'Lycée Pasteur'."""

    notice: str = ""
    """A sentence that readers see on the first page."""

    books: tuple[str, ...] = ()
    """The books that may be read, by name, title or UUID; empty allows all."""

    hidden: tuple[str, ...] = ()
    """Titles that are hidden: 'Beer', 'Torture*' for all that start like this, 'BOOK | Beer' in one book only."""

    def __post_init__(self) -> None:
        for key, rules in (("books", self.books), ("hidden", self.hidden)):
            if any(not part.strip() for rule in rules for part in rule.split(BOOK_SEPARATOR)):
                raise BadSettings(f"'policy.{key}' has an empty entry.", remedy="Remove it.")

    @property
    def label(self) -> Message:
        """How messages for readers refer to the policy."""
        if self.name:
            return Message(f"the policy of {self.name}", "policy.of", name=self.name)
        return Message("this server's policy", "policy.here")

    @property
    def restricts(self) -> bool:
        """Whether it hides anything."""
        return bool(self.books or self.hidden)

    @property
    def is_set(self) -> bool:
        """Whether there is anything to show to readers."""
        return bool(self.restricts or self.name or self.notice)

    @property
    def fingerprint(self) -> str:
        """A hash of everything that affects results; empty if nothing is hidden."""
        if not self.restricts:
            return ""
        rules = {"name": self.name, "books": sorted(self.books), "hidden": sorted(self.hidden)}
        return short_hash(canonical_json(rules))

    def allows(self, names: Iterable[str]) -> bool:
        """Whether a book known by these names may be read."""
        allowed = {name.casefold().strip() for name in self.books}
        return not allowed or any(name.casefold().strip() in allowed for name in names if name)

    def titles_of(self, names: Iterable[str]) -> HiddenTitles:
        """The titles that are hidden in a book known by these names."""
        known = {name.casefold().strip() for name in names if name}
        rules = []
        for rule in self.hidden:
            book, mark, title = rule.partition(BOOK_SEPARATOR)
            if not mark or book.casefold().strip() in known:
                rules.append((title if mark else rule).strip())
        return HiddenTitles(rules)


@dataclass(frozen=True, slots=True)
class HiddenPages:
    """How many pages were hidden, and by whose policy; shown so that readers do not think the book lacks them."""

    pages: int = 0
    policy_label: str = ""

    def __add__(self, other: HiddenPages) -> HiddenPages:
        return HiddenPages(self.pages + other.pages, self.policy_label or other.policy_label)

    def record(self) -> HiddenRecord:
        return HiddenRecord(self.pages, self.policy_label)

    def sentence(self, what: str, more: str = "") -> str:
        """A sentence for readers, such as '2 pages are hidden by …'; empty if nothing was hidden."""
        things = f"1 {what}" if self.pages == 1 else f"{self.pages} {what}s"
        verb = "is" if self.pages == 1 else "are"
        return " ".join(filter(None, (things, more, verb, f"hidden by {self.policy_label}."))) if self.pages else ""


NONE_HIDDEN = HiddenPages()


@dataclass(frozen=True, slots=True)
class HiddenRecord(Record):
    """Pages that the server's policy hides."""

    pages: int
    """How many of the books' first results."""
    by: str
    """Whose policy it is."""


class HiddenTitles:
    """Matches hidden titles, ignoring case, accents, punctuation and underscores."""

    def __init__(self, rules: Collection[str]) -> None:
        self._exact = frozenset(fold(rule) for rule in rules if ANYTHING not in rule)
        patterns = sorted({_pattern(rule) for rule in rules if ANYTHING in rule})
        self._pattern = re.compile("|".join(patterns), re.DOTALL) if patterns else None

    def __bool__(self) -> bool:
        return bool(self._exact or self._pattern)

    def has(self, title: str) -> bool:
        folded = fold(title.replace("_", " "))
        return folded in self._exact or bool(self._pattern and self._pattern.fullmatch(folded))


def _pattern(rule: str) -> str:
    """A rule with '*' as a regular expression over folded titles; a space next to a '*' counts."""
    first, *between, last = (_folded_part(part) for part in rule.split(ANYTHING))
    # Atomic groups: without backtracking no title takes long, however many '*' a rule has.
    return first + "".join(f"(?>.*?{part})" for part in between if part) + ".*" + last


def _folded_part(part: str) -> str:
    folded = re.escape(fold(part)) if part.strip() else ""
    before = " " if part[:1].isspace() and folded else ""
    after = " " if part[-1:].isspace() and folded else ""
    return before + folded + after


def book_hidden_error(name: str, policy: Policy) -> BookHidden:
    return BookHidden(
        f"The book {name!r} is not allowed by {policy.label}.",
        remedy="Your administrator can allow it with 'books' under [policy] in the settings.",
    )


SPARE_RESULTS = 20
"""How many more results are requested than are wanted, since some may be hidden."""

MAX_CACHED_PATHS = 32_768
REMEDY = "Your administrator can allow it with 'hidden' under [policy] in the settings."


class PolicyArchive:
    """A book without its hidden pages: no search finds them, and reading one raises PageHidden.

    What counts is the page that a path leads to, by its own title and by its path, so no spelling
    of an address, no redirect and no other name gets around it. A hidden title that is a redirect
    hides that name only, not the page it leads to.
    """

    def __init__(self, archive: Archive, titles: HiddenTitles, policy: Policy) -> None:
        self.inner = archive
        """The book with its hidden pages, for what is built once for all policies, such as its title index."""
        self._titles = titles
        self._policy = policy
        self._is_served = is_address(archive.book.source)
        self._is_here = BookLocation(archive.book.source).is_local
        self._hides = lru_cache(maxsize=MAX_CACHED_PATHS)(self._look_up)

    @property
    def book(self) -> Book:
        return self.inner.book

    @property
    def policy_label(self) -> str:
        """How sentences for readers refer to the policy."""
        return self._policy.label

    def read(self, path: str) -> Entry:
        entry = self.inner.read(path)
        self._refuse_hidden(path, entry.ref.path, entry.title, *map(title_of_path, entry.via))
        return entry

    def info(self, path: str) -> EntryInfo:
        item = self.inner.info(path)
        self._refuse_hidden(path, item.ref.path, *map(title_of_path, item.via))
        # A server's title is only in the page itself, so it has to be requested in addition to the path.
        if self._is_served and item.is_html:
            self._refuse_hidden(path, item.ref.path, self.inner.title(item.ref.path))
        return item

    def part(self, path: str, start: int, end: int) -> bytes:
        return self.inner.part(self.info(path).ref.path, start, end)

    def resolve(self, path: str) -> str | None:
        final = self.inner.resolve(path)
        return None if final is None or self._hides(path) or self._hides(final) else final

    def by_title(self, title: str) -> str | None:
        path = None if self._titles.has(title) else self.inner.by_title(title)
        return None if path is None or self._hides(path) else path

    def search(self, words: str, limit: int) -> tuple[Match, ...]:
        return self._shown(self.inner.search(words, limit + SPARE_RESULTS))[:limit]

    def paths_with(self, words: str, limit: int) -> tuple[str, ...]:
        found = self.inner.paths_with(words, limit + SPARE_RESULTS)
        return tuple(path for path in found if not self._hides(path))[:limit]

    def title(self, path: str) -> str:
        title = self.inner.title(path)
        self._refuse_hidden(path, path, title)
        return title

    def estimate(self, words: str) -> int:
        # Hidden pages are counted too: the figure only says how common a word is.
        return self.inner.estimate(words)

    def suggest(self, text: str, limit: int) -> tuple[Match, ...]:
        return self._shown(self.inner.suggest(text, limit + SPARE_RESULTS))[:limit]

    def articles(self) -> Iterator[str]:
        return (path for path in self.inner.articles() if not self._hides(path))

    def titles(self, start: int = 0) -> Iterator[TitleEntry]:
        return (title for title in self.inner.titles(start) if not self.hides_title(title.title, title.path))

    def url(self, path: str) -> str:
        return self.inner.url(path)

    def close(self) -> None:
        self.inner.close()

    def hides_title(self, title: str, path: str) -> bool:
        """Whether a title is hidden, or the page it leads to."""
        return self._titles.has(title) or self._hides(path)

    def hidden_name_error(self, name: str) -> PageHidden | None:
        """The error for a name that is hidden, whatever page it leads to; None if it is not."""
        return self._hidden_title_error(name) if self._titles.has(name) else None

    def hidden_page_error(self, path: str) -> PageHidden | None:
        """The error for a path that is hidden or leads to a hidden page; None if nothing is hidden there."""
        final = self.inner.resolve(path)
        is_hidden = final is not None and (self._hides(path) or self._hides(final))
        return self._hidden_path_error(path, final or path) if is_hidden else None

    def count_hidden_results(self, phrases: Iterable[str], names: Iterable[str], limit: int) -> HiddenPages:
        """How many hidden pages the book itself would find first for the phrases, or have one of the names."""
        found = {
            match.path
            for words in phrases
            for match in (*self.inner.search(words, limit), *self.inner.suggest(words, limit))
        }
        called = filter(self._titles.has, names)
        found |= {path for name in called if (path := find_path(self.inner, name))}
        return HiddenPages(sum(map(self._hides, found)), self._policy.label)

    def hidden_page_title(self, name: str) -> str:
        """The title of the hidden page with exactly this name; empty if there is none, or it is not hidden."""
        if not self._is_here and not self._titles.has(name):
            return ""  # each lookup would be a request
        path = find_path(self.inner, name)
        if path is None:  # as people type it, without brackets and accents
            folded = fold(name)
            path = next(
                (match.path for match in self.inner.suggest(name, SPARE_RESULTS) if fold(match.title) == folded), None
            )
        title = self.inner.title(path) if path else ""
        return title if path and (self._hides(path) or self._titles.has(title)) else ""

    def has_visible_page(self, name: str) -> bool:
        """Whether a page that is not hidden has this name; not looked up on a server or another host."""
        return self._is_here and find_path(self, name) is not None

    def _shown(self, matches: Iterable[Match]) -> tuple[Match, ...]:
        shown = (match for match in matches if not self.hides_title(match.title, match.path))
        return tuple(replace(match, alias="") if self._titles.has(match.alias) else match for match in shown)

    def _refuse_hidden(self, path: str, final: str, *titles: str) -> None:
        if self._hides(path) or self._hides(final) or any(map(self._titles.has, titles)):
            raise self._hidden_path_error(path, final)

    def _hidden_path_error(self, path: str, final: str) -> PageHidden:
        """The error for a path: it names the page if that is hidden, else the name that leads to it."""
        return self._hidden_title_error(final if self._hides(final) else path)

    def _hidden_title_error(self, path: str) -> PageHidden:
        name = title_of_path(path)
        return PageHidden(f"The page {name!r} is hidden by {self._policy.label}.", remedy=REMEDY)

    def _look_up(self, path: str) -> bool:
        """Whether the page at a path is hidden by its path or title; on a server by its path, to save requests."""
        if self._titles.has(title_of_path(path)):
            return True
        try:
            return not self._is_served and self._titles.has(self.inner.title(path))
        except (PageNotFound, RedirectLoop):
            return False


def names_of(book: Book) -> tuple[str, ...]:
    """The names by which a policy may refer to a book."""
    stem = "" if is_address(book.source) else re.split(r"[/\\]", book.source)[-1]
    return (book.id, book.name, book.title, stem, stem.removesuffix(".zim"))


def with_policy(archive: Archive, policy: Policy) -> Archive:
    """The book without what a policy hides; if the policy does not allow it, it is closed and BookHidden raised."""
    names = names_of(archive.book)
    if not policy.allows(names):
        archive.close()
        raise book_hidden_error(archive.book.title or archive.book.name, policy)
    titles = policy.titles_of(names)
    return PolicyArchive(archive, titles, policy) if titles else archive


def without_policy(archive: Archive) -> Archive:
    """The book with its hidden pages, for what is built once for all policies and filtered before it is shown."""
    return archive.inner if isinstance(archive, PolicyArchive) else archive


def hidden_page_error(archive: Archive, path: str) -> PageHidden | None:
    """The error for a path that leads to a hidden page of a book; None if it does not."""
    return archive.hidden_page_error(path) if isinstance(archive, PolicyArchive) else None


def hidden_page_named_error(archives: Iterable[Archive], name: str) -> PageHidden | None:
    """The error for a page asked for by name, if one of the books hides it; None if none does."""
    for archive in archives:
        if isinstance(archive, PolicyArchive):
            try:
                path = find_path(archive.inner, name)
            except KiwiError:
                continue
            if path and (
                hidden := archive.hidden_page_error(path)
                or archive.hidden_page_error(name)
                or archive.hidden_name_error(name)
            ):
                return hidden
    return None


@dataclass(frozen=True, slots=True)
class HiddenName:
    """A name that was asked for, and the title of the hidden page with that name."""

    name: str
    title: str
    policy_label: str


def hidden_name_among(archives: Iterable[Archive], names: Iterable[str]) -> HiddenName | None:
    """The longest of the names whose page a book hides, unless it is part of the name of a page that is shown."""
    guarded = [archive for archive in archives if isinstance(archive, PolicyArchive)]
    wanted = list(dict.fromkeys(filter(None, names))) if guarded else []
    shown: list[str] = []
    for name in sorted(wanted, key=len, reverse=True):
        # 'Beer' is hidden, but in 'Beer Hall Putsch' it is part of the name of a page that may be read.
        if any(f" {fold(name)} " in f" {longer} " for longer in shown):
            continue
        for archive in guarded:
            try:
                title = archive.hidden_page_title(name)
                is_shown = not title and archive.has_visible_page(name)
            except KiwiError:
                continue
            if title:
                return HiddenName(name, title, archive.policy_label)
            if is_shown:
                shown.append(fold(name))
    return None


def count_hidden_matches(
    archives: Iterable[Archive], phrases: Iterable[str], names: Iterable[str], limit: int
) -> HiddenPages:
    """How many hidden pages the books would find first for the phrases, or have one of the names."""
    phrases, names = list(dict.fromkeys(filter(None, phrases))), list(dict.fromkeys(filter(None, names)))
    guarded = (archive for archive in archives if isinstance(archive, PolicyArchive))
    return sum((archive.count_hidden_results(phrases, names, limit) for archive in guarded), NONE_HIDDEN)
