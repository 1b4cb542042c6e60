"""Marriages that a quote tells behind a name: 'Carter and Ruth married', 'he met Ruth, and they married'."""

from __future__ import annotations

import re

from kiwiresearch.kin.firewall.cited import Cited, words_in
from kiwiresearch.kin.firewall.cues import Cue
from kiwiresearch.kin.firewall.holders import other_sex, stranger

SOON = r"(?:(?:then|later|soon|also|again|would|had|were|got|was|\w+ly)\s+){0,3}"
WED = re.compile(rf"\s+{SOON}(?:married|wed)\b(?:\s+(?P<whom>(?:[A-Z][\w.-]*\s*)+)(?!['’]))?")
TOGETHER = re.compile(r"(?P<one>[\w.-]+)\s+and\s+$")
MET = re.compile(
    r"\b(?:met|introduced to|proposed to|in love with|engaged to|(?:relationship|affair) with|courted|courting|"
    r"dating|dated)"
    r"\s+(?:[a-z][\w-]*\s+){0,4}$"
)
THEY = re.compile(
    rf"(?:[,;.]\s+|\band\s+)(?:[Tt]hey|[Tt]he (?:two|couple|pair))\s+{SOON}(?:married|wed)\b|"
    rf"\band\s+{SOON}married\s+(?:her|him)\b"
)
WIFE = re.compile(
    rf"(?:,?\s+who)?\s+{SOON}(?:become|became|was|is)\s+(?P<whose>[A-Z][\w.-]*)['’]s?\s+(?:\w+\s+)?(?:wife|husband)\b|"
    r"[a-z\s]{0,30}\s+(?:became|was)\s+the\s+(?:[a-z]+\s+)?(?:wife|husband)\s+of\s+(?P<of>(?:[A-Z][\w.-]*\s*)+)"
)
MARRIAGE = re.compile(r"\b(?:marriage|wedding)\s+(?:of|between)\s+(?P<one>(?:[A-Z][\w.-]*\s+)+)(?:with|to|and)\s+$")
WAS_TO = re.compile(
    r"\b(?:(?P<whose>[Hh]is|[Hh]er|[A-Z][\w.-]*['’]s?)\s+(?:\w+\s+)?marriage,(?:[^,;]{1,40},\s+was)?|married,[^,;]{1,60},)"
    r"\s+to\s+$"
)
"""'his first marriage, before 1295, was to Ruth', 'Carter was married, by arrangement, to Ruth'."""
PRONOUNS = {"male": "he", "female": "she"}


def wed_behind(cited: Cited, start: int, end: int) -> Cue | None:
    """The words behind a name that say that the subject and who bears it married; nothing if none do."""
    before, behind = cited.words[:start], cited.words[end:]
    wed, both = WED.match(behind), TOGETHER.search(before)
    if wed and ((both and _is_own(cited, both["one"])) or (wed["whom"] and _is_own(cited, wed["whom"]))):
        return Cue("spouse", end, end + wed.end(), "married")
    of = MARRIAGE.search(before)
    if of and _is_own(cited, of["one"]):
        return Cue("spouse", of.start(), of.end(), "marriage")
    was_to = WAS_TO.search(before)
    if was_to and _is_told_of_subject(cited, was_to):
        return Cue("spouse", was_to.start(), was_to.end(), "marriage")
    wife = WIFE.match(behind)
    if wife and _is_own(cited, wife["whose"] or wife["of"]):
        return Cue("spouse", end, end + wife.end(), "wife")
    met, they = MET.search(before), THEY.search(behind)
    if met and they and stranger(cited, met.start(), is_verb=True) is None:
        return Cue("spouse", end + they.start(), end + they.end(), "married")
    return None


def _is_told_of_subject(cited: Cited, was_to: re.Match[str]) -> bool:
    whose = was_to["whose"]
    if whose and whose.lower() not in ("his", "her"):
        return _is_own(cited, re.sub(r"['’]s?$", "", whose))
    if whose and other_sex(cited, whose.lower()):
        return False
    return stranger(cited, was_to.start(), is_verb=True) is None


def _is_own(cited: Cited, written: str) -> bool:
    """Whether these words are the subject's name, or its pronoun."""
    words = [word.folded for word in words_in(written)]
    return words == [PRONOUNS.get(cited.sex, "")] or (bool(words) and set(words) <= cited.own_names)
