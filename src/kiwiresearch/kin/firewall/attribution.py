"""Of whom a quote says something, and whether the source states it, denies it or only supposes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from kiwiresearch.kin.firewall.quote import SourceQuote
from kiwiresearch.kin.firewall.violations import Code
from kiwiresearch.kin.language import ENGLISH, FamilyCue
from kiwiresearch.text.hedges import hedges_in
from kiwiresearch.text.words import fold

SENTENCE_BREAK = re.compile(r"(?<=[.!?])\s+(?=\W*[A-Z])|\n")


def is_stated(sentence: str, language: str = "eng") -> bool:
    """Whether what the sentence says is told as so; where that is not clear, it is not."""
    return bool(ENGLISH.states.search(sentence)) and not is_denied_or_doubted(sentence, language)


def is_denied_or_doubted(sentence: str, language: str = "eng") -> bool:
    """Whether a sentence denies, doubts, supposes or asks for what it says."""
    return bool(ENGLISH.withholding_words.search(sentence)) or bool(hedges_in(sentence, language))


def sentence_around(text: str, start: int, end: int) -> str:
    """The sentence, or the line, that a quote stands in."""
    before = [0, *(found.end() for found in SENTENCE_BREAK.finditer(text, 0, start))]
    behind = SENTENCE_BREAK.search(text, end)
    return text[before[-1] : behind.start() if behind else len(text)]


SENTENCE_END = re.compile(r"(?:(?<![^\W_])[a-z]{3,}|[\d)\"'”]|\w{5,})[.!?]\s|\n")
TOKEN = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*['’]?|[^\w\s]|_")
POSSESSIVE = re.compile(r"['’]s?$")
BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
HONOUR = re.compile(r"(?![IVX]+$)[A-Z][A-Za-z]?[A-Z]{1,4}|Ph\.?D")


@dataclass(frozen=True, slots=True)
class Token:
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


def tokens_before(cited: SourceQuote, offset: int) -> list[Token]:
    """The words and signs of the same line before an offset; what stands in closed brackets is left out.

    In a bracket, what opens it or follows a comma is said of the name before it: 'Ann (Anne; died 1850)'.
    """
    start, _ = cited.line_of(offset)
    line = BRACKETS.sub(lambda found: " " * len(found[0]), cited.words[start:offset])
    parts = [Token(match[0], start + match.start()) for match in TOKEN.finditer(line)]
    parts = _without_honours(parts)
    opened = max((at for at, part in enumerate(parts) if part.text == "("), default=-1)
    if opened > 0 and not parts[-1].text[0].isalnum():
        return parts[: opened + 1]
    return parts


def _without_honours(parts: list[Token]) -> list[Token]:
    """The parts without letters behind a name: 'Ann Bell, KG, OM (born'."""
    end = len(parts)
    while end and not parts[end - 1].text[0].isalnum():
        end -= 1
    at = end
    while at > 1 and HONOUR.fullmatch(parts[at - 1].text) and parts[at - 2].text == ",":
        at -= 2
    return [*parts[:at], *parts[end:]]


def cues_on_line(cited: SourceQuote, start: int, find: Callable[[str], Iterable[FamilyCue]]) -> list[FamilyCue]:
    """The cues that `find` reads from the line at an offset, as offsets of the quote."""
    line_start, line_end = cited.line_of(start)
    return [cue.moved(line_start) for cue in find(cited.words[line_start:line_end])]


def governs(cited: SourceQuote, gap: str, sentence_end: re.Pattern[str] = SENTENCE_END) -> bool:
    """Whether a cue still speaks of what stands behind this gap: no sentence ends there, and no other verb begins."""
    return not sentence_end.search(gap) and not any(is_verb(cited, match[0]) for match in TOKEN.finditer(gap))


def is_verb(cited: SourceQuote, word: str) -> bool:
    """Whether a word begins to tell something else: a known verb, or one in -ed."""
    words, small = cited.table.words, word.lower()
    if small in words["verbs"]:
        return True
    return word[0].islower() and small.endswith("ed") and len(small) > 4 and small not in words["no_verbs"]


def can_name_subject(cited: SourceQuote, run: list[Token], *, is_first: bool = False) -> bool:
    """Whether a name can be the subject's: one says no more than the other, or the first words are the same.

    The name that opens a quote may have a number that the subject's has not.
    """
    names = {
        word
        for part in run
        if part.is_name and not ENGLISH.time_words.fullmatch(part.text)
        for word in part.bare.split()
    }
    words = cited.table.words
    names -= words["places"] | words["adjectives"] | words["auxiliaries"] | words["particles"]
    return any(_agrees(cited, names, own, is_first=is_first) for own in cited.name_sets)


def _agrees(cited: SourceQuote, names: set[str], own: frozenset[str], *, is_first: bool) -> bool:
    numerals = cited.table.words["numerals"]
    if (names & numerals) - own and (own & numerals or not is_first):
        return False
    plain = names - cited.table.words["titles"] - numerals
    mine = {word for word in own - numerals if len(word) > 1}
    if not plain & mine:
        return False
    return plain <= mine or mine <= plain or any(word[:3] in cited.first_names for word in plain)


def trailing_name(cited: SourceQuote, parts: list[Token]) -> tuple[list[Token], list[Token]]:
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


def leading_name(cited: SourceQuote, parts: list[Token]) -> list[Token]:
    """The name that opens a list of parts, up to the first sign or small word."""
    particles = cited.table.words["particles"] - {"and"}
    end = 0
    while end < len(parts) and (parts[end].is_name or parts[end].small in particles or parts[end].text in '."“”'):
        end += 1
    return parts[:end]


def holder_violation(cited: SourceQuote, offset: int, *, is_verb: bool) -> Code | None:
    """Why what is said at an offset is not said of the subject; nothing if it may be.

    `is_verb` tells 'X, …, married Y', whose subject may stand far before, from
    'X, daughter of Y', which is said of the name just before it.
    """
    parts = tokens_before(cited, offset)
    words = cited.table.words
    skipped = words["auxiliaries"] | (frozenset() if is_verb else words["adjectives"])
    while parts and (parts[-1].small in skipped or parts[-1].small in ENGLISH.words["copulas"]):
        is_verb |= parts[-1].small in ENGLISH.words["copulas"]
        parts.pop()
    return _token_violation(cited, parts, is_verb=is_verb)


def _token_violation(cited: SourceQuote, parts: list[Token], *, is_verb: bool) -> Code | None:
    signs = ""
    while parts and not parts[-1].text[0].isalnum():
        signs += parts.pop().text
        if signs[-1] in ".!?":
            return None
    if not parts:
        return None
    last, words = parts[-1], cited.table.words
    if last.small in words["pronouns"]:
        return "HF_045" if is_other_sex(cited, last.small) else None
    if last.small in words["plural"]:
        return "HF_043" if is_verb else None
    if last.small in cited.table.kin.kinds:
        is_aside = is_verb and "," in signs and any(part.text == "," for part in parts)
        return None if is_aside and can_name_subject(cited, leading_name(cited, parts), is_first=True) else "HF_043"
    if last.small in ("who", "that", "which"):
        return _token_violation(cited, parts[:-1], is_verb=False)
    if last.is_name or last.small in ("senior", "junior") or last.text.isdigit():
        return _name_violation(cited, parts, signs, is_verb=is_verb)
    return _distant_holder_violation(cited, parts) if is_verb else None


def _name_violation(cited: SourceQuote, parts: list[Token], signs: str, *, is_verb: bool) -> Code | None:
    run, before = trailing_name(cited, parts)
    if not run or all(ENGLISH.time_words.fullmatch(part.text) for part in run):
        return _distant_holder_violation(cited, before) if is_verb else None
    if can_name_subject(cited, run, is_first=not before):
        return "HF_043" if _is_relative(cited, before) and not _is_known_so(cited, run) else None
    if is_verb and not signs and _is_ruler(run, before):
        return None if _may_rule(cited) else "HF_043"
    if "(" not in signs and _is_place(cited, before):
        return _distant_holder_violation(cited, before) if is_verb and signs else None
    if is_verb and "," in signs and names_subject(cited, before):
        return None
    opening = leading_name(cited, parts)
    is_alias = before and before[-1].small in ("or", "as") and opening[-1:] != [parts[-1]]
    return None if is_alias and can_name_subject(cited, opening, is_first=True) else "HF_043"


def _is_ruler(run: list[Token], before: list[Token]) -> bool:
    """Whether somebody is told by an office alone: 'In 1612 the Emperor died'."""
    return bool(before) and before[-1].small == "the" and all(part.small in ENGLISH.words["rulers"] for part in run)


def _may_rule(cited: SourceQuote) -> bool:
    """Whether a name of the subject is one that rulers have: with a number, a title, or a land."""
    names = {word.lower() for name in (cited.subject, *cited.other_names) for word in name.split()}
    return bool(names & (cited.table.words["numerals"] | cited.table.words["titles"] | {"of", "the"}))


def _is_place(cited: SourceQuote, before: list[Token]) -> bool:
    """Whether the words before a name make it a place or a thing: 'in Kew, Surrey', 'the War'."""
    while before and before[-1].text == ",":
        run, before = trailing_name(cited, before[:-1])
        if not run or can_name_subject(cited, run):
            return False
    if not before:
        return False
    if before[-1].small == "of":
        return len(before) > 1 and before[-2].small not in cited.table.kin.kinds
    articles = ("the", "a", "an")
    return before[-1].small in cited.table.words["places"] | ENGLISH.words["copulas"] | {"as", "by", *articles}


def _distant_holder_violation(cited: SourceQuote, parts: list[Token]) -> Code | None:
    """Whom a verb speaks of that no name stands just before: a name or a pronoun further up, or a relative."""
    if names_subject(cited, parts):
        own_at = max(at for at, part in enumerate(parts) if _names_subject(cited, part))
        relatives = (p for p in parts[own_at + 1 :] if cited.table.kin.kinds.get(p.small, "other") != "other")
        return "HF_043" if next(relatives, None) else None
    names = [part for part in parts[1:] if part.is_name and not ENGLISH.time_words.fullmatch(part.text)]
    has_kin = any(cited.table.kin.kinds.get(part.small, "other") != "other" for part in parts)
    return "HF_043" if has_kin or (names and any(part.text == "," for part in parts)) else None


def _is_relative(cited: SourceQuote, before: list[Token]) -> bool:
    """Whether a name is told to be a relative's: 'his son Edward', 'another son, Edward'."""
    words = [part for part in before[-2:] if part.text != ","]
    return bool(words) and words[-1].small in cited.table.kin.kinds


def _is_known_so(cited: SourceQuote, run: list[Token]) -> bool:
    return {word for part in run if part.is_name for word in part.bare.split()} == cited.own_names


def names_subject(cited: SourceQuote, parts: list[Token]) -> bool:
    """Whether the subject is named among words, by name or by a pronoun that fits."""
    return any(_names_subject(cited, part) for part in parts)


def _names_subject(cited: SourceQuote, part: Token) -> bool:
    if part.small in ("he", "she"):
        return not is_other_sex(cited, part.small)
    numerals = cited.table.words["numerals"]
    return part.is_name and not part.is_possessive and set(part.bare.split()) <= cited.own_names - numerals


def is_other_sex(cited: SourceQuote, word: str) -> bool:
    """Whether a word is said of the other sex than the subject's."""
    sex = cited.table.sexes.get(word, "")
    return bool(sex and cited.sex and sex != cited.sex)


def owner_violation(cited: SourceQuote, offset: int) -> Code | None:
    """Why what stands at an offset is not the subject's: 'his', "Darwin's", 'had a'; not "his wife's"."""
    parts = tokens_before(cited, offset)
    while parts and parts[-1].small in cited.table.words["adjectives"]:
        parts.pop()
    if not parts:
        return None
    last = parts[-1]
    if last.small in cited.table.words["pronouns"]:
        return "HF_045" if is_other_sex(cited, last.small) else None
    if last.is_possessive and last.bare == "couple":
        return None
    if last.is_possessive:
        is_own = _is_own(cited, last) and not (parts[:-1] and parts[-2].small in cited.table.kin.kinds)
        return None if is_own else "HF_043"
    return "HF_043" if last.small == "whose" else None


def _is_own(cited: SourceQuote, part: Token) -> bool:
    return set(part.bare.split()) <= cited.own_names


FARTHEST = 400
"""No sentence is followed further than this."""


def statement_violation(cited: SourceQuote, cue: FamilyCue, start: int, end: int, *, is_told: bool) -> Code | None:
    """Why the source does not state what a cue says of `words[start:end]`; nothing if it does.

    `is_told` is for cues that tell, as 'married Y' and 'the son of Y' do: what is denied there is denied.
    In 'he never saw his father Y' the father is taken for granted.
    The sentence is read in the source, for a quote can be cut to begin behind its 'not'.
    """
    first, last = min(cue.start, start) + cited.start, max(cue.end, end) + cited.start
    head = _sentence_before(cited.text, first)
    inner = cited.text[min(cue.end, end) + cited.start : max(cue.start, start) + cited.start]
    owned = ENGLISH.check_owned.search(head)
    clause = head[_clause_start(head) :] if is_told else owned[0] if owned else ""
    said = BRACKETS.sub(" ", cited.words[cue.start : cue.end])
    near = f"{clause}{said} {BRACKETS.sub(' ', inner)}"
    kinds = {one.kind for one in cited.table.unstated.found_in(near)}
    kinds |= {one.kind for one in cited.table.unstated.found_in(head) if one.kind == "story"}
    kinds |= {one.kind for one in _behind(cited, last)}
    if kinds & {"denied", "story", "disproved"}:
        return "HF_028"
    return "HF_027" if "hedged" in kinds else None


def is_denied(cited: SourceQuote, start: int) -> bool:
    """Whether what stands at an offset of the quote is named only to be told apart."""
    head = _sentence_before(cited.text, cited.start + start)
    return any(one.kind == "denied" for one in cited.table.unstated.found_in(head[_clause_start(head) :]))


def _sentence_before(text: str, at: int) -> str:
    """The sentence up to a place."""
    head = text[max(0, at - FARTHEST) : at]
    return head[max((found.end() for found in SENTENCE_END.finditer(head)), default=0) :]


def _clause_start(head: str) -> int:
    return max((found.end() for found in ENGLISH.clause_start.finditer(head)), default=0)


def _behind(cited: SourceQuote, at: int) -> Iterator[FamilyCue]:
    """What the rest of the sentence takes back: 'but this has been disproved'."""
    tail = cited.text[at : at + FARTHEST]
    end = SENTENCE_END.search(tail)
    rest = tail[: end.end()] if end else tail
    return (one for one in cited.table.unstated.found_in(rest) if one.kind == "disproved")
