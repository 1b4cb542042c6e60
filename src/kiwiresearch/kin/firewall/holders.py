"""Of whom a quote says what a cue in it says: of the subject, or of somebody else."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kiwiresearch.kin.firewall.cited import Cited
from kiwiresearch.kin.firewall.violation import Code
from kiwiresearch.text.fold import fold

TOKEN = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*['’]?|[^\w\s]|_")
POSSESSIVE = re.compile(r"['’]s?$")
BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
TIME = re.compile(
    r"\d+(?:st|nd|rd|th|s)?|january|february|march|april|may|june|july|august|september|october|november"
    r"|december|bc|ad|bce|ce|spring|summer|autumn|winter|christmas|easter",
    re.IGNORECASE,
)
HONOUR = re.compile(r"(?![IVX]+$)[A-Z][A-Za-z]?[A-Z]{1,4}|Ph\.?D")
RULERS = frozenset({"king", "queen", "emperor", "empress", "pope", "tsar", "sultan", "duke", "prince", "princess"})
COPULAS = frozenset({"was", "were", "is", "are", "been", "be", "being", "became"})


@dataclass(frozen=True, slots=True)
class Part:
    """A word or sign before a cue."""

    text: str
    start: int

    @property
    def small(self) -> str:
        return self.text.lower()

    @property
    def is_name(self) -> bool:
        return self.text[0].isalpha() and not self.text[0].islower()

    @property
    def is_possessive(self) -> bool:
        return bool(POSSESSIVE.search(self.text))

    @property
    def bare(self) -> str:
        """The word as names are compared, without a possessive ending."""
        return fold(POSSESSIVE.sub("", self.text))


def parts_before(cited: Cited, offset: int) -> list[Part]:
    """The words and signs of the same line before an offset; what stands in closed brackets is left out.

    In a bracket, what opens it or follows a comma is said of the name before it: 'Ann (Anne; died 1850)'.
    """
    start, _ = cited.line_of(offset)
    line = BRACKETS.sub(lambda found: " " * len(found[0]), cited.words[start:offset])
    parts = [Part(match[0], start + match.start()) for match in TOKEN.finditer(line)]
    parts = _without_honours(parts)
    opened = max((at for at, part in enumerate(parts) if part.text == "("), default=-1)
    if opened > 0 and not parts[-1].text[0].isalnum():
        return parts[: opened + 1]
    return parts


def _without_honours(parts: list[Part]) -> list[Part]:
    """The parts without letters behind a name: 'Ann Bell, KG, OM (born'."""
    end = len(parts)
    while end and not parts[end - 1].text[0].isalnum():
        end -= 1
    at = end
    while at > 1 and HONOUR.fullmatch(parts[at - 1].text) and parts[at - 2].text == ",":
        at -= 2
    return [*parts[:at], *parts[end:]]


def agrees(cited: Cited, run: list[Part], *, is_first: bool = False) -> bool:
    """Whether a name can be the subject's: one says no more than the other, or the first words are the same.

    The name that opens a quote may have a number that the subject's has not.
    """
    names = {word for part in run if part.is_name and not TIME.fullmatch(part.text) for word in part.bare.split()}
    words = cited.table.words
    names -= words["places"] | words["adjectives"] | words["auxiliaries"] | words["particles"]
    return any(_agrees(cited, names, own, is_first=is_first) for own in cited.name_sets)


def _agrees(cited: Cited, names: set[str], own: frozenset[str], *, is_first: bool) -> bool:
    numerals = cited.table.words["numerals"]
    if (names & numerals) - own and (own & numerals or not is_first):
        return False
    plain = names - cited.table.words["titles"] - numerals
    mine = {word for word in own - numerals if len(word) > 1}
    if not plain & mine:
        return False
    return plain <= mine or mine <= plain or any(word[:3] in cited.first_names for word in plain)


def name_run(cited: Cited, parts: list[Part]) -> tuple[list[Part], list[Part]]:
    """The name that ends a list of parts, and what stands before it."""
    inside = cited.table.words["particles"] - {"in", "and", "the"} | {
        "senior",
        "junior",
        ".",
        '"',
        "“",
        "”",
        "'",
        "’",
        "‘",
    }
    at = len(parts)
    while at and (parts[at - 1].is_name or parts[at - 1].text.isdigit() or parts[at - 1].small in inside):
        at -= 1
    while at < len(parts) and not parts[at].is_name:
        at += 1
    return parts[at:], parts[:at]


def first_run(cited: Cited, parts: list[Part]) -> list[Part]:
    """The name that opens a list of parts, up to the first sign or small word."""
    particles = cited.table.words["particles"] - {"and"}
    end = 0
    while end < len(parts) and (parts[end].is_name or parts[end].small in particles or parts[end].text in '."“”'):
        end += 1
    return parts[:end]


def stranger(cited: Cited, offset: int, *, is_verb: bool) -> Code | None:
    """Why what is said at an offset is not said of the subject; nothing if it may be.

    `is_verb` tells 'X, …, married Y', whose subject may stand far before, from
    'X, daughter of Y', which is said of the name just before it.
    """
    parts = parts_before(cited, offset)
    words = cited.table.words
    skipped = words["auxiliaries"] | (frozenset() if is_verb else words["adjectives"])
    while parts and (parts[-1].small in skipped or parts[-1].small in COPULAS):
        is_verb |= parts[-1].small in COPULAS
        parts.pop()
    return _judged(cited, parts, is_verb=is_verb)


def _judged(cited: Cited, parts: list[Part], *, is_verb: bool) -> Code | None:
    signs = ""
    while parts and not parts[-1].text[0].isalnum():
        signs += parts.pop().text
        if signs[-1] in ".!?":
            return None
    if not parts:
        return None
    last, words = parts[-1], cited.table.words
    if last.small in words["pronouns"]:
        return "HF_045" if other_sex(cited, last.small) else None
    if last.small in words["plural"]:
        return "HF_043" if is_verb else None
    if last.small in cited.table.kin.kinds:
        is_aside = is_verb and "," in signs and any(part.text == "," for part in parts)
        return None if is_aside and agrees(cited, first_run(cited, parts), is_first=True) else "HF_043"
    if last.small in ("who", "that", "which"):
        return _judged(cited, parts[:-1], is_verb=False)
    if last.is_name or last.small in ("senior", "junior") or last.text.isdigit():
        return _judged_name(cited, parts, signs, is_verb=is_verb)
    return _judged_far(cited, parts) if is_verb else None


def _judged_name(cited: Cited, parts: list[Part], signs: str, *, is_verb: bool) -> Code | None:
    run, before = name_run(cited, parts)
    if not run or all(TIME.fullmatch(part.text) for part in run):
        return _judged_far(cited, before) if is_verb else None
    if agrees(cited, run, is_first=not before):
        return "HF_043" if _is_relative(cited, before) and not _is_known_so(cited, run) else None
    if is_verb and not signs and _is_ruler(run, before):
        return None if _may_rule(cited) else "HF_043"
    if "(" not in signs and _is_place(cited, before):
        return _judged_far(cited, before) if is_verb and signs else None
    if is_verb and "," in signs and names_subject(cited, before):
        return None
    opening = first_run(cited, parts)
    is_alias = before and before[-1].small in ("or", "as") and opening[-1:] != [parts[-1]]
    return None if is_alias and agrees(cited, opening, is_first=True) else "HF_043"


def _is_ruler(run: list[Part], before: list[Part]) -> bool:
    """Whether somebody is told by an office alone: 'In 1612 the Emperor died'."""
    return bool(before) and before[-1].small == "the" and all(part.small in RULERS for part in run)


def _may_rule(cited: Cited) -> bool:
    """Whether a name of the subject is one that rulers have: with a number, a title, or a land."""
    names = {word.lower() for name in (cited.subject, *cited.also) for word in name.split()}
    return bool(names & (cited.table.words["numerals"] | cited.table.words["titles"] | {"of", "the"}))


def _is_place(cited: Cited, before: list[Part]) -> bool:
    """Whether the words before a name make it a place or a thing: 'in Kew, Surrey', 'the War'."""
    while before and before[-1].text == ",":
        run, before = name_run(cited, before[:-1])
        if not run or agrees(cited, run):
            return False
    if not before:
        return False
    if before[-1].small == "of":
        return len(before) > 1 and before[-2].small not in cited.table.kin.kinds
    articles = ("the", "a", "an")
    return before[-1].small in cited.table.words["places"] | COPULAS | {"as", "by", *articles}


def _judged_far(cited: Cited, parts: list[Part]) -> Code | None:
    """Whom a verb speaks of that no name stands just before: a name or a pronoun further up, or a relative."""
    if names_subject(cited, parts):
        own_at = max(at for at, part in enumerate(parts) if _names_subject(cited, part))
        relatives = (p for p in parts[own_at + 1 :] if cited.table.kin.kinds.get(p.small, "other") != "other")
        return "HF_043" if next(relatives, None) else None
    names = [part for part in parts[1:] if part.is_name and not TIME.fullmatch(part.text)]
    has_kin = any(cited.table.kin.kinds.get(part.small, "other") != "other" for part in parts)
    return "HF_043" if has_kin or (names and any(part.text == "," for part in parts)) else None


def _is_relative(cited: Cited, before: list[Part]) -> bool:
    """Whether a name is told to be a relative's: 'his son Edward', 'another son, Edward'."""
    words = [part for part in before[-2:] if part.text != ","]
    return bool(words) and words[-1].small in cited.table.kin.kinds


def _is_known_so(cited: Cited, run: list[Part]) -> bool:
    return {word for part in run if part.is_name for word in part.bare.split()} == cited.own_names


def names_subject(cited: Cited, parts: list[Part]) -> bool:
    """Whether the subject is named among words, by name or by a pronoun that fits."""
    return any(_names_subject(cited, part) for part in parts)


def _names_subject(cited: Cited, part: Part) -> bool:
    if part.small in ("he", "she"):
        return not other_sex(cited, part.small)
    numerals = cited.table.words["numerals"]
    return part.is_name and not part.is_possessive and set(part.bare.split()) <= cited.own_names - numerals


def other_sex(cited: Cited, word: str) -> bool:
    """Whether a word is said of the other sex than the subject's."""
    sex = cited.table.sexes.get(word, "")
    return bool(sex and cited.sex and sex != cited.sex)


def not_owned(cited: Cited, offset: int) -> Code | None:
    """Why what stands at an offset is not the subject's: 'his', "Darwin's", 'had a'; not "his wife's"."""
    parts = parts_before(cited, offset)
    while parts and parts[-1].small in cited.table.words["adjectives"]:
        parts.pop()
    if not parts:
        return None
    last = parts[-1]
    if last.small in cited.table.words["pronouns"]:
        return "HF_045" if other_sex(cited, last.small) else None
    if last.is_possessive and last.bare == "couple":
        return None
    if last.is_possessive:
        is_own = _is_own(cited, last) and not (parts[:-1] and parts[-2].small in cited.table.kin.kinds)
        return None if is_own else "HF_043"
    return "HF_043" if last.small == "whose" else None


def _is_own(cited: Cited, part: Part) -> bool:
    return set(part.bare.split()) <= cited.own_names
