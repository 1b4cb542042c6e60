"""What is known about languages: codes, word lists, mixed spellings and stems."""

from __future__ import annotations

import re
import threading
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

from kiwiresearch.text.words import fold

DATA = files("kiwiresearch.text") / "data"
NEVER = re.compile(r"(?!)")


class Aspect(NamedTuple):
    """One side of a thing that a topic may ask for, such as its causes: folded words by which it is recognised."""

    naming_words: frozenset[str]
    """Words of topics and headings: 'treatment', 'therapy'."""
    related_words: frozenset[str]
    """Words of sentences about it: 'dose', 'cured'."""


@dataclass(frozen=True, slots=True)
class LanguageWords:
    """The words of one language that tell kinds of pages, sections and sentences."""

    abbreviations: frozenset[str] = frozenset()
    may_end: frozenset[str] = frozenset()
    before_figures: frozenset[str] = frozenset()
    ordinal_dots: bool = False
    disambiguation_suffixes: tuple[str, ...] = ()
    may_refer: tuple[str, ...] = ()
    list_titles: tuple[str, ...] = ()
    see_also: frozenset[str] = frozenset()
    references: frozenset[str] = frozenset()
    stub_notes: tuple[str, ...] = ()
    section_words: tuple[str, ...] = ()
    citation_needed: tuple[str, ...] = ()
    disputed: tuple[str, ...] = ()
    stop_words: frozenset[str] = frozenset()
    definitional: tuple[str, ...] = ()
    treatises: tuple[str, ...] = ()
    framing: tuple[str, ...] = ()
    timeline: frozenset[str] = frozenset()
    aspects: Mapping[str, Aspect] = field(default_factory=dict)
    joining: frozenset[str] = frozenset()
    linking: frozenset[str] = frozenset()
    abbreviated: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    asides: re.Pattern[str] = NEVER
    """Headings of what others made of a thing: films, novels, stamps."""
    aside_headings: frozenset[str] = frozenset()
    """The same, where it is the whole heading."""
    minor_headings: re.Pattern[str] = NEVER
    """Headings of sections that a summary needs nothing from."""
    open_questions: re.Pattern[str] = NEVER
    """Words by which a page says that something is not known."""

    def is_aside(self, heading: str) -> bool:
        """Whether a section is about what others made of a thing."""
        return heading.casefold() in self.aside_headings or self.asides.search(heading) is not None

    def is_minor(self, heading: str) -> bool:
        """Whether a section is one that a summary needs nothing from."""
        return self.is_aside(heading) or self.minor_headings.search(heading) is not None


@cache
def _codes() -> dict[str, str]:
    lines = (DATA / "iso639.txt").read_text(encoding="utf-8").splitlines()
    pairs = (pair.partition(" ") for line in lines if not line.startswith("#") for pair in line.split("|"))
    return {short: long for short, _, long in pairs}


def three_letter_code(code: str) -> str:
    """The ISO 639-3 code of 'en', 'eng', 'en-GB' or 'EN_us'; unknown codes stay, junk is ''."""
    plain = code.strip().lower().replace("_", "-").partition("-")[0]
    if not plain.isascii() or not plain.isalpha() or len(plain) not in (2, 3):
        return ""
    return _codes().get(plain, plain)


def two_letter_code(code: str) -> str:
    """The short code of a language, as web pages name it; where there is none, the long one."""
    return next((short for short, long in _codes().items() if long == code and len(short) == 2), code)


def has_words(language: str) -> bool:
    """Whether a language, by its ISO 639-3 code, has words of its own here."""
    return (DATA / f"{language}.toml").is_file()


@cache
def language_words(language: str) -> LanguageWords:
    """The words of a language given by its ISO 639-3 code; English serves for the rest."""
    name = language if has_words(language) else "eng"
    table = tomllib.loads((DATA / f"{name}.toml").read_text(encoding="utf-8"))
    return LanguageWords(
        abbreviations=frozenset(" ".join(table.get("abbreviations", ())).split()),
        may_end=frozenset(" ".join(table.get("may_end", ())).split()),
        before_figures=frozenset(" ".join(table.get("before_figures", ())).split()),
        ordinal_dots=bool(table.get("ordinal_dots")),
        disambiguation_suffixes=_folded(table, "disambiguation_suffixes"),
        may_refer=_folded(table, "may_refer"),
        list_titles=_folded(table, "list_titles"),
        see_also=frozenset(_folded(table, "see_also")),
        references=frozenset(_folded(table, "references")),
        stub_notes=_folded(table, "stub_notes"),
        section_words=_folded(table, "section_words"),
        citation_needed=_folded(table, "citation_needed"),
        disputed=_folded(table, "disputed"),
        stop_words=frozenset(" ".join(table.get("stop_words", ())).split()),
        definitional=_folded(table, "definitional"),
        treatises=_folded(table, "treatises"),
        framing=_folded(table, "framing"),
        timeline=frozenset(_folded(table, "timeline")),
        aspects={name: _aspect(words) for name, words in table.get("aspects", {}).items()},
        joining=frozenset(_folded(table, "joining")),
        linking=frozenset(_folded(table, "linking")),
        abbreviated={short: tuple(long) for short, long in table.get("abbreviated", {}).items()},
        asides=phrase_pattern(table.get("asides", ())),
        aside_headings=frozenset(_folded(table, "aside_headings")),
        minor_headings=phrase_pattern(table.get("minor_headings", ())),
        open_questions=phrase_pattern(table.get("open_questions", ())),
    )


def phrase_pattern(several: Iterable[str]) -> re.Pattern[str]:
    """Any of some phrases as whole words, in capitals or not; one that ends in '*' may go on: 'fiction*'."""
    found = [_phrase(one) for one in sorted(several, key=lambda one: (-len(one), one))]
    return re.compile("|".join(found), re.IGNORECASE) if found else NEVER


def _phrase(words: str) -> str:
    bare = re.escape(words.removesuffix("*")).replace("'", "['’]")
    before = r"(?<!\w)" if words[:1].isalnum() else ""
    return before + bare + ("" if words.endswith("*") else r"(?!\w)")


def _aspect(words: Sequence[str]) -> Aspect:
    asked, said = (*words, "")[:2]
    return Aspect(frozenset(fold(asked).split()), frozenset(fold(said).split()))


def _folded(table: dict[str, list[str]], key: str) -> tuple[str, ...]:
    return tuple(text.casefold() for text in table.get(key, ()))


ARABIC = re.compile("[\u0621-\u064a\u06a9\u06cc]")
HEBREW = re.compile("[\u05d0-\u05ea]")
DEVANAGARI = re.compile("[\u0900-\u097f]")

ENDINGS = {"ه": "ة", "ة": "ه", "ي": "ى", "ى": "ي"}
USUAL_ENDINGS = {"ه": "ة", "ى": "ي"}
ARTICLE = "ال"
PERSIAN = str.maketrans("كيى", "کیی")
ARABIC_LETTERS = str.maketrans("کی", "كي")

HEBREW_ARTICLE = "ה"
HEBREW_PREFIXES = "והבלמשכ"

NASALS = (("ङ", "क-घ"), ("ञ", "च-झ"), ("ण", "ट-ढ"), ("न", "त-ध"), ("म", "प-भ"))
"""Each nasal of Devanagari, and the consonants of its own row before which it may be a dot."""
NASAL_LETTER = re.compile("|".join(f"{nasal}\u094d(?=[{row}])" for nasal, row in NASALS))
NASAL_DOT = re.compile("[ंँ](?=([क-घ])|([च-झ])|([ट-ढ])|([त-ध])|([प-भ]))")

SHORTEST = 3
"""Fewer letters are no word without its prefix."""


def spellings(word: str) -> list[str]:
    """What else the same word may be written as, the nearest first; none for scripts that spell it one way."""
    if word.isascii():
        return []
    found: list[str] = []
    if ARABIC.search(word):
        found += _arabic(word)
    elif HEBREW.search(word):
        found += _hebrew(word)
    elif DEVANAGARI.search(word):
        found += (NASAL_LETTER.sub("ं", word), NASAL_DOT.sub(_as_letter, word))
    return [form for form in dict.fromkeys(found) if form != word]


def one_spelling(word: str) -> str:
    """The word with the endings and nasals that are mixed written one way, to tell whether two are the same."""
    if word.isascii():
        return word
    if word[-1] in USUAL_ENDINGS:
        return word[:-1] + USUAL_ENDINGS[word[-1]]
    return NASAL_LETTER.sub("ं", word)


def _arabic(word: str) -> Iterator[str]:
    ends = [word, word[:-1] + ENDINGS[word[-1]]] if word[-1] in ENDINGS else [word]
    yield from ends
    for form in ends:
        bare = form.removeprefix(ARTICLE)
        if bare == form:
            yield ARTICLE + form
        elif len(bare) >= SHORTEST:
            yield bare
    yield word.translate(PERSIAN)
    yield word.translate(ARABIC_LETTERS)


def _hebrew(word: str) -> Iterator[str]:
    yield HEBREW_ARTICLE + word
    if word[0] in HEBREW_PREFIXES and len(word) > SHORTEST:
        yield word[1:]
        yield HEBREW_ARTICLE + word[1:]


def _as_letter(found: re.Match[str]) -> str:
    nasal, _ = NASALS[(found.lastindex or 1) - 1]
    return f"{nasal}\u094d"


EXCEPTIONS = frozenset({"this", "less", "across", "always", "towards"})
"""Words that end in 's' and are no plurals."""

SHORTEST_ROOT = 3

ALGORITHMS = {
    "ara": "arabic", "cat": "catalan", "ces": "czech", "dan": "danish", "deu": "german", "ell": "greek",
    "eng": "english", "epo": "esperanto", "est": "estonian", "eus": "basque", "fas": "persian", "fin": "finnish",
    "fra": "french", "gle": "irish", "hin": "hindi", "hun": "hungarian", "hye": "armenian", "ind": "indonesian",
    "ita": "italian", "lit": "lithuanian", "nep": "nepali", "nld": "dutch", "nno": "norwegian", "nob": "norwegian",
    "nor": "norwegian", "pol": "polish", "por": "portuguese", "ron": "romanian", "rus": "russian", "spa": "spanish",
    "srp": "serbian", "swe": "swedish", "tam": "tamil", "tur": "turkish", "yid": "yiddish",
}  # fmt: skip
"""Which of the Snowball algorithms serves a language, by its ISO 639-3 code."""


@lru_cache(maxsize=65_536)
def roots(word: str) -> frozenset[str]:
    """What a word may be the plural of, and the word itself.

    One rule cannot know whether 'lenses' comes from 'lens' or 'lense', so both
    stand, and two words match if they share a root. '-es' comes off only
    where English puts it on, or 'planes' would meet 'plan'.
    """
    found = {word}
    if word in EXCEPTIONS or len(word) <= SHORTEST_ROOT or not word.endswith("s") or word.endswith("ss"):
        return frozenset(found)
    if word.endswith("ies"):
        found |= {f"{word[:-3]}y", word[:-1]}
    elif word.endswith("es"):
        found.add(word[:-1])
        if word[:-2].endswith(("s", "x", "z", "ch", "sh", "o")):
            found.add(word[:-2])
    else:
        found.add(word[:-1])
    return frozenset(root for root in found if len(root) >= SHORTEST_ROOT)


def share_root(word: str, others: Iterable[str]) -> bool:
    """Whether the word and any of the others may be forms of one word."""
    mine = roots(word)
    return any(not mine.isdisjoint(roots(other)) for other in others)


@cache
def stemmer(language: str) -> Callable[[str], str]:
    """The stemmer of a language, for words of any spelling; where there is none, words stay as they are."""
    algorithm = ALGORITHMS.get(language)
    if algorithm is None:
        return fold
    import importlib

    # Not through the package's own factory, which takes another library where it happens to be installed.
    module = importlib.import_module(f"snowballstemmer.{algorithm}_stemmer")
    stem = getattr(module, f"{algorithm.capitalize()}Stemmer")().stemWord
    lock = threading.Lock()  # one object works on one word at a time

    @lru_cache(maxsize=131_072)
    def stem_of(word: str) -> str:
        folded = one_spelling(fold(word))
        if not folded.isalpha():
            return folded
        with lock:
            return str(stem(folded))

    return stem_of
