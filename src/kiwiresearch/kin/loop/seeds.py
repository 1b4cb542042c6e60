"""Finds the page of the person a case starts with, by whatever name the user typed; never guesses between two."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from kiwiresearch.errors import BadUsage, NothingFound
from kiwiresearch.kin.extract import read_person
from kiwiresearch.kin.loop.queries import KINSHIP_WORDS
from kiwiresearch.kin.names import name_words, parse_name, token_similarity, word_match
from kiwiresearch.kin.report import year_phrase
from kiwiresearch.kin.source_facts import PersonReading
from kiwiresearch.kin.sources import NAME_LINK_WORDS, BookSource, FetchedRecord
from kiwiresearch.text import fold

FULL_NAME_CHARS, LEAD_CHARS = 120, 4_000
"""The part of a page that has the full name, and the part that has other names."""
ROYAL_TITLES = frozenset({
    "king", "queen", "prince", "princess", "emperor", "empress", "tsar", "tsarina", "czar", "czarina", "kaiser",
    "sultan", "shah", "caliph", "pope", "pharaoh", "prophet", "saint", "st",
})  # fmt: skip
"""Titles that go with a first name: 'Queen Anne' is not Anne Frank."""
GIVEN_NAME_TITLES = ROYAL_TITLES | {
    "sir", "dame", "lady", "father", "brother", "sister", "don", "dona", "dom", "young", "late",
}  # fmt: skip
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
# 'better known as Mark Twain' and 'born Samuel Clemens', but not 'the brother of Mark Twain'.
ALIAS_PATTERN = (
    r"\b(?:born|(?:known|called|nicknamed|dubbed|styled|remembered|spoken of)"
    r"(?: (?:as|the|simply|just|popularly|commonly|worldwide|also|better))*) "
)
MAX_LISTED = 8
TYPED_NAME_SPELLING = 0.9
EXACT_TITLE, SAME_WORDS, PART_OF_TITLE, NAMED_IN_TEXT, SHORT_FORM, NO_FIT = 5, 4, 3, 2, 1, 0
"""How a typed name fits a page: its title; the same words or another title; part of it; a name in the text; initials
or a pet name; not at all."""


@dataclass(frozen=True, slots=True)
class TypedName:
    """A name as the user typed it, prepared for comparison."""

    written: str
    words: tuple[str, ...]
    without_titles: tuple[str, ...]
    titles: frozenset[str]

    @classmethod
    def parse(cls, written: str) -> TypedName:
        words = _words(written)
        in_front = list(takewhile(lambda word: word in name_words().honorifics | ROYAL_TITLES, words))
        rest = fold(written).split()[len(in_front) :]
        # 'King of England' is not a name.
        plain = words[len(in_front) :] if rest and rest[0] not in NAME_LINK_WORDS else ()
        return cls(written, words, plain, frozenset(in_front))

    @property
    def names(self) -> tuple[str, ...]:
        """The words without titles and regnal numbers."""
        return tuple(word for word in self.without_titles if word not in ROMANS)


@dataclass(frozen=True, slots=True)
class SeedCandidate:
    """A page that may be the one meant, and how well the name fits."""

    fetched: FetchedRecord
    reading: PersonReading
    fit: int = NO_FIT

    @property
    def lifespan(self) -> str:
        """The years of a dead person; empty for one who may be alive."""
        years = [next((fact.when for fact in self.reading.facts if fact.field == field), None) for field in LIFE_FIELDS]
        born, died = (year_phrase(when) if when else "" for when in years)
        return f"{born or '?'}–{died}" if died else ""

    @property
    def label(self) -> str:
        """The title and the years."""
        return f"{self.reading.title!r}{f' ({self.lifespan})' if self.lifespan else ''}"


LIFE_FIELDS = ("birth_date", "death_date")


def find_seed_page(books: BookSource, name: str) -> FetchedRecord:
    """The page of the person with this name; raises if there is none, or more than one."""
    candidates = _candidates_for(books, name)
    fitting = _best_fits(candidates)
    if not fitting:
        raise _not_found(name, candidates)
    if len(fitting) > 1:
        several = "; ".join(candidate.label for candidate in fitting[:MAX_LISTED])
        more = f"; and {len(fitting) - MAX_LISTED} more" if len(fitting) > MAX_LISTED else ""
        raise BadUsage(
            f"{name!r} could be {len(fitting)} people: {several}{more}.",
            remedy="Use the page title of one of them, for example: "
            f"kiwiresearch kin start {fitting[0].reading.title!r}",
        )
    return fitting[0].fetched


def candidate_people(books: BookSource, name: str) -> tuple[SeedCandidate, ...]:
    """The people a name may mean: the best fits, else the near ones."""
    candidates = _candidates_for(books, name)
    return tuple((_best_fits(candidates) or _near_fits(name, candidates))[:MAX_LISTED])


def _candidates_for(books: BookSource, name: str) -> list[SeedCandidate]:
    found = books.search_name(name)
    candidates = _candidates(found.pages, TypedName.parse(name))
    # The name as typed comes first, since a corrected spelling may be another name.
    if found.corrected and not any(candidate.fit for candidate in candidates):
        return _candidates(found.pages, TypedName.parse(found.corrected))
    return candidates


def _best_fits(candidates: Sequence[SeedCandidate]) -> list[SeedCandidate]:
    """The people with the best fit, each title once."""
    people = [candidate for candidate in candidates if candidate.reading.is_person and candidate.fit != NO_FIT]
    best = max((candidate.fit for candidate in people), default=NO_FIT)
    return list(
        # Of pages with the same title the first one stays: a dictionary keeps the last, hence reversed twice.
        {fold(candidate.reading.title): candidate for candidate in reversed(people) if candidate.fit == best}.values()
    )[::-1]


def _near_fits(name: str, candidates: Sequence[SeedCandidate]) -> list[SeedCandidate]:
    typed = TypedName.parse(name)
    return [candidate for candidate in candidates if candidate.reading.is_person and _is_near(typed, candidate.reading)]


def _candidates(pages: Iterable[tuple[FetchedRecord, str]], typed: TypedName) -> list[SeedCandidate]:
    """The pages whose opening has a word of the name; each page is read once."""
    found: dict[str, SeedCandidate] = {}
    for fetched, alias in pages:
        page = fetched.page
        if page is None:
            continue
        opening = set(_words(f"{page.title} {alias} {page.text[:LEAD_CHARS]}"))
        if not any(_is_alike(word, other) for word in typed.words for other in opening):
            continue
        earlier = found.get(fetched.source.url)
        reading = earlier.reading if earlier else read_person(page)
        fit = fit_of(typed, reading, alias, page.text)
        if earlier is None or fit > earlier.fit:
            found[fetched.source.url] = SeedCandidate(fetched, reading, fit)
    return list(found.values())


def fit_of(typed: TypedName, reading: PersonReading, alias: str, text: str) -> int:
    """How well a typed name fits a page."""
    if fold(reading.title) == fold(typed.written):
        return EXACT_TITLE
    fit = max(_fit(typed.words, reading, alias), NAMED_IN_TEXT * _is_called(typed, reading, text))
    return max(fit, _fit(typed.without_titles, reading, alias)) if _is_of_rank(typed, reading) else fit


def _fit(words: Sequence[str], reading: PersonReading, alias: str) -> int:
    title, other, own = (_words(name) for name in (reading.title, alias, reading.name))
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
    """'J. S. Bach', 'JRR Tolkien' and 'Abe Lincoln': at least one word is the same, and none is left over."""
    if not set(words) & {word for word in name if len(word) > 1 and word not in ROMANS}:
        return False
    left = list(name)
    # 'JRR' is three initials: two or three letters without a vowel.
    initials = {word for word in words if word not in name and 1 < len(word) < 4 and not set(word) & set("aeiou")}
    letters = [letter for word in words for letter in (word if word in initials else (word,))]
    # Words that are in the name come first, or an initial could take their place.
    for word in sorted(letters, key=lambda word: word not in left):
        near = [other for other in left if word == other or word_match(word, other).kind in SHORT_FORMS]
        if not near or (word in ROMANS and len(word) > 1 and word not in left):
            return False
        left.remove(word if word in near else near[0])
    return True


SHORT_FORMS = ("initial", "pet form")


def _is_called(typed: TypedName, reading: PersonReading, text: str) -> bool:
    """Whether the page itself says that its person is called so: 'better known as William the Conqueror'."""
    if len(typed.without_titles) < 2:
        return False
    first = _words(text[:FULL_NAME_CHARS].partition("(")[0])
    if set(typed.without_titles) <= set(first) and _words(reading.title)[:1] == typed.without_titles[:1]:
        return True
    return bool(re.search(f"{ALIAS_PATTERN}{re.escape(fold(typed.written))}\\b", fold(text[:LEAD_CHARS])))


def _is_of_rank(typed: TypedName, reading: PersonReading) -> bool:
    """Whether the person may have the titles in the typed name."""
    words = name_words()
    sex = "male" if typed.titles & words.male_titles else "female" if typed.titles & words.female_titles else ""
    if reading.sex and sex and reading.sex != sex:
        return False
    if len(typed.names) > 1 or not typed.titles:
        return True
    name = parse_name(reading.title)
    if typed.titles & ROYAL_TITLES:
        return not parse_name(reading.title.partition(",")[0]).surname
    if typed.titles - GIVEN_NAME_TITLES:
        return bool({*_words(name.surname), *_words(" ".join(name.titles))} & set(typed.names))
    return True


def _not_found(name: str, candidates: Sequence[SeedCandidate]) -> NothingFound:
    page = next((candidate for candidate in candidates if candidate.fit == EXACT_TITLE), None)
    if page:
        return NothingFound(
            f"The page {page.reading.title!r} cannot be used: {page.reading.why}.",
            remedy="Use the name of one person, or the title of their page.",
        )
    what = f"No page about {name!r} was found."
    if KINSHIP_WORDS & set(_words(name)):
        return NothingFound(what, remedy="Use the name of one person. Research then finds their relatives.")
    near = _near_fits(name, candidates)
    if near:
        people = ", ".join(candidate.label for candidate in near[:MAX_LISTED])
        return NothingFound(what, remedy=f"Did you mean {people}? Use the title of the page.")
    return NothingFound(
        what, remedy="Search for the person with 'kiwiresearch search', then use the title of the page."
    )


def _is_near(typed: TypedName, reading: PersonReading) -> bool:
    """Whether half of the name fits, at least roughly, and the rest does not exclude the person."""
    name, names = _words(reading.title), typed.names
    numbers = set(typed.words) & set(ROMANS), set(name) & set(ROMANS)
    if not _is_of_rank(typed, reading) or (all(numbers) and numbers[0] != numbers[1]):
        return False
    alike = [word for word in names if any(_is_alike(word, other) for other in name)]
    surname = _words(parse_name(reading.title.partition(",")[0]).surname)
    is_other = surname and len(names) > 1 and not any(_is_alike(item, two) for item in names for two in surname)
    return len(alike) * 2 >= len(names) > 0 and not is_other


def _is_alike(word: str, other: str) -> bool:
    return word == other or (min(len(word), len(other)) > 1 and token_similarity(word, other) >= TYPED_NAME_SPELLING)


def _words(name: str) -> tuple[str, ...]:
    """The folded words without small ones; 'the Eighth' and '8th' become 'viii'."""
    plain = (name.partition("(")[0].strip() or name).replace(".", " ")
    words = [word for word in fold(plain).split() if word not in NAME_LINK_WORDS]
    # A regnal number follows a name, so the first word stays as it is.
    return tuple(NUMBERS.get(word, word) if at else word for at, word in enumerate(words))
