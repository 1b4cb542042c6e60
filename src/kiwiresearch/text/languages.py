"""Languages: their codes, word lists, spelling variants and stems."""

from __future__ import annotations

import re
import threading
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from kiwiresearch.text.words import fold

DATA_FOLDER = files("kiwiresearch.text") / "data"
# An empty negative lookahead fails everywhere.
NEVER = re.compile(r"(?!)")


def any_of(words: Iterable[str]) -> str:
    """A regular expression for any of the words, the longest first."""
    return "|".join(re.escape(word) for word in sorted(set(words), key=lambda word: (-len(word), word)))


def phrase_pattern(phrases: Iterable[str]) -> re.Pattern[str]:
    """Any of the phrases as separate words, ignoring case; one that ends in '*' may start a longer word: 'fiction*'.

    Hedges and `CuePhrases` have more signs; docs/guide/extending.md compares them.
    """
    found = [_phrase(phrase) for phrase in sorted(phrases, key=lambda phrase: (-len(phrase), phrase))]
    return re.compile("|".join(found), re.IGNORECASE) if found else NEVER


def _phrase(words: str) -> str:
    bare = re.escape(words.removesuffix("*")).replace("'", "['’]")
    before = r"(?<!\w)" if words[:1].isalnum() else ""
    return before + bare + ("" if words.endswith("*") else r"(?!\w)")


class Aspect(NamedTuple):
    """An aspect of a thing that a topic may ask for, such as its causes, and the folded words that indicate it."""

    naming_words: frozenset[str]
    """Words of topics and headings: 'treatment', 'therapy'."""
    related_words: frozenset[str]
    """Words of sentences about it: 'dose', 'cured'."""


def _words(lines: Iterable[str]) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


def _phrases(phrases: Iterable[str]) -> tuple[str, ...]:
    return tuple(text.casefold() for text in phrases)


def _phrase_set(phrases: Iterable[str]) -> frozenset[str]:
    return frozenset(_phrases(phrases))


def _aspects(table: Mapping[str, Sequence[str]]) -> dict[str, Aspect]:
    return {
        name: Aspect(*(frozenset(fold(words).split()) for words in (*lines, "")[:2])) for name, lines in table.items()
    }


def _expansions(table: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    return {short: tuple(long) for short, long in table.items()}


def _read_by(read: Callable[[Any], Any], default: Any = ()) -> Any:
    """A field of LanguageWords, and the function that reads it from the table of a language."""
    return field(default_factory=lambda: read(default), metadata={"read": read})


@dataclass(frozen=True, slots=True)
class LanguageWords:
    """The words of one language that indicate kinds of pages, sections and sentences.

    The fields have the names of the entries in `data/*.toml`.
    """

    abbreviations: frozenset[str] = _read_by(_words)
    may_end: frozenset[str] = _read_by(_words)
    """Abbreviations that may end a sentence."""
    before_figures: frozenset[str] = _read_by(_words)
    """Abbreviations only before a number, such as 'No.'."""
    ordinal_dots: bool = _read_by(bool)
    disambiguation_suffixes: tuple[str, ...] = _read_by(_phrases)
    may_refer: tuple[str, ...] = _read_by(_phrases)
    list_titles: tuple[str, ...] = _read_by(_phrases)
    see_also: frozenset[str] = _read_by(_phrase_set)
    references: frozenset[str] = _read_by(_phrase_set)
    stub_notes: tuple[str, ...] = _read_by(_phrases)
    section_words: tuple[str, ...] = _read_by(_phrases)
    citation_needed: tuple[str, ...] = _read_by(_phrases)
    disputed: tuple[str, ...] = _read_by(_phrases)
    stop_words: frozenset[str] = _read_by(_words)
    definitional: tuple[str, ...] = _read_by(_phrases)
    treatises: tuple[str, ...] = _read_by(_phrases)
    framing: tuple[str, ...] = _read_by(_phrases)
    timeline: frozenset[str] = _read_by(_phrase_set)
    aspects: Mapping[str, Aspect] = _read_by(_aspects, {})
    joining: frozenset[str] = _read_by(_phrase_set)
    linking: frozenset[str] = _read_by(_phrase_set)
    also_named: re.Pattern[str] = field(default=NEVER, metadata={"read": phrase_pattern})
    """Words before another name of what a page is about: 'also known as'."""
    abbreviated: Mapping[str, tuple[str, ...]] = _read_by(_expansions, {})
    asides: re.Pattern[str] = field(default=NEVER, metadata={"read": phrase_pattern})
    """Headings of sections about a thing in culture: films, novels, stamps."""
    aside_headings: frozenset[str] = _read_by(_phrase_set)
    """Headings of such sections that must match completely."""
    minor_headings: re.Pattern[str] = field(default=NEVER, metadata={"read": phrase_pattern})
    """Headings of sections that a summary does not need."""
    open_questions: re.Pattern[str] = field(default=NEVER, metadata={"read": phrase_pattern})
    """Words which state that something is unknown."""

    def is_aside(self, heading: str) -> bool:
        """Whether a section is about a thing in culture."""
        return heading.casefold() in self.aside_headings or self.asides.search(heading) is not None

    def is_minor(self, heading: str) -> bool:
        """Whether a section is one that a summary does not need."""
        return self.is_aside(heading) or self.minor_headings.search(heading) is not None


@cache
def _codes() -> dict[str, str]:
    lines = (DATA_FOLDER / "iso639.txt").read_text(encoding="utf-8").splitlines()
    pairs = (pair.partition(" ") for line in lines if not line.startswith("#") for pair in line.split("|"))
    return {short: long for short, _, long in pairs}


def three_letter_code(code: str) -> str:
    """The ISO 639-3 code of 'en', 'eng', 'en-GB' or 'EN_us'; unknown codes are unchanged, junk is ''."""
    plain = code.strip().lower().replace("_", "-").partition("-")[0]
    if not plain.isascii() or not plain.isalpha() or len(plain) not in (2, 3):
        return ""
    return _codes().get(plain, plain)


def two_letter_code(code: str) -> str:
    """The short code of a language, as used by web pages; if there is none, the long one."""
    return next((short for short, long in _codes().items() if long == code and len(short) == 2), code)


def short_language_code(code: str) -> str:
    """The code for web pages and files of a language that is written in any way: 'en' of 'EN_us'; '' for junk."""
    return two_letter_code(three_letter_code(code))


def has_words(language: str) -> bool:
    """Whether a language, given by its ISO 639-3 code, has a table of words."""
    return (DATA_FOLDER / f"{language}.toml").is_file()


@cache
def languages_with_words() -> tuple[str, ...]:
    """The ISO 639-3 codes of the languages that have a table of words."""
    names = (file.name for file in DATA_FOLDER.iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


@cache
def language_words(language: str) -> LanguageWords:
    """The words of a language given by its ISO 639-3 code, or the English ones."""
    name = language if has_words(language) else "eng"
    table = tomllib.loads((DATA_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    known = (item for item in fields(LanguageWords) if item.name in table)
    return LanguageWords(**{item.name: item.metadata["read"](table[item.name]) for item in known})


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
"""Each nasal of Devanagari, and the consonants before which it may be written as a dot."""
NASAL_LETTER = re.compile("|".join(f"{nasal}\u094d(?=[{row}])" for nasal, row in NASALS))
NASAL_DOT = re.compile("[ंँ](?=([क-घ])|([च-झ])|([ट-ढ])|([त-ध])|([प-भ]))")

MIN_LETTERS = 3
"""A prefix is removed only if the rest has at least this many letters."""


def spellings(word: str) -> list[str]:
    """Other spellings of a word, the closest first; none in scripts with only one."""
    if word.isascii():
        return []
    found: list[str] = []
    if ARABIC.search(word):
        found += _arabic(word)
    elif HEBREW.search(word):
        found += _hebrew(word)
    elif DEVANAGARI.search(word):
        letter = NASAL_DOT.sub(lambda dot: f"{NASALS[(dot.lastindex or 1) - 1][0]}\u094d", word)
        found += (NASAL_LETTER.sub("ं", word), letter)
    return [form for form in dict.fromkeys(found) if form != word]


def one_spelling(word: str) -> str:
    """The word with interchangeable endings and nasals written in one way, so that variants can be compared."""
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
        elif len(bare) >= MIN_LETTERS:
            yield bare
    yield word.translate(PERSIAN)
    yield word.translate(ARABIC_LETTERS)


def _hebrew(word: str) -> Iterator[str]:
    yield HEBREW_ARTICLE + word
    if word[0] in HEBREW_PREFIXES and len(word) > MIN_LETTERS:
        yield word[1:]
        yield HEBREW_ARTICLE + word[1:]


EXCEPTIONS = frozenset({"this", "less", "across", "always", "towards"})
"""Words that end in 's' without being plurals."""

MIN_ROOT_LETTERS = 3

ALGORITHMS = {
    "ara": "arabic", "cat": "catalan", "ces": "czech", "dan": "danish", "deu": "german", "ell": "greek",
    "eng": "english", "epo": "esperanto", "est": "estonian", "eus": "basque", "fas": "persian", "fin": "finnish",
    "fra": "french", "gle": "irish", "hin": "hindi", "hun": "hungarian", "hye": "armenian", "ind": "indonesian",
    "ita": "italian", "lit": "lithuanian", "nep": "nepali", "nld": "dutch", "nno": "norwegian", "nob": "norwegian",
    "nor": "norwegian", "pol": "polish", "por": "portuguese", "ron": "romanian", "rus": "russian", "spa": "spanish",
    "srp": "serbian", "swe": "swedish", "tam": "tamil", "tur": "turkish", "yid": "yiddish",
}  # fmt: skip
"""The Snowball algorithm for a language, by its ISO 639-3 code."""


@lru_cache(maxsize=65_536)
def roots(word: str) -> frozenset[str]:
    """The word itself, and what it may be the English plural of.

    'lenses' may come from 'lens' or 'lense', so both are given, and two words match if they share a root. '-es' is
    removed only where English adds it, or 'planes' would match 'plan'.
    """
    found = {word}
    if word in EXCEPTIONS or len(word) <= MIN_ROOT_LETTERS or not word.endswith("s") or word.endswith("ss"):
        return frozenset(found)
    if word.endswith("ies"):
        found |= {f"{word[:-3]}y", word[:-1]}
    elif word.endswith("es"):
        found.add(word[:-1])
        if word[:-2].endswith(("s", "x", "z", "ch", "sh", "o")):
            found.add(word[:-2])
    else:
        found.add(word[:-1])
    return frozenset(root for root in found if len(root) >= MIN_ROOT_LETTERS)


def share_root(word: str, others: Iterable[str]) -> bool:
    """Whether the word and any of the others may be forms of the same word."""
    mine = roots(word)
    return any(not mine.isdisjoint(roots(other)) for other in others)


@cache
def stemmer(language: str) -> Callable[[str], str]:
    """The stemmer of a language, for folded or unfolded words; without an algorithm it only folds them."""
    algorithm = ALGORITHMS.get(language)
    if algorithm is None:
        return fold
    import importlib

    # Not through the package's own factory, which uses another library if that happens to be installed.
    module = importlib.import_module(f"snowballstemmer.{algorithm}_stemmer")
    stem = getattr(module, f"{algorithm.capitalize()}Stemmer")().stemWord
    lock = threading.Lock()  # a stemmer object has state, so only one thread may use it at a time

    @lru_cache(maxsize=131_072)
    def stem_of(word: str) -> str:
        folded = one_spelling(fold(word))
        # Figures and signs have no stem.
        if not folded.isalpha():
            return folded
        with lock:
            return str(stem(folded))

    return stem_of
