"""Marriages that a quote tells behind a name: 'Carter and Ruth married', 'he met Ruth, and they married'."""

from __future__ import annotations

import re

from kiwiresearch.kin.firewall.cited import Cited, words_in
from kiwiresearch.kin.firewall.cues import Cue
from kiwiresearch.kin.firewall.holders import stranger

SOON = r"(?:(?:then|later|soon|also|again|would|had|were|got|was|\w+ly)\s+){0,3}"
WED = re.compile(rf"\s+{SOON}(?:married|wed)\b(?:\s+(?P<whom>(?:[A-Z][\w.-]*\s*)+)(?!['’]))?")
TOGETHER = re.compile(r"(?P<one>[\w.-]+)\s+and\s+$")
MET = re.compile(r"\b(?:met|introduced to|proposed to|in love with|engaged to)\s+(?:[a-z][\w-]*\s+){0,4}$")
THEY = re.compile(rf"(?:[,;.]\s+|\band\s+)(?:[Tt]hey|[Tt]he (?:two|couple|pair))\s+{SOON}(?:married|wed)\b")
WIFE = re.compile(
    rf"(?:,?\s+who)?\s+{SOON}(?:become|became|was|is)\s+(?P<whose>[A-Z][\w.-]*)['’]s?\s+(?:\w+\s+)?(?:wife|husband)\b"
)
PRONOUNS = {"male": "he", "female": "she"}


def wed_behind(cited: Cited, start: int, end: int) -> Cue | None:
    """The words behind a name that say that the subject and who bears it married; nothing if none do."""
    before, behind = cited.words[:start], cited.words[end:]
    wed, both = WED.match(behind), TOGETHER.search(before)
    if wed and ((both and _is_own(cited, both["one"])) or (wed["whom"] and _is_own(cited, wed["whom"]))):
        return Cue("spouse", end, end + wed.end(), "married")
    wife = WIFE.match(behind)
    if wife and _is_own(cited, wife["whose"]):
        return Cue("spouse", end, end + wife.end(), "wife")
    met, they = MET.search(before), THEY.search(behind)
    if met and they and stranger(cited, met.start(), is_verb=True) is None:
        return Cue("spouse", end + they.start(), end + they.end(), "married")
    return None


def _is_own(cited: Cited, written: str) -> bool:
    """Whether these words are the subject's name, or its pronoun."""
    words = [word.folded for word in words_in(written)]
    return words == [PRONOUNS.get(cited.sex, "")] or (bool(words) and set(words) <= cited.own_names)
