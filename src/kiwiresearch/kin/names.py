"""Names of people: their parts, and whether two names may belong to the same person.

Other modules have narrower questions: `loop.record_match` compares a record with the relative searched for,
`loop.seeds` a page with what the user typed, `sources.books.likeness` ranks pages, and `resolve.features` weighs names
for a merge.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from itertools import product
from typing import Literal, NamedTuple

from jellyfish import metaphone
from rapidfuzz.distance import JaroWinkler

from kiwiresearch.kin.tree import Sex
from kiwiresearch.text import fold

SAME_NAME = 0.8
"""The similarity from which two names count as the same person's."""
NEUTRAL = 0.8
"""The score of a part that only one of the names has: it is neither for nor against a match."""
# The rest of the similarity is that of the family names.
GIVEN_SHARE = 0.6
SECOND_NAMES = 0.9
"""The factor of a match in which neither is a first name."""
SOUNDS_LIKE = 0.9
PET_FORM = 0.95
INITIAL = 0.85

# 'IV', 'XXIII', 'XL' and 'LXXII' match, 'L' and 'LI', which are an initial and a surname, do not.
ROMAN = re.compile(r"(?=[IVXL])(?:XL|LX{1,3}|X{0,3})(?:IX|IV|V?I{0,3})")
# The nickname in 'William "Bill" Hay' and "William 'Bill' Hay"; the apostrophe of "O'Brien" opens none.
NICKNAME = re.compile(r"[\"“”«»„]([^\"“”«»„]+)[\"“”«»„]|[`‘']([^\s'’][^'’]*)[’'](?=\s|$)")
# 'Smith' in 'Mary Hay (née Smith)' and in 'Mary Hay, born Smith'.
MAIDEN = re.compile(r"[(\[,]?\s*\b(?:née|nee|né|born)\s+([^()\[\],;]+)[)\]]?")
EMPEROR = re.compile(r"^(?:the )?Holy Roman Emp(?:eror|ress) ", re.IGNORECASE)
BRACKETS = re.compile(r"\(([^()]*)\)")
# 'Duke' and 'York and Albany' in 'Duke of York and Albany'.
TERRITORY = re.compile(r"(?P<rank>\w+) of (?P<where>.+)")
# A word with a capital, accented or not: 'York' and 'Évreux', but not 'the'.
PLACE = re.compile(r"[^\W\d_a-z][^\W\d_]+")
# 'Duke of York and Earl of Ulster' is two titles, 'Duke of York and Albany' one.
TITLE_BREAK = re.compile(r"[,;()]| and (?=(?:the )?(?:\d+\w\w )?\w+ of )")
STOPS = re.compile(r"[.,]+$")
# 'Ivanovich', 'Petrovna', 'Ilyich', 'Jonsson', 'Gunnarsdottir', but not 'Popova', which is a surname.
PATRONYMIC = re.compile(r"(?:ov|ev|y)(?:ich|na)$|sson$|dottir$")


@dataclass(frozen=True, slots=True)
class PersonName:
    """A name split into parts; missing parts are empty."""

    written: str
    given: tuple[str, ...] = ()
    surname: str = ""
    regnal: int = 0
    generation: str = ""
    """'junior', 'senior', or the number in 'John Tyler II'."""
    maiden: str = ""
    nickname: str = ""
    patronymic: str = ""
    byname: str = ""
    """'of Castile', 'the Great'."""
    titles: tuple[str, ...] = ()

    @property
    def discriminators(self) -> tuple[int, str]:
        """The parts that distinguish namesakes."""
        return self.regnal, self.generation

    @property
    def territories(self) -> dict[str, frozenset[str]]:
        """The places of each rank held: 'Duke of York and Albany'."""
        held = (TERRITORY.search(title) for title in self.titles)
        return {found["rank"].lower(): frozenset(PLACE.findall(found["where"])) for found in held if found}


@dataclass(frozen=True, slots=True)
class NameWords:
    """Titles, particles and other words of names that are not names themselves."""

    honorifics: frozenset[str]
    ranks: frozenset[str]
    ranks_of_places: frozenset[str]
    generations: dict[str, str]
    filiations: frozenset[str]
    particles: frozenset[str]
    pet_groups: dict[str, frozenset[int]]
    female: frozenset[str]
    male: frozenset[str]
    surname_first: frozenset[str]
    female_titles: frozenset[str]
    male_titles: frozenset[str]


WORD_SETS = (
    "honorifics",
    "ranks",
    "ranks_of_places",
    "filiations",
    "particles",
    "surname_first",
    "female_titles",
    "male_titles",
)


@cache
def name_words() -> NameWords:
    """The words of names, from their file."""
    text = (resources.files("kiwiresearch.kin") / "extract" / "data" / "names.toml").read_text(encoding="utf-8")
    data = tomllib.loads(text)
    groups: dict[str, set[int]] = {}
    for index, group in enumerate(data["same_given"]):
        for word in group.split():
            groups.setdefault(fold(word), set()).add(index)
    sets = {key: frozenset(data[key].split()) for key in WORD_SETS}
    sexes = {key: frozenset(map(fold, data[key].split())) for key in ("female", "male")}
    pets = {word: frozenset(numbers) for word, numbers in groups.items()}
    return NameWords(**sets, **sexes, generations=data["generations"], pet_groups=pets)


def sex_of_title(name: str) -> Sex:
    """The sex that a title implies: a princess is a woman."""
    words = name_words()
    for title in parse_name(name).titles:
        first = fold(title).split()[:1]
        if first and first[0] in words.female_titles:
            return "female"
        if first and first[0] in words.male_titles:
            return "male"
    return ""


def titles_with_place(name: str) -> tuple[str, ...]:
    """The titles that name a place or a house, folded: 'duke of york' in 'Frederick, the 2nd Duke of York'."""
    return tuple(
        dict.fromkeys(
            f"{fold(found['rank'])} {fold(found['place'])}"
            for part in TITLE_BREAK.split(name)
            if (found := _title_pattern().fullmatch(part.strip()))
        )
    )


def husband_in_title(name: str) -> str:
    """The given name of a husband that a wife is called by, folded: 'friedrich' in 'the Empress Friedrich'."""
    words, parsed = name_words(), parse_name(name)
    if not parsed.given or sex_of_title(name) != "female":
        return ""
    given = fold(parsed.given[0])
    return given if given in words.male and given not in words.female else ""


@cache
def _title_pattern() -> re.Pattern[str]:
    ranks = "|".join(sorted(map(re.escape, name_words().ranks_of_places)))
    return re.compile(
        rf"(?:the )?(?:\d+(?:st|nd|rd|th) )?(?P<rank>{ranks})(?: (?:consort|dowager|regent))? (?P<place>royal|of .+)",
        re.IGNORECASE,
    )


def sex_of_name(name: str) -> Sex:
    """The sex that the title or the given name implies, if it is certain."""
    by_title = sex_of_title(name)
    if by_title:
        return by_title
    words, parsed = name_words(), parse_name(name)
    given = fold(parsed.given[0]) if parsed.given else ""
    if given in words.female:
        return "female"
    return "male" if given in words.male else ""


@lru_cache(maxsize=65_536)
def parse_name(text: str) -> PersonName:
    """The parts of a name. Never raises: a text that is not a name has no parts."""
    words = name_words()
    rest = " ".join(text.replace("_", " ").split())
    # Otherwise 'Holy' and 'Roman' would be given names.
    rest = EMPEROR.sub("Emperor ", rest)
    maiden, rest = _cut(MAIDEN, rest)
    nickname, rest = _cut(NICKNAME, rest)
    # 'Mary (Smith) Hay' has the maiden name in brackets; 'Mary Hay (writer)' and '(Mary) Hay' have none.
    for inner in BRACKETS.findall(rest):
        before, _, after = rest.partition(f"({inner})")
        if not maiden and inner[:1].isupper() and before.strip() and after.strip(" ,"):
            maiden = inner
    rest = BRACKETS.sub(" ", rest)
    head, *tail = [part.strip() for part in rest.split(",")]
    titles: list[str] = []
    generation = ""
    for part in tail:
        suffix = words.generations.get(fold(part).removeprefix("the "), "")
        generation = generation or suffix
        if part and not suffix:
            titles.append(part)
    tokens = head.split()
    leading = 0
    while leading < len(tokens) - 1 and fold(tokens[leading]) in words.honorifics:
        # 'Grace Hay' is a name, and 'His Grace the Duke' a style.
        if not leading and fold(tokens[leading]) in words.female | words.male:
            break
        leading += 1
    titles = [*tokens[:leading], *titles]
    tokens = tokens[leading:]
    return _split_tokens(text, tokens, titles, generation, maiden.strip(), nickname.strip())


def _split_tokens(
    text: str, tokens: list[str], titles: list[str], generation: str, maiden: str, nickname: str
) -> PersonName:
    words = name_words()
    main_words: list[str] = []
    byname: list[str] = []
    patronymic = ""
    regnal, last_number = 0, False
    for at, token in enumerate(tokens):
        plain = fold(token)
        if byname or ((main_words or titles) and plain in ("of", "the")):
            byname.append(token)
        elif main_words and ROMAN.fullmatch(STOPS.sub("", token)):
            regnal, last_number = _number(STOPS.sub("", token)), at == len(tokens) - 1
        elif main_words and plain in words.generations:
            generation = generation or words.generations[plain]
        elif main_words and plain in words.filiations and token[0].islower() and at + 1 < len(tokens):
            patronymic = " ".join(tokens[at:])
            break
        elif any(letter.isalpha() for letter in token):
            main_words.append(STOPS.sub("", token) if len(token) > 2 else token)
    byname_text = " ".join(byname)
    for word, suffix in words.generations.items():
        if fold(byname_text) == f"the {word}":
            generation, byname_text = generation or suffix, ""
    of_rank = bool(titles) and not words.ranks.isdisjoint(fold(titles[-1]).split())
    given, surname = _given_and_surname(
        main_words, has_place=bool(byname_text or (of_rank and text.rstrip().endswith(titles[-1])))
    )
    # A number after a surname is a generation: 'John Tyler II', but 'Henry II' is a king.
    if regnal and last_number and len(main_words) > 1:
        generation, regnal = generation or str(regnal), 0
    if len(given) > 1 and PATRONYMIC.search(fold(given[-1])):
        patronymic = patronymic or given[-1]
    return PersonName(
        text, given, surname, regnal, generation, maiden, nickname, patronymic, byname_text, tuple(titles)
    )


def _given_and_surname(main_words: list[str], *, has_place: bool) -> tuple[tuple[str, ...], str]:
    """Given names and surname; a name followed by 'of Castile' has no surname."""
    words = name_words()
    if len(main_words) < 2 or has_place:
        return tuple(main_words), ""
    if (
        len(main_words) in (2, 3)
        and fold(main_words[0]) in words.surname_first
        and fold(main_words[-1]) not in words.male | words.female
    ):
        return tuple(main_words[1:]), main_words[0]
    start = len(main_words) - 1
    # The particles before a surname belong to it: 'van der Rohe'.
    while start > 1 and main_words[start - 1].casefold() in words.particles:
        start -= 1
    return tuple(main_words[:start]), " ".join(main_words[start:])


def _cut(pattern: re.Pattern[str], text: str) -> tuple[str, str]:
    found = pattern.search(text)
    # A name cannot begin with its nickname or maiden name: then it is all there is.
    if not found or found.start() == 0:
        return "", text
    inner = next((group for group in found.groups() if group), "")
    return inner, f"{text[: found.start()]} {text[found.end() :]}"


def _number(roman: str) -> int:
    values = {"I": 1, "V": 5, "X": 10, "L": 50}
    figures = [values[letter] for letter in roman]
    following = [*figures[1:], 0]
    return sum(-value if value < after else value for value, after in zip(figures, following, strict=True))


def names_conflict(a: PersonName, b: PersonName) -> bool:
    """Whether a number or 'Jr.' distinguishes two names that are otherwise alike."""
    return any(item and other and item != other for item, other in zip(a.discriminators, b.discriminators, strict=True))


@lru_cache(maxsize=65_536)
def name_similarity(a: str, b: str) -> float:
    """How well two names fit the same person, from 0 to 1; 0 for namesakes of another number or generation."""
    one, other = parse_name(a), parse_name(b)
    if not one.given or not other.given or names_conflict(one, other):
        return 0.0
    given = max(
        token_similarity(x, y) * (1 if 0 in (i, j) else SECOND_NAMES)
        for (i, x), (j, y) in product(enumerate(_calling_names(one)), enumerate(_calling_names(other)))
    )
    return round(GIVEN_SHARE * given + (1 - GIVEN_SHARE) * _family_similarity(one, other), 4)


def may_be_same_name(a: str, b: str) -> bool:
    """Whether two names may well be the same person's."""
    return name_similarity(a, b) >= SAME_NAME


def _calling_names(name: PersonName) -> tuple[str, ...]:
    """Names the person may be called by."""
    return (*name.given, *name.nickname.split())


def _family_similarity(one: PersonName, other: PersonName) -> float:
    """How well the other parts fit: family names by birth or marriage, or the place they are known by."""
    mine, theirs = _family_names(one), _family_names(other)
    if mine and theirs:
        best = max(token_similarity(x, y) for x, y in product(mine, theirs))
        shared = {*map(fold, one.given[1:])} & {*map(fold, other.given[1:])}
        # A shared middle name makes up for different surnames, as of a woman before and after she married.
        return max(best, NEUTRAL if shared else 0.0) if best < SOUNDS_LIKE else best
    if one.byname and other.byname:
        return max(token_similarity(x, y) for x, y in product(_places(one), _places(other)))
    return NEUTRAL


def _family_names(name: PersonName) -> tuple[str, ...]:
    """Family names; the middle names of a married woman may include her maiden name."""
    if not name.surname:
        return ()
    return tuple(dict.fromkeys((name.surname, *name.given[1:], *filter(None, [name.maiden]))))


def _places(name: PersonName) -> tuple[str, ...]:
    return tuple(word for word in name.byname.split() if word[:1].isupper()) or (name.byname,)


class WordMatch(NamedTuple):
    """How two words of names match, and how similar that makes them."""

    kind: Literal["same", "initial", "pet form", "sound", "spelling", "none"]
    similarity: float


OTHER_WORDS = WordMatch("none", 0.0)


def token_similarity(a: str, b: str) -> float:
    """The similarity of two words of names, from 0 to 1."""
    return word_match(a, b).similarity


@lru_cache(maxsize=262_144)
def word_match(a: str, b: str) -> WordMatch:
    x, y = fold(a), fold(b)
    if x == y:
        return WordMatch("same", 1.0)
    if not x or not y:
        return OTHER_WORDS
    if 1 in (len(x), len(y)):
        return WordMatch("initial", INITIAL) if x[0] == y[0] else OTHER_WORDS
    pets = name_words().pet_groups
    if pets.get(x, frozenset()) & pets.get(y, frozenset()):
        return WordMatch("pet form", PET_FORM)
    likeness = float(JaroWinkler.similarity(x, y))
    # 'Meyer' and 'Maier': alike in sound, though not in spelling. Below 0.85 words are chance neighbours.
    if likeness >= 0.75 and len(x) > 3 and len(y) > 3 and metaphone(x) == metaphone(y):
        return WordMatch("sound", max(likeness, SOUNDS_LIKE))
    return WordMatch("spelling", likeness if likeness >= 0.85 else likeness / 2)
