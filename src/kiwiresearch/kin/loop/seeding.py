"""Whom a case begins with: the page of the person a user means, however they call them; never a guess between two."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from kiwiresearch.errors import BadUsage, NothingFound
from kiwiresearch.kin.extracted import ReadPerson
from kiwiresearch.kin.loop.novelty import FAMILY_WORDS
from kiwiresearch.kin.names import name_words, parse_name, token_likeness
from kiwiresearch.kin.report.words import year_words
from kiwiresearch.kin.sources.books import SMALL_WORDS, BookSource
from kiwiresearch.kin.sources.source import Fetched
from kiwiresearch.text.fold import fold

OPENING_CHARS, LEAD_CHARS = 120, 4_000
"""Where a page begins with the full name, and where it says how else its person is called."""
ROYAL = frozenset({
    "king", "queen", "prince", "princess", "emperor", "empress", "tsar", "tsarina", "czar", "czarina", "kaiser",
    "sultan", "shah", "caliph", "pope", "pharaoh", "prophet", "saint", "st",
})  # fmt: skip
"""Titles that go with a first name: 'Queen Anne' is not Anne Frank."""
BEFORE_GIVEN = ROYAL | {"sir", "dame", "lady", "father", "brother", "sister", "don", "dona", "dom", "young", "late"}
"""All other titles go with a family name: 'Lord Nelson' is not Nelson Mandela."""
ROMANS = (
    "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii", "xiv", "xv", "xvi", "xvii",
    "xviii",
)  # fmt: skip
ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth",
)  # fmt: skip
NUMBERS = dict(zip(ORDINALS, ROMANS, strict=True)) | {
    f"{number}{end}": roman for number, roman in enumerate(ROMANS, 1) for end in ("st", "nd", "rd", "th")
}
CALLED = (
    r"\b(?:born|(?:known|called|nicknamed|dubbed|styled|remembered|spoken of)"
    r"(?: (?:as|the|simply|just|popularly|commonly|worldwide|also|better))*) "
)
MOST_LISTED = 8
SPELLED = 0.9
EXACT, SAME, WITHIN, OTHERWISE, SHORTENED, NOT = 5, 4, 3, 2, 1, 0
"""How a page is called so: by just its title; by it in another order, or another title; in part; in the text; by
initials or a pet name; not at all."""


@dataclass(frozen=True, slots=True)
class Meant:
    """What a user typed, as it is compared with names."""

    written: str
    words: tuple[str, ...]
    plain: tuple[str, ...]
    """Without titles."""
    titles: frozenset[str]

    @classmethod
    def by(cls, written: str) -> Meant:
        words = _words(written)
        in_front = list(takewhile(lambda word: word in name_words().honorifics | ROYAL, words))
        rest = fold(written).split()[len(in_front) :]
        # 'King of England' names nobody.
        plain = words[len(in_front) :] if rest and rest[0] not in SMALL_WORDS else ()
        return cls(written, words, plain, frozenset(in_front))

    @property
    def names(self) -> tuple[str, ...]:
        """Its words without titles and numbers of kings."""
        return tuple(word for word in self.plain if word not in ROMANS)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A page that may be the one, and how well it is called so."""

    fetched: Fetched
    read: ReadPerson
    fit: int = NOT

    @property
    def lived(self) -> str:
        """The years of who is dead: nobody is told when somebody was born who may be alive."""
        years = [next((one.when for one in self.read.facts if one.field == field), None) for field in LIFE]
        born, died = (year_words(when) if when else "" for when in years)
        return f"{born or '?'}–{died}" if died else ""

    @property
    def told(self) -> str:
        """The title and the years."""
        return f"{self.read.title!r}{f' ({self.lived})' if self.lived else ''}"


LIFE = ("birth_date", "death_date")


def seed_page(books: BookSource, name: str) -> Fetched:
    """The page about the person who is called so; refused where there is none, or more than one."""
    candidates = _called(books, name)
    fitting = _fitting(candidates)
    if not fitting:
        raise _nobody(name, candidates)
    if len(fitting) > 1:
        several = "; ".join(one.told for one in fitting[:MOST_LISTED])
        more = f"; and {len(fitting) - MOST_LISTED} more" if len(fitting) > MOST_LISTED else ""
        raise BadUsage(
            f"{name!r} may be {len(fitting)} people: {several}{more}.",
            remedy=f"Give the title of one, such as: kiwiresearch kin start {fitting[0].read.title!r}",
        )
    return fitting[0].fetched


def people_meant(books: BookSource, name: str) -> tuple[Candidate, ...]:
    """Who may be meant by a name: those whom it fits best, else those whom it nearly fits."""
    candidates = _called(books, name)
    return tuple((_fitting(candidates) or _near(name, candidates))[:MOST_LISTED])


def _called(books: BookSource, name: str) -> list[Candidate]:
    found = books.called(name)
    candidates = _candidates(found.pages, Meant.by(name))
    if found.mended and not any(one.fit for one in candidates):
        return _candidates(found.pages, Meant.by(found.mended))
    return candidates


def _fitting(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The people whom a name fits best, each title once."""
    people = [one for one in candidates if one.read.is_person and one.fit != NOT]
    best = max((one.fit for one in people), default=NOT)
    return list({fold(one.read.title): one for one in reversed(people) if one.fit == best}.values())[::-1]


def _near(name: str, candidates: Sequence[Candidate]) -> list[Candidate]:
    meant = Meant.by(name)
    return [one for one in candidates if one.read.is_person and _is_near(meant, one.read)]


def _candidates(pages: Iterable[tuple[Fetched, str]], meant: Meant) -> list[Candidate]:
    """Pages with a word of the name where pages have names; each is read once."""
    # Its patterns take long to build: a server that reads no family does without.
    from kiwiresearch.kin.extract.read import read_person

    found: dict[str, Candidate] = {}
    for fetched, alias in pages:
        page = fetched.page
        if page is None:
            continue
        opening = set(_words(f"{page.title} {alias} {page.text[:LEAD_CHARS]}"))
        if not any(_is_alike(word, other) for word in meant.words for other in opening):
            continue
        earlier = found.get(fetched.source.url)
        read = earlier.read if earlier else read_person(page)
        fit = fit_of(meant, read, alias, page.text)
        if earlier is None or fit > earlier.fit:
            found[fetched.source.url] = Candidate(fetched, read, fit)
    return list(found.values())


def fit_of(meant: Meant, read: ReadPerson, alias: str, text: str) -> int:
    """How well a page is called by what was typed."""
    if fold(read.title) == fold(meant.written):
        return EXACT
    fit = max(_fit(meant.words, read, alias), OTHERWISE * _is_called(meant, read, text))
    return max(fit, _fit(meant.plain, read, alias)) if _is_of_rank(meant, read) else fit


def _fit(words: Sequence[str], read: ReadPerson, alias: str) -> int:
    title, other, own = (_words(name) for name in (read.title, alias, read.name))
    if not words:
        return NOT
    if sorted(words) in (sorted(title), sorted(other)):
        return SAME
    if set(words) <= set(title) or set(words) <= set(other):
        return WITHIN
    if set(words) <= set(own):
        return OTHERWISE
    return SHORTENED if any(_is_short_for(words, name) for name in (title, own)) else NOT


def _is_short_for(words: Sequence[str], name: Sequence[str]) -> bool:
    """'J. S. Bach', 'JRR Tolkien' and 'Abe Lincoln': one word at least is the same, and none is left over."""
    if not set(words) & {word for word in name if len(word) > 1 and word not in ROMANS}:
        return False
    left = list(name)
    letters = [letter for word in words for letter in (word if _is_initials(word, name) else (word,))]
    for word in sorted(letters, key=lambda word: word not in left):
        near = [other for other in left if word == other or token_likeness(word, other) in SHORT]
        if not near or (word in ROMANS and len(word) > 1 and word not in left):
            return False
        left.remove(word if word in near else near[0])
    return True


SHORT = (0.85, 0.95)
"""An initial, a pet form: what `token_likeness` says of them."""


def _is_initials(word: str, name: Sequence[str]) -> bool:
    return word not in name and 1 < len(word) < 4 and not set(word) & set("aeiou")


def _is_called(meant: Meant, read: ReadPerson, text: str) -> bool:
    """'better known as William the Conqueror': the page says itself that its person is called so."""
    if len(meant.plain) < 2:
        return False
    first = _words(text[:OPENING_CHARS].partition("(")[0])
    if set(meant.plain) <= set(first) and _words(read.title)[:1] == meant.plain[:1]:
        return True
    return bool(re.search(f"{CALLED}{re.escape(fold(meant.written))}\\b", fold(text[:LEAD_CHARS])))


def _is_of_rank(meant: Meant, read: ReadPerson) -> bool:
    """Whether the person may have the titles that were typed."""
    words = name_words()
    sexes = (
        {"male"} if meant.titles & words.male_titles else {"female"} if meant.titles & words.female_titles else set()
    )
    if read.sex and sexes and read.sex not in sexes:
        return False
    if len(meant.names) > 1 or not meant.titles:
        return True
    name = parse_name(read.title)
    if meant.titles & ROYAL:
        return not parse_name(read.title.partition(",")[0]).surname
    if meant.titles - BEFORE_GIVEN:
        return bool({*_words(name.surname), *_words(" ".join(name.titles))} & set(meant.names))
    return True


def _nobody(name: str, candidates: Sequence[Candidate]) -> NothingFound:
    page = next((one for one in candidates if one.fit == EXACT), None)
    if page:
        return NothingFound(
            f"The page {page.read.title!r} is not about one person: {page.read.why}.",
            remedy="A case begins with a person: give a name, or the title of the person's page.",
        )
    what = f"No source of this case has a page about {name!r}."
    if FAMILY_WORDS & set(_words(name)):
        return NothingFound(what, remedy="Begin with somebody by name: the case looks for the relatives.")
    near = _near(name, candidates)
    if near:
        told = ", ".join(one.told for one in near[:MOST_LISTED])
        return NothingFound(what, remedy=f"Perhaps you mean {told}: give the title of the page.")
    return NothingFound(what, remedy="Look for the person with `kiwiresearch search` and give the title of the page.")


def _is_near(meant: Meant, read: ReadPerson) -> bool:
    """Half of the name is there, or nearly, and the rest does not tell of somebody else."""
    name, names = _words(read.title), meant.names
    numbers = set(meant.words) & set(ROMANS), set(name) & set(ROMANS)
    if not _is_of_rank(meant, read) or (all(numbers) and numbers[0] != numbers[1]):
        return False
    alike = [word for word in names if any(_is_alike(word, other) for other in name)]
    surname = _words(parse_name(read.title.partition(",")[0]).surname)
    is_other = surname and len(names) > 1 and not any(_is_alike(one, two) for one in names for two in surname)
    return len(alike) * 2 >= len(names) > 0 and not is_other


def _is_alike(word: str, other: str) -> bool:
    return word == other or (min(len(word), len(other)) > 1 and token_likeness(word, other) >= SPELLED)


def _words(name: str) -> tuple[str, ...]:
    """The words that tell, small and plain; 'the Eighth' and '8th' are 'viii'."""
    plain = (name.partition("(")[0].strip() or name).replace(".", " ")
    words = [word for word in fold(plain).split() if word not in SMALL_WORDS]
    return tuple(NUMBERS.get(word, word) if at else word for at, word in enumerate(words))
