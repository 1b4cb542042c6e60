"""Finds the page of the person a case starts with, by whatever name the user typed; never guesses between two."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from kiwiresearch.errors import BadUsage, NothingFound
from kiwiresearch.kin.extract.read import read_person
from kiwiresearch.kin.loop.queries import KINSHIP_WORDS
from kiwiresearch.kin.names import name_words, parse_name, token_similarity
from kiwiresearch.kin.report.labels import year_phrase
from kiwiresearch.kin.source_facts import PersonReading
from kiwiresearch.kin.sources.books import SMALL_WORDS, BookSource
from kiwiresearch.kin.sources.source import Fetched
from kiwiresearch.text.words import fold

OPENING_CHARS, LEAD_CHARS = 120, 4_000
"""Where a page begins with the full name, and where it says how else its person is called."""
ROYAL_TITLES = frozenset({
    "king", "queen", "prince", "princess", "emperor", "empress", "tsar", "tsarina", "czar", "czarina", "kaiser",
    "sultan", "shah", "caliph", "pope", "pharaoh", "prophet", "saint", "st",
})  # fmt: skip
"""Titles that go with a first name: 'Queen Anne' is not Anne Frank."""
GIVEN_NAME_TITLES = ROYAL_TITLES | {
    "sir",
    "dame",
    "lady",
    "father",
    "brother",
    "sister",
    "don",
    "dona",
    "dom",
    "young",
    "late",
}
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
ALIAS_PATTERN = (
    r"\b(?:born|(?:known|called|nicknamed|dubbed|styled|remembered|spoken of)"
    r"(?: (?:as|the|simply|just|popularly|commonly|worldwide|also|better))*) "
)
MAX_LISTED = 8
SPELLING_VARIANT = 0.9
EXACT_TITLE, SAME_WORDS, PART_OF_TITLE, NAMED_IN_TEXT, SHORT_FORM, NO_FIT = 5, 4, 3, 2, 1, 0
"""How a page is called so: by just its title; by it in another order, or another title; in part; in the text; by
initials or a pet name; not at all."""


@dataclass(frozen=True, slots=True)
class TypedName:
    """What a user typed, as it is compared with names."""

    written: str
    words: tuple[str, ...]
    without_titles: tuple[str, ...]
    """Without titles."""
    titles: frozenset[str]

    @classmethod
    def parse(cls, written: str) -> TypedName:
        words = _words(written)
        in_front = list(takewhile(lambda word: word in name_words().honorifics | ROYAL_TITLES, words))
        rest = fold(written).split()[len(in_front) :]
        # 'King of England' names nobody.
        plain = words[len(in_front) :] if rest and rest[0] not in SMALL_WORDS else ()
        return cls(written, words, plain, frozenset(in_front))

    @property
    def names(self) -> tuple[str, ...]:
        """Its words without titles and numbers of kings."""
        return tuple(word for word in self.without_titles if word not in ROMANS)


@dataclass(frozen=True, slots=True)
class SeedCandidate:
    """A page that may be the one, and how well it is called so."""

    fetched: Fetched
    read: PersonReading
    fit: int = NO_FIT

    @property
    def lived(self) -> str:
        """The years of who is dead: nobody is told when somebody was born who may be alive."""
        years = [next((one.when for one in self.read.facts if one.field == field), None) for field in LIFE_FIELDS]
        born, died = (year_phrase(when) if when else "" for when in years)
        return f"{born or '?'}–{died}" if died else ""

    @property
    def label(self) -> str:
        """The title and the years."""
        return f"{self.read.title!r}{f' ({self.lived})' if self.lived else ''}"


LIFE_FIELDS = ("birth_date", "death_date")


def find_seed_page(books: BookSource, name: str) -> Fetched:
    """The page about the person who is called so; refused where there is none, or more than one."""
    candidates = _candidates_for(books, name)
    fitting = _best_fits(candidates)
    if not fitting:
        raise _not_found(name, candidates)
    if len(fitting) > 1:
        several = "; ".join(one.label for one in fitting[:MAX_LISTED])
        more = f"; and {len(fitting) - MAX_LISTED} more" if len(fitting) > MAX_LISTED else ""
        raise BadUsage(
            f"{name!r} may be {len(fitting)} people: {several}{more}.",
            remedy=f"Give the title of one, such as: kiwiresearch kin start {fitting[0].read.title!r}",
        )
    return fitting[0].fetched


def candidate_people(books: BookSource, name: str) -> tuple[SeedCandidate, ...]:
    """Who may be meant by a name: those whom it fits best, else those whom it nearly fits."""
    candidates = _candidates_for(books, name)
    return tuple((_best_fits(candidates) or _near_fits(name, candidates))[:MAX_LISTED])


def _candidates_for(books: BookSource, name: str) -> list[SeedCandidate]:
    found = books.search_name(name)
    candidates = _candidates(found.pages, TypedName.parse(name))
    if found.mended and not any(one.fit for one in candidates):
        return _candidates(found.pages, TypedName.parse(found.mended))
    return candidates


def _best_fits(candidates: Sequence[SeedCandidate]) -> list[SeedCandidate]:
    """The people whom a name fits best, each title once."""
    people = [one for one in candidates if one.read.is_person and one.fit != NO_FIT]
    best = max((one.fit for one in people), default=NO_FIT)
    return list({fold(one.read.title): one for one in reversed(people) if one.fit == best}.values())[::-1]


def _near_fits(name: str, candidates: Sequence[SeedCandidate]) -> list[SeedCandidate]:
    meant = TypedName.parse(name)
    return [one for one in candidates if one.read.is_person and _is_near(meant, one.read)]


def _candidates(pages: Iterable[tuple[Fetched, str]], meant: TypedName) -> list[SeedCandidate]:
    """Pages with a word of the name where pages have names; each is read once."""
    found: dict[str, SeedCandidate] = {}
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
            found[fetched.source.url] = SeedCandidate(fetched, read, fit)
    return list(found.values())


def fit_of(meant: TypedName, read: PersonReading, alias: str, text: str) -> int:
    """How well a page is called by what was typed."""
    if fold(read.title) == fold(meant.written):
        return EXACT_TITLE
    fit = max(_fit(meant.words, read, alias), NAMED_IN_TEXT * _is_called(meant, read, text))
    return max(fit, _fit(meant.without_titles, read, alias)) if _is_of_rank(meant, read) else fit


def _fit(words: Sequence[str], read: PersonReading, alias: str) -> int:
    title, other, own = (_words(name) for name in (read.title, alias, read.name))
    if not words:
        return NO_FIT
    if sorted(words) in (sorted(title), sorted(other)):
        return SAME_WORDS
    if set(words) <= set(title) or set(words) <= set(other):
        return PART_OF_TITLE
    if set(words) <= set(own):
        return NAMED_IN_TEXT
    return SHORT_FORM if any(_is_short_for(words, name) for name in (title, own)) else NO_FIT


def _is_short_for(words: Sequence[str], name: Sequence[str]) -> bool:
    """'J. S. Bach', 'JRR Tolkien' and 'Abe Lincoln': one word at least is the same, and none is left over."""
    if not set(words) & {word for word in name if len(word) > 1 and word not in ROMANS}:
        return False
    left = list(name)
    letters = [letter for word in words for letter in (word if _is_initials(word, name) else (word,))]
    for word in sorted(letters, key=lambda word: word not in left):
        near = [other for other in left if word == other or token_similarity(word, other) in SHORT_FORM_SCORES]
        if not near or (word in ROMANS and len(word) > 1 and word not in left):
            return False
        left.remove(word if word in near else near[0])
    return True


SHORT_FORM_SCORES = (0.85, 0.95)
"""An initial, a pet form: what `token_likeness` says of them."""


def _is_initials(word: str, name: Sequence[str]) -> bool:
    return word not in name and 1 < len(word) < 4 and not set(word) & set("aeiou")


def _is_called(meant: TypedName, read: PersonReading, text: str) -> bool:
    """'better known as William the Conqueror': the page says itself that its person is called so."""
    if len(meant.without_titles) < 2:
        return False
    first = _words(text[:OPENING_CHARS].partition("(")[0])
    if set(meant.without_titles) <= set(first) and _words(read.title)[:1] == meant.without_titles[:1]:
        return True
    return bool(re.search(f"{ALIAS_PATTERN}{re.escape(fold(meant.written))}\\b", fold(text[:LEAD_CHARS])))


def _is_of_rank(meant: TypedName, read: PersonReading) -> bool:
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
    if meant.titles & ROYAL_TITLES:
        return not parse_name(read.title.partition(",")[0]).surname
    if meant.titles - GIVEN_NAME_TITLES:
        return bool({*_words(name.surname), *_words(" ".join(name.titles))} & set(meant.names))
    return True


def _not_found(name: str, candidates: Sequence[SeedCandidate]) -> NothingFound:
    page = next((one for one in candidates if one.fit == EXACT_TITLE), None)
    if page:
        return NothingFound(
            f"The page {page.read.title!r} is not about one person: {page.read.why}.",
            remedy="A case begins with a person: give a name, or the title of the person's page.",
        )
    what = f"No source of this case has a page about {name!r}."
    if KINSHIP_WORDS & set(_words(name)):
        return NothingFound(what, remedy="Begin with somebody by name: the case looks for the relatives.")
    near = _near_fits(name, candidates)
    if near:
        told = ", ".join(one.label for one in near[:MAX_LISTED])
        return NothingFound(what, remedy=f"Perhaps you mean {told}: give the title of the page.")
    return NothingFound(what, remedy="Look for the person with `kiwiresearch search` and give the title of the page.")


def _is_near(meant: TypedName, read: PersonReading) -> bool:
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
    return word == other or (min(len(word), len(other)) > 1 and token_similarity(word, other) >= SPELLING_VARIANT)


def _words(name: str) -> tuple[str, ...]:
    """The words that tell, small and plain; 'the Eighth' and '8th' are 'viii'."""
    plain = (name.partition("(")[0].strip() or name).replace(".", " ")
    words = [word for word in fold(plain).split() if word not in SMALL_WORDS]
    return tuple(NUMBERS.get(word, word) if at else word for at, word in enumerate(words))
