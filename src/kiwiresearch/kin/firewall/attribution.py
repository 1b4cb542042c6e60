"""Whom a quote is about, and whether the source states it, denies it or only supposes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from kiwiresearch.kin.firewall.quote import SourceQuote
from kiwiresearch.kin.firewall.violations import Code
from kiwiresearch.kin.language import ENGLISH, FamilyCue
from kiwiresearch.text import POSSESSIVE, fold, hedges_in

# Any full stop before a capital. `STRICT_SENTENCE_END` below is stricter: it does not break at "St. " or "J. ".
SENTENCE_BREAK = re.compile(r"(?<=[.!?])\s+(?=\W*[A-Z])|\n")


def is_stated(sentence: str, language: str = "eng") -> bool:
    """Whether the sentence states what it says as a fact; in doubt, it does not."""
    return bool(ENGLISH.states.search(sentence)) and not is_denied_or_doubted(sentence, language)


def is_denied_or_doubted(sentence: str, language: str = "eng") -> bool:
    """Whether a sentence denies, doubts, supposes or asks for what it says."""
    return bool(ENGLISH.withholding_words.search(sentence)) or bool(hedges_in(sentence, language))


def sentence_around(text: str, start: int, end: int) -> str:
    """The sentence, or the line, that contains a quote."""
    before = [0, *(found.end() for found in SENTENCE_BREAK.finditer(text, 0, start))]
    after = SENTENCE_BREAK.search(text, end)
    return text[before[-1] : after.start() if after else len(text)]


# After a word of three small letters, a digit or a closing sign, or any word of five letters: 'he died. '.
STRICT_SENTENCE_END = re.compile(r"(?:(?<![^\W_])[a-z]{3,}|[\d)\"'”]|\w{5,})[.!?]\s|\n")
# A word with inner hyphens, apostrophes and full stops, or a single sign.
TOKEN = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*['’]?|[^\w\s]|_")
BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
# 'KG', 'FRS', 'PhD', but no regnal number.
HONOUR = re.compile(r"(?![IVX]+$)[A-Z][A-Za-z]?[A-Z]{1,4}|Ph\.?D")


@dataclass(frozen=True, slots=True)
class PrecedingToken:
    """A word or punctuation mark before a cue."""

    text: str
    start: int

    @property
    def lowered(self) -> str:
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


def tokens_before(quote: SourceQuote, offset: int) -> list[PrecedingToken]:
    """The words and signs before an offset on its line, without closed brackets.

    In an open bracket, what opens it or follows a comma is said of the name before it: 'Ann (Anne; died 1850)'.
    """
    start, _ = quote.line_of(offset)
    line = BRACKETS.sub(lambda found: " " * len(found[0]), quote.words[start:offset])
    tokens = _without_honours([PrecedingToken(match[0], start + match.start()) for match in TOKEN.finditer(line)])
    opened = max((at for at, token in enumerate(tokens) if token.text == "("), default=-1)
    if opened > 0 and not tokens[-1].text[0].isalnum():
        return tokens[: opened + 1]
    return tokens


def _without_honours(tokens: list[PrecedingToken]) -> list[PrecedingToken]:
    """Drop the letters after a name: 'Ann Bell, KG, OM (born'."""
    end = len(tokens)
    while end and not tokens[end - 1].text[0].isalnum():
        end -= 1
    at = end
    while at > 1 and HONOUR.fullmatch(tokens[at - 1].text) and tokens[at - 2].text == ",":
        at -= 2
    return [*tokens[:at], *tokens[end:]]


def cues_on_line(quote: SourceQuote, start: int, find: Callable[[str], Iterable[FamilyCue]]) -> list[FamilyCue]:
    """The cues that `find` finds on the line at an offset, with offsets into the quote."""
    line_start, line_end = quote.line_of(start)
    return [cue.moved(line_start) for cue in find(quote.words[line_start:line_end])]


def governs(quote: SourceQuote, gap: str, sentence_end: re.Pattern[str] = STRICT_SENTENCE_END) -> bool:
    """Whether a cue still applies after this gap: it contains neither the end of a sentence nor another verb."""
    return not sentence_end.search(gap) and not any(is_verb(quote, match[0]) for match in TOKEN.finditer(gap))


def is_verb(quote: SourceQuote, word: str) -> bool:
    """Whether a word begins a new predicate: a known verb, or a word in -ed."""
    words, lowered = quote.table.words, word.lower()
    if lowered in words["verbs"]:
        return True
    return word[0].islower() and lowered.endswith("ed") and len(lowered) > 4 and lowered not in words["no_verbs"]


def can_name_subject(quote: SourceQuote, run: list[PrecedingToken], *, is_first: bool = False) -> bool:
    """Whether a name can be the subject's: one is part of the other, or they share a first name.

    The name that opens a quote may have a number that the subject's name lacks.
    """
    named = [token for token in run if token.is_name and not ENGLISH.time_words.fullmatch(token.text)]
    words = quote.table.words
    other = words["places"] | words["adjectives"] | words["auxiliaries"] | words["particles"]
    names = {word for token in named for word in token.bare.split()} - other
    return any(_agrees(quote, names, own, is_first=is_first) for own in quote.name_sets)


def _agrees(quote: SourceQuote, names: set[str], own: frozenset[str], *, is_first: bool) -> bool:
    numerals = quote.table.words["numerals"]
    # 'Henry V' is not Henry IV; the fuller name that opens a quote may have a number that the title lacks.
    if (names & numerals) - own and (own & numerals or not is_first):
        return False
    plain = names - quote.table.words["titles"] - numerals
    mine = {word for word in own - numerals if len(word) > 1}
    if not plain & mine:
        return False
    # Three letters are shared by most short forms: 'Alexander' and 'Alex', 'William' and 'Will'.
    return plain <= mine or mine <= plain or any(word[:3] in quote.first_names for word in plain)


def trailing_name(
    quote: SourceQuote, tokens: list[PrecedingToken]
) -> tuple[list[PrecedingToken], list[PrecedingToken]]:
    """Split the tokens into the name they end with and what is before it."""
    inside = (quote.table.words["particles"] - {"in", "and", "the"}) | {"senior", "junior", *".\"“”'’‘"}
    at = len(tokens)
    while at and (tokens[at - 1].is_name or tokens[at - 1].text.isdigit() or tokens[at - 1].lowered in inside):
        at -= 1
    while at < len(tokens) and not tokens[at].is_name:
        at += 1
    return tokens[at:], tokens[:at]


def leading_name(quote: SourceQuote, tokens: list[PrecedingToken]) -> list[PrecedingToken]:
    """The name the tokens begin with, up to the first sign or lower-case word."""
    particles = quote.table.words["particles"] - {"and"}
    end = 0
    while end < len(tokens) and (tokens[end].is_name or tokens[end].lowered in particles or tokens[end].text in '."“”'):
        end += 1
    return tokens[:end]


def subject_violation(quote: SourceQuote, offset: int, *, is_verb: bool) -> Code | None:
    """Why the statement at an offset is not about the subject; None if it may be.

    `is_verb` distinguishes 'X, …, married Y', whose subject may be far before it, from
    'X, daughter of Y', which is said of the name just before it.
    """
    tokens = tokens_before(quote, offset)
    words, copulas = quote.table.words, ENGLISH.words["copulas"]
    skipped = words["auxiliaries"] | copulas | (frozenset() if is_verb else words["adjectives"])
    # 'X was the son of Y': with 'was', the noun needs its subject as a verb does.
    while tokens and tokens[-1].lowered in skipped:
        is_verb |= tokens.pop().lowered in copulas
    return _token_violation(quote, tokens, is_verb=is_verb)


def _token_violation(quote: SourceQuote, tokens: list[PrecedingToken], *, is_verb: bool) -> Code | None:
    signs = ""
    while tokens and not tokens[-1].text[0].isalnum():
        signs += tokens.pop().text
        # The statement opens its sentence, so nothing before it says that it is about somebody else.
        if signs[-1] in ".!?":
            return None
    if not tokens:
        return None
    last, words = tokens[-1], quote.table.words
    if last.lowered in words["pronouns"]:
        return "HF_045" if is_other_sex(quote, last.lowered) else None
    if last.lowered in words["plural"]:
        return "HF_043" if is_verb else None
    if last.lowered == "widower" and len(tokens) > 1 and tokens[-2].lowered == "the":
        return None if quote.sex == "male" else "HF_045"
    if last.lowered in quote.table.kin.kinds:
        is_aside = is_verb and "," in signs and any(token.text == "," for token in tokens)
        return None if is_aside and can_name_subject(quote, leading_name(quote, tokens), is_first=True) else "HF_043"
    if last.lowered in ("who", "that", "which"):
        return _token_violation(quote, tokens[:-1], is_verb=False)
    if last.is_name or last.lowered in ("senior", "junior") or last.text.isdigit():
        return _name_violation(quote, tokens, signs, is_verb=is_verb)
    return _distant_subject_violation(quote, tokens) if is_verb else None


def _name_violation(quote: SourceQuote, tokens: list[PrecedingToken], signs: str, *, is_verb: bool) -> Code | None:
    run, before = trailing_name(quote, tokens)
    if not run or all(ENGLISH.time_words.fullmatch(token.text) for token in run):
        return _distant_subject_violation(quote, before) if is_verb else None
    if can_name_subject(quote, run, is_first=not before):
        is_full_name = {word for token in run if token.is_name for word in token.bare.split()} == quote.own_names
        return "HF_043" if _is_relative(quote, before) and not is_full_name else None
    # 'In 1612 the Emperor died': an office in place of a name.
    is_office = bool(before) and before[-1].lowered == "the" and all(p.lowered in ENGLISH.words["rulers"] for p in run)
    if is_verb and not signs and is_office:
        return None if _may_be_ruler(quote) else "HF_043"
    if "(" not in signs and _is_place(quote, before):
        return _distant_subject_violation(quote, before) if is_verb and signs else None
    if is_verb and "," in signs and names_subject(quote, before):
        return None
    opening = leading_name(quote, tokens)
    is_alias = before and before[-1].lowered in ("or", "as") and opening[-1:] != [tokens[-1]]
    return None if is_alias and can_name_subject(quote, opening, is_first=True) else "HF_043"


def _may_be_ruler(quote: SourceQuote) -> bool:
    """Whether the subject has a ruler's name: with a number, a title or a country."""
    names = {word.lower() for name in (quote.subject, *quote.other_names) for word in name.split()}
    return bool(names & (quote.table.words["numerals"] | quote.table.words["titles"] | {"of", "the"}))


def _is_place(quote: SourceQuote, before: list[PrecedingToken]) -> bool:
    """Whether the words before a name make it a place or thing: 'in Kew, Surrey', 'the War'."""
    while before and before[-1].text == ",":
        run, before = trailing_name(quote, before[:-1])
        if not run or can_name_subject(quote, run):
            return False
    while before and before[-1].lowered in quote.table.words["place_adjectives"]:
        before = before[:-1]
    if not before:
        return False
    if before[-1].lowered == "of":
        return len(before) > 1 and before[-2].lowered not in quote.table.kin.kinds
    articles = ("the", "a", "an")
    return before[-1].lowered in quote.table.words["places"] | ENGLISH.words["copulas"] | {"as", "by", *articles}


def _distant_subject_violation(quote: SourceQuote, tokens: list[PrecedingToken]) -> Code | None:
    """Judge a verb with no name just before it by the names, pronouns and relatives further back."""
    if names_subject(quote, tokens):
        own_at = max(at for at, token in enumerate(tokens) if _names_subject(quote, token))
        relatives = (p for p in tokens[own_at + 1 :] if quote.table.kin.kinds.get(p.lowered, "other") != "other")
        return "HF_043" if next(relatives, None) else None
    names = [token for token in tokens[1:] if token.is_name and not ENGLISH.time_words.fullmatch(token.text)]
    has_kin = any(quote.table.kin.kinds.get(token.lowered, "other") != "other" for token in tokens)
    return "HF_043" if has_kin or (names and any(token.text == "," for token in tokens)) else None


def _is_relative(quote: SourceQuote, before: list[PrecedingToken]) -> bool:
    """Whether the words before a name call its bearer a relative: 'his son Edward', 'another son, Edward'."""
    words = [token for token in before[-2:] if token.text != ","]
    return bool(words) and words[-1].lowered in quote.table.kin.kinds


def names_subject(quote: SourceQuote, tokens: list[PrecedingToken]) -> bool:
    """Whether the tokens have the subject's name or a pronoun of the right sex."""
    return any(_names_subject(quote, token) for token in tokens)


def _names_subject(quote: SourceQuote, token: PrecedingToken) -> bool:
    if token.lowered in ("he", "she"):
        return not is_other_sex(quote, token.lowered)
    numerals = quote.table.words["numerals"]
    return token.is_name and not token.is_possessive and set(token.bare.split()) <= quote.own_names - numerals


def is_other_sex(quote: SourceQuote, word: str) -> bool:
    """Whether a word implies the sex that the subject is not."""
    sex = quote.table.sexes.get(word, "")
    return bool(sex and quote.sex and sex != quote.sex)


def owner_violation(quote: SourceQuote, offset: int) -> Code | None:
    """Why the noun at an offset does not belong to the subject; None for 'his', "Darwin's" and 'had a'."""
    tokens = tokens_before(quote, offset)
    while tokens and tokens[-1].lowered in quote.table.words["adjectives"]:
        tokens.pop()
    if not tokens:
        return None
    last = tokens[-1]
    if last.lowered in quote.table.words["pronouns"]:
        return "HF_045" if is_other_sex(quote, last.lowered) else None
    if last.is_possessive and last.bare == "couple":
        return None
    if last.is_possessive:
        # "Darwin's", but not "his wife Darwin's".
        is_relatives = len(tokens) > 1 and tokens[-2].lowered in quote.table.kin.kinds
        return None if set(last.bare.split()) <= quote.own_names and not is_relatives else "HF_043"
    return "HF_043" if last.lowered == "whose" else None


MAX_SENTENCE = 400
"""No sentence is followed further than this."""


def statement_violation(quote: SourceQuote, cue: FamilyCue, start: int, end: int, *, asserts: bool) -> Code | None:
    """Why the source does not state what a cue says of `words[start:end]`; None if it does.

    A cue that `asserts`, such as 'married Y' or 'the son of Y', can be denied. In 'he never saw his
    father Y' the father is taken for granted. The sentence is read from the source, because
    a quote could have been cut after its 'not'.
    """
    first, last = min(cue.start, start) + quote.start, max(cue.end, end) + quote.start
    head = _sentence_before(quote.text, first)
    inner = quote.text[min(cue.end, end) + quote.start : max(cue.start, start) + quote.start]
    owned = ENGLISH.check_owned.search(head)
    clause = head[_clause_start(head) :] if asserts else owned[0] if owned else ""
    said = BRACKETS.sub(" ", quote.words[cue.start : cue.end])
    near = f"{clause}{said} {BRACKETS.sub(' ', inner)}"
    find = quote.table.unstated.found_in
    kinds = {family_cue.kind for family_cue in find(near)}
    kinds |= {family_cue.kind for family_cue in find(head) if family_cue.kind == "story"}
    # The rest of the sentence may take it back: 'but this has been disproved'.
    kinds |= {
        family_cue.kind for family_cue in find(_sentence_after(quote.text, last)) if family_cue.kind == "disproved"
    }
    if kinds & {"denied", "story", "disproved"}:
        return "HF_028"
    return "HF_027" if "hedged" in kinds else None


def is_denied(quote: SourceQuote, start: int) -> bool:
    """Whether the words at an offset are mentioned only to be denied: 'not to be confused with'."""
    head = _sentence_before(quote.text, quote.start + start)
    return any(cue.kind == "denied" for cue in quote.table.unstated.found_in(head[_clause_start(head) :]))


def _sentence_before(text: str, at: int) -> str:
    """The beginning of the sentence that an offset is in."""
    head = text[max(0, at - MAX_SENTENCE) : at]
    return head[max((found.end() for found in STRICT_SENTENCE_END.finditer(head)), default=0) :]


def _clause_start(head: str) -> int:
    return max((found.end() for found in ENGLISH.clause_start.finditer(head)), default=0)


def _sentence_after(text: str, at: int) -> str:
    """The rest of the sentence that an offset is in."""
    tail = text[at : at + MAX_SENTENCE]
    end = STRICT_SENTENCE_END.search(tail)
    return tail[: end.end()] if end else tail
