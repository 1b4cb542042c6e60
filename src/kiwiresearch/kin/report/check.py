"""What keeps a sentence of a model out of the summary: anything that the sentences it rests on do not say.

All words but the smallest must stand in the sentences it names. That alone would let a
model swap two dates or turn a father into a son. So a sentence is cut at the words that
say what happened ('born', 'married', 'parents'): what stands before the first of them is
whom it tells of, and what follows each must be what follows it in the facts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from kiwiresearch.kin.report.summary import Said
from kiwiresearch.text.fold import fold
from kiwiresearch.text.when import DateRange, dates_in

Fault = Literal[
    "empty",
    "too long",
    "pronoun",
    "word not in its facts",
    "doubt dropped",
    "somebody else",
    "value of something else",
]
LONGEST = 400
WORD = re.compile(r"[^\W_]+")
PRONOUN_WORDS = "he she it they his her hers him them their theirs its this that these those i we you"
SMALL_WORDS = "a an the and was were is are of in on at to with who as"
CUE_WORDS = "born died aged married partner father mother parent parents had disagree life "
CUE_WORDS += "stepfather stepmother stepparent stepparents"
DOUBT_WORDS = "c before after between about disagree without no known adoptive foster disputed half divorced"
PRONOUNS, SMALL, CUES, DOUBT = (
    frozenset(words.split()) for words in (PRONOUN_WORDS, SMALL_WORDS, CUE_WORDS, DOUBT_WORDS)
)
"""What stands for a name; what joins words and says nothing; what says what happened; what holds back."""
NAMED = "name:"


@dataclass(frozen=True, slots=True)
class Cut:
    """A sentence cut at its cues: the words and dates after each, and before the first of them ('')."""

    words: Mapping[str, tuple[str, ...]]
    dates: Mapping[str, tuple[DateRange, ...]]
    all: frozenset[str]


def fault_of(text: str, sources: Sequence[Said], names: Sequence[str]) -> Fault | None:
    """The first thing that is wrong with a sentence; None lets it through.

    `names` are those of all people whom the sources tell of: a name is taken whole or not at all.
    """
    if not any(char.isalpha() for char in text):
        return "empty"
    if len(text) > LONGEST:
        return "too long"
    mine, theirs = cut(text, names), [cut(one.text, names) for one in sources]
    if PRONOUNS & mine.all:
        return "pronoun"
    if mine.all - SMALL - {word for said in theirs for word in said.all}:
        return "word not in its facts"
    if any(DOUBT & said.all - mine.all for said in theirs):
        return "doubt dropped"
    if not all(_same_subject(mine, said) for said in theirs):
        return "somebody else"
    return None if all(_follows(cue, mine, theirs) for cue in mine.words) else "value of something else"


def cut(text: str, names: Sequence[str]) -> Cut:
    """The sentence at its cues, with each name as one word and each date as a date."""
    words: dict[str, list[str]] = {"": []}
    dates: dict[str, list[DateRange]] = {"": []}
    found: set[str] = set()
    cue, at = "", 0
    for dated in [*dates_in(text), None]:
        for word in _words(text[at : dated.start if dated else len(text)], names):
            found.add(word)
            if word in CUES:
                cue = word
                words.setdefault(cue, [])
                dates.setdefault(cue, [])
            elif word not in SMALL:
                words[cue].append(word)
        if dated:
            # The signs of a date that hold it back count as words: without them it is another date.
            found |= {fold(word) for word in WORD.findall(text[dated.start : dated.end])} & DOUBT
            dates[cue].append(dated.when)
            at = dated.end
    return Cut(
        {key: tuple(said) for key, said in words.items()}, {k: tuple(v) for k, v in dates.items()}, frozenset(found)
    )


def _words(text: str, names: Sequence[str]) -> list[str]:
    words = [word for found in WORD.findall(text) if (word := fold(found))]
    whole = sorted({tuple(_folded(name)) for name in names} - {()}, key=lambda name: (-len(name), name))
    found: list[str] = []
    at = 0
    while at < len(words):
        name = next((one for one in whole if tuple(words[at : at + len(one)]) == one), None)
        found.append(NAMED + " ".join(name) if name else words[at])
        at += len(name) if name else 1
    return found


def _folded(name: str) -> list[str]:
    return [word for found in WORD.findall(name) if (word := fold(found))]


def _same_subject(mine: Cut, said: Cut) -> bool:
    """It tells of the people whom the source tells of, or of the first of them."""
    subject, told = mine.words[""], said.words[""]
    return bool(subject) and subject == told[: len(subject)] and not mine.dates[""]


def _follows(cue: str, mine: Cut, theirs: Sequence[Cut]) -> bool:
    """What follows a cue follows it in a source too; a date may be left out, or told less exactly."""
    if not cue:
        return True
    for said in theirs:
        if cue in said.words and mine.words[cue] in ((), said.words[cue]):
            return all(any(_told(when, one) for one in said.dates[cue]) for when in mine.dates[cue])
    return False


def _told(when: DateRange, known: DateRange) -> bool:
    """Whether a date is the known one, or the month or year it lies in."""
    return when.qualifier == known.qualifier and when.earliest <= known.earliest and known.latest <= when.latest
