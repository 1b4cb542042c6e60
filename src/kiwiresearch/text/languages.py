"""What the program knows about languages: codes, and words that pages are recognised by."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from kiwiresearch.text.fold import fold

DATA = files("kiwiresearch.text") / "data"
NEVER = re.compile(r"(?!)")


class Aspect(NamedTuple):
    """One side of a thing that a topic may ask for, such as its causes: folded words by which it is recognised."""

    asked: frozenset[str]
    """Words of topics and headings: 'treatment', 'therapy'."""
    said: frozenset[str]
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
def words_of(language: str) -> LanguageWords:
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
        asides=phrases(table.get("asides", ())),
        aside_headings=frozenset(_folded(table, "aside_headings")),
        minor_headings=phrases(table.get("minor_headings", ())),
        open_questions=phrases(table.get("open_questions", ())),
    )


def phrases(several: Iterable[str]) -> re.Pattern[str]:
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
