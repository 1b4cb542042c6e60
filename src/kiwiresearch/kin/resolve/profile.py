"""A person as the resolver compares them: names in parts, years, places, sources, and possible years of birth."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import jellyfish
from rapidfuzz.distance import JaroWinkler

from kiwiresearch.kin.names import PersonName, husband_in_title, name_words, parse_name, sex_of_name, titles_with_place
from kiwiresearch.kin.tree import RELATION_FIELDS, Evidence, Person, PersonId, Sex, Source, SourceId, Tree
from kiwiresearch.text import fold
from kiwiresearch.text.dates import DateRange, day_at

LABEL_ENDS = "\t", ":\n"
"""What separates the label of a row from its value."""


@dataclass(frozen=True, slots=True)
class MentionSpan:
    """A place of a source that names a person."""

    start: int
    end: int
    entry_of: str = ""
    """The box, or the lists and tables, of which it is an entry; empty in running text."""

    @property
    def is_unlocated(self) -> bool:
        """Whether the place is not known, or the whole source is about the person."""
        return self.start < 0


NO_POSITION = MentionSpan(-1, -1)


def mention_in(evidence: Evidence, person: Person, source: Source | None) -> MentionSpan:
    """Where a quote names a person."""
    is_own_page = source is not None and source.url == person.external.get("record")
    if is_own_page or evidence.start < 0:
        return NO_POSITION
    is_entry = any(end in evidence.snippet for end in LABEL_ENDS) or _begins_with_name(evidence.snippet, person)
    return MentionSpan(evidence.start, evidence.end, evidence.method if is_entry else "")


def _begins_with_name(snippet: str, person: Person) -> bool:
    text = f"{fold(snippet)} "
    return any(text.startswith(f"{fold(name)} ") for name in (person.name, *person.names))


def are_listed_together(one: Sequence[MentionSpan], other: Sequence[MentionSpan]) -> bool:
    """Whether the box, the lists or a sentence of a source names both people: none of them names anybody twice."""
    return any(
        first.is_unlocated
        or second.is_unlocated
        or (first.start < second.end and second.start < first.end)
        or bool(first.entry_of and first.entry_of == second.entry_of)
        for first in one
        for second in other
    )


SIGNS = str.maketrans("/_", "  ")
# '3rd' and '21st', but not the '3' in 'Son 3'.
ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)")
NUMBER = re.compile(r"\b\d{1,2}\b")
"""In names of unnamed children: 'Son 2'."""
PLACEHOLDER_TEXT = """
unknown unnamed nn n infant child baby boy girl twin stillborn daughter dau son private living none someone anonymous
"""
PLACEHOLDER_NAMES = frozenset(PLACEHOLDER_TEXT.split())
"""Words used in place of an unknown name."""
LOWERCASE_WORDS_TEXT = "of the and de du des la le les von van der den zu zum del della di da dos y e"
LOWERCASE_NAME_WORDS = frozenset(LOWERCASE_WORDS_TEXT.split())
INITIAL_SIMILARITY = 0.75
"""The similarity of a name and its initial."""
VARIANT_SIMILARITY = 0.95
"""The similarity of two forms of a name: 'William' and 'Wilhelm'."""


@dataclass(frozen=True, slots=True)
class NameParts:
    """A name in parts, folded."""

    given: str = ""
    rest: tuple[str, ...] = ()
    numerals: frozenset[int] = frozenset()
    generation: str = ""
    """'junior' or 'senior'."""
    ordinals: frozenset[str] = frozenset()
    """Numbers of a title: '3rd' of '3rd Earl of Salisbury'."""
    titles: frozenset[str] = frozenset()
    """Titles of a place: 'earl of salisbury'."""
    husband: str = ""
    """The given name of the husband that she is called by: 'friedrich' of 'the Empress Friedrich'."""
    epithets: frozenset[str] = frozenset()
    """What follows the name: 'black prince' of 'Edward, the Black Prince'."""
    whole: str = ""
    """The name without its article."""
    has_place: bool = False
    """It is followed by a place instead of a family name: 'Elizabeth of Bohemia'."""

    @property
    def tokens(self) -> tuple[str, ...]:
        return (self.given, *self.rest) if self.given else self.rest

    def is_short_for(self, other: NameParts) -> bool:
        """Whether the other name has all that this one has, and more words."""
        return (
            set(self.tokens) < set(other.tokens)
            and self.given == other.given
            and self.numerals <= other.numerals
            and self.titles <= other.titles
            and self.generation in ("", other.generation)
        )


@lru_cache(maxsize=65_536)
def name_parts(text: str) -> NameParts:
    """A name as written, without titles and small words."""
    name = parse_name(text.translate(SIGNS))
    titles = frozenset(titles_with_place(text.translate(SIGNS)))
    husband = husband_in_title(text)
    if husband:
        return NameParts(titles=titles, husband=husband)
    generation = name.generation
    numerals = {name.regnal} - {0}
    if generation.isdigit():
        numerals.add(int(generation))
        generation = ""
    given = _words(*name.given[:1])
    rest = _words(
        *name.given[1:],
        name.patronymic,
        name.surname,
        name.maiden,
        name.nickname,
        name.byname if name.given or not titles else "",
    )
    is_known = bool(given) and given[0] not in PLACEHOLDER_NAMES
    ordinals = frozenset(ORDINAL.findall(fold(" ".join(name.titles))) + ([] if is_known else NUMBER.findall(text)))
    first = given[0] if is_known and not _is_peerage(name) else ""
    tokens = dict.fromkeys((*given, *rest))
    others = tuple(
        token for token in tokens if token not in PLACEHOLDER_NAMES | LOWERCASE_NAME_WORDS and token != first
    )
    return NameParts(first, others, frozenset(numerals), generation, ordinals, titles, "", *_epithets(name))


def _is_peerage(name: PersonName) -> bool:
    """Whether the only name is that of a title: 'Lord Darnley'."""
    words = name_words()
    given, ranks = " ".join(map(fold, name.given)), set(map(fold, name.titles[:1]))
    is_given = given in words.male | words.female or given in words.pet_groups
    has_more = len(name.given) > 1 or name.surname or name.byname
    return not (is_given or has_more) and bool(ranks & words.ranks_of_places)


def _epithets(name: PersonName) -> tuple[frozenset[str], str, bool]:
    parts = (fold(part).removeprefix("the ") for part in name.titles if " " in part)
    whole = fold(name.written).removeprefix("the ")
    return frozenset(parts), whole, bool(name.byname) and not name.surname


def _words(*parts: str) -> list[str]:
    skipped = LOWERCASE_NAME_WORDS | name_words().honorifics | name_words().ranks
    found = [word for part in parts for word in fold(part).split() if not word.isdigit()]
    return [word for word in found if word not in skipped] or found[:1]


@lru_cache(maxsize=262_144)
def word_similarity(one: str, other: str) -> float:
    """The similarity of two words of names, from 0 to 1."""
    if one == other:
        return 1.0
    if len(one) == 1 or len(other) == 1:
        return INITIAL_SIMILARITY if one[:1] == other[:1] else 0.0
    forms = name_words().pet_groups
    if not forms.get(one, frozenset()).isdisjoint(forms.get(other, frozenset())):
        return VARIANT_SIMILARITY
    return float(JaroWinkler.similarity(one, other))


@lru_cache(maxsize=65_536)
def sound(word: str) -> str:
    """A word by its sound, so that different spellings match."""
    return str(jellyfish.metaphone(word)) or word


def sounds(word: str) -> tuple[str, ...]:
    """A word by its sound, and the names it is a form of."""
    forms = sorted(name_words().pet_groups.get(word, ()))
    return (sound(word), *(f"form {index}" for index in forms))


Years = tuple[int, int]
ALL_TIME: Years = (-20_000, 20_000)
MAX_NAMES = 5
MAX_LIFE_YEARS = 105
# Not the limits of `plausibility` (12 and 60) or `privacy.living` (58 and 90): here they only bound a year of birth.
PARENT_AGES = (12, 75)
SPOUSE_GAP = 45
# So that the dates of grandparents and grandchildren count as well.
ERA_ROUNDS = 2
FILE_PREFIX = "gedcom:"
"""The prefix of the name of a file, which is a source of everybody in it."""


@dataclass(frozen=True, slots=True)
class Profile:
    """The data by which two records are compared."""

    id: PersonId
    names: tuple[NameParts, ...]
    sex: Sex
    birth: DateRange | None
    death: DateRange | None
    birth_years: Years | None
    death_years: Years | None
    era: Years
    """The years in which the person can have been born, by their own dates and relatives."""
    birth_place: tuple[str, ...]
    death_place: tuple[str, ...]
    sources: frozenset[str]
    external: Mapping[str, str]
    numerals: frozenset[int] = frozenset()
    """Numbers of kings and queens, from all names."""
    generations: frozenset[str] = frozenset()
    """'junior' or 'senior', from all names."""
    other_names: frozenset[NameParts] = frozenset()
    """Names that have little to do with the main one, as a page may give them to the wrong person."""
    husbands: tuple[str, ...] = ()
    """The given names of the men this person married."""
    parents: frozenset[PersonId] = frozenset()
    children: frozenset[PersonId] = frozenset()
    mentions: Mapping[SourceId, tuple[MentionSpan, ...]] = field(default_factory=dict)
    """Where each source names the person."""


def profiles_of(tree: Tree) -> dict[PersonId, Profile]:
    """Ordered by id."""
    sources = _mentions(tree)
    eras = _eras(tree)
    return {
        person: _profile(tree, tree.persons[person], sources[person], eras[person]) for person in sorted(tree.persons)
    }


def _husbands(tree: Tree, person: PersonId) -> tuple[str, ...]:
    spouses = (tree.persons[spouse] for spouse in tree.spouses(person) if spouse in tree.persons)
    names = (name_parts(name).given for spouse in spouses for name in (spouse.name, *spouse.names))
    return tuple(dict.fromkeys(name for name in names if name))


def _profile(tree: Tree, person: Person, mentions: Mapping[SourceId, tuple[MentionSpan, ...]], era: Years) -> Profile:
    names, husbands = _full_names(person), _husbands(tree, person.id)
    return Profile(
        person.id,
        names,
        person.sex or sex_of_name(person.name),
        person.birth,
        person.death,
        years_of(person.birth),
        years_of(person.death),
        era,
        place_parts(person.birth_place),
        place_parts(person.death_place),
        frozenset(mentions),
        person.external,
        frozenset[int]().union(*(name.numerals for name in names)),
        frozenset(name.generation for name in names if name.generation),
        _other_names(person, names),
        husbands,
        frozenset(tree.parents(person.id)),
        frozenset(tree.children(person.id)),
        mentions,
    )


def _full_names(person: Person) -> tuple[NameParts, ...]:
    """The names of a person without those that are short for another: 'Catherine' may be any Catherine."""
    parts = dict.fromkeys(map(name_parts, (person.name, *person.names)))
    known = [name for name in parts if name.tokens or name.ordinals or name.titles or name.husband]
    full = [name for name in known if not any(name.is_short_for(other) for other in known)]
    return tuple(full[:MAX_NAMES]) or (NameParts(),)


def years_of(when: DateRange | None) -> Years | None:
    """The first and last year that agree with a date."""
    if when is None:
        return None
    first, last = when.possible_days()
    low = ALL_TIME[0] if when.qualifier == "before" else day_at(first).year
    high = ALL_TIME[1] if when.qualifier == "after" else day_at(last).year
    return low, high


def place_parts(place: str) -> tuple[str, ...]:
    """The parts of a place from the most specific to the least, folded."""
    return tuple(part for part in (fold(piece) for piece in place.split(",")) if part)


def _other_names(person: Person, names: tuple[NameParts, ...]) -> frozenset[NameParts]:
    main = name_parts(person.name)
    return frozenset(name for name in names if name != main and not main.is_short_for(name))


def _mentions(tree: Tree) -> dict[PersonId, dict[SourceId, tuple[MentionSpan, ...]]]:
    """The sources about each person, and where they name the person."""
    found: dict[PersonId, dict[SourceId, dict[MentionSpan, None]]] = {person: {} for person in tree.persons}

    def add(person: PersonId, evidence: Evidence) -> None:
        known = tree.persons.get(person)
        # The quotes of a conclusion need not name both: that of a marriage names none of the children.
        if known is not None and evidence.directness != "indirect":
            mention = mention_in(evidence, known, tree.sources.get(evidence.source))
            found[person].setdefault(evidence.source, {})[mention] = None

    for fact in tree.facts:
        if fact.field not in RELATION_FIELDS:
            for evidence in fact.evidence:
                add(fact.person, evidence)
    for tie in tree.relationships:
        for evidence in tie.evidence:
            add(tie.first, evidence)
            add(tie.second, evidence)
    for person in tree.persons.values():
        file = person.external.get("gedcom", "").partition("#")[0]
        if file:
            found[person.id][f"{FILE_PREFIX}{file}"] = {NO_POSITION: None}
    return {person: {source: tuple(places) for source, places in sources.items()} for person, sources in found.items()}


def _eras(tree: Tree) -> dict[PersonId, Years]:
    """When each person can have been born: by own dates, narrowed by those of parents, children and spouses."""
    eras = {item: _own_era(person) for item, person in tree.persons.items()}
    for _ in range(ERA_ROUNDS):
        # All at once from the previous round, so that the result does not depend on the order of people.
        eras = {person: _narrowed(tree, person, eras) for person in eras}
    return eras


def _own_era(person: Person) -> Years:
    born, died = years_of(person.birth), years_of(person.death)
    if born:
        return born
    # Somebody of whom only the death is known was born at most a long life before it.
    return (max(died[0], ALL_TIME[0]) - MAX_LIFE_YEARS, died[1]) if died else ALL_TIME


def _narrowed(tree: Tree, person: PersonId, eras: Mapping[PersonId, Years]) -> Years:
    youngest, oldest = PARENT_AGES
    bounds = [
        *((eras[child][0] - oldest, eras[child][1] - youngest) for child in tree.children(person) if child in eras),
        *((eras[parent][0] + youngest, eras[parent][1] + oldest) for parent in tree.parents(person) if parent in eras),
        *(
            (eras[spouse][0] - SPOUSE_GAP, eras[spouse][1] + SPOUSE_GAP)
            for spouse in tree.spouses(person)
            if spouse in eras
        ),
    ]
    low, high = eras[person]
    for first, last in bounds:
        # A date that does not fit is an error, and is ignored.
        if max(low, first) <= min(high, last):
            low, high = max(low, first), min(high, last)
    return low, high
