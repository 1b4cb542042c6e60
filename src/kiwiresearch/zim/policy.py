"""What an institution leaves out of its books: the rules, and what readers are told of them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from kiwiresearch.errors import BadSettings, BookHidden
from kiwiresearch.ids import canonical_json
from kiwiresearch.text.fold import fold

OF_BOOK = "|"
"""Stands between the name of a book and a title, where a rule is for one book alone."""

ANYTHING = "*"


@dataclass(frozen=True, slots=True)
class Policy:
    """An institution's profile, below [policy] in the settings: the same for everybody who uses the desk."""

    name: str = ""
    """Whose profile it is, as readers are told, such as 'Lycée Pasteur'."""

    notice: str = ""
    """A sentence that readers see on the first page."""

    books: tuple[str, ...] = ()
    """The books that may be read, by name, title or UUID; empty allows all."""

    hidden: tuple[str, ...] = ()
    """Titles that are hidden: 'Beer', 'Torture*' for all that begin so, 'BOOK | Beer' in one book alone."""

    def __post_init__(self) -> None:
        for key, rules in (("books", self.books), ("hidden", self.hidden)):
            if any(not part.strip() for rule in rules for part in rule.split(OF_BOOK)):
                raise BadSettings(f"'policy.{key}' has an entry without a name.", remedy="Take it out.")

    @property
    def whose(self) -> str:
        """The policy, as readers hear of it."""
        return f"the policy of {self.name}" if self.name else "the policy of this desk"

    @property
    def restricts(self) -> bool:
        """Whether anything is left out at all."""
        return bool(self.books or self.hidden)

    @property
    def is_set(self) -> bool:
        """Whether there is anything to tell readers."""
        return bool(self.restricts or self.name or self.notice)

    @property
    def fingerprint(self) -> str:
        """A hash over all that changes what is found; empty where nothing is left out."""
        if not self.restricts:
            return ""
        rules = {"name": self.name, "books": sorted(self.books), "hidden": sorted(self.hidden)}
        return "sha256:" + hashlib.sha256(canonical_json(rules).encode("utf-8", "replace")).hexdigest()[:32]

    def allows(self, names: Iterable[str]) -> bool:
        """Whether a book that goes by these names may be read."""
        allowed = {name.casefold().strip() for name in self.books}
        return not allowed or any(name.casefold().strip() in allowed for name in names if name)

    def titles_of(self, names: Iterable[str]) -> Titles:
        """The titles that are hidden in a book that goes by these names."""
        known = {name.casefold().strip() for name in names if name}
        rules = []
        for rule in self.hidden:
            book, mark, title = rule.partition(OF_BOOK)
            if not mark or book.casefold().strip() in known:
                rules.append((title if mark else rule).strip())
        return Titles(rules)


@dataclass(frozen=True, slots=True)
class Hidden:
    """How many pages were left out, and by whose policy: told, so that nobody takes them for missing."""

    pages: int = 0
    whose: str = ""

    def __add__(self, other: Hidden) -> Hidden:
        return Hidden(self.pages + other.pages, self.whose or other.whose)

    def record(self) -> dict[str, object]:
        return {"pages": self.pages, "by": self.whose}

    def sentence(self, what: str, more: str = "") -> str:
        """What readers are told, such as '2 pages are hidden by …'; empty where nothing was left out."""
        things = f"1 {what}" if self.pages == 1 else f"{self.pages} {what}s"
        verb = "is" if self.pages == 1 else "are"
        return " ".join(filter(None, (things, more, verb, f"hidden by {self.whose}."))) if self.pages else ""


NONE_HIDDEN = Hidden()


class Titles:
    """Titles that are hidden: case, accents, punctuation and underscores may differ."""

    def __init__(self, rules: Collection[str]) -> None:
        self._exact = frozenset(fold(rule) for rule in rules if ANYTHING not in rule)
        forms = sorted({_form(rule) for rule in rules if ANYTHING in rule})
        self._forms = re.compile("|".join(forms), re.DOTALL) if forms else None

    def __bool__(self) -> bool:
        return bool(self._exact or self._forms)

    def has(self, title: str) -> bool:
        folded = fold(title.replace("_", " "))
        return folded in self._exact or bool(self._forms and self._forms.fullmatch(folded))


def _form(rule: str) -> str:
    """A rule with '*' as a pattern over folded titles; a space beside a '*' is meant.

    Whatever stands between two '*' is found where it comes first and not looked for again,
    so that no title takes long, however many there are.
    """
    first, *between, last = (_part(part) for part in rule.split(ANYTHING))
    return first + "".join(f"(?>.*?{part})" for part in between if part) + ".*" + last


def _part(part: str) -> str:
    folded = re.escape(fold(part)) if part.strip() else ""
    before = " " if part[:1].isspace() and folded else ""
    behind = " " if part[-1:].isspace() and folded else ""
    return before + folded + behind


def book_hidden(name: str, policy: Policy) -> BookHidden:
    return BookHidden(
        f"The book {name!r} is not among those that {policy.whose} allows.",
        remedy="Who runs this desk can allow it: 'books' below [policy] in the settings.",
    )
